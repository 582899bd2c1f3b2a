//! Results of databases kept as tables of a conversation: every value as it was, of a type that can be computed with (SPEC B7).

use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_data::guard::Dialect;
use ba_data::{Connections, DataError, EmbeddedQuery, KeepRequest, KeptTable, QueryResult, TableSource};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::databases::{my, pg};
use crate::lists::sqlite;
use crate::support::{block, tables};

pub fn keep(
    dir: &TempDir,
    db: &Connections,
    dialect: Dialect,
    name: &str,
    sql: &str,
) -> Result<(QueryResult, KeptTable, PathBuf), DataError> {
    let (rows, target) = (dir.path().join("rows"), dir.path().join(format!("{name}.parquet")));
    let got = block(db.query_into("db", &[], sql, &Map::new(), 5, &rows))?;
    let request =
        KeepRequest { owner: "tester", dialect, rows: &rows, columns: &got.columns, target: &target };
    let kept = block(tables().keep(request))?;
    Ok((got, kept, target))
}

pub fn query(parquets: &[(&str, &Path)], sql: &str) -> Vec<Vec<Value>> {
    let table = |(name, path): &(&str, &Path)| TableSource {
        names: vec![(*name).to_owned()],
        parquet: (*path).to_owned(),
    };
    let request = EmbeddedQuery {
        owner: "tester".into(),
        tables: parquets.iter().map(table).collect(),
        sql: sql.to_owned(),
        params: Map::new(),
        max_rows: 100,
        keep: None,
        timeout: Duration::from_secs(20),
    };
    block(tables().query(request)).unwrap().rows
}

pub fn types(kept: &KeptTable) -> Vec<(&str, &str)> {
    kept.columns.iter().map(|c| (c.name.as_str(), c.kind.as_str())).collect()
}

#[test]
fn postgres_types_are_kept_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT 9007199254740993::int8 AS big, 12345678901234567890.1234::numeric AS money, 0.5::numeric AS small, \
               1.5::float8 AS f, true AS ok, DATE '2024-01-02' AS day, TIMESTAMP '2024-01-02 03:04:05.678' AS clock, \
               TIMESTAMPTZ '2024-01-02 03:04:05+08' AS moment, 'a\"b\n销' AS t, ARRAY[1,2] AS list, 10::numeric ^ 40 AS huge, 'infinity'::date AS odd, \
               NULL::int4 AS nothing, 1 AS id, 2 AS id \
               UNION ALL SELECT 1, -0.5, NULL, 'NaN', false, NULL, NULL, NULL, '', NULL, 1, '2024-01-03', NULL, 3, 4";
    let (got, kept, file) = keep(&dir, &pg(20), Dialect::Postgres, "k", sql).unwrap();
    assert_eq!((got.rows.len(), got.row_count, got.truncated, kept.rows), (2, 2, false, 2));
    assert_eq!(
        types(&kept),
        [
            ("big", "BIGINT"),
            ("money", "DECIMAL(38,4)"),
            ("small", "DECIMAL(18,1)"),
            ("f", "DOUBLE"),
            ("ok", "BOOLEAN"),
            ("day", "DATE"),
            ("clock", "TIMESTAMP"),
            ("moment", "TIMESTAMP WITH TIME ZONE"),
            ("t", "VARCHAR"),
            ("list", "VARCHAR"),
            ("huge", "VARCHAR"),
            ("odd", "VARCHAR"),
            ("nothing", "BIGINT"),
            ("id", "BIGINT"),
            ("id_2", "BIGINT"),
        ]
    );
    let said = kept.notes.join("\n");
    assert!(
        said.contains("huge: some values are not decimals")
            && said.contains("odd: some values are not dates"),
        "{said}"
    );
    assert!(said.contains("id_2"), "{said}");
    let rows = query(&[("k", &file)], "SELECT big, money, clock, moment, t, list, odd, id_2 FROM k");
    let want = json!([
        [
            "9007199254740993",
            "12345678901234567890.1234",
            "2024-01-02 03:04:05.678000",
            "2024-01-01 19:04:05+00:00",
            "a\"b\n销",
            "[1,2]",
            "infinity",
            2
        ],
        [1, "-0.5000", null, null, "", null, "2024-01-03", 4]
    ]);
    assert_eq!(json!(rows), want);
}

