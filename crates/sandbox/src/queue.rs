//! Lets a fixed number of jobs run at once, takes turns between owners, and never gives all places to one of them: who comes
//! second does not wait for the first one's jobs to end (SPEC H5). Knows nothing about jobs.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

#[derive(Clone)]
pub(crate) struct FairQueue {
    state: Arc<Mutex<State>>,
}

struct State {
    free: usize,
    /// Places one owner may hold at the same time.
    most: usize,
    held: HashMap<String, usize>,
    waiting: HashMap<String, VecDeque<oneshot::Sender<Permit>>>,
    /// Owners with somebody waiting, next one first.
    turns: VecDeque<String>,
}

/// A place to run; given back when dropped.
pub(crate) struct Permit {
    queue: Option<(FairQueue, String)>,
}

impl FairQueue {
    pub(crate) fn new(places: usize) -> Self {
        let free = places.max(1);
        // With one or two places there is nothing to keep back.
        let most = if free > 2 { free - (free / 4).max(1) } else { free };
        let state =
            State { free, most, held: HashMap::new(), waiting: HashMap::new(), turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a place. Dropping the future leaves the queue.
    pub(crate) async fn acquire(&self, owner: &str) -> Permit {
        let waiter = {
            let mut state = self.state.lock();
            if state.free > 0 && state.may_have_more(owner) {
                return self.give(&mut state, owner);
            }
            let (sender, receiver) = oneshot::channel();
            let line = state.waiting.entry(owner.to_owned()).or_default();
            line.push_back(sender);
            if line.len() == 1 {
                state.turns.push_back(owner.to_owned());
            }
            receiver
        };
        // The sender is only dropped together with the queue, which this future keeps alive.
        waiter.await.unwrap_or(Permit { queue: None })
    }

    fn give(&self, state: &mut State, owner: &str) -> Permit {
        state.free -= 1;
        *state.held.entry(owner.to_owned()).or_default() += 1;
        Permit { queue: Some((self.clone(), owner.to_owned())) }
    }

    fn release(&self, owner: &str) {
        self.state.lock().give_back(owner);
        loop {
            let (sender, permit) = {
                let mut state = self.state.lock();
                let Some((next, sender)) = state.next() else { return };
                (sender, self.give(&mut state, &next))
            };
            // One that left meanwhile gives its place back here, without another round of this.
            if let Err(mut permit) = sender.send(permit)
                && let Some((_, owner)) = permit.queue.take()
            {
                self.state.lock().give_back(&owner);
            }
        }
    }
}

impl State {
    fn may_have_more(&self, owner: &str) -> bool {
        self.held.get(owner).copied().unwrap_or(0) < self.most
    }

    fn give_back(&mut self, owner: &str) {
        self.free += 1;
        if let Some(held) = self.held.get_mut(owner) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(owner);
            }
        }
    }

    /// Whose turn it is, among those who may have another place.
    fn next(&mut self) -> Option<(String, oneshot::Sender<Permit>)> {
        if self.free == 0 {
            return None;
        }
        let at = self.turns.iter().position(|owner| self.may_have_more(owner))?;
        let owner = self.turns.remove(at)?;
        let line = self.waiting.get_mut(&owner)?;
        let sender = line.pop_front()?;
        if line.is_empty() {
            self.waiting.remove(&owner);
        } else {
            self.turns.push_back(owner.clone());
        }
        Some((owner, sender))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some((queue, owner)) = self.queue.take() {
            queue.release(&owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn owners_take_turns() {
        let queue = FairQueue::new(1);
        let first = queue.acquire("greedy").await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for owner in ["greedy", "greedy", "greedy", "modest"] {
            let (line, log) = (queue.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _permit = line.acquire(owner).await;
                log.lock().push(owner);
            }));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock(), ["greedy", "modest", "greedy", "greedy"]);
    }

    #[tokio::test]
    async fn one_owner_never_has_all_places() {
        let queue = FairQueue::new(8);
        let mut greedy = Vec::new();
        while let Ok(permit) =
            tokio::time::timeout(std::time::Duration::from_millis(20), queue.acquire("greedy")).await
        {
            greedy.push(permit);
        }
        assert_eq!(greedy.len(), 6);
        let soon = std::time::Duration::from_secs(5);
        let _modest = tokio::time::timeout(soon, queue.acquire("modest")).await.unwrap();
        drop(greedy.pop());
        let _again = tokio::time::timeout(soon, queue.acquire("greedy")).await.unwrap();
        drop(greedy);
        assert_eq!(queue.state.lock().free, 6, "every place that was left comes back");
    }

    #[tokio::test]
    async fn a_waiter_that_leaves_does_not_hold_the_place() {
        let queue = FairQueue::new(1);
        let first = queue.acquire("a").await;
        let line = queue.clone();
        let gone = tokio::spawn(async move { drop(line.acquire("b").await) });
        tokio::task::yield_now().await;
        gone.abort();
        let _ = gone.await;
        drop(first);
        let again = tokio::time::timeout(std::time::Duration::from_secs(5), queue.acquire("c")).await;
        assert!(again.is_ok());
    }
}
