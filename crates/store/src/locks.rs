//! One turn at a time per conversation (SPEC E12). Within a process a lock says whose turn it is; entries exist only while
//! someone holds or waits: no leak. Between servers the table of runs says it: a question waits until no earlier one of
//! its conversation is open. Nothing here can be lost with a connection.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ba_protocol::{ConversationId, RunId};
use parking_lot::Mutex;

use crate::error::Result;
use crate::store::Store;

/// How often a question asks whether an earlier one on another server has ended.
const POLL: Duration = Duration::from_millis(150);

type Slots = Mutex<HashMap<ConversationId, Slot>>;

struct Slot {
    /// Holders and waiters; the entry goes when this reaches zero.
    users: usize,
    lock: Arc<tokio::sync::Mutex<()>>,
}

/// The locks of this process.
#[derive(Clone, Default)]
pub struct ConversationLocks {
    slots: Arc<Slots>,
}

/// The conversation is ours until this is dropped.
pub struct ConversationGuard {
    /// Before the seat: who is seated next finds the lock free.
    _held: tokio::sync::OwnedMutexGuard<()>,
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

impl ConversationLocks {
    /// Waits for its turn, first come first served within this process.
    pub async fn lock(&self, id: &ConversationId) -> ConversationGuard {
        let (seat, lock) = self.sit(id);
        ConversationGuard { _held: lock.lock_owned().await, _seat: seat }
    }

    /// `None` when someone else holds it.
    pub fn try_lock(&self, id: &ConversationId) -> Option<ConversationGuard> {
        let (seat, lock) = self.sit(id);
        Some(ConversationGuard { _held: lock.try_lock_owned().ok()?, _seat: seat })
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

impl Store {
    /// Whether other servers may work on the same conversations.
    pub fn is_shared(&self) -> bool {
        self.db().engine().is_shared()
    }

    /// The turn of a stored run: no earlier question of its conversation is open on any server, and nobody here is at it.
    pub async fn take_turn(&self, conversation: &ConversationId, run: &RunId) -> Result<ConversationGuard> {
        loop {
            let guard = self.locks().lock(conversation).await;
            if !self.is_shared() || is_free(self.has_earlier_run(run).await)? {
                return Ok(guard);
            }
            drop(guard);
            tokio::time::sleep(POLL).await;
        }
    }

    /// A turn between the questions of a conversation, for a call that belongs to none.
    pub async fn take_quiet(&self, conversation: &ConversationId) -> Result<ConversationGuard> {
        loop {
            let guard = self.locks().lock(conversation).await;
            if !self.is_shared() || is_free(self.has_open_run(conversation).await)? {
                return Ok(guard);
            }
            drop(guard);
            tokio::time::sleep(POLL).await;
        }
    }
}

/// The lock is not held while the table is waited for: who is waited for may need it. Nor is it given up when the table
/// cannot be read for a while.
fn is_free(busy: Result<bool>) -> Result<bool> {
    match busy {
        Err(error) if error.may_pass() => {
            tracing::warn!(%error, "whose turn it is could not be read");
            Ok(false)
        }
        answer => answer.map(|busy| !busy),
    }
}
