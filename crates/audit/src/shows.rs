//! Whether a report shows a value that was computed apart from it, however it is written. Asks no evidence.

use crate::figures;
use crate::layout::Layout;
use crate::number::{Number, Unit};
use crate::{Options, cut};

/// What a report shows of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    Value,
    OtherFigures,
    NoFigure,
}

/// Looks for a value among the figures of a report. A share is a fraction.
pub fn shows(report: &str, value: f64) -> Shows {
    let options = Options::default();
    let report = cut(report, options.max_bytes);
    let found = figures::find(report, &Layout::of(report), &[], options.max_figures).figures;
    match (found.is_empty(), found.iter().any(|f| says(&f.number, value))) {
        (true, _) => Shows::NoFigure,
        (_, true) => Shows::Value,
        (_, false) => Shows::OtherFigures,
    }
}

/// Rounded or cut, in base units or in those of its column, as a share or in percent; a fall is often said without its sign.
fn says(number: &Number, value: f64) -> bool {
    let near = |shown: f64, half: f64| {
        let reach = 2.0 * half + value.abs() * 1e-9;
        half.is_finite() && (shown - value.abs()).abs() <= reach && (shown != 0.0 || value.abs() < 1e-9)
    };
    let plain_percent = number.unit == Unit::Plain && value.abs() <= 1.0;
    near(number.value, number.half)
        || near(number.value / number.scale, number.half / number.scale)
        || (plain_percent && near(number.value / 100.0, number.half / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_however_it_is_written() {
        for report in [
            "销售额合计 344,020 元。",
            "合计 34.4 万元",
            "about 0.34 million",
            "| a | b |\n|---|---|\n| 合计 | 344020 |",
            "合计 344020 万元",
        ] {
            assert_eq!(shows(report, 344_020.0), Shows::Value, "{report}");
        }
        assert_eq!(shows("占 12.2%", 0.1217), Shows::Value);
        assert_eq!(shows("占比为 12.2", 0.1217), Shows::Value);
        assert_eq!(shows("下降 5.3%", -0.053), Shows::Value);
    }

    #[test]
    fn another_value_is_not_it() {
        assert_eq!(shows("合计 412,890 元。", 344_020.0), Shows::OtherFigures);
        assert_eq!(shows("合计 0 元，共 12,345 元。", 344_020.0), Shows::OtherFigures);
        assert_eq!(shows("数据里没有这一列。", 344_020.0), Shows::NoFigure);
    }
}
