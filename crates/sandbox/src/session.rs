//! The live Python state of conversations: kept, found again, and dropped when idle or when memory is short.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::child::Child;
use crate::folder;
use crate::job::Limits;
use crate::marks::{Mark, Marks};
use crate::monitor::{self, Load};
use crate::{SandboxConfig, SessionKey, Variable};

/// A tombstone is remembered this long, so that a late call still hears of the reset.
const REMEMBER: Duration = Duration::from_secs(24 * 3600);
/// An idle process that uses more than this between two looks is doing something behind our back.
const IDLE_CPU: Duration = Duration::from_secs(1);
const SHORT_OF_MEMORY: f64 = 0.08;

pub(crate) struct Slot {
    pub(crate) live: Option<Child>,
    /// Why earlier state is gone, until somebody was told.
    pub(crate) lost: Option<String>,
    pub(crate) used: Instant,
    limits: Option<Limits>,
    seen: Load,
    /// What the calls so far could read, by name, and which version of it.
    basis: BTreeMap<String, String>,
    /// What the next call will find.
    pub(crate) variables: Vec<Variable>,
    /// What the caller called the live state.
    pub(crate) stamp: u64,
    mark: Mark,
}

pub(crate) type SlotGuard = OwnedMutexGuard<Slot>;

pub(crate) struct Sessions {
    slots: Mutex<HashMap<SessionKey, Arc<AsyncMutex<Slot>>>>,
    marks: Marks,
}

impl Slot {
    fn new(mark: Mark) -> Self {
        Self {
            live: None,
            lost: None,
            used: Instant::now(),
            limits: None,
            seen: Load::default(),
            basis: BTreeMap::new(),
            variables: Vec::new(),
            stamp: 0,
            mark,
        }
    }

    /// Keeps a child as the state of this conversation; `seen` is what it was last seen to use.
    pub(crate) fn keep(&mut self, child: Child, limits: &Limits, seen: Load) {
        self.seen = seen;
        self.live = Some(child);
        self.mark.set();
        self.limits = Some(limits.clone());
        self.used = Instant::now();
    }

    pub(crate) fn lose(&mut self, reason: impl Into<String>) {
        if self.live.take().is_some() {
            self.gone(reason);
        }
    }

    /// The state is gone; whoever calls next is told why.
    pub(crate) fn gone(&mut self, reason: impl Into<String>) {
        self.lost = Some(reason.into());
        self.variables.clear();
    }

    /// Why the state is gone, to be told now.
    pub(crate) fn tell_lost(&mut self) -> Option<String> {
        let reason = self.lost.take();
        if reason.is_some() && self.live.is_none() {
            self.mark.clear();
        }
        reason
    }

    /// Variables made from a thing that is gone or has changed since must not answer as if it were there.
    /// True when that ended live state.
    pub(crate) fn rest_on(&mut self, basis: BTreeMap<String, String>) -> bool {
        let was_live = self.live.is_some();
        if let Some(name) = self.stale(&basis) {
            let what = if basis.contains_key(name) { "was read again in another way" } else { "was removed" };
            let reason = format!("{name} {what}");
            self.lose(reason);
        }
        self.basis = basis;
        was_live && self.live.is_none()
    }

    /// What the calls so far could read and is not there any more as it was.
    fn stale(&self, basis: &BTreeMap<String, String>) -> Option<&str> {
        let gone = self.basis.iter().find(|(name, version)| basis.get(*name) != Some(version));
        gone.map(|(name, _)| name.as_str())
    }

    /// The stamp of live state that the next call will find.
    pub(crate) fn standing(&self) -> Option<u64> {
        self.live.as_ref().filter(|child| child.zygote.is_alive()).map(|_| self.stamp)
    }

    /// The live child if it can serve a job in this folder; otherwise the state is lost, with a reason.
    pub(crate) fn take_live(&mut self, folder: &Path) -> Option<Child> {
        let mut child = self.live.take()?;
        let reason = if child.folder.as_deref() != Some(folder) {
            "the working folder changed"
        } else if !child.zygote.is_alive() {
            "the Python worker was restarted"
        } else if child.wire.is_disturbed() {
            "the process did something between two calls"
        } else {
            return Some(child);
        };
        self.gone(reason);
        None
    }
}