#[test]
fn mariadb_types_are_kept_exactly_and_two_connections_join() {
    let dir = tempfile::tempdir().unwrap();
    let sql =
        "SELECT id, region, amount, sold_on, at, ts, info, ok, y FROM sales WHERE id < 4000 OR id > 5000";
    let (got, kept, mine) = keep(&dir, &my(20), Dialect::MySql, "mine", sql).unwrap();
    assert_eq!((got.rows.len(), kept.rows), (5, 4000));
    let columns = types(&kept);
    // An unsigned number beyond BIGINT widens its column, and nothing is rounded.
    assert_eq!(columns[0], ("id", "DECIMAL(38,0)"));
    assert_eq!(
        columns[2..6].iter().map(|c| c.1).collect::<Vec<_>>(),
        ["DECIMAL(18,4)", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]
    );
    assert_eq!(
        query(&[("m", &mine)], "SELECT max(id), min(ts) FROM m"),
        [[json!("18446744073709551615"), json!("2024-01-01 19:04:05+00:00")]]
    );
    let (_, _, theirs) =
        keep(&dir, &pg(20), Dialect::Postgres, "theirs", "SELECT id, amount FROM sales").unwrap();
    let joined = "SELECT count(*), sum(m.amount - t.amount) FROM m JOIN t USING (id) WHERE m.region = '华东'";
    assert_eq!(query(&[("m", &mine), ("t", &theirs)], joined), [[json!(1999), json!("0.0000")]]);
    // The same name again replaces the table.
    let (_, _, again) = keep(&dir, &pg(20), Dialect::Postgres, "theirs", "SELECT 1 AS one").unwrap();
    assert_eq!(query(&[("t", &again)], "SELECT * FROM t"), [[json!(1)]]);
}

#[test]
fn an_answer_without_rows_keeps_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    let all = [(pg(20), Dialect::Postgres), (my(20), Dialect::MySql), (sqlite(&dir), Dialect::Sqlite)];
    for (db, dialect) in all {
        let sql = "SELECT id, region FROM sales WHERE id < 0";
        let (_, kept, file) = keep(&dir, &db, dialect, "none", sql).unwrap();
        assert_eq!(
            (kept.rows, types(&kept)),
            (0, vec![("id", "BIGINT"), ("region", "VARCHAR")]),
            "{dialect:?}"
        );
        assert_eq!(query(&[("none", &file)], "SELECT count(*) FROM none"), [[json!(0)]]);
    }
}

#[test]
fn sqlite_columns_without_a_type_take_that_of_their_values() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT id, CASE WHEN id = 3 THEN 1.5 ELSE id END AS n, amount, count(*) OVER () AS c, '0' || id AS code, \
               CASE WHEN id = 2 THEN 'two' ELSE id END AS odd FROM sales WHERE id < 5";
    let (_, kept, file) = keep(&dir, &sqlite(&dir), Dialect::Sqlite, "s", sql).unwrap();
    let kinds: Vec<&str> = kept.columns.iter().map(|c| c.kind.as_str()).collect();
    assert_eq!(kinds, ["BIGINT", "DOUBLE", "DOUBLE", "BIGINT", "VARCHAR", "VARCHAR"]);
    let rows = query(&[("s", &file)], "SELECT sum(n), sum(amount), max(c), min(code), max(odd) FROM s");
    assert_eq!(rows, [[json!(8.5), json!(15.0), json!(4), json!("01"), json!("two")]]);
}

#[test]
fn more_than_a_million_rows_are_cut_and_it_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "SELECT i, i * 0.01 AS m FROM generate_series(1, 1000005) i";
    let (got, kept, file) = keep(&dir, &pg(120), Dialect::Postgres, "many", sql).unwrap();
    assert_eq!((got.truncated, got.row_count, kept.rows), (true, 1_000_000, 1_000_000));
    let rows = query(&[("many", &file)], "SELECT sum(i), max(i), sum(m) FROM many");
    assert_eq!(rows, [[json!(500000500000_u64), json!(1_000_000), json!("5000005000.00")]]);
}
