//! A session works in the zone of its server, or in the one that was configured; servers here keep Shanghai's (SPEC B9).

use std::process::Command;

use ba_data::Connections;
use serde_json::{Value, json};

use crate::databases::{ask, my, one, open, pg};
use crate::servers::{mariadb, postgres};
use crate::support::block;

/// The last evening of January in Shanghai is still January there, and already over in no other zone east of it.
const PG_MONTHS: &str = "SELECT to_char(date_trunc('month', at), 'YYYY-MM'), sum(n)::int FROM (VALUES \
    (TIMESTAMPTZ '2024-01-01 07:00+08', 1), (TIMESTAMPTZ '2024-01-31 23:30+08', 10), (TIMESTAMPTZ '2024-02-01 00:30+08', 100)) \
    AS t(at, n) GROUP BY 1 ORDER BY 1";

fn pg_with(zone: &str) -> Connections {
    let url = format!("postgres://reader:s3cret-word@127.0.0.1:{}/postgres", postgres().port);
    open(&url, false, 20, Some(zone)).unwrap()
}

fn my_with(zone: &str) -> Connections {
    let url = format!("mysql://reader:s3cret-word@127.0.0.1:{}/shop", mariadb().port);
    open(&url, false, 20, Some(zone)).unwrap()
}

fn psql(sql: &str) -> String {
    let port = postgres().port.to_string();
    let out = Command::new("psql")
        .env("PGPASSWORD", "s3cret-word")
        .args(["-h", "127.0.0.1", "-p", &port, "-U", "reader", "-d", "postgres", "-AtF,", "-c", sql])
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn postgres_months_are_those_that_psql_shows() {
    let shown: Vec<Vec<Value>> = psql(PG_MONTHS)
        .lines()
        .filter_map(|line| line.split_once(','))
        .map(|(month, n)| vec![json!(month), json!(n.parse::<i64>().unwrap())])
        .collect();
    assert_eq!(shown, [[json!("2024-01"), json!(11)], [json!("2024-02"), json!(100)]]);
    assert_eq!(ask(&pg(20), PG_MONTHS, json!({}), 10).unwrap().rows, shown);
    // Every connection of the pool, and a plain now().
    let row = one(&pg(20), "SELECT current_setting('TimeZone'), to_char(now(), 'OF')");
    assert_eq!(row, [json!("Asia/Shanghai"), json!("+08")]);
}

#[test]
fn postgres_parameters_without_an_offset_are_wall_clock_times_of_the_session() {
    let sql = "SELECT :at::timestamptz, :at::timestamptz = TIMESTAMPTZ '2024-01-31 16:00:00+00'";
    for (given, same) in [
        ("2024-02-01", true),
        ("2024-02-01 00:00", true),
        ("2024-01-31T16:00:00Z", true),
        ("2024-02-01 00:00:00+08:00", true),
        ("2024-01-31 16:00:00", false),
    ] {
        let row = ask(&pg(20), sql, json!({"at": given}), 1).unwrap().rows.remove(0);
        assert_eq!(row[1], json!(same), "{given}: {row:?}");
    }
}

#[test]
fn a_role_of_postgres_may_have_its_own_zone_and_the_owner_another() {
    let url = format!("postgres://berliner:s3cret-word@127.0.0.1:{}/postgres", postgres().port);
    let db = open(&url, false, 20, None).unwrap();
    let summer = "SELECT TIMESTAMPTZ '2024-07-01 00:00:00+00', TIMESTAMPTZ '2024-01-01 00:00:00+00'";
    assert_eq!(one(&db, summer), [json!("2024-07-01 02:00:00+02"), json!("2024-01-01 01:00:00+01")]);
    let got = one(&pg_with("America/New_York"), summer);
    assert_eq!(got, [json!("2024-06-30 20:00:00-04"), json!("2023-12-31 19:00:00-05")]);
    // An offset means what people mean by it, not what POSIX does.
    assert_eq!(one(&pg_with("+05:30"), summer)[0], json!("2024-07-01 05:30:00+05:30"));
}

#[test]
fn the_zone_is_learned_over_verified_tls_and_without_tls() {
    let server = postgres();
    for (host, settings) in [
        ("127.0.0.1", "sslmode=disable".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("localhost", format!("sslmode=verify-full&sslrootcert={}", server.certificate().display())),
    ] {
        let url = format!("postgres://reader:s3cret-word@{host}:{}/postgres?{settings}", server.port);
        let db = open(&url, false, 20, None).unwrap();
        assert_eq!(one(&db, "SELECT current_setting('TimeZone')"), [json!("Asia/Shanghai")], "{settings}");
    }
    // A server that cannot be verified gets no password.
    let url = format!("postgres://reader:s3cret-word@localhost:{}/postgres?sslmode=verify-full", server.port);
    assert!(ask(&open(&url, false, 5, None).unwrap(), "SELECT 1", json!({}), 1).is_err());
}

#[test]
fn mariadb_keeps_the_machines_zone() {
    let sql = "SELECT DATE_FORMAT(FROM_UNIXTIME(1706715000), '%Y-%m-%d %H:%i'), TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW()), \
               @@session.time_zone, ts FROM sales WHERE id = 1";
    let row = one(&my(20), sql);
    assert_eq!(row, [json!("2024-01-31 23:30"), json!(8), json!("SYSTEM"), json!("2024-01-02 03:04:05+08")]);
}

#[test]
fn mariadb_takes_a_configured_zone_even_without_tables_of_zones() {
    let sql = "SELECT ts, TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW()) FROM sales WHERE id = 1";
    assert_eq!(one(&my_with("+00:00"), sql), [json!("2024-01-01 19:04:05+00"), json!(0)]);
    assert_eq!(one(&my_with("Asia/Tokyo"), sql), [json!("2024-01-02 04:04:05+09"), json!(9)]);
    // A zone with summer time cannot be an offset.
    let got = ask(&my_with("Europe/Berlin"), sql, json!({}), 1).unwrap_err().to_string();
    assert!(got.contains("does not know the time zone Europe/Berlin"), "{got}");
}

#[test]
fn the_zone_is_told_with_the_tables_and_a_wrong_one_at_the_start() {
    let text = block(pg(20).schema("db", None)).unwrap().text;
    assert!(text.starts_with("session time zone: Asia/Shanghai\n"), "{text}");
    let text = block(my(20).schema("db", None)).unwrap().text;
    assert!(text.starts_with("session time zone: SYSTEM (CST), UTC+08\n"), "{text}");
    let error = open("postgres://u@h/d", false, 5, Some("Asia/Nowhere")).err().unwrap().to_string();
    assert!(error.contains("Asia/Shanghai"), "{error}");
}
