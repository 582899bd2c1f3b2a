//! How much work one question may cost. Counted, not timed: the same question always gets the same answer.

use std::cell::Cell;

/// Longer questions are not read at all.
pub const LONGEST: usize = 1_000;
/// Steps of weighing for one question; ordinary questions need a twentieth.
pub const MOST: u64 = 400_000;

pub struct Budget(Cell<u64>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MOST))
    }
}

impl Budget {
    /// False when there is nothing left.
    pub fn spend(&self, steps: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(steps as u64));
        self.0.get() > 0
    }

    pub fn spent(&self) -> u64 {
        MOST - self.0.get()
    }
}
