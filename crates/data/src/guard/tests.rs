//! What the guard lets through and what it refuses, by dialect.

use super::*;

const ALL: [Dialect; 7] = [
    Dialect::DuckDb,
    Dialect::Postgres,
    Dialect::MySql,
    Dialect::Sqlite,
    Dialect::ClickHouse,
    Dialect::Spark,
    Dialect::Trino,
];

#[test]
fn plain_reads_pass_everywhere() {
    for dialect in ALL {
        for sql in [
            "SELECT 1",
            "select region, sum(amount) from sales group by region order by 2 desc limit 10;",
            "WITH t AS (SELECT * FROM a) SELECT count(*) FROM t JOIN b ON t.id = b.id -- done",
            "SELECT * FROM a UNION ALL SELECT * FROM b",
            "SELECT 'drop table x; delete from y' AS text",
            "/* why */ SELECT \"update\" FROM t",
        ] {
            let texts = matches!(dialect, Dialect::MySql | Dialect::Spark);
            let sql = if texts { sql.replace('"', "`") } else { sql.to_owned() };
            assert!(check(&sql, dialect).is_ok(), "{dialect:?}: {sql}: {:?}", check(&sql, dialect));
        }
    }
}

// SPEC T3: read-only, always.
#[test]
fn writes_are_refused_everywhere() {
    for dialect in ALL {
        for sql in [
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1",
            "DELETE FROM t",
            "DROP TABLE t",
            "CREATE TABLE t (a int)",
            "CREATE TABLE t AS SELECT 1",
            "ALTER TABLE t ADD b int",
            "TRUNCATE TABLE t",
            "SELECT 1; DROP TABLE t",
            "SELECT 1; SELECT 2",
            "COMMIT; DROP TABLE t",
            "BEGIN",
            "COMMIT",
            "ROLLBACK",
            "SET x = 1",
            "GRANT ALL ON t TO u",
            "CALL f()",
            "EXPLAIN ANALYZE DELETE FROM t",
            "EXPLAIN DELETE FROM t",
            "",
            "   ",
            "-- nothing",
            ";",
        ] {
            let got = check(sql, dialect);
            assert!(got.is_err(), "{dialect:?} let through: {sql}");
        }
    }
}

#[test]
fn postgres_tricks_are_refused() {
    for sql in [
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
        "WITH a AS (INSERT INTO t VALUES (1) RETURNING id) SELECT * FROM a",
        "WITH a AS (SELECT 1), b AS (UPDATE t SET x = 1 RETURNING *) SELECT * FROM a, b",
        "SELECT * INTO t2 FROM t",
        "SELECT * FROM t FOR UPDATE",
        "SELECT * FROM (SELECT * FROM t FOR SHARE) x",
        "COPY t TO PROGRAM 'id'",
        "COPY t TO '/tmp/x'",
        "COPY (SELECT 1) TO STDOUT",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT PG_READ_FILE ('/etc/passwd')",
        "SELECT pg_catalog.pg_read_file('/etc/passwd')",
        "SELECT \"pg_read_file\"('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('/')",
        "SELECT lo_export(1, '/tmp/x')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT * FROM dblink('host=x', 'select 1') AS t(a int)",
        "SELECT pg_sleep(10)",
        "SELECT pg_terminate_backend(1)",
        "SELECT set_config('a', 'b', false)",
        "SELECT nextval('s')",
        "SELECT query_to_xml('delete from t', true, true, '')",
        "SELECT * FROM pg_shadow",
        "SELECT * FROM pg_catalog.pg_authid",
        "DO $$ BEGIN DELETE FROM t; END $$",
        "LOCK TABLE t",
        "PREPARE p AS DELETE FROM t",
        "EXECUTE p",
        "LISTEN x",
        "VACUUM",
        "SELECT 1 \\; DELETE FROM t",
    ] {
        assert!(check(sql, Dialect::Postgres).is_err(), "let through: {sql}");
    }
}

#[test]
fn mysql_tricks_are_refused() {
    for sql in [
        "SELECT * FROM t INTO OUTFILE '/tmp/x'",
        "SELECT 1 INTO DUMPFILE '/tmp/x'",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT load_file ('/etc/passwd')",
        "SELECT /*!50000 SLEEP(5) */ 1",
        "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
        "/*M!100000 DELETE FROM t */",
        "SELECT SLEEP(5)",
        "SELECT BENCHMARK(1000000000, MD5('a'))",
        "SELECT GET_LOCK('a', 10)",
        "SELECT * FROM mysql.user",
        "SELECT * FROM `mysql`.`user`",
        "SELECT * FROM t LOCK IN SHARE MODE",
        "SELECT * FROM t FOR UPDATE",
        "LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
        "REPLACE INTO t VALUES (1)",
        "HANDLER t OPEN",
        "SELECT 'a\\'; DROP TABLE t; -- '; DROP TABLE t",
    ] {
        assert!(check(sql, Dialect::MySql).is_err(), "let through: {sql}");
    }
}

