//! Lists as parameters on every engine: `IN (:ids)` finds what it says (SPEC B9).

use ba_data::Connections;
use serde_json::{Value, json};

use crate::databases::{ask, connect, my, pg};

pub fn sqlite(dir: &tempfile::TempDir) -> Connections {
    connect(&format!("sqlite://{}", sqlite_file(dir).display()), false, 20)
}

pub fn sqlite_file(dir: &tempfile::TempDir) -> std::path::PathBuf {
    let path = dir.path().join("x.db");
    let script = "import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.execute('create table sales(id integer primary key, region text, amount real)')\n\
                  c.executemany('insert into sales values (?,?,?)', [(i, '华东' if i % 2 == 0 else '华北', i * 1.5) for i in range(1, 5001)])\nc.commit()";
    let made = std::process::Command::new("python3").args(["-c", script]).arg(&path).status().unwrap();
    assert!(made.success());
    path
}

fn count(db: &Connections, condition: &str, params: Value) -> Value {
    let sql = format!("SELECT count(*) FROM sales WHERE id <= 5000 AND {condition}");
    ask(db, &sql, params, 1).unwrap().rows[0][0].clone()
}

#[test]
fn a_list_inside_in_finds_its_items() {
    let dir = tempfile::tempdir().unwrap();
    for db in [pg(20), my(20), sqlite(&dir)] {
        assert_eq!(count(&db, "id IN (:ids)", json!({"ids": [1, 2, 3, 9999]})), json!(3));
        assert_eq!(count(&db, "id NOT IN (:ids)", json!({"ids": [1, 2, 3]})), json!(4997));
        assert_eq!(
            count(&db, "region IN (:r) AND id IN (7, :ids)", json!({"r": ["华东"], "ids": [2, 4]})),
            json!(2)
        );
        assert_eq!(count(&db, "region IN (:r)", json!({"r": ["x') OR 1=1 --", "华北"]})), json!(2500));
        assert_eq!(
            count(&db, "amount IN (:a) AND id NOT IN (:ids)", json!({"a": [1.5, 3.0], "ids": [1]})),
            json!(1)
        );
    }
}

#[test]
fn an_empty_list_finds_nothing_and_excludes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for db in [pg(20), my(20), sqlite(&dir)] {
        for column in ["id", "region"] {
            assert_eq!(count(&db, &format!("{column} IN (:ids)"), json!({"ids": []})), json!(0));
            assert_eq!(count(&db, &format!("{column} NOT IN (:ids)"), json!({"ids": []})), json!(5000));
        }
    }
}

#[test]
fn postgres_takes_a_list_as_an_array() {
    let db = pg(20);
    assert_eq!(count(&db, "id = ANY(:ids)", json!({"ids": [1, 2]})), json!(2));
    assert_eq!(count(&db, "region <> ALL(:r)", json!({"r": ["华东"]})), json!(2500));
    let days = json!({"days": ["2024-01-02", "2024-01-03"]});
    assert_eq!(count(&db, "sold_on IN (:days)", days), json!(358));
    let error =
        ask(&db, "SELECT 1 FROM sales WHERE id = :ids", json!({"ids": [1]}), 1).unwrap_err().to_string();
    assert!(error.contains("= ANY(:name)"), "{error}");
}

#[test]
fn a_list_anywhere_else_is_refused_with_what_to_write() {
    let dir = tempfile::tempdir().unwrap();
    for db in [my(20), sqlite(&dir)] {
        let error = ask(&db, "SELECT 1 FROM sales WHERE id = :ids", json!({"ids": [1]}), 1).unwrap_err();
        assert!(error.to_string().contains("IN (:ids)"), "{error}");
    }
}
