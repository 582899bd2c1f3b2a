//! What a job gives back: output, values, errors, files, charts. SPEC T1.

use ba_sandbox::{JobOutcome, StateNote, Stream};

use crate::support::{Desk, repr, stdout};

#[test]
fn prints_and_shows_the_last_expression() {
    let desk = Desk::new();
    let outcome = desk.py("print('hello 世界')\n1 + 1");
    assert_eq!(stdout(&outcome), "hello 世界\n");
    assert_eq!(repr(&outcome), "2");
}

#[test]
fn variables_live_on_and_a_failed_call_leaves_them() {
    let desk = Desk::new().session("vars");
    assert_eq!(desk.py("x = 1").state, StateNote::Fresh);
    let second = desk.py("x += 1\nx");
    assert_eq!((repr(&second).as_str(), &second.state), ("2", &StateNote::Continued));
    let failed = desk.py("x = 99\n1 / 0");
    let error = failed.error.unwrap();
    assert_eq!((error.type_name.as_str(), error.line), ("ZeroDivisionError", Some(2)));
    assert_eq!(repr(&desk.py("x")), "2");
}

#[test]
fn inputs_are_readable_by_every_name_and_files_come_back() {
    let mut desk = Desk::new();
    desk.input(&["sales.csv", "upload_001"], "region,amount\n华东,10\n华北,20\n");
    let outcome = desk.py(
        "import pandas as pd\ndf = pd.read_csv('upload_001')\ndf.to_csv('out.csv', index=False)\n\
         import matplotlib.pyplot as plt\nplt.bar(df.region, df.amount)\nplt.title('销售额')\npd.read_csv('sales.csv')",
    );
    assert!(outcome.error.is_none(), "{:#?}", outcome.error);
    let names: Vec<_> = outcome.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["figure_1.png", "out.csv"]);
    let table = &outcome.value.unwrap()["table"];
    assert_eq!(table["shape"], serde_json::json!([2, 2]));
    assert_eq!(table["rows"][0], serde_json::json!(["华东", 10]));
    assert!(
        crate::support::text(&JobOutcome { output: outcome.output, ..Default::default() }, Stream::Stderr)
            .is_empty()
    );
}

#[test]
fn the_later_of_two_uploads_with_one_name_is_seen() {
    let mut desk = Desk::new().session("same-name");
    desk.input(&["a.csv", "upload_001"], "old");
    desk.input(&["a.csv", "upload_002"], "new");
    for _ in 0..3 {
        assert_eq!(stdout(&desk.py("print(open('a.csv').read(), open('upload_001').read())")), "new old\n");
    }
}

#[test]
fn duckdb_reads_an_upload() {
    let mut desk = Desk::new();
    desk.input(&["sales.csv"], "地区,金额\n华东,10\n华北,20\n");
    let outcome = desk
        .py("import duckdb\nduckdb.sql(\"select sum(金额) from read_csv('sales.csv')\").fetchall()[0][0]");
    assert_eq!(repr(&outcome), "30");
}
