//! One turn at a time per conversation (SPEC E12). Entries exist only while someone holds or waits: no leak.

use std::collections::HashMap;
use std::sync::Arc;

use ba_protocol::ConversationId;
use parking_lot::Mutex;

use crate::error::Result;

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
}

/// The conversation is ours until this is dropped.
pub struct ConversationGuard {
    held: Option<tokio::sync::OwnedMutexGuard<()>>,
    _seat: Seat,
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
        self.held.take();
    }
}

impl ConversationLocks {
    pub(crate) fn in_process() -> Self {
        Self { slots: Arc::new(Mutex::new(HashMap::new())) }
    }

    /// Waits for its turn, first come first served.
    pub async fn lock(&self, id: &ConversationId) -> Result<ConversationGuard> {
        let (seat, lock) = self.sit(id);
        let held = lock.lock_owned().await;
        Ok(ConversationGuard { held: Some(held), _seat: seat })
    }

    /// `None` when someone else holds it.
    pub async fn try_lock(&self, id: &ConversationId) -> Result<Option<ConversationGuard>> {
        let (seat, lock) = self.sit(id);
        Ok(lock.try_lock_owned().ok().map(|held| ConversationGuard { held: Some(held), _seat: seat }))
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
