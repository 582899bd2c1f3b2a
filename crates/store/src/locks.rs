//! One turn at a time per conversation (SPEC E12). Entries exist only while someone holds or waits: no leak.
//! On PostgreSQL the holder also has an advisory lock, so that replicas take turns too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::ConversationId;
use parking_lot::Mutex;

use crate::db::Engine;
use crate::error::Result;

/// How often a replica asks for a lock that another one holds.
const POLL: Duration = Duration::from_millis(50);

type Slots = Mutex<HashMap<ConversationId, Slot>>;

struct Slot {
    /// Holders and waiters; the entry goes when this reaches zero.
    users: usize,
    lock: Arc<tokio::sync::Mutex<()>>,
}

/// The locks of this process.
#[derive(Clone)]
pub struct ConversationLocks {
    slots: Arc<Slots>,
    engine: Arc<dyn Engine>,
}

/// The conversation is ours until this is dropped.
pub struct ConversationGuard {
    /// Taken when dropped: it moves to the task that releases the advisory lock.
    parts: Option<(Seat, tokio::sync::OwnedMutexGuard<()>)>,
    engine: Arc<dyn Engine>,
    key: i64,
}

/// One user of a slot; counts down when dropped, also when a waiter gives up.
struct Seat {
    slots: Arc<Slots>,
    id: ConversationId,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get_mut(&self.id) {
            slot.users -= 1;
            if slot.users == 0 {
                slots.remove(&self.id);
            }
        }
    }
}

impl Drop for ConversationGuard {
    fn drop(&mut self) {
        let Some((seat, held)) = self.parts.take() else { return };
        if !self.engine.is_shared() {
            return;
        }
        // The next one in this process must not overtake the release: session locks can be taken twice.
        let (engine, key) = (self.engine.clone(), self.key);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                engine.advisory_unlock(key).await;
                drop(held);
                drop(seat);
            });
        }
    }
}

impl ConversationLocks {
    pub(crate) fn over(engine: Arc<dyn Engine>) -> Self {
        Self { slots: Arc::new(Mutex::new(HashMap::new())), engine }
    }

    /// Waits for its turn, first come first served within this process.
    pub async fn lock(&self, id: &ConversationId) -> Result<ConversationGuard> {
        let (seat, lock) = self.sit(id);
        let guard = self.guard(id, seat, lock.lock_owned().await);
        while !self.engine.try_advisory_lock(guard.key).await? {
            tokio::time::sleep(POLL).await;
        }
        Ok(guard)
    }

    /// `None` when someone else holds it.
    pub async fn try_lock(&self, id: &ConversationId) -> Result<Option<ConversationGuard>> {
        let (seat, lock) = self.sit(id);
        let Ok(held) = lock.try_lock_owned() else { return Ok(None) };
        let guard = self.guard(id, seat, held);
        Ok(self.engine.try_advisory_lock(guard.key).await?.then_some(guard))
    }

    /// Made before the advisory lock is asked for: a caller that gives up half-way still releases it.
    fn guard(
        &self,
        id: &ConversationId,
        seat: Seat,
        held: tokio::sync::OwnedMutexGuard<()>,
    ) -> ConversationGuard {
        ConversationGuard { parts: Some((seat, held)), engine: self.engine.clone(), key: key(id) }
    }

    /// How many conversations are held or waited for: zero when idle.
    pub fn len(&self) -> usize {
        self.slots.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn sit(&self, id: &ConversationId) -> (Seat, Arc<tokio::sync::Mutex<()>>) {
        let mut slots = self.slots.lock();
        let slot = slots.entry(id.clone()).or_insert_with(|| Slot { users: 0, lock: Arc::default() });
        slot.users += 1;
        (Seat { slots: self.slots.clone(), id: id.clone() }, slot.lock.clone())
    }
}

/// The 48 bits of the id are the advisory key, above the range of our other keys.
fn key(id: &ConversationId) -> i64 {
    let hex = id.as_str().trim_start_matches("conv_");
    i64::from_str_radix(hex, 16).unwrap_or(0) | (1 << 56)
}
