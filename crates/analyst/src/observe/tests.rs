//! Observations as the pipeline writes them, read back.

use super::*;

const WRAPPED: &str = "<tool_result name=\"query_database\">\n[call_1] 2 rows\n地区,total\n华东,1234.5\n\"a,\"\"b\",\nNote: from cache\nData stored in file: tool_data/x.csv (read it with file_reader)\n</tool_result>";

#[test]
fn a_compact_table_is_read_with_its_nulls() {
    let grid = grid(WRAPPED).unwrap();
    assert_eq!(grid.names, ["地区", "total"]);
    assert_eq!(grid.rows.len(), 2);
    assert_eq!(grid.number(0, 1), Some(1234.5));
    assert_eq!(grid.cell(1, 0), Some("a,\"b"));
    assert_eq!(grid.cell(1, 1), None);
    assert!(!grid.cut);
}

#[test]
fn a_cut_table_is_known_to_be_cut() {
    let text = "<tool_result name=\"query_database\">\n[c] 3 rows\na\n1\n2\n… first 2 of 3 rows; aggregate\n</tool_result>";
    let grid = grid(text).unwrap();
    assert!(grid.cut);
    assert_eq!(grid.rows.len(), 2);
}

#[test]
fn markdown_and_json_tables_are_read_too() {
    let text = "<tool_result name=\"q\">\n[c] ok\n| a | b |\n|---|---|\n| x | 2 |\n</tool_result>";
    assert_eq!(grid(text).unwrap().number(0, 1), Some(2.0));
    let text =
        "<tool_result name=\"q\">\n[c] ok\n[{\"a\":\"x\",\"b\":2.5},{\"a\":null,\"b\":3}]\n</tool_result>";
    let grid = grid(text).unwrap();
    assert_eq!((grid.cell(1, 0), grid.number(1, 1)), (None, Some(3.0)));
}

#[test]
fn profiles_are_read_from_json_and_from_a_list() {
    let json = "<tool_result name=\"file_reader\">\n[c] ok\n{\"tables\":[{\"name\":\"t\",\"rows\":5,\"columns\":[{\"name\":\"地区\",\"type\":\"VARCHAR\",\"distinct\":2}]}]}\n</tool_result>";
    assert_eq!(profiles(json)[0].columns[0].name, "地区");
    let real = "<tool_result name=\"file_reader\">\n[c] a.csv: 5 rows × 1 columns\n{\"encoding\":\"utf-8\",\"table\":{\"name\":\"a\",\"rows\":5,\"columns\":[{\"name\":\"地区\",\"type\":\"VARCHAR\",\"distinct\":2},{\"name\":\"b\",\"type\":\"DOUBLE\"}]}}\nNote: x\n</tool_result>";
    assert_eq!(profiles(real)[0].columns.len(), 2);
    let cut = real.split("\"type\":\"DOUBLE\"").next().unwrap();
    assert_eq!((profiles(cut)[0].columns.len(), profiles(cut)[0].rows), (1, 5));
    let list = "<tool_result name=\"file_reader\">\n[c] table \"retail\", 12,000 rows\ncolumn,type,nulls,distinct,min,max,top\n地区,VARCHAR,0,2,a,b,华东 (7); 华南 (5)\n销售额,DOUBLE,3,900,1.5,9.5,\n</tool_result>";
    let found = profiles(list);
    assert_eq!(found[0].columns.len(), 2);
    assert_eq!(found[0].columns[0].top[1], TopValue { value: "华南".into(), count: 5 });
    assert_eq!(found[0].columns[1].nulls, 3);
}

#[test]
fn what_is_no_table_is_no_table() {
    assert!(grid("<tool_result name=\"q\">\n</tool_result>").is_none());
    assert!(profiles("Operation failed.").is_empty());
}

proptest::proptest! {
    #[test]
    fn any_observation_is_survived(text in "\\PC{0,200}(\n\\PC{0,50}){0,5}") {
        let _ = grid(&text);
        let _ = profiles(&text);
    }
}

#[test]
fn a_failure_is_told_without_its_form() {
    let failed = "<tool_result name=\"file_reader\">\nOperation failed.\nError Type: validation_error\nError Code: X\n\
                  Error Message: it is a picture\nTool Call ID: t1\nHint: upload the figures as CSV\n</tool_result>";
    assert_eq!(complaint(failed), "it is a picture; upload the figures as CSV");
    assert_eq!(complaint("<tool_result name=\"x\">\nodd\n</tool_result>"), "odd");
}
