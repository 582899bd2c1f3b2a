//! SQL over uploads through the sandbox (SPEC T3, T7).

use std::path::PathBuf;
use std::time::Duration;

use ba_data::{DataError, EmbeddedQuery, ExportFormat, IngestRequest, QueryResult, ReadRequest, TableSource};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{block, tables};

pub struct Desk {
    dir: TempDir,
    sources: Vec<TableSource>,
}

impl Desk {
    fn with(filename: &str, content: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stored");
        std::fs::write(&path, content).unwrap();
        let out = dir.path().join("out");
        let request = IngestRequest {
            path,
            filename: filename.into(),
            owner: "tester".into(),
            out_dir: out.clone(),
            options: Default::default(),
        };
        let profile = block(tables().ingest(request, &|_, _| {})).unwrap();
        let table = &profile.tables[0];
        let names = vec!["upload_001".to_owned(), table.name.clone(), filename.to_owned()];
        Self { sources: vec![TableSource { names, parquet: out.join(&table.parquet) }], dir }
    }

    pub fn request(&self, sql: &str, params: Value, max_rows: u32) -> EmbeddedQuery {
        EmbeddedQuery {
            owner: "tester".into(),
            tables: self.sources.clone(),
            sql: sql.to_owned(),
            params: params.as_object().unwrap().clone(),
            max_rows,
            keep: None,
            timeout: Duration::from_secs(20),
        }
    }

    pub fn query(&self, sql: &str) -> Result<QueryResult, DataError> {
        block(tables().query(self.request(sql, json!({}), 1000)))
    }
}

pub fn sales() -> Desk {
    Desk::with(
        "2024 销售.csv",
        "日期,地区,金额\n2024-01-02,华东,1200.5\n2024-01-03,华北,800\n2024-02-01,华东,99.5\n",
    )
}

#[test]
fn a_table_that_was_replaced_or_whose_query_was_ended_answers_as_it_is_now() {
    let desk = sales();
    let total =
        |desk: &Desk| desk.query("SELECT sum(金额) FROM upload_001").map(|got| got.rows[0][0].clone());
    assert_eq!(total(&desk).unwrap(), json!(2100.0));
    let endless = "SELECT count(*) FROM range(10000000000) a, upload_001";
    let request = EmbeddedQuery { timeout: Duration::from_secs(1), ..desk.request(endless, json!({}), 10) };
    assert!(matches!(block(tables().query(request)), Err(DataError::Timeout { .. })));
    assert_eq!(total(&desk).unwrap(), json!(2100.0));
    let other = Desk::with("2024 销售.csv", "日期,地区,金额\n2024-01-02,华东,7\n");
    std::fs::rename(&other.sources[0].parquet, &desk.sources[0].parquet).unwrap();
    assert_eq!(total(&desk).unwrap(), json!(7));
}

#[test]
fn a_table_answers_by_id_by_cleaned_name_and_by_file_name() {
    let desk = sales();
    for name in ["upload_001", "\"2024_销售\"", "\"2024 销售.csv\""] {
        let got =
            desk.query(&format!("SELECT 地区, sum(金额) AS s FROM {name} GROUP BY 1 ORDER BY 1")).unwrap();
        assert_eq!(got.rows, [[json!("华东"), json!(1300.0)], [json!("华北"), json!(800.0)]], "{name}");
        assert_eq!(got.columns[1].kind, "DOUBLE");
    }
}

#[test]
fn parameters_are_bound_and_rows_are_capped() {
    let desk = sales();
    let sql = "SELECT count(*) FROM upload_001 WHERE 地区 = :region";
    let got = block(tables().query(desk.request(sql, json!({"region": "华东"}), 10))).unwrap();
    assert_eq!(got.rows, [[json!(2)]]);
    let hostile = json!({"region": "x' OR '1'='1"});
    let got = block(tables().query(desk.request(sql, hostile, 10))).unwrap();
    assert_eq!(got.rows, [[json!(0)]]);
    let got = block(tables().query(desk.request("SELECT * FROM range(100000)", json!({}), 5))).unwrap();
    assert_eq!((got.rows.len(), got.truncated), (5, true));
}

#[test]
fn lists_are_taken_inside_in_and_as_lists() {
    let desk = sales();
    let count = |condition: &str, ids: Value| {
        let sql = format!("SELECT count(*) FROM upload_001 WHERE {condition}");
        block(tables().query(desk.request(&sql, json!({"ids": ids}), 1))).unwrap().rows[0][0].clone()
    };
    assert_eq!(count("地区 IN (:ids)", json!(["华东", "x') OR 1=1"])), json!(2));
    assert_eq!(count("金额 NOT IN (:ids)", json!([800, 99.5])), json!(1));
    assert_eq!(count("日期 IN (:ids)", json!(["2024-01-02", "2024-02-01"])), json!(2));
    assert_eq!(count("list_contains(:ids, 地区)", json!(["华北"])), json!(1));
    for column in ["地区", "金额", "日期"] {
        assert_eq!(count(&format!("{column} IN (:ids)"), json!([])), json!(0), "{column}");
        assert_eq!(count(&format!("{column} NOT IN (:ids)"), json!([])), json!(3), "{column}");
    }
    let mixed = desk.request("SELECT 1 FROM upload_001 WHERE 地区 IN (:ids)", json!({"ids": [1, "a"]}), 1);
    assert!(matches!(block(tables().query(mixed)), Err(DataError::Params(_))));
}

