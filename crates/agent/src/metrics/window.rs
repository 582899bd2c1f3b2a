//! The last latencies, for percentiles: exact over a bounded window.

const SIZE: usize = 2_048;

#[derive(Default)]
pub struct Window {
    values: Vec<f64>,
    next: usize,
    sum: f64,
    count: u64,
}

impl Window {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
        if self.values.len() < SIZE {
            self.values.push(value);
        } else {
            self.values[self.next] = value;
            self.next = (self.next + 1) % SIZE;
        }
    }

    pub fn merge(&mut self, other: &Window) {
        for value in &other.values {
            self.values.push(*value);
        }
        self.sum += other.sum;
        self.count += other.count;
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean to show")]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// p50, p95, p99 by nearest rank.
    pub fn percentiles(&self) -> (f64, f64, f64) {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = |percent: usize| {
            let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(index).copied().unwrap_or(0.0)
        };
        (rank(50), rank(95), rank(99))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank_over_the_last_values() {
        let mut window = Window::default();
        assert_eq!(window.percentiles(), (0.0, 0.0, 0.0));
        for i in 1..=100 {
            window.add(f64::from(i));
        }
        assert_eq!(window.percentiles(), (50.0, 95.0, 99.0));
        for _ in 0..SIZE {
            window.add(7.0);
        }
        assert_eq!(window.percentiles(), (7.0, 7.0, 7.0));
    }
}
