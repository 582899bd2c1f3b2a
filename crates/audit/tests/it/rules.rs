//! Single rules of binding, each with the report that must pass and the one that must not.

use ba_audit::{Evidence, Options, State, audit};
use serde_json::{Value, json};

fn table(columns: &[&str], rows: Vec<Vec<Value>>) -> Evidence {
    let mut evidence = Evidence::new();
    evidence.table("q", columns.iter().map(|c| (*c).to_owned()).collect(), rows);
    evidence
}

fn states(report: &str, evidence: &Evidence) -> Vec<(String, State)> {
    audit(report, evidence, Options::default()).figures.into_iter().map(|f| (f.text, f.state)).collect()
}

fn regions() -> Evidence {
    table(
        &["地区", "年份", "销售额", "利润"],
        vec![
            vec![json!("华东"), json!(2023), json!(121_300), json!(31_000)],
            vec![json!("华东"), json!(2024), json!(150_600), json!(33_500)],
            vec![json!("华南"), json!(2023), json!(98_200), json!(22_300)],
            vec![json!("华南"), json!(2024), json!(87_300), json!(20_100)],
        ],
    )
}

#[track_caller]
fn all(report: &str, expected: &[State]) {
    let found = states(report, &regions());
    let states: Vec<State> = found.iter().map(|f| f.1).collect();
    assert_eq!(states, expected, "{report}: {found:?}");
}

// SPEC V2, V3
#[test]
fn another_labels_number_is_a_mismatch() {
    all("2024 年华东销售额 150,600 元。", &[State::Proven]);
    all("2024 年华东销售额 87,300 元。", &[State::Mismatch]);
    all("2024 年华东利润 150,600 元。", &[State::Mismatch]);
}

#[test]
fn a_stale_period_is_a_mismatch() {
    all("2023 年华东销售额 121,300 元。", &[State::Proven]);
    all("2024 年华东销售额 121,300 元。", &[State::Mismatch]);
}

#[test]
fn growth_has_a_sign_and_is_not_points() {
    all("2024 年华东销售额同比增长 24.2%。", &[State::Derived]);
    all("2024 年华东销售额同比下降 24.2%。", &[State::Unproven]);
    all("2024 年华南销售额同比下降 11.1%。", &[State::Derived]);
    all("2024 年华东销售额同比增长 24.2 个百分点。", &[State::Unproven]);
}

#[test]
fn rounding_is_to_the_digits_shown() {
    all("2024 年华东销售额 15.1万元。", &[State::Proven]);
    all("2024 年华东销售额 15.0万元。", &[State::Unproven]);
    all("2024 年华东销售额 15.1亿元。", &[State::Unproven]);
}

#[test]
fn a_user_s_own_number_is_given_and_may_be_an_operand() {
    let mut evidence =
        table(&["team", "spend"], vec![vec![json!("A1"), json!(41_250.5)], vec![json!("B1"), json!(20_000)]]);
    evidence.given("user", "our budget is $100,000");
    let found = states("Both teams spent $61,250.50 in total, 61.3% of the budget of $100,000.", &evidence);
    let states: Vec<State> = found.iter().map(|f| f.1).collect();
    assert_eq!(states, [State::Derived, State::Derived, State::Given], "{found:?}");
}

#[test]
fn printed_lines_prove_by_their_words() {
    let mut evidence = Evidence::new();
    evidence.text("py", "correlation: 0.8312\nmean price: 41.27");
    assert_eq!(states("The correlation is 0.83.", &evidence), [("0.83".to_owned(), State::Proven)]);
    assert_eq!(states("The mean price is 0.83.", &evidence), [("0.83".to_owned(), State::Unproven)]);
}

