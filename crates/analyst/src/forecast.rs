//! A plain monthly forecast: a straight line, with month-of-year effects when two years are known, tested on the last
//! months. Nothing cleverer, and never without its error.

pub struct Forecast {
    /// Month label and value.
    pub ahead: Vec<(String, f64)>,
    pub seasonal: bool,
    /// Mean absolute percentage error on months held back, and how many were.
    pub error: Option<f64>,
    pub tested: usize,
}

const LEAST_HISTORY: usize = 6;

/// Continues a series of months. Nothing with less than half a year of history.
pub fn forecast(labels: &[String], values: &[f64], periods: usize, linear: bool) -> Option<Forecast> {
    if values.len() < LEAST_HISTORY || labels.len() != values.len() {
        return None;
    }
    let (year, month) = labels.last()?.split_once('-')?;
    let (year, month): (usize, usize) = (year.parse().ok()?, month.parse().ok()?);
    let seasonal = values.len() >= 24 && !linear;
    let ahead = extend(values, periods, seasonal)
        .into_iter()
        .enumerate()
        .map(|(i, v)| {
            let at = year * 12 + month + i;
            (format!("{}-{:02}", at / 12, at % 12 + 1), v)
        })
        .collect();
    let tested = (values.len() / 4).min(6);
    let error = backtest(values, tested, linear);
    Some(Forecast { ahead, seasonal, error, tested })
}

fn backtest(values: &[f64], tested: usize, linear: bool) -> Option<f64> {
    let (known, held) = values.split_at(values.len() - tested);
    if known.len() < LEAST_HISTORY || held.contains(&0.0) {
        return None;
    }
    let guessed = extend(known, tested, known.len() >= 24 && !linear);
    let errors: f64 = guessed.iter().zip(held).map(|(g, h)| ((g - h) / h).abs()).sum();
    Some(errors / float(tested))
}

fn extend(values: &[f64], periods: usize, seasonal: bool) -> Vec<f64> {
    let effects = if seasonal { month_effects(values) } else { vec![0.0; 12] };
    let plain: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - effects[i % 12]).collect();
    let (slope, start) = line(&plain);
    (values.len()..values.len() + periods).map(|i| start + slope * float(i) + effects[i % 12]).collect()
}

/// How far each place in the year lies from the line, on average.
fn month_effects(values: &[f64]) -> Vec<f64> {
    let (slope, start) = line(values);
    let mut sums = [(0.0, 0usize); 12];
    for (i, v) in values.iter().enumerate() {
        sums[i % 12].0 += v - (start + slope * float(i));
        sums[i % 12].1 += 1;
    }
    let effects: Vec<f64> = sums.iter().map(|(s, n)| s / float((*n).max(1))).collect();
    let mean = effects.iter().sum::<f64>() / 12.0;
    effects.into_iter().map(|e| e - mean).collect()
}

/// Least squares: slope and start.
fn line(values: &[f64]) -> (f64, f64) {
    let n = float(values.len());
    let mean_x = (n - 1.0) / 2.0;
    let mean_y = values.iter().sum::<f64>() / n;
    let (mut above, mut below) = (0.0, 0.0);
    for (i, v) in values.iter().enumerate() {
        above += (float(i) - mean_x) * (v - mean_y);
        below += (float(i) - mean_x).powi(2);
    }
    let slope = if below == 0.0 { 0.0 } else { above / below };
    (slope, mean_y - slope * mean_x)
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred months")]
fn float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn months(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("{}-{:02}", 2023 + i / 12, i % 12 + 1)).collect()
    }

    #[test]
    fn a_line_goes_on_as_a_line() {
        let values: Vec<f64> = (0..12).map(|i| 100.0 + 10.0 * float(i)).collect();
        let result = forecast(&months(12), &values, 2, false).unwrap();
        assert_eq!(result.ahead[0].0, "2024-01");
        assert!((result.ahead[0].1 - 220.0).abs() < 1e-6);
        assert!((result.ahead[1].1 - 230.0).abs() < 1e-6);
        assert!(result.error.unwrap() < 1e-9);
    }

    #[test]
    fn seasons_come_back() {
        let values: Vec<f64> = (0..24).map(|i| 100.0 + if i % 12 == 0 { 50.0 } else { 0.0 }).collect();
        let result = forecast(&months(24), &values, 2, false).unwrap();
        assert!(result.seasonal);
        assert!(result.ahead[0].1 > result.ahead[1].1 + 30.0);
        assert_eq!(result.ahead[0].0, "2025-01");
        let line = forecast(&months(24), &values, 2, true).unwrap();
        assert!(!line.seasonal && (line.ahead[0].1 - line.ahead[1].1).abs() < 2.0);
    }

    #[test]
    fn too_little_history_gives_nothing() {
        assert!(forecast(&months(5), &[1.0; 5], 1, false).is_none());
        assert!(forecast(&vec!["x".to_owned(); 6], &[1.0; 6], 1, false).is_none());
    }
}
