//! SQL Server's own SQL: what passes is sent as it was meant, and what would begin another statement, lock, or leave the
//! database is refused.

use super::*;

fn sent(sql: &str) -> Result<String, Refusal> {
    check(sql, Dialect::MsSql).map(|checked| checked.sql().to_owned())
}

// SPEC I5
#[test]
fn usual_questions_pass_and_read_the_same_again() {
    for sql in [
        "SELECT TOP 10 region, SUM(amount) AS s FROM dbo.orders GROUP BY region ORDER BY s DESC",
        "SELECT TOP (5) WITH TIES [订单号], [a b] FROM [销售 明细] ORDER BY 2",
        "SELECT DATEPART(year, at), DATEADD(month, -1, GETDATE()), DATEDIFF(day, a, b), EOMONTH(a), FORMAT(a, 'yyyy-MM') FROM t",
        "SELECT CONVERT(VARCHAR(10), at, 120), TRY_CONVERT(INT, x), CAST(x AS DECIMAL(12, 2)), TRY_CAST(y AS DATE), ISNULL(a, 0), IIF(a > 1, 'y', 'n') FROM t",
        "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) AS n, LAG(a, 1) OVER (ORDER BY c) FROM sales.dbo.t",
        "SELECT STRING_AGG(name, ',') WITHIN GROUP (ORDER BY name) FROM t GROUP BY x",
        "WITH t AS (SELECT * FROM a) SELECT COUNT(*) FROM t JOIN b ON t.id = b.id",
        "SELECT * FROM t ORDER BY id OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY",
        "SELECT x.n FROM t CROSS APPLY (SELECT COUNT(*) AS n FROM u WHERE u.id = t.id) AS x",
        "SELECT JSON_VALUE(j, '$.a'), LEFT(s, 3), LEN(s), CHARINDEX('a', s), s COLLATE Latin1_General_CI_AS FROM t WITH (NOLOCK)",
        "SELECT at AT TIME ZONE 'China Standard Time' FROM t WHERE region IN (:regions) AND n = :n",
        "SELECT [open], [close], [kill] FROM prices",
    ] {
        let first = sent(sql).unwrap_or_else(|why| panic!("{sql}: {why}"));
        assert_eq!(sent(&first).as_deref(), Ok(first.as_str()), "{sql}");
    }
    assert_eq!(sent("SELECT '销''售', N'x' -- c").unwrap(), "SELECT N'销''售', N'x'");
}

/// No sign parts two statements there, so that a word taken for a name here may be a statement there.
#[test]
fn nothing_follows_the_one_statement() {
    for sql in [
        "SELECT * FROM t SHUTDOWN",
        "SELECT * FROM t shutdown WITH (NOWAIT)",
        "SELECT 1 AS a CHECKPOINT",
        "SELECT a revert FROM t",
        "SELECT a FROM t reconfigure",
        "SELECT a FROM t AS commit",
        "SELECT a FROM t rollback",
        "SELECT a FROM t WHERE b = 1 DELETE FROM t",
        "SELECT a FROM t DBCC (x)",
        "SELECT a FROM t ORDER BY a EXEC xp_cmdshell 'dir'",
        "SELECT a FROM t WAITFOR DELAY '0:0:9'",
        "SELECT 1; DROP TABLE t",
        "SELECT 1\nGO\nDROP TABLE t",
        "DECLARE @x INT",
        "EXEC sp_configure",
        "WITH x AS (SELECT 1 AS a) DELETE FROM x",
        "SELECT a INTO copy FROM t",
        "SELECT @@VERSION",
        "SELECT * FROM #other",
        "MERGE t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
    ] {
        assert!(sent(sql).is_err(), "let through: {sql} as {:?}", sent(sql));
    }
}

#[test]
fn other_servers_files_locks_and_secrets_are_out_of_reach() {
    for sql in [
        "SELECT * FROM OPENROWSET('MSOLEDBSQL', 'Server=x;', 'SELECT 1')",
        "SELECT * FROM OPENROWSET(BULK 'C:\\x.txt', SINGLE_CLOB) AS x",
        "SELECT * FROM OPENQUERY(other, 'DELETE FROM t')",
        "SELECT * FROM OPENDATASOURCE('x', 'y').db.dbo.t",
        "SELECT * FROM other.db.dbo.t",
        "SELECT * FROM [other].[db]..[t]",
        "SELECT * FROM sys.sql_logins",
        "SELECT * FROM master.sys.sql_logins",
        "SELECT * FROM syslogins",
        "SELECT * FROM sys.dm_exec_requests",
        "SELECT * FROM msdb.dbo.backupset",
        "SELECT * FROM fn_get_audit_file('x', default, default)",
        "SELECT * FROM sys.fn_xe_file_target_read_file('x', null, null, null)",
        "SELECT dbo.own_function(1)",
        "SELECT * FROM t WITH (TABLOCKX, HOLDLOCK)",
        "SELECT * FROM t WITH (UPDLOCK)",
        "SELECT NEXT VALUE FOR s",
        "SELECT PWDENCRYPT('x')",
        "SELECT * FROM t FOR UPDATE",
    ] {
        assert!(sent(sql).is_err(), "let through: {sql} as {:?}", sent(sql));
    }
    assert!(check_with("SELECT dbo.own_function(1)", Dialect::MsSql, &["dbo.own_function".into()]).is_ok());
}