#[test]
fn charts_are_audited_point_by_point() {
    let chart = |v: u32| {
        format!(
            "```echarts\n{{xAxis: {{data: ['华东', '华南']}}, series: [{{name: '2024 年利润', data: [33500, {v}]}}]}}\n```"
        )
    };
    all(&chart(20_100), &[State::Proven, State::Proven]);
    all(&chart(99_999), &[State::Proven, State::Unproven]);
    all(&chart(33_500), &[State::Proven, State::Mismatch]);
}

#[test]
fn a_number_that_belongs_to_a_name_is_no_figure() {
    let evidence =
        table(&["客户", "额"], vec![vec![json!("客户12"), json!(345.5)], vec![json!("客户13"), json!(1)]]);
    assert_eq!(states("客户12 的额为 345.5。", &evidence), [("345.5".to_owned(), State::Proven)]);
}

#[test]
fn small_numbers_need_their_names() {
    let evidence = table(
        &["部门", "人数", "缺勤"],
        vec![vec![json!("研发"), json!(12), json!(3)], vec![json!("市场"), json!(7), json!(5)]],
    );
    assert_eq!(states("研发人数 12。", &evidence)[0].1, State::Proven);
    assert_eq!(states("另外完成了 12 次升级。", &evidence)[0].1, State::Unproven);
}

#[track_caller]
fn in_table(evidence: &Evidence, report: &str, expected: &[State]) {
    let found = states(report, evidence);
    assert_eq!(found.iter().map(|f| f.1).collect::<Vec<_>>(), expected, "{report}: {found:?}");
}

#[test]
fn a_figure_in_brackets_behind_a_label_is_of_the_column_named_next() {
    let evidence = table(
        &["team", "average pay", "rows"],
        vec![
            vec![json!("Sales"), json!(27_853.91), json!(264)],
            vec![json!("Support"), json!(12_686.79), json!(88)],
        ],
    );
    let report = |a: &str| {
        format!("**Sales** ({a}) has the highest average pay; **Support** (12,686.79) has the lowest.")
    };
    in_table(&evidence, &report("27,853.91"), &[State::Proven, State::Proven]);
    in_table(&evidence, &report("12,686.79"), &[State::Mismatch, State::Proven]);
    in_table(&evidence, &report("264"), &[State::Mismatch, State::Proven]);
}

#[test]
fn both_halves_of_a_ratio_prove_each_other() {
    let evidence = table(&["part", "whole", "share"], vec![vec![json!(660), json!(11_805), json!(0.0559)]]);
    in_table(&evidence, "That is **5.59%** (660 / 11,805).", &[State::Proven, State::Proven, State::Proven]);
    assert_ne!(states("That is 5.59% (670 / 11,805).", &evidence)[1].1, State::Proven);
    let apart = table(&["x", "y"], vec![vec![json!(660), json!(12)], vec![json!(940), json!(7)]]);
    assert_ne!(states("In all some (660 / 940) came.", &apart)[0].1, State::Proven, "not of one row");
}

#[test]
fn the_highest_group_holds_its_share_and_no_other() {
    all("4 组合计 457,400，最高的一组占 32.93%。", &[State::Derived, State::Derived, State::Derived]);
    all("4 组合计 457,400，最高的一组占 26.52%。", &[State::Derived, State::Derived, State::Unproven]);
    all("5 组合计 457,400。", &[State::Unproven, State::Derived]);
}

#[test]
fn from_one_to_the_other_needs_both_under_their_labels() {
    let evidence = table(
        &["month", "n", "m"],
        vec![
            vec![json!("2022-01"), json!(64), json!(7)],
            vec![json!("2022-06"), json!(80), json!(8)],
            vec![json!("2022-12"), json!(51), json!(9)],
        ],
    );
    let report = |a: u32, b: u32| format!("From {a} in 2022-01 to {b} in 2022-12.");
    in_table(&evidence, &report(64, 51), &[State::Proven, State::Proven]);
    assert_ne!(states(&report(80, 51), &evidence)[0].1, State::Proven);
    assert_ne!(states(&report(64, 55), &evidence)[1].1, State::Proven);
}

