//! Questions by time over tables without a readable date: declined with the reason, or by the column that names the period.

use std::fmt::Write;

use crate::support::{Bench, Run, answer};

fn file(dir: &std::path::Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn asked(name: &str, text: &str, questions: &[&str]) -> Vec<Run> {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::new();
    bench.load(&[file(dir.path(), name, text)]);
    questions.iter().map(|q| bench.ask(&[], q)).collect()
}

const BY_MONTH: [&str; 6] = [
    "按月统计销售额",
    "销售额趋势",
    "每月的销售额是多少",
    "amount by month",
    "monthly trend of amount",
    "amount by region by month",
];

#[test]
fn dates_that_could_not_be_read_are_named() {
    let mut text = "日期,地区,销售额\n".to_owned();
    for (i, day) in ["2024/13/45", "上周三", "3月初", "2024-02-01", "2024-02-05"].iter().enumerate() {
        writeln!(text, "{day},华东,{}\n{day},华北,{}", 10 + i, 20 + i).unwrap();
    }
    for run in asked("sales.csv", &text, &BY_MONTH) {
        let said = answer(&run.report.content);
        assert!(said.contains("“日期”是文本") || said.contains("“日期” is text"), "{said}");
        assert!(run.sql.is_empty(), "nothing is computed: {:?}", run.sql);
    }
}

#[test]
fn a_quarter_is_no_month_and_nothing_is_no_date() {
    let quarters = "quarter,region,amount\nQ1,East,10\nQ2,West,11\nQ3,East,12\nQ4,West,13\nQ1,West,1\n";
    for run in asked("sales.csv", quarters, &BY_MONTH) {
        let said = answer(&run.report.content);
        assert!(said.contains("“quarter”是文本") || said.contains("“quarter” is text"), "{said}");
        assert!(run.sql.is_empty(), "{:?}", run.sql);
    }
    for run in asked("sales.csv", quarters, &["按季度统计销售额", "amount by quarter"]) {
        assert!(run.report.content.contains("| Q4 | 13 |"), "{}", run.report.content);
    }
    let none = "region,category,amount\nEast,a,10\nEast,b,11\nWest,a,12\nWest,b,13\n";
    for run in asked("sales.csv", none, &BY_MONTH) {
        let said = answer(&run.report.content);
        assert!(said.contains("没有日期列") || said.contains("no date column"), "{said}");
        assert!(run.sql.is_empty(), "{:?}", run.sql);
    }
}

#[test]
fn a_year_and_a_month_in_two_columns_are_one_date() {
    let mut text = "年,月,地区,销售额\n".to_owned();
    for i in 0..24 {
        writeln!(text, "{},{},{},{}", 2023 + i / 12, i % 12 + 1, ["华东", "华北"][i % 2], 100 + i).unwrap();
    }
    for run in asked("sales.csv", &text, &["按月统计销售额", "amount by month"]) {
        assert!(run.sql[0].contains("\"年月\""), "{}", run.sql[0]);
        assert!(run.report.content.contains("| 2024-02 | 113 |"), "{}", run.report.content);
    }
    let months = "month,region,amount\nJan-24,East,10\nJan-24,West,11\nFeb-24,East,12\nMar-24,West,13\n";
    for run in asked("sales.csv", months, &["按月统计销售额", "amount by month"]) {
        assert!(run.report.content.contains("| 2024-01 | 21 |"), "{}", run.report.content);
    }
}

#[test]
fn every_region_is_no_idle_word() {
    let text = "region,amount\n华东,10\n华北,11\n华东,12\n";
    let runs = asked("sales.csv", text, &["各地区的销售额", "各地区的销售额是多少？"]);
    for run in runs {
        assert!(run.report.content.contains("| 华东 | 22 |"), "{}", run.report.content);
    }
}