#[test]
fn sqlite_clickhouse_and_duckdb_tricks_are_refused() {
    for (dialect, sql) in [
        (Dialect::Sqlite, "ATTACH DATABASE '/tmp/x' AS y"),
        (Dialect::Sqlite, "SELECT load_extension('x')"),
        (Dialect::Sqlite, "VACUUM INTO '/tmp/x'"),
        (Dialect::Sqlite, "PRAGMA writable_schema = 1"),
        (Dialect::Sqlite, "SELECT writefile('/tmp/x', 'y')"),
        (Dialect::ClickHouse, "SELECT * FROM file('/etc/passwd', 'LineAsString')"),
        (Dialect::ClickHouse, "SELECT * FROM url('http://x', 'CSV')"),
        (Dialect::ClickHouse, "SELECT * FROM remote('h', 'd', 't')"),
        (Dialect::ClickHouse, "SELECT sleep(3)"),
        (Dialect::ClickHouse, "SELECT 1 SETTINGS readonly = 0"),
        (Dialect::ClickHouse, "SELECT 1 FORMAT Native"),
        (Dialect::ClickHouse, "SELECT * FROM t INTO OUTFILE 'x'"),
        (Dialect::ClickHouse, "SYSTEM RELOAD CONFIG"),
        (Dialect::DuckDb, "SELECT * FROM read_csv('/etc/passwd')"),
        (Dialect::DuckDb, "FROM read_text('/etc/passwd')"),
        (Dialect::DuckDb, "COPY (SELECT 1) TO '/tmp/x'"),
        (Dialect::DuckDb, "INSTALL httpfs"),
        (Dialect::DuckDb, "LOAD httpfs"),
        (Dialect::DuckDb, "ATTACH '/tmp/x'"),
        (Dialect::DuckDb, "EXPORT DATABASE '/tmp/x'"),
        (Dialect::DuckDb, "SELECT getenv('HOME')"),
        (Dialect::DuckDb, "PRAGMA version"),
        (Dialect::DuckDb, "FROM t; DROP TABLE t"),
    ] {
        assert!(check(sql, dialect).is_err(), "{dialect:?} let through: {sql}");
    }
}

// SPEC I5
#[test]
fn spark_and_trino_tricks_are_refused() {
    for (dialect, sql) in [
        (Dialect::Spark, "SELECT * FROM csv.`/etc/passwd`"),
        (Dialect::Spark, "SELECT * FROM Parquet.`s3://bucket/other/conversation`"),
        (Dialect::Spark, "SELECT * FROM text.x"),
        (Dialect::Spark, "SELECT * FROM `csv`.`file:/etc/passwd`"),
        (Dialect::Spark, "WITH a AS (SELECT * FROM json.`/etc/x`) SELECT * FROM a"),
        (Dialect::Spark, "TABLE csv.`/etc/passwd`"),
        (Dialect::Spark, "SELECT * FROM `/etc/passwd`"),
        (Dialect::Spark, "SELECT java_method('java.lang.Runtime', 'getRuntime')"),
        (Dialect::Spark, "SELECT reflect('java.lang.System', 'getenv', 'HOME')"),
        (Dialect::Spark, "SELECT * FROM read_files('/etc')"),
        (Dialect::Spark, "SELECT TRANSFORM(a) USING 'sh -c id' FROM t"),
        (Dialect::Spark, "INSERT OVERWRITE DIRECTORY '/tmp/x' SELECT 1"),
        (Dialect::Spark, "CACHE TABLE t"),
        (Dialect::Spark, "REFRESH TABLE t"),
        (Dialect::Spark, "ADD JAR '/tmp/x.jar'"),
        (Dialect::Spark, "SET spark.sql.x = 1"),
        (Dialect::Spark, "SELECT 'a\\'; DROP TABLE t; -- '; DROP TABLE t"),
        (Dialect::Trino, "SELECT * FROM TABLE(pg.system.query(query => 'DELETE FROM t'))"),
        (Dialect::Trino, "SELECT * FROM TABLE(system.query(query => 'SELECT 1'))"),
        (Dialect::Trino, "SELECT * FROM system.runtime.queries"),
        (Dialect::Trino, "CALL system.runtime.kill_query('x', 'y')"),
        (Dialect::Trino, "SELECT fail('x')"),
        (Dialect::Trino, "SELECT current_groups()"),
        (Dialect::Trino, "SET SESSION x = 1"),
        (Dialect::Trino, "EXECUTE IMMEDIATE 'DELETE FROM t'"),
        (Dialect::Trino, "PREPARE p FROM DELETE FROM t"),
    ] {
        assert!(check(sql, dialect).is_err(), "{dialect:?} let through: {sql}");
    }
}

#[test]
fn duckdb_keeps_its_own_syntax() {
    for sql in [
        "FROM sales",
        "SUMMARIZE sales",
        "DESCRIBE sales",
        "SHOW TABLES",
        "SELECT * EXCLUDE (a) FROM t",
        "FROM t SELECT a, sum(b) GROUP BY ALL",
        "SELECT list_transform([1,2], x -> x + 1)",
    ] {
        assert!(check(sql, Dialect::DuckDb).is_ok(), "{sql}: {:?}", check(sql, Dialect::DuckDb));
    }
}

#[test]
fn comments_never_reach_the_server() {
    let checked =
        check("SELECT 1 -- ; DROP\n, '--x' /* DELETE */ , '销售'; -- end", Dialect::Postgres).unwrap();
    assert_eq!(checked.sql(), "SELECT 1, '--x', '销售'");
}

#[test]
fn named_parameters_are_found_outside_strings() {
    let checked =
        check("SELECT a::int, '销 :no' FROM t WHERE x = :region AND y > $min", Dialect::Postgres).unwrap();
    let names: Vec<&str> = checked.placeholders().iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["region", "min"]);
    for p in checked.placeholders() {
        assert!(checked.sql()[p.range.clone()].ends_with(&p.name));
    }
}

#[test]
fn deep_nesting_is_an_answer_not_a_crash() {
    let sql = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    for dialect in ALL {
        let _ = check(&sql, dialect);
    }
    assert_eq!(check(&"x".repeat(MAX_SQL + 1), Dialect::Postgres), Err(Refusal::TooLong));
}
