//! The attack corpus on real engines: every statement meets the wall it names, and when all were tried nothing was written,
//! nothing is locked, no file was read or made, and the engine still answers (SPEC H3).

use std::path::Path;
use std::time::Duration;

use ba_data::{Connections, DataError, QueryResult};
use serde_json::{Map, Value, json};

use crate::databases::{connect, my, one, pg};
use crate::embedded::sales;
use crate::lists::sqlite_file;
use crate::support::{block, tables};

/// What an attack may take at most, in seconds.
const LIMIT: u64 = 4;
/// Words that only a file of the machine has.
const SPOILS: [&str; 2] = ["root:x:0", "PATH="];

fn attacks(dialect: &str) -> Vec<(String, String, String)> {
    let corpus = include_str!("../../../testkit/attacks/servers.jsonl");
    let all = corpus.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = all.filter(|attack| attack["dialect"] == dialect).map(|attack| {
        let text = |key: &str| attack[key].as_str().unwrap().to_owned();
        (text("name"), text("wall"), text("sql"))
    });
    of.collect()
}

fn wall(got: &Result<QueryResult, DataError>) -> String {
    let held = match got {
        Ok(_) => "reading only",
        Err(DataError::Refused(why)) => match why.code() {
            "SQL_INEXPRESSIBLE" => "rewritten query",
            "FUNCTION_REFUSED" => "allowed functions",
            "RELATION_REFUSED" => "hidden relations",
            "ONE_STATEMENT" => "one statement",
            "READ_ONLY" => "reading only",
            "EXECUTABLE_COMMENT" => "executable comments",
            _ => "understood query",
        },
        Err(DataError::Timeout { .. }) => "time limit",
        Err(DataError::Params(_)) => "bound parameters",
        Err(DataError::Query { code, .. }) => match code.as_str() {
            "READ_ONLY" => "read-only session",
            "RESULT_TOO_LARGE" => "metered wire",
            _ => "the engine's own rights",
        },
        Err(other) => return format!("{other:?}"),
    };
    held.to_owned()
}

/// Tries all of a dialect, and says which met another wall than its own.
fn onslaught(dialect: &str, ask: impl Fn(&str) -> Result<QueryResult, DataError>) {
    let mut wrong = Vec::new();
    let attacks = attacks(dialect);
    assert!(attacks.len() >= 60, "only {} attacks", attacks.len());
    for (name, meant, sql) in attacks {
        let got = ask(&sql);
        let told = format!("{:?}", got.as_ref().map(|r| &r.rows));
        if SPOILS.iter().any(|word| told.contains(word)) {
            wrong.push(format!("{name} read a file: {told}"));
        }
        let held = wall(&got);
        if held != meant {
            wrong.push(format!(
                "{name} is held by {held:?}, not by {meant:?}: {}",
                ba_protocol::text::shorten(&told, 300)
            ));
        }
    }
    assert!(!Path::new("/tmp/ba-owned").exists(), "a file was written");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn to(db: &Connections) -> impl Fn(&str) -> Result<QueryResult, DataError> {
    |sql| {
        let asked = async {
            tokio::time::timeout(Duration::from_secs(60), db.query("db", sql, &Map::new(), 5)).await
        };
        block(asked).unwrap_or_else(|_| panic!("no end: {}", ba_protocol::text::shorten(sql, 300)))
    }
}

#[test]
fn postgres_gives_nothing_away() {
    let db = pg(LIMIT);
    onslaught("postgres", to(&db));
    assert_eq!(one(&db, "SELECT count(*) FROM sales"), [json!(5000)]);
    let left = "SELECT count(*) FROM pg_class WHERE relname IN ('z', 'evil_type')";
    assert_eq!(one(&db, left), [json!(0)]);
}

#[test]
fn mariadb_gives_nothing_away() {
    let db = my(LIMIT);
    onslaught("mysql", to(&db));
    assert_eq!(one(&db, "SELECT COUNT(*), (SELECT COUNT(*) FROM busy) FROM sales"), [json!(5001), json!(1)]);
}

#[test]
fn sqlite_gives_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let file = sqlite_file(&dir);
    let before = std::fs::read(&file).unwrap();
    let db = connect(&format!("sqlite://{}", file.display()), false, LIMIT);
    onslaught("sqlite", to(&db));
    assert_eq!(one(&db, "SELECT count(*) FROM sales"), [json!(5000)]);
    assert!(std::fs::read(&file).unwrap() == before, "the file is as it was");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no file beside it");
}

/// SQL over uploads: the sandbox is the wall behind the guard.
#[test]
fn duckdb_gives_nothing_away() {
    let desk = sales();
    onslaught("duckdb", |sql| {
        let mut request = desk.request(sql, json!({}), 5);
        request.timeout = Duration::from_secs(LIMIT);
        block(tables().query(request))
    });
    assert_eq!(desk.query("SELECT count(*) FROM upload_001").unwrap().rows, [[json!(3)]]);
}
