//! What SQL Server tells of its tables and of an account's rights. Pure but for the statements it keeps.

use crate::DataError;
use crate::connections::schema::{self, ColumnInfo, TableInfo};

/// Every right of the account on the server and the database, and the first of writing on a table or view.
pub(super) const RIGHTS: &str = "
SELECT CAST(permission_name AS NVARCHAR(200)) FROM fn_my_permissions(NULL, 'SERVER')
UNION ALL SELECT CAST(permission_name AS NVARCHAR(200)) FROM fn_my_permissions(NULL, 'DATABASE')
UNION ALL SELECT TOP 1 CAST('writing to ' + o.name AS NVARCHAR(200)) FROM sys.objects o
 CROSS APPLY (SELECT QUOTENAME(SCHEMA_NAME(o.schema_id)) + '.' + QUOTENAME(o.name) AS full_name) n
 WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 AND 1 IN (HAS_PERMS_BY_NAME(n.full_name, 'OBJECT', 'INSERT'),
  HAS_PERMS_BY_NAME(n.full_name, 'OBJECT', 'UPDATE'), HAS_PERMS_BY_NAME(n.full_name, 'OBJECT', 'DELETE'))";

/// Rights with which nothing can be changed; all that begin with VIEW are of this kind, too.
const HARMLESS: &[&str] = &[
    "CONNECT",
    "CONNECT SQL",
    "CONNECT REPLICATION",
    "CONNECT ANY DATABASE",
    "SELECT",
    "SELECT ALL USER SECURABLES",
    "SHOWPLAN",
    "UNMASK",
];

/// Without a READ ONLY transaction, only an account that cannot write is used. What is not known counts as writing.
pub(super) fn only_reads(rights: &[Vec<String>]) -> Result<(), DataError> {
    let rights = || rights.iter().filter_map(|row| row.first());
    let harmless = |right: &&String| HARMLESS.contains(&right.as_str()) || right.starts_with("VIEW ");
    let more = match rights().find(|right| !harmless(right)) {
        Some(right) => right.as_str(),
        None if rights().next().is_some() => return Ok(()),
        None => "rights that the server does not tell",
    };
    Err(DataError::Unsafe {
        name: String::new(),
        message: format!(
            "its user may do more than read ({more}), and SQL Server has no READ ONLY transaction; use a login that is only a \
             member of db_datareader, or set allow_superuser = true for this connection"
        ),
    })
}

pub(super) const TABLES: &str = "
SELECT TOP 60000 CAST(CASE WHEN s.name = SCHEMA_NAME() THEN o.name ELSE s.name + '.' + o.name END AS NVARCHAR(300)),
 CAST(CASE WHEN o.type = 'V' THEN 'view' ELSE 'table' END AS NVARCHAR(10)), CAST(et.value AS NVARCHAR(1000)),
 CAST((SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)) AS BIGINT),
 CAST(c.name AS NVARCHAR(200)),
 CAST(t.name + CASE WHEN t.name IN ('decimal', 'numeric') THEN CONCAT('(', c.precision, ',', c.scale, ')')
  WHEN t.name IN ('char', 'varchar', 'binary', 'varbinary') THEN '(' + IIF(c.max_length < 0, 'max', CAST(c.max_length AS VARCHAR(9))) + ')'
  WHEN t.name IN ('nchar', 'nvarchar') THEN '(' + IIF(c.max_length < 0, 'max', CAST(c.max_length / 2 AS VARCHAR(9))) + ')'
  ELSE '' END AS NVARCHAR(200)),
 CAST(ec.value AS NVARCHAR(1000)),
 CAST(IIF(EXISTS (SELECT 1 FROM sys.indexes i JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
  WHERE i.is_primary_key = 1 AND i.object_id = o.object_id AND ic.column_id = c.column_id), 'PK', '') AS NVARCHAR(2)),
 CAST((SELECT TOP 1 N'→ ' + OBJECT_NAME(f.referenced_object_id) FROM sys.foreign_key_columns f
  WHERE f.parent_object_id = o.object_id AND f.parent_column_id = c.column_id) AS NVARCHAR(300))
FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id JOIN sys.columns c ON c.object_id = o.object_id
JOIN sys.types t ON t.user_type_id = c.user_type_id
LEFT JOIN sys.extended_properties et ON et.class = 1 AND et.major_id = o.object_id AND et.minor_id = 0 AND et.name = 'MS_Description'
LEFT JOIN sys.extended_properties ec ON ec.class = 1 AND ec.major_id = o.object_id AND ec.minor_id = c.column_id AND ec.name = 'MS_Description'
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0
ORDER BY s.name, o.name, c.column_id";

pub(super) fn tables(told: &[Vec<String>]) -> Vec<TableInfo> {
    let mut tables = Vec::new();
    for row in told {
        let text = |i: usize| row.get(i).cloned().unwrap_or_default();
        let (name, kind, comment, rows) = (text(0), text(1), text(2), text(3).parse().ok());
        let table = TableInfo { name, kind, comment, rows, columns: Vec::new() };
        let (name, kind, comment, key) = (text(4), text(5), text(6), schema::key(text(7) == "PK", &text(8)));
        schema::add_column(&mut tables, table, ColumnInfo { name, kind, comment, key, samples: Vec::new() });
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_only_reads_when_every_right_is_harmless() {
        let check = |rights: &[&str]| {
            let told: Vec<Vec<String>> = rights.iter().map(|r| vec![(*r).to_owned()]).collect();
            only_reads(&told)
        };
        assert!(check(&["CONNECT SQL", "VIEW ANY DATABASE", "CONNECT", "SELECT"]).is_ok());
        for more in [
            &["CONNECT SQL", "CONTROL SERVER"][..],
            &["CONNECT", "SELECT", "INSERT"],
            &["CONNECT", "EXECUTE"],
            &["CONNECT", "SELECT", "writing to orders"],
            &[],
        ] {
            assert!(matches!(check(more), Err(DataError::Unsafe { .. })), "{more:?}");
        }
    }
}
