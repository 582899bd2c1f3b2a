//! Functions and relations that are refused by name. A list cannot be complete; it gives a clear message early,
//! and the read-only transaction, the ordinary role and the sandbox hold where it has a gap.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Dialect;

/// A trailing `*` matches any end of a name.
const POSTGRES: &[&str] = &[
    "pg_read_*",
    "pg_ls_*",
    "pg_stat_file",
    "pg_file_*",
    "lo_*",
    "loread",
    "lowrite",
    "dblink*",
    "pg_sleep*",
    "pg_terminate_backend",
    "pg_cancel_backend",
    "pg_reload_conf",
    "pg_rotate_logfile*",
    "pg_switch_wal",
    "pg_switch_xlog",
    "pg_create_*",
    "pg_drop_*",
    "pg_copy_*",
    "pg_start_backup",
    "pg_stop_backup",
    "pg_backup_*",
    "pg_promote",
    "pg_wal_replay_*",
    "pg_advisory_*",
    "pg_try_advisory_*",
    "pg_logical_*",
    "pg_replication_*",
    "pg_export_snapshot",
    "pg_notify",
    "pg_stat_reset*",
    "pg_import_system_collations",
    "pg_execute_server_program",
    "pg_log_*",
    "set_config",
    "setval",
    "nextval",
    "query_to_xml*",
    "table_to_xml*",
    "cursor_to_xml*",
    "schema_to_xml*",
    "database_to_xml*",
    "ts_stat",
    "crosstab*",
    "connectby",
    "normal_rand",
    "xpath_table",
    "postgres_fdw_*",
    "txid_current",
    "pg_current_xact_id",
    "pg_hba_file_rules",
    "pg_show_all_file_settings",
    "pg_extension_config_dump",
    "plpgsql_*",
    "binary_upgrade_*",
    "pg_truncate_visibility_map",
    "pg_prewarm",
    "http*",
    "pg_partition_root_x",
];
const MYSQL: &[&str] = &[
    "load_file",
    "sleep",
    "benchmark",
    "get_lock",
    "release_lock",
    "release_all_locks",
    "is_free_lock",
    "is_used_lock",
    "master_pos_wait",
    "source_pos_wait",
    "wait_for_executed_gtid_set",
    "wait_until_sql_thread_after_gtids",
    "master_gtid_wait",
    "sys_exec",
    "sys_eval",
    "sys_get",
    "sys_set",
    "nextval",
    "setval",
    "lastval",
    "load_data",
];
const SQLITE: &[&str] = &[
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "fsdir",
    "lsmode",
    "zipfile",
    "sqlite_dbpage",
    "sqlite_dbdata",
    "sqlite_dbptr",
    "zeroblob_x",
    "eval",
    "define",
];
const CLICKHOUSE: &[&str] = &[
    "file",
    "filecluster",
    "url",
    "urlcluster",
    "s3",
    "s3cluster",
    "gcs",
    "oss",
    "cosn",
    "hdfs",
    "hdfscluster",
    "azureblobstorage*",
    "remote",
    "remotesecure",
    "cluster",
    "clusterallreplicas",
    "mysql",
    "postgresql",
    "mongodb",
    "redis",
    "sqlite",
    "odbc",
    "jdbc",
    "executable",
    "input",
    "iceberg*",
    "deltalake*",
    "hudi*",
    "paimon*",
    "ytsaurus",
    "sleep",
    "sleepeachrow",
    "loop",
    "fuzzjson",
    "fuzzquery",
    "dictionary",
    "catboostevaluate",
    "modelevaluate",
    "getserverport",
    "fileclusters",
];
const DUCKDB: &[&str] = &[
    "read_*",
    "parquet_*",
    "glob",
    "sniff_csv",
    "getenv",
    "query",
    "query_table",
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
const MYSQL_RELATIONS: &[&str] = &[
    "mysql.user",
    "mysql.global_priv",
    "mysql.db",
    "mysql.servers",
    "mysql.slave_master_info",
    "mysql.proxies_priv",
];
const CLICKHOUSE_RELATIONS: &[&str] =
    &["system.users", "system.named_collections", "system.query_log", "system.processes", "system.zookeeper"];

fn list(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::DuckDb => DUCKDB,
        Dialect::Postgres => POSTGRES,
        Dialect::MySql => MYSQL,
        Dialect::Sqlite => SQLITE,
        Dialect::ClickHouse => CLICKHOUSE,
    }
}

/// The first refused function that the tokens call: a name, then `(`. Looking at tokens rather than at the tree
/// finds calls wherever the grammar allows one.
pub(super) fn refused_call(tokens: &[TokenWithSpan], dialect: Dialect) -> Option<String> {
    let mut solid = tokens.iter().map(|t| &t.token).filter(|t| !matches!(t, Token::Whitespace(_))).peekable();
    while let Some(token) = solid.next() {
        let name = match token {
            Token::Word(word) => word.value.to_lowercase(),
            Token::DoubleQuotedString(name) => name.to_lowercase(),
            _ => continue,
        };
        if matches!(solid.peek(), Some(Token::LParen)) && list(dialect).iter().any(|p| matches(p, &name)) {
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
    match dialect {
        Dialect::Postgres => {
            let last = name.rsplit('.').next().unwrap_or_default();
            POSTGRES_RELATIONS.contains(&last)
        }
        Dialect::MySql => MYSQL_RELATIONS.iter().any(|r| name == *r || name.ends_with(&format!(".{r}"))),
        Dialect::ClickHouse => CLICKHOUSE_RELATIONS.contains(&name.as_str()),
        Dialect::Sqlite | Dialect::DuckDb => false,
    }
}