#[test]
fn ties_lower_bounds_rests_and_fitted_points_are_one_step() {
    let evidence = table(
        &["k", "v"],
        ["a", "b", "c"].into_iter().zip([76, 76, 44]).map(|(k, v)| vec![json!(k), json!(v)]).collect(),
    );
    in_table(&evidence, "a leads (2 tied).", &[State::Derived]);
    in_table(&evidence, "a leads (3 tied).", &[State::Unproven]);
    in_table(&evidence, "共 2+ 行。", &[State::Derived]);
    in_table(&evidence, "共 9+ 行。", &[State::Unproven]);
    let whole = table(&["part", "whole"], vec![vec![json!(211), json!(420)]]);
    let pie = |v: u32| {
        format!("```echarts\n{{series: [{{type: 'pie', data: [{{name: '其他', value: {v}}}]}}]}}\n```")
    };
    in_table(&whole, &pie(209), &[State::Derived]);
    in_table(&whole, &pie(208), &[State::Unproven]);
    let fit = table(&["slope", "intercept"], vec![vec![json!(0.5), json!(1.25)]]);
    let line = |y: f64| format!("```echarts\n{{series: [{{type: 'line', data: [[10, {y}]]}}]}}\n```");
    assert_eq!(states(&line(6.25), &fit).last().unwrap().1, State::Derived);
    assert_eq!(states(&line(6.75), &fit).last().unwrap().1, State::Unproven);
}

#[test]
fn the_last_days_of_a_month_are_dates() {
    assert_eq!(states("数据只覆盖 2023-01-01 至 2024-12-31，The data ends 2024-06-30.", &regions()), []);
}

#[test]
fn a_table_in_html_is_read_by_its_rows_and_columns() {
    let report = |sum: &str| {
        format!(
            "<table>\n<tr><th>地区</th><th>2024 销售额</th><th>2024 利润</th></tr>\n\
             <tr><td>华东</td><td><b>150,600</b></td><td>33,500</td></tr>\n\
             <tr><td>华南</td><td>{sum}</td><td>20,100</td></tr>\n</table>\n\n以上。"
        )
    };
    all(&report("87,300"), &[State::Proven; 4]);
    let mut wrong = [State::Proven; 4];
    wrong[2] = State::Mismatch;
    all(&report("150,600"), &wrong);
}

#[test]
fn labels_made_of_digits_are_names() {
    let hours: Vec<Vec<Value>> =
        (0..24).map(|h| vec![json!(format!("{h:02}")), json!(1_003 + h * 37)]).collect();
    let evidence = table(&["小时", "销售额"], hours);
    let mut report = "销售额最高的是 **23**（1,854），最低的是 **00**（1,003），09 点为 1,336。\n\n| 小时 | 销售额 |\n|---|---:|\n".to_owned();
    for hour in 0..24 {
        report.push_str(&format!("| {hour:02} | {} |\n", 1_003 + hour * 37));
    }
    let found = states(&report, &evidence);
    assert_eq!(found.len(), 27, "{found:?}");
    assert!(found.iter().all(|f| f.1 == State::Proven), "{found:?}");
    // A count is not an hour.
    assert_eq!(states("共有 15 家门店。", &evidence), [("15".to_owned(), State::Unproven)]);
}

/// Tables of Python: a Series has its index as a column and perhaps no name, a dict has its keys.
#[test]
fn tables_of_python_are_bound_by_their_index() {
    for columns in [["地区", "销售额"], ["index", "0"], ["", "value"], ["key", "value"]] {
        let rows = vec![vec![json!("华东"), json!(150_600)], vec![json!("华南"), json!(87_300)]];
        let evidence = table(&columns, rows);
        let state = |report: &str| states(report, &evidence).remove(0).1;
        assert_eq!(state("华东销售额 150,600 元。"), State::Proven, "{columns:?}");
        assert_eq!(state("华东销售额 87,300 元。"), State::Mismatch, "{columns:?}");
    }
}
