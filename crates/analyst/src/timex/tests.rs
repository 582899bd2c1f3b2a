//! Times as people say them.

use super::*;
use crate::norm::normal;

fn read(text: &str) -> Vec<String> {
    let last = Date::constant(2024, 12, 31);
    find(&normal(text))
        .iter()
        .filter_map(|f| f.when.resolve(last))
        .map(|s| {
            format!(
                "{}..{}",
                s.from.map_or(String::new(), |d| d.to_string()),
                s.to.map_or(String::new(), |d| d.to_string())
            )
        })
        .collect()
}

#[test]
fn every_pattern_compiles() {
    assert_eq!(PATTERNS.len(), 47);
}

#[test]
fn absolute_times() {
    for (text, days) in [
        ("2024年销售额", "2024-01-01..2025-01-01"),
        ("revenue in 2023", "2023-01-01..2024-01-01"),
        ("2024年Q3", "2024-07-01..2024-10-01"),
        ("2024年第三季度", "2024-07-01..2024-10-01"),
        ("Q3 2024 sales", "2024-07-01..2024-10-01"),
        ("2024年上半年", "2024-01-01..2024-07-01"),
        ("H2 2023", "2023-07-01..2024-01-01"),
        ("2024年3月", "2024-03-01..2024-04-01"),
        ("2024年十二月", "2024-12-01..2025-01-01"),
        ("March 2024", "2024-03-01..2024-04-01"),
        ("sales in 2024-03", "2024-03-01..2024-04-01"),
        ("on 2024-03-05", "2024-03-05..2024-03-06"),
        ("since the start of 2023", "2023-01-01.."),
        ("from March 2024 onwards", "2024-03-01.."),
        ("2024年3月5日", "2024-03-05..2024-03-06"),
        ("March 5, 2024", "2024-03-05..2024-03-06"),
        ("24年的销售额", "2024-01-01..2025-01-01"),
        ("third quarter of 2024", "2024-07-01..2024-10-01"),
    ] {
        assert_eq!(read(text), [days], "{text}");
    }
}

#[test]
fn relative_times_count_from_the_data() {
    for (text, days) in [
        ("去年销售额", "2023-01-01..2024-01-01"),
        ("上个月", "2024-11-01..2024-12-01"),
        ("last month", "2024-11-01..2024-12-01"),
        ("本月", "2024-12-01..2025-01-01"),
        ("last quarter", "2024-07-01..2024-10-01"),
        ("最近3个月", "2024-10-01..2025-01-01"),
        ("last three months", "2024-10-01..2025-01-01"),
        ("最近30天", "2024-12-02..2025-01-01"),
        ("year to date", "2024-01-01..2025-01-01"),
        ("去年3月", "2023-03-01..2023-04-01"),
        ("去年三季度", "2023-07-01..2023-10-01"),
        ("3月的销售额", "2024-03-01..2024-04-01"),
        ("sales in May", "2024-05-01..2024-06-01"),
    ] {
        assert_eq!(read(text), [days], "{text}");
    }
}

#[test]
fn ranges_and_directions() {
    for (text, days) in [
        ("2024年1月到6月", "2024-01-01..2024-07-01"),
        ("from January to June 2024", "2024-01-01..2024-07-01"),
        ("between 2024-01-01 and 2024-03-31", "2024-01-01..2024-04-01"),
        ("since 2024-06", "2024-06-01.."),
        ("2024年6月以来", "2024-06-01.."),
        ("before 2024", "..2024-01-01"),
        ("after March 2024", "2024-04-01.."),
        ("2023-2024", "2023-01-01..2025-01-01"),
    ] {
        assert_eq!(read(text), [days], "{text}");
    }
    assert_eq!(read("2023年和2024年").len(), 2);
    assert_eq!(read("2024 vs 2023"), ["2024-01-01..2025-01-01", "2023-01-01..2024-01-01"]);
}

#[test]
fn numbers_and_verbs_are_not_times() {
    for text in ["orders over 2000", "金额大于2000", "2000元以上", "it may grow", "top 10", "12,024 rows"]
    {
        assert!(read(text).is_empty(), "{text}: {:?}", read(text));
    }
}

#[test]
fn nonsense_dates_do_not_panic() {
    for text in
        ["2024-13-45", "2024年99月", "0000-00-00", "last 999 years", "最近999天", "9999年12月31日以后"]
    {
        let _ = read(text);
    }
}
