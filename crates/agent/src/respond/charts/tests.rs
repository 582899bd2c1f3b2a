//! Charts by reference: what is drawn from which result, and what cannot be drawn.

use serde_json::json;

use super::*;

fn evidence() -> Evidence {
    let mut evidence = Evidence::new();
    let rows = [("华东", "2024", 150.5), ("华南", "2024", 87.0), ("华东", "2023", 140.0)];
    let rows = rows.iter().map(|(a, b, c)| vec![json!(a), json!(b), json!(c)]).collect();
    evidence.table("call_2", vec!["地区".into(), "年".into(), "销售额(万元)".into()], rows);
    evidence.text("call_3", "just text");
    let monthly = vec![vec![json!("2024-01-01T00:00:00"), json!("12.5")], vec![json!(null), json!(null)]];
    evidence.table("earlier:run_a/call_9", vec!["month".into(), "sales".into()], monthly);
    evidence
}

fn one(tag: &str) -> Resolved {
    resolve(&format!("前 {tag} 后"), &evidence())
}

// SPEC W4
#[test]
fn a_tag_becomes_a_placeholder_and_an_option_from_the_stored_result() {
    let found = one(r#"<chart data="call_2" kind="bar" x="地区" y="销售额" title="各地区" unit="万元"/>"#);
    assert_eq!(found.text, "前 \n\n{{CHART:1}}\n\n 后");
    let chart = &found.charts[0];
    assert_eq!(
        (chart.tool_call_id.as_str(), chart.kind.as_str(), chart.unit.as_deref()),
        ("call_2", "bar", Some("万元"))
    );
    assert_eq!((chart.x.as_str(), chart.y.as_slice()), ("地区", ["销售额(万元)".to_owned()].as_slice()));
    assert_eq!(
        chart.option,
        json!({"title": {"text": "各地区", "left": 0}, "tooltip": {"trigger": "axis"},
            "dataset": {"dimensions": ["地区", "销售额(万元)"], "source": [["华东", 150.5], ["华南", 87.0], ["华东", 140.0]]},
            "xAxis": {"type": "category"}, "yAxis": {"type": "value", "name": "万元"},
            "series": [{"type": "bar", "name": "销售额(万元)", "encode": {"x": 0, "y": 1}, "label": {"show": true, "position": "top"}}]})
    );
}

#[test]
fn a_column_splits_a_measure_into_series() {
    let found = one("<chart data='call_2' kind=stacked x='地区' y='销售额' series='年'></chart>");
    let option = &found.charts[0].option;
    assert_eq!(option["dataset"]["dimensions"], json!(["地区", "2024", "2023"]));
    assert_eq!(option["dataset"]["source"], json!([["华东", 150.5, 140.0], ["华南", 87.0, null]]));
    assert_eq!(option["series"][1]["stack"], "total");
}

#[test]
fn earlier_calls_texts_of_numbers_and_left_out_columns_are_understood() {
    let found = one(r#"<chart data="call_9" kind="line"/>"#);
    let option = &found.charts[0].option;
    assert_eq!(option["dataset"]["source"], json!([["2024-01-01", 12.5], ["—", null]]));
    assert_eq!(found.charts[0].tool_call_id, "call_9");
}

#[test]
fn a_full_option_gets_the_results_data_and_keeps_none_of_its_own() {
    let tag = r#"<chart data="call_2">{"title": {"text": "T"}, "dataset": {"source": "call_2"}, "xAxis": {"type": "category", "data": ["x"]}, "yAxis": {},
        "series": [{"type": "line", "data": [99999], "markLine": {"data": [{"type": "average"}]}, "markPoint": {"data": [{"yAxis": 42}]}}]}</chart>"#;
    let found = one(tag);
    let option = &found.charts[0].option;
    assert_eq!(found.charts[0].title, "T");
    assert!(!option.to_string().contains("99999") && !option.to_string().contains("42"), "{option}");
    assert_eq!(option["series"][0]["markLine"]["data"], json!([{"type": "average"}]));
    assert_eq!(
        option["dataset"]["source"][0],
        json!(["华东", 2024, 150.5]).as_array().map(|_| json!(["华东", 2024.0, 150.5])).unwrap()
    );
}

#[test]
fn what_cannot_be_drawn_is_said_in_its_place_and_spares_its_neighbours() {
    let found = resolve(
        "<chart data=\"call_8\"/> <chart data=\"call_2\" x=\"省<b>份\" y=\"销售额\"/> <chart data=\"call_3\"/> <chart data=\"call_2\" y=\"地区\"/> <chart data=\"call_2\" kind=\"radar3d\"/> <chart data=\"call_2\">{x</chart> <chart kind=\"bar\"/> <chart data=\"call_2\" y=\"销售额\"/>",
        &evidence(),
    );
    let faults: Vec<_> = found.faults.iter().map(|f| f.fault.clone()).collect();
    assert_eq!(found.charts.len(), 1, "{faults:?}");
    assert_eq!(
        faults[0],
        ChartFault::UnknownCall { call: "call_8".into(), known: vec!["call_2".into(), "call_9".into()] }
    );
    assert!(matches!(&faults[1], ChartFault::UnknownColumn { columns, .. } if columns.len() == 3));
    assert_eq!(faults[2], ChartFault::NoTable { call: "call_3".into() });
    assert_eq!(faults[3], ChartFault::NotNumeric { column: "地区".into() });
    assert!(
        matches!(faults[4], ChartFault::UnknownKind { .. })
            && matches!(faults[5], ChartFault::BadOption { .. })
    );
    assert_eq!(faults[6], ChartFault::NoData);
    assert!(!found.text.contains("<b>") && found.text.contains("结果的列是"), "{}", found.text);
}

#[test]
fn typed_placeholders_and_tags_in_fences_are_text() {
    let found = resolve("{{CHART:1}}\n```html\n<chart data=\"call_2\"/>\n```\n", &evidence());
    assert_eq!(found.text, "{\u{2060}{CHART:1}}\n```html\n<chart data=\"call_2\"/>\n```\n");
    assert!(found.charts.is_empty() && found.faults.is_empty());
}

#[test]
fn of_too_many_rows_the_newest_are_kept() {
    let mut evidence = Evidence::new();
    let rows = (0..6_000).map(|i| vec![json!(format!("d{i}")), json!(i)]).collect();
    evidence.table("call_1", vec!["day".into(), "n".into()], rows);
    let found = resolve("<chart data=\"call_1\" kind=\"line\" x=\"day\" y=\"n\"/>", &evidence);
    let source = found.charts[0].option["dataset"]["source"].as_array().unwrap().clone();
    assert_eq!((source.len(), &source[4_999], found.charts[0].cut), (5_000, &json!(["d5999", 5999]), true));
}
