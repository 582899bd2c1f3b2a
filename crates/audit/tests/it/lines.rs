//! What figures prove together: columns under headers no query used, words a table has explained, figures made of the
//! figures beside them, units the results keep to themselves.

use ba_audit::{Evidence, Options, State, audit};
use serde_json::{Value, json};

fn ads() -> Evidence {
    let columns = ["channel", "shown", "hits", "cost", "income"].map(str::to_owned).to_vec();
    let row = |name: &str, v: [f64; 4]| -> Vec<Value> {
        std::iter::once(json!(name)).chain(v.iter().map(|v| json!(v))).collect()
    };
    let mut evidence = Evidence::new();
    evidence.table(
        "q",
        columns,
        vec![
            row("Search", [412_000.0, 32_961.0, 24_720.0, 184_590.0]),
            row("Video", [1_285_000.0, 43_690.0, 61_166.0, 118_864.0]),
            row("Mail", [736_000.0, 15_457.0, 10_819.0, 57_975.0]),
        ],
    );
    evidence
}

fn marked(report: &str, evidence: &Evidence) -> Vec<String> {
    let found = audit(report, evidence, Options::default());
    found.figures.into_iter().filter(|f| f.state.is_marked()).map(|f| f.text).collect()
}

const TABLE: &str = "| Channel | CTR | ROAS |\n|---|---|---|\n| Search | 8.00% | 7.47 |\n| Video | 3.40% | 1.94 |\n| Mail | 2.10% | 5.36 |\n| All | 3.79% | 3.74 |\n";

#[test]
fn a_column_is_bound_by_the_one_formula_that_gives_it() {
    assert_eq!(marked(TABLE, &ads()), Vec::<String>::new());
    let found = audit(TABLE, &ads(), Options::default());
    assert!(found.figures.iter().all(|f| f.state == State::Derived), "{:?}", found.figures);
}

#[test]
fn the_one_that_falls_out_of_its_column_is_marked() {
    // 43,690 / 61,166 is a ratio of its row too, but not this column's.
    assert_eq!(marked(&TABLE.replace("1.94", "0.71"), &ads()), ["0.71"]);
    assert_eq!(marked(&TABLE.replace("2.10%", "2.10 个百分点"), &ads()), ["2.10 个百分点"]);
}

#[test]
fn a_word_that_a_table_explains_is_known_in_the_text() {
    let told = |text: &str| marked(&format!("{TABLE}\n{text}\n"), &ads());
    assert_eq!(told("Mail has a ROAS of 5.4."), Vec::<String>::new());
    assert_eq!(told("Mail has a ROAS of 7.5."), ["7.5"]);
}

#[test]
fn a_figure_may_be_made_of_those_beside_it() {
    let told = |text: &str| marked(&format!("{TABLE}\n{text}\n"), &ads());
    assert_eq!(
        told("The gap between 8.00% for Search and 2.10% for Mail is 5.9 percentage points."),
        [""; 0]
    );
    assert_eq!(
        told("The gap between 8.00% for Search and 2.10% for Mail is 6.4 percentage points."),
        ["6.4 percentage points"]
    );
}

#[test]
fn a_result_may_be_kept_in_the_unit_the_report_writes() {
    let mut evidence = Evidence::new();
    let rows = vec![vec![json!("一月"), json!(796.4)], vec![json!("二月"), json!(871.3)]];
    evidence.table("q", ["月份", "实际"].map(str::to_owned).to_vec(), rows);
    assert_eq!(marked("一月实际 796.4 万元，二月实际 871.3 万元。", &evidence), Vec::<String>::new());
    // One alone is a slip.
    assert_eq!(marked("一月实际 796.4 万元，二月实际 871.3 元。", &evidence), ["796.4 万"]);
}