#[test]
fn types_come_out_right() {
    let got = sales()
        .query(
            "SELECT 12345678901234567.89::DECIMAL(20,2) AS d, 9007199254740993 AS big, sum(3)::HUGEINT AS h, DATE '2024-01-02' AS day, \
             TIMESTAMPTZ '2024-01-02 08:00:00+08' AS at, [1, NULL] AS list, {'a': 1} AS s, 'x'::BLOB AS b, NULL AS n, \
             '{\"k\": [1]}'::JSON AS j, uuid '123e4567-e89b-12d3-a456-426614174000' AS u, TIME '10:30' AS t, true AS ok",
        )
        .unwrap();
    let want = json!([
        "12345678901234567.89", "9007199254740993", 3, "2024-01-02", "2024-01-02 00:00:00+00:00", [1, null], {"a": 1}, "\\x78", null,
        "{\"k\": [1]}", "123e4567-e89b-12d3-a456-426614174000", "10:30:00", true
    ]);
    assert_eq!(Value::from(got.rows[0].clone()), want);
}

#[test]
fn duckdb_reaches_nothing_but_the_tables() {
    let desk = sales();
    for sql in [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "FROM '/etc/hostname'",
        "COPY (SELECT 1) TO '/tmp/out.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "ATTACH '/tmp/x.db'",
        "SELECT 1; DROP VIEW upload_001",
        "CREATE TABLE x AS SELECT 1",
        "SET enable_external_access = true",
        "SELECT * FROM 'https://example.com/x.parquet'",
        "EXPLAIN ANALYZE DELETE FROM upload_001",
    ] {
        let got = desk.query(sql);
        assert!(got.is_err(), "{sql} gave {got:?}");
    }
}

#[test]
fn mistakes_are_explained() {
    let desk = sales();
    let unknown = desk.query("SELECT * FROM sale").unwrap_err();
    let DataError::Query { code, hint, .. } = &unknown else { panic!("{unknown:?}") };
    assert_eq!(code, "UNKNOWN_NAME");
    assert!(hint.as_deref().unwrap().contains("upload_001"));
    let DataError::Query { code, .. } = desk.query("SELECT 金 FROM upload_001").unwrap_err() else {
        panic!()
    };
    assert_eq!(code, "BAD_REFERENCE");
}

#[test]
fn an_endless_query_is_cancelled() {
    let desk = sales();
    let mut request = desk.request(
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3",
        json!({}),
        10,
    );
    request.timeout = Duration::from_secs(2);
    let got = block(tables().query(request));
    assert!(matches!(got, Err(DataError::Timeout { .. })), "{got:?}");
}

#[test]
fn a_result_is_kept_as_a_table_and_exported_without_formulas() {
    let desk = Desk::with("x.csv", "k,v\n=cmd|'/c calc'!A1,1\n+1+1,2\n@SUM(A1),3\nplain,4\n");
    let kept: PathBuf = desk.dir.path().join("kept.parquet");
    let mut request = desk.request("SELECT * FROM upload_001 ORDER BY v", json!({}), 2);
    request.keep = Some(kept.clone());
    let got = block(tables().query(request)).unwrap();
    assert_eq!((got.rows.len(), got.truncated, got.row_count), (2, true, 4));
    let again = Desk {
        dir: tempfile::tempdir().unwrap(),
        sources: vec![TableSource { names: vec!["kept".into()], parquet: kept.clone() }],
    };
    assert_eq!(again.query("SELECT sum(v) FROM kept").unwrap().rows, [[json!(10)]]);

    let csv = desk.dir.path().join("out.csv");
    assert_eq!(block(tables().export("tester", &kept, ExportFormat::Csv, &csv)).unwrap(), 4);
    let text = std::fs::read_to_string(&csv).unwrap();
    assert!(
        text.contains("'=cmd|")
            && text.contains("'+1+1")
            && text.contains("'@SUM")
            && text.contains("\nplain,4"),
        "{text}"
    );

    let xlsx = desk.dir.path().join("out.xlsx");
    block(tables().export("tester", &kept, ExportFormat::Xlsx, &xlsx)).unwrap();
    let request = ReadRequest {
        path: xlsx,
        filename: "out.xlsx".into(),
        owner: "tester".into(),
        format: None,
        encoding: None,
        sheet: None,
        nrows: None,
        preview: 5,
    };
    let back = block(tables().read(request)).unwrap();
    assert_eq!(back.profile.tables[0].preview[0][0], json!("'=cmd|'/c calc'!A1"));
}

#[test]
fn a_wrong_encoding_is_given_up_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    // 地区 in GBK.
    std::fs::write(&path, b"\xb5\xd8\xc7\xf8,n\n\xbb\xaa\xb6\xab,1\n\xbb\xaa\xb1\xb1,2\n").unwrap();
    let request = ReadRequest {
        path,
        filename: "x.csv".into(),
        owner: "tester".into(),
        format: None,
        encoding: Some("utf-8".into()),
        sheet: None,
        nrows: Some(1),
        preview: 5,
    };
    let got = block(tables().read(request)).unwrap();
    let table = &got.profile.tables[0];
    assert_eq!((table.columns[0].name.as_str(), table.rows), ("地区", 1));
    assert!(table.notes.iter().any(|n| n.text.contains("not utf-8")), "{:?}", table.notes);
}
