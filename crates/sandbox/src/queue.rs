//! Lets a fixed number of jobs run at once, and takes turns between owners. Knows nothing about jobs.

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
    waiting: HashMap<String, VecDeque<oneshot::Sender<Permit>>>,
    /// Owners with somebody waiting, next one first.
    turns: VecDeque<String>,
}

/// A place to run; given back when dropped.
pub(crate) struct Permit {
    queue: Option<FairQueue>,
}

impl FairQueue {
    pub(crate) fn new(places: usize) -> Self {
        let state = State { free: places.max(1), waiting: HashMap::new(), turns: VecDeque::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Waits for a place. Dropping the future leaves the queue.
    pub(crate) async fn acquire(&self, owner: &str) -> Permit {
        let waiter = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Permit { queue: Some(self.clone()) };
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

    fn release(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                let Some(owner) = state.turns.pop_front() else {
                    state.free += 1;
                    return;
                };
                let line = state.waiting.get_mut(&owner);
                let next = line.and_then(|line| line.pop_front().map(|sender| (sender, line.is_empty())));
                match next {
                    Some((sender, true)) => {
                        state.waiting.remove(&owner);
                        sender
                    }
                    Some((sender, false)) => {
                        state.turns.push_back(owner);
                        sender
                    }
                    None => continue,
                }
            };
            match next.send(Permit { queue: Some(self.clone()) }) {
                Ok(()) => return,
                // Gone in the meantime: its permit must not release again.
                Err(mut permit) => permit.queue = None,
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.release();
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
