//! What was done to a file when it was read: the method names the step that no data note tells.

use ba_analyst::OfflineAnalyst;
use ba_analyst::turn::Turn;
use ba_protocol::{Action, ContentBlock, Message, Role};
use serde_json::json;

fn report(question: &str) -> String {
    let profile = json!({"encoding": "utf-8", "table": {"name": "sales", "rows": 3,
        "columns": [{"name": "地区", "type": "VARCHAR", "distinct": 2, "top": [{"value": "华东", "count": 2}, {"value": "华北", "count": 1}]},
                    {"name": "销售额", "type": "DOUBLE", "distinct": 3, "min": 1, "max": 3}],
        "notes": [{"code": "merged_filled", "level": "step", "text": "merged cells filled down: 地区", "values": {"columns": ["地区"]}},
                  {"code": "totals_left_out", "level": "step", "text": "1 total row(s) left out"}]}});
    let result = |id: &str, body: String| ContentBlock::ToolResult {
        tool_use_id: id.into(),
        content: format!("<tool_result name=\"x\">\n[c] ok\n{body}\n</tool_result>"),
        is_error: false,
    };
    let messages = [
        Message::system("- [upload_001] sales.xlsx (xlsx) | 1 KB"),
        Message::user(question),
        Message::new(Role::User, vec![result("t1_profile_upload_001", profile.to_string())]),
        Message::new(Role::User, vec![result("t1_sql_main", "x,n\n6,3".to_owned())]),
    ];
    match OfflineAnalyst::new().unwrap().respond(&Turn::read(&messages)).action {
        Action::Complete(report) => report.content,
        Action::ToolCall { content } => panic!("{content:?}"),
    }
}

#[test]
fn filled_cells_are_named_once_and_data_notes_are_not_repeated() {
    let said = report("销售额合计是多少？");
    assert_eq!(said.matches("读入时已按合并单元格填充：地区。").count(), 1, "{said}");
    assert!(!said.contains("total row"), "{said}");
    let said = report("What is the total 销售额?");
    assert_eq!(said.matches("Merged cells were filled when the file was read: 地区.").count(), 1, "{said}");
}
