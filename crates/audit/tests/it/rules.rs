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
