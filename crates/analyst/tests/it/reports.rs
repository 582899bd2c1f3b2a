//! What a report holds, and how follow-ups refine a question.

use crate::support::{Bench, answer};

fn sample(name: &str) -> String {
    format!("{}/../../evals/tables/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn bench(name: &str) -> Bench {
    let mut bench = Bench::new();
    bench.load(&[sample(name)]);
    bench
}

// SPEC L3: report, chart, code, recommended questions, downloads, and it says what it is.
#[test]
fn a_report_has_every_part() {
    let run = bench("retail.csv").ask(&[], "各地区的销售额");
    let content = &run.report.content;
    assert!(answer(content).contains("**华东**"));
    assert!(content.contains("| 华东 | 2,923,382.55 |"));
    assert!(content.contains("<div id=\"chart_1_1\"") && content.contains("echarts.init"));
    assert!(content.contains("<code_ref>code_offline_1_main</code_ref>"));
    assert!(content.contains("离线分析器") && content.contains("BA_MODEL"));
    assert_eq!(run.report.code_blocks[0].language, "sql");
    assert_eq!(run.report.download_links, ["offline_result_1.xlsx"]);
    assert!(run.report.recommended_questions.len() >= 2);
}

#[test]
fn charts_fit_the_shape_of_the_answer() {
    let mut retail = bench("retail.csv");
    for (question, kind) in [
        ("每月销售额趋势", "\"type\":\"line\""),
        ("各地区的销售额", "\"type\":\"bar\""),
        ("各地区销售额占比", "\"type\":\"pie\""),
        ("单价和数量的相关性", "\"type\":\"scatter\""),
        ("各地区单价的分布", "\"type\":\"boxplot\""),
        ("产品的帕累托分析", "\"yAxisIndex\":1"),
        ("客户留存率", "\"type\":\"heatmap\""),
    ] {
        let content = retail.ask(&[], question).report.content;
        assert!(content.contains(kind), "{question}: {content}");
    }
    assert!(
        bench("web_funnel.csv").ask(&[], "show the funnel").report.content.contains("\"type\":\"funnel\"")
    );
}

#[test]
fn follow_ups_refine_the_question_before() {
    let mut retail = bench("retail.csv");
    let first = vec!["2024年华东的销售额是多少".to_owned()];
    let run = retail.ask(&first, "那华南呢？");
    assert!(run.sql[0].contains("'华南'") && run.sql[0].contains("2024-01-01"));
    let run = retail.ask(&["各地区的销售额".to_owned()], "画成饼图");
    assert!(run.report.content.contains("\"type\":\"pie\""));
    let run = retail.ask(&["revenue by region".to_owned()], "by month instead");
    assert!(run.sql[0].contains("date_trunc('month'") && !run.sql[0].contains("\"地区\""));
    let two = ["revenue by region".to_owned(), "by month instead".to_owned()];
    let run = retail.ask(&two, "only 2024");
    assert!(run.sql[0].contains("DATE '2024-01-01'") && run.sql[0].contains("'month'"));
}

#[test]
fn the_language_is_that_of_the_question() {
    let mut retail = bench("retail.csv");
    assert!(retail.ask(&[], "total revenue").report.content.contains("offline analyst"));
    assert!(retail.ask(&[], "总销售额").report.content.contains("离线分析器"));
}

#[test]
fn a_choice_is_said_and_the_other_reading_offered() {
    let run = bench("hr.csv").ask(&[], "salary by department");
    // Neither the mean nor the total was said: both are shown.
    assert!(run.report.content.contains("| average monthly_salary | total monthly_salary |"));
    let run = bench("retail.csv").ask(&[], "上个月的销售额");
    assert!(run.report.content.contains("2024-12-31"));
}

#[test]
fn two_uploads_are_joined_on_their_common_key() {
    let mut bench = Bench::new();
    bench.load(&[sample("retail.csv"), sample("products.csv")]);
    let run = bench.ask(&[], "各供应商的销售额");
    assert!(run.sql[0].contains("LEFT JOIN"));
    assert!(run.report.content.contains("已按“产品”关联 products.csv"));
}

#[test]
fn a_key_that_both_uploads_name_is_the_one_they_are_joined_on() {
    let folder = std::env::temp_dir().join(format!("ba-analyst-{}-policies", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (policies, claims) = (folder.join("policies.csv"), folder.join("claims.csv"));
    let numbers = 1..=40;
    let lines = numbers
        .clone()
        .map(|n| format!("P-{n},{},2024-01-{:02}", if n % 2 == 0 { "Home" } else { "Motor" }, n % 28 + 1));
    std::fs::write(
        &policies,
        format!("policy_no,product,start_date\n{}\n", lines.collect::<Vec<_>>().join("\n")),
    )
    .unwrap();
    // Three claims on each of the first ten policies; both tables have numbers of papers, only one is common.
    let lines = (0..30).map(|n| format!("C{n},P-{},2024-03-01,{}", n % 10 + 1, 100 + n));
    std::fs::write(
        &claims,
        format!("claim_no,policy_no,claim_date,claim_amount\n{}\n", lines.collect::<Vec<_>>().join("\n")),
    )
    .unwrap();
    let mut bench = Bench::new();
    bench.load(&[policies, claims].map(|p| p.display().to_string()));
    let run = bench.ask(&[], "Total claim amount by product");
    assert!(run.report.content.contains("| Home | 1,725 |"), "{}", run.report.content);
    assert!(run.report.content.contains("| Motor | 1,710 |"), "{}", run.report.content);
}

#[test]
fn every_sheet_of_a_workbook_is_known() {
    let folder = std::env::temp_dir().join(format!("ba-analyst-{}-sheets", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let files = [
        write("book__orders.csv", "order_no,product,amount\n1,Tea,10\n2,Tea,20\n3,Milk,5\n"),
        write("book__staff.csv", "employee,salary\nAnn,100\nBen,300\nCem,200\n"),
        write("book__goods.csv", "product,supplier\nTea,Acme\nMilk,Bolt\n"),
    ];
    let mut bench = Bench::new();
    bench.load(&files);
    let mut ask = |question: &str| answer(&bench.ask(&[], question).report.content);
    assert!(ask("total amount").contains("**35**"), "{}", ask("total amount"));
    assert!(ask("average salary").contains("**200**"), "{}", ask("average salary"));
    assert!(ask("amount by supplier").contains("**Acme** (30)"), "{}", ask("amount by supplier"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_other_end_of_a_cut_list_is_not_claimed() {
    let rows: String = (1..=1500).map(|i| format!("T{i},{i}\n")).collect();
    let (folder, mut bench) = crate::bad_input::table("many", &format!("ticket_no,minutes\n{rows}"));
    let said = answer(&bench.ask(&[], "which ticket has the highest minutes").report.content);
    assert!(said.contains("**T1500**") && !said.contains("lowest"), "{said}");
    std::fs::remove_dir_all(folder).unwrap();
}
