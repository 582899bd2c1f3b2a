//! What an attack test broke, on real servers: each of these reached too far once (SPEC H1, H3).

use std::time::Duration;

use ba_data::{ConnectionConfig, Connections, DataError, SecretUrl};
use serde_json::json;

use crate::databases::{ask, my, one, pg};
use crate::lists::sqlite;
use crate::servers::{mariadb, postgres};
use crate::support::block;

fn code(got: &Result<ba_data::QueryResult, DataError>) -> String {
    match got {
        Ok(_) => "let through".to_owned(),
        Err(DataError::Refused(why)) => why.code().to_owned(),
        Err(DataError::Query { code, .. }) => code.clone(),
        Err(other) => format!("{other:?}"),
    }
}

#[test]
fn names_and_comments_that_only_a_server_understands_reach_nothing() {
    let db = pg(20);
    for sql in [
        "SELECT U&\"pg\\005fsleep\"(2)",
        "SELECT 1 -/*' */, pg_terminate_backend(pg_backend_pid()) --'",
        "SELECT '\\' , pg_sleep(9) , '\\'",
    ] {
        let got = ask(&db, sql, json!({}), 5);
        // The last one is three plain texts, and comes back as such.
        assert!(got.is_err() || got.unwrap().rows[0].len() == 2, "{sql}");
        assert_eq!(one(&db, "SELECT 1 AS x"), [json!(1)], "the session lives on after {sql}");
    }
}

#[test]
fn what_is_sent_answers_as_what_was_asked() {
    let got = ask(
        &pg(20),
        "SELECT E'a\\tb', $q$it's$q$, U&'\\9500', - -1, '{\"a\": 1}'::jsonb ->> 'a' -- last",
        json!({}),
        1,
    );
    assert_eq!(got.unwrap().rows, [[json!("a\tb"), json!("it's"), json!("销"), json!(1), json!("1")]]);
    let got =
        ask(&my(20), "SELECT 'a\\'b', \"c'd\", 'x\\\\y', REPLACE('a%b', '\\%', '-') -- last", json!({}), 1);
    assert_eq!(got.unwrap().rows, [[json!("a'b"), json!("c'd"), json!("x\\y"), json!("a%b")]]);
}

/// A view may call what a query may not: what it leaves in the session goes when the question is answered.
#[test]
fn a_lock_does_not_outlive_its_question() {
    let db = pg(20);
    one(&db, "SELECT held FROM locking");
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711";
    let free = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        one(&db, held) == [json!(0)]
    });
    assert!(free, "the lock is still held");
}

/// A database whose owner allows functions besides.
fn with_functions(url: String, functions: &[&str]) -> Connections {
    let config = ConnectionConfig {
        name: "db".into(),
        url: SecretUrl::new(url),
        description: String::new(),
        allow_superuser: false,
        timeout: Duration::from_secs(20),
        timezone: None,
        dialect: None,
        files: None,
        functions: functions.iter().map(|f| (*f).to_owned()).collect(),
    };
    block(async { Connections::new(vec![config]) }).unwrap()
}

/// The same on MySQL, where variables stay in a session as well.
#[test]
fn locks_and_variables_of_mysql_do_not_stay() {
    let url = format!("mysql://reader:s3cret-word@127.0.0.1:{}/shop", mariadb().port);
    let db = with_functions(url, &["get_lock", "is_used_lock", "remember", "recalled"]);
    assert_eq!(
        one(&db, "SELECT GET_LOCK('mine', 0), remember(), recalled()"),
        [json!(1), json!(7), json!(7)]
    );
    let free = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        one(&db, "SELECT IS_USED_LOCK('mine')") == [json!(null)]
    });
    assert!(free, "the lock is still held");
    for _ in 0..6 {
        assert_eq!(one(&db, "SELECT recalled()"), [json!(null)]);
    }
}

#[test]
fn functions_of_ones_own_are_called_when_the_owner_says_so() {
    let url = format!("postgres://reader:s3cret-word@127.0.0.1:{}/postgres", postgres().port);
    let db = with_functions(url, &["sneaky"]);
    assert_eq!(code(&ask(&pg(20), "SELECT sneaky()", json!({}), 1)), "FUNCTION_REFUSED");
    // It deletes rows: the READ ONLY transaction stops it.
    assert_eq!(code(&ask(&db, "SELECT sneaky()", json!({}), 1)), "READ_ONLY");
    assert_eq!(one(&db, "SELECT count(*) FROM sales"), [json!(5000)]);
}

#[test]
fn sqlite_compiles_nothing_but_reading() {
    let dir = tempfile::tempdir().unwrap();
    let db = sqlite(&dir);
    for (sql, wall) in [
        ("SELECT * FROM pragma_database_list", "RELATION_REFUSED"),
        ("SELECT * FROM pragma_table_info('sales')", "FUNCTION_REFUSED"),
        ("SELECT load_extension('x')", "FUNCTION_REFUSED"),
        ("SELECT :a::b(') , 1; ATTACH '/tmp/x' AS y; --')", "SQL_INEXPRESSIBLE"),
        ("SELECT length(hex(zeroblob(100000000)))", "RESULT_TOO_LARGE"),
    ] {
        let got = ask(&db, sql, json!({}), 5);
        assert!(code(&got) == wall || wall == "SQL_INEXPRESSIBLE" && got.is_err(), "{sql}: {}", code(&got));
    }
    assert_eq!(one(&db, "SELECT count(*) > 0 FROM sales, json_each('[1]')"), [json!(1)]);
}
