//! Which functions a statement may call, and which relations stay hidden. For servers it is a list of what is allowed:
//! what is not on it is refused with the nearest that is. DuckDB runs in the sandbox, so there a list of refusals is enough.

use std::collections::HashSet;
use std::sync::LazyLock;

use sqlparser::ast::{ObjectName, ObjectNamePart};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Dialect;

/// Allowed names in lower case; those that end in `*` in the text are beginnings.
struct Allowed {
    names: HashSet<String>,
    beginnings: Vec<String>,
}

impl Allowed {
    fn read(text: &str) -> Self {
        let words = text.split_whitespace().map(str::to_lowercase);
        let (beginnings, names): (Vec<String>, Vec<String>) = words.partition(|w| w.ends_with('*'));
        let beginnings = beginnings.iter().map(|w| w.trim_end_matches('*').to_owned()).collect();
        Self { names: names.into_iter().collect(), beginnings }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name) || self.beginnings.iter().any(|b| name.starts_with(b.as_str()))
    }
}

static POSTGRES: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/postgres.txt")));
static MYSQL: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/mysql.txt")));
static SQLITE: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/sqlite.txt")));
static CLICKHOUSE: LazyLock<Allowed> =
    LazyLock::new(|| Allowed::read(include_str!("allowed/clickhouse.txt")));

static SPARK: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/spark.txt")));
static MSSQL: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/mssql.txt")));
static TRINO: LazyLock<Allowed> = LazyLock::new(|| Allowed::read(include_str!("allowed/trino.txt")));

/// The allowed beginnings of ClickHouse's names hold these too, which reach beyond its tables.
const CLICKHOUSE_REFUSED: &[&str] = &[
    "file",
    "filecluster",
    "url",
    "urlcluster",
    "input",
    "mysql",
    "mongodb",
    "executable",
    "sleep",
    "sleepeachrow",
    "dictionary",
    "hdfs",
    "hdfscluster",
    "remote",
    "remotesecure",
    "cluster",
    "s3",
    "gcs",
];
/// A trailing `*` matches any end of a name.
const DUCKDB_REFUSED: &[&str] = &[
    "read_*",
    "parquet_*",
    "glob",
    "sniff_csv",
    "getenv",
    "query",
    "query_table",
    "json_execute_serialized_sql",
    "duckdb_secrets",
    "which_secret",
    "sqlite_*",
    "postgres_*",
    "mysql_*",
    "iceberg_*",
    "delta_*",
    "st_read*",
    "copy_database",
    "checkpoint",
    "force_checkpoint",
    "load_aws_credentials",
    "arrow_scan*",
    "pandas_scan",
    "python_map_function",
    "seq_scan",
    "write_log",
    "nextval",
    "getvariable",
];

const POSTGRES_RELATIONS: &[&str] = &[
    "pg_authid",
    "pg_shadow",
    "pg_user_mapping",
    "pg_user_mappings",
    "pg_hba_file_rules",
    "pg_file_settings",
    "pg_largeobject",
];
/// Schemas of accounts, of other people's queries, and of the server itself.
const MYSQL_SCHEMAS: &[&str] = &["mysql", "performance_schema", "sys"];
const CLICKHOUSE_RELATIONS: &[&str] =
    &["system.users", "system.named_collections", "system.query_log", "system.processes", "system.zookeeper"];
/// Virtual tables that tell of files and pages instead of rows.
const SQLITE_RELATIONS: &[&str] =
    &["sqlite_dbpage", "sqlite_dbdata", "sqlite_dbptr", "sqlite_stmt", "dbstat", "bytecode", "tables_used"];

fn allowed(dialect: Dialect) -> Option<&'static Allowed> {
    match dialect {
        Dialect::Postgres => Some(&POSTGRES),
        Dialect::MySql => Some(&MYSQL),
        Dialect::Sqlite => Some(&SQLITE),
        Dialect::ClickHouse => Some(&CLICKHOUSE),
        Dialect::Spark => Some(&SPARK),
        Dialect::Trino => Some(&TRINO),
        Dialect::MsSql => Some(&MSSQL),
        Dialect::DuckDb => None,
    }
}

/// Whether the function of this name may be called. `own` are those that the connection's owner allowed besides, with or
/// without a schema.
pub(super) fn may_call(name: &ObjectName, dialect: Dialect, own: &[String]) -> bool {
    let Some(allowed) = allowed(dialect) else { return true };
    let Some(parts) = plain_parts(name, dialect) else { return false };
    if own.iter().any(|o| o.eq_ignore_ascii_case(&parts.join("."))) {
        return true;
    }
    let known = |last: &str| {
        allowed.has(last) && !(dialect == Dialect::ClickHouse && CLICKHOUSE_REFUSED.contains(&last))
    };
    match parts.as_slice() {
        [last] => known(last),
        // A schema of one's own may hold a function of any name.
        [schema, last] => dialect == Dialect::Postgres && schema == "pg_catalog" && known(last),
        _ => false,
    }
}

