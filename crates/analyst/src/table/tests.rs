//! Profiles and column guesses.

use ba_protocol::file::TopValue;
use serde_json::json;

use super::*;

fn column(name: &str, kind: &str, distinct: u64, top: &[&str]) -> Column {
    let profile = ColumnProfile {
        name: name.into(),
        kind: kind.into(),
        distinct,
        top: top.iter().map(|v| TopValue { value: (*v).into(), count: 1 }).collect(),
        ..ColumnProfile::default()
    };
    Column::new(&profile, 1000, &Glossary::built_in().unwrap())
}

#[test]
fn names_find_their_concepts() {
    for (name, concept) in [
        ("销售额", "revenue"),
        ("订单金额(元)", "revenue"),
        ("total_amount", "revenue"),
        ("order_id", "order"),
        ("订单号", "order"),
        ("客户ID", "customer"),
        ("product_name", "product"),
        ("ProductCategory", "category"),
        ("annual_salary", "salary"),
        ("order_date", "date"),
        ("hire_date", "hire_date"),
    ] {
        let figure = matches!(concept, "revenue" | "salary");
        let found = column(name, if figure { "DOUBLE" } else { "VARCHAR" }, 10, &[]);
        assert!(found.has_concept(concept), "{name}: {:?}", found.concepts);
    }
    assert!(!column("order_date", "DATE", 10, &[]).has_concept("order"));
    assert!(!column("捐赠编号", "VARCHAR", 10, &[]).has_concept("donations"));
}

#[test]
fn roles_follow_names_and_values() {
    assert_eq!(column("order_id", "BIGINT", 1000, &[]).role, Role::Id);
    assert_eq!(column("amount", "DOUBLE", 900, &[]).role, Role::Measure);
    assert_eq!(column("region", "VARCHAR", 5, &["East"]).role, Role::Dimension);
    assert_eq!(column("是否退货", "VARCHAR", 2, &["是", "否"]).role, Role::Flag);
    assert_eq!(column("returned", "BIGINT", 2, &["0", "1"]).role, Role::Flag);
    assert_eq!(column("children", "BIGINT", 2, &["0", "1"]).role, Role::Measure);
    assert_eq!(column("orders", "BIGINT", 300, &[]).role, Role::Measure);
    assert_eq!(column("order", "BIGINT", 300, &[]).role, Role::Id);
    assert_eq!(column("comment", "VARCHAR", 990, &[]).role, Role::Id);
    assert_eq!(column("month", "VARCHAR", 2, &["2024-01", "2024-02"]).role, Role::Time);
}

#[test]
fn averages_for_prices_and_rates_sums_for_amounts() {
    assert_eq!(column("unit_price", "DOUBLE", 9, &[]).default_agg, DefaultAgg::Mean);
    assert_eq!(column("bounce_rate", "DOUBLE", 9, &[]).default_agg, DefaultAgg::Mean);
    assert_eq!(column("销售额", "DOUBLE", 9, &[]).default_agg, DefaultAgg::Sum);
    assert_eq!(column("goals", "BIGINT", 9, &[]).default_agg, DefaultAgg::Sum);
}

#[test]
fn spans_are_read_whatever_the_form() {
    let glossary = Glossary::built_in().unwrap();
    let make = |kind: &str, name: &str, min: serde_json::Value, max: serde_json::Value| {
        let profile = ColumnProfile {
            name: name.into(),
            kind: kind.into(),
            distinct: 3,
            min: Some(min),
            max: Some(max),
            ..ColumnProfile::default()
        };
        Column::new(&profile, 10, &glossary).date_span().map(|(a, b)| (a.to_string(), b.to_string()))
    };
    let span = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
    assert_eq!(make("DATE", "d", json!("2023-01-01"), json!("2024-12-31")), span("2023-01-01", "2024-12-31"));
    assert_eq!(
        make("TIMESTAMP", "d", json!("2023-01-01 10:00:00"), json!("2024-12-31T01:02:03")),
        span("2023-01-01", "2024-12-31")
    );
    assert_eq!(make("BIGINT", "year", json!(2019), json!(2024)), span("2019-01-01", "2024-12-31"));
    assert_eq!(
        make("VARCHAR", "month", json!("2024-01"), json!("2024-02")),
        span("2024-01-01", "2024-02-29")
    );
    assert_eq!(make("VARCHAR", "month", json!("x"), json!("y")), None);
}

#[test]
fn an_invoice_in_dollars_is_revenue() {
    let glossary = crate::testing::glossary();
    let column = |name: &str| ColumnProfile {
        name: name.into(),
        kind: "DOUBLE".into(),
        distinct: 600,
        ..ColumnProfile::default()
    };
    let profile = TableProfile {
        rows: 640,
        columns: vec![column("Material $"), column("Invoice $"), column("Labor Hrs")],
        ..TableProfile::default()
    };
    let table = Table::new("upload_001", "jobs.csv", &profile, &glossary);
    let held: Vec<usize> = table.with_concept("revenue").into_iter().map(|(c, _)| c).collect();
    assert_eq!(held, [1], "{:?}", table.columns);
    assert_eq!(table.columns[2].default_agg, DefaultAgg::Sum);
}