impl Sessions {
    /// Knows, from marks on disk, which conversations had variables when the server ended.
    pub(crate) fn remembering(scratch: &Path) -> Self {
        let marks = Marks::new(scratch);
        let lost = |key: SessionKey| {
            let mut slot = Slot::new(marks.of(&key));
            slot.lost = Some("the server was restarted".into());
            (key, Arc::new(AsyncMutex::new(slot)))
        };
        let slots = marks.left_behind().into_iter().map(lost).collect();
        Self { slots: Mutex::new(slots), marks }
    }

    /// `basis`: what can be read now, where that is known; variables that rest on anything else are none.
    pub(crate) fn variables(
        &self,
        key: &SessionKey,
        basis: Option<&BTreeMap<String, String>>,
    ) -> Vec<Variable> {
        let slot = self.slots.lock().get(key).cloned();
        let Some(slot) = slot.and_then(|slot| slot.try_lock_owned().ok()) else { return Vec::new() };
        let stale = basis.is_some_and(|basis| slot.stale(basis).is_some());
        if slot.live.is_some() && !stale { slot.variables.clone() } else { Vec::new() }
    }

    /// Waits until the conversation is free; calls of one conversation run one after the other.
    pub(crate) async fn lock(&self, key: &SessionKey) -> SlotGuard {
        let slot = self
            .slots
            .lock()
            .entry(key.clone())
            .or_insert_with(|| Arc::new(AsyncMutex::new(Slot::new(self.marks.of(key)))))
            .clone();
        slot.lock_owned().await
    }

    pub(crate) async fn forget(&self, key: &SessionKey) {
        let slot = self.slots.lock().remove(key);
        if let Some(slot) = slot {
            let mut slot = slot.lock().await;
            slot.live = None;
            slot.lost = None;
            slot.mark.clear();
        }
    }

    pub(crate) fn clear(&self) {
        self.slots.lock().clear();
    }

    pub(crate) fn live_count(&self) -> usize {
        self.idle_slots().iter().filter(|(_, slot)| slot.live.is_some()).count()
    }

    fn idle_slots(&self) -> Vec<(SessionKey, SlotGuard)> {
        let slots: Vec<_> = self.slots.lock().iter().map(|(key, slot)| (key.clone(), slot.clone())).collect();
        slots.into_iter().filter_map(|(key, slot)| Some((key, slot.try_lock_owned().ok()?))).collect()
    }

    /// One look at everything idle. Busy conversations are left alone.
    pub(crate) fn sweep(&self, config: &SandboxConfig) {
        let mut idle = self.idle_slots();
        let mut forgotten = Vec::new();
        for (key, slot) in &mut idle {
            if slot.live.is_none() && slot.used.elapsed() > REMEMBER {
                forgotten.push(key.clone());
            } else {
                judge(slot, config);
            }
        }
        make_room(idle, config, monitor::available_share().is_some_and(|share| share < SHORT_OF_MEMORY));
        let mut slots = self.slots.lock();
        forgotten.iter().for_each(|key| drop(slots.remove(key)));
    }

    /// After a state was added: the oldest go at once, so that a burst of conversations holds no more than the limits.
    pub(crate) fn keep_within(&self, config: &SandboxConfig) {
        make_room(self.idle_slots(), config, false);
    }
}

/// Drops the least recently used states until the rest is within the limits; one more when memory is short.
fn make_room(mut idle: Vec<(SessionKey, SlotGuard)>, config: &SandboxConfig, mut short: bool) {
    idle.retain(|(_, slot)| slot.live.is_some());
    idle.sort_by_key(|(_, slot)| slot.used);
    let mut memory: u64 = idle.iter().map(|(_, slot)| slot.seen.memory).sum();
    let mut count = idle.len();
    for (_, slot) in &mut idle {
        if count <= config.max_states && memory <= config.state_memory && !short {
            break;
        }
        count -= 1;
        memory = memory.saturating_sub(slot.seen.memory);
        short = false;
        slot.lose("memory was needed for other conversations");
    }
}

fn judge(slot: &mut Slot, config: &SandboxConfig) {
    let Some(child) = &slot.live else { return };
    if slot.used.elapsed() > config.idle_state {
        let minutes = config.idle_state.as_secs().div_ceil(60);
        return slot.lose(format!("it was idle for more than {minutes} min"));
    }
    let load = monitor::measure(&child.roots(), child.zygote.resident);
    let busy = load.cpu.saturating_sub(slot.seen.cpu) > IDLE_CPU;
    let full = match (&child.folder, &slot.limits) {
        (Some(path), Some(limits)) if busy => folder::walk(path, limits).is_err(),
        _ => false,
    };
    slot.seen = load;
    if busy || full {
        slot.lose("it kept working in the background between two calls");
    }
}