/// The parts of a name as the server would look them up; `None` for what is no plain name.
fn plain_parts(name: &ObjectName, dialect: Dialect) -> Option<Vec<String>> {
    let part = |part: &ObjectNamePart| match part {
        // A quoted name keeps its letters in PostgreSQL: "COUNT" is not count there.
        ObjectNamePart::Identifier(i) if dialect == Dialect::Postgres && i.quote_style.is_some() => {
            Some(i.value.clone())
        }
        ObjectNamePart::Identifier(i) => Some(i.value.to_lowercase()),
        ObjectNamePart::Function(_) => None,
    };
    name.0.iter().map(part).collect()
}

/// Allowed functions whose names are the most like this one.
pub(super) fn nearest(name: &str, dialect: Dialect) -> Vec<String> {
    let Some(allowed) = allowed(dialect) else { return Vec::new() };
    let name = name.to_lowercase();
    let mut found: Vec<(f64, &String)> = allowed
        .names
        .iter()
        .map(|known| (strsim::jaro_winkler(known, &name), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    found.into_iter().take(3).map(|(_, known)| known.clone()).collect()
}

/// The first function of DuckDB's list of refusals that the tokens call: a name, then `(`. Looking at tokens rather than
/// at the tree finds calls wherever the grammar allows one.
pub(super) fn refused_by_duckdb(tokens: &[TokenWithSpan]) -> Option<String> {
    let mut solid = tokens.iter().map(|t| &t.token).filter(|t| !matches!(t, Token::Whitespace(_))).peekable();
    while let Some(token) = solid.next() {
        let name = match token {
            Token::Word(word) => word.value.to_lowercase(),
            Token::DoubleQuotedString(name) => name.to_lowercase(),
            _ => continue,
        };
        if matches!(solid.peek(), Some(Token::LParen)) && DUCKDB_REFUSED.iter().any(|p| matches(p, &name)) {
            return Some(name);
        }
    }
    None
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

pub(super) fn refused_relation(name: &str, dialect: Dialect) -> bool {
    let name: String =
        name.to_lowercase().chars().filter(|c| !matches!(c, '"' | '`' | '[' | ']' | ' ')).collect();
    let last = name.rsplit('.').next().unwrap_or_default();
    match dialect {
        Dialect::Postgres => POSTGRES_RELATIONS.contains(&last),
        Dialect::MySql => name.split('.').rev().nth(1).is_some_and(|schema| MYSQL_SCHEMAS.contains(&schema)),
        Dialect::ClickHouse => CLICKHOUSE_RELATIONS.contains(&name.as_str()),
        Dialect::Sqlite => last.starts_with("pragma_") || SQLITE_RELATIONS.contains(&last),
        Dialect::Spark => is_spark_file(&name),
        Dialect::Trino => name.starts_with("system."),
        Dialect::MsSql => is_refused_by_sql_server(&name),
        Dialect::DuckDb => false,
    }
}

/// Logins, other people's statements, the server's own databases, and four parts: a table of another server.
fn is_refused_by_sql_server(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let last = parts.last().copied().unwrap_or_default();
    let secret = [
        "sql_logins",
        "syslogins",
        "sysxlogins",
        "credentials",
        "database_scoped_credentials",
        "linked_logins",
        "servers",
        "sysservers",
        "sysprocesses",
        "sql_modules",
        "syscomments",
        "messages",
    ];
    let own = ["master", "msdb", "model", "tempdb", "resource"];
    parts.len() > 3
        || last.starts_with("dm_")
        || (secret.contains(&last) && (parts.len() == 1 || parts.contains(&"sys") || parts.contains(&"dbo")))
        || (parts.len() == 3 && own.contains(&parts[0]))
}

/// Spark reads a file by a name such as ``csv.`/etc/passwd` ``.
fn is_spark_file(name: &str) -> bool {
    let formats = [
        "parquet",
        "csv",
        "json",
        "text",
        "orc",
        "avro",
        "delta",
        "iceberg",
        "binaryfile",
        "xml",
        "jdbc",
        "arrow",
        "hudi",
        "vortex",
    ];
    let schema = name.split('.').next().unwrap_or_default();
    name.contains(['/', '\\', ':']) || (name.contains('.') && formats.contains(&schema))
}
