//! What the types of each engine are as columns of a kept table: a few kinds that DuckDB has too. What is not known is text.

use crate::guard::Dialect;

/// The kind that `tables/keep.py` casts to: `integer`, `decimal`, `float`, `boolean`, `date`, `timestamp`, `moment` (with a
/// zone), `text`, or `any` where the values decide.
pub(crate) fn kept(dialect: Dialect, declared: &str) -> &'static str {
    match dialect {
        Dialect::Postgres => postgres(declared),
        Dialect::MySql => mysql(declared),
        Dialect::Sqlite => sqlite(declared),
        Dialect::ClickHouse => clickhouse(declared),
        Dialect::Spark | Dialect::Trino => standard(declared),
        Dialect::MsSql => sqlserver(declared),
        Dialect::DuckDb => "text",
    }
}

fn postgres(declared: &str) -> &'static str {
    match declared {
        "INT2" | "INT4" | "INT8" | "OID" => "integer",
        "NUMERIC" => "decimal",
        "FLOAT4" | "FLOAT8" => "float",
        "BOOL" => "boolean",
        "DATE" => "date",
        "TIMESTAMP" => "timestamp",
        "TIMESTAMPTZ" => "moment",
        _ => "text",
    }
}

fn mysql(declared: &str) -> &'static str {
    match declared.trim_end_matches(" UNSIGNED") {
        // A BOOLEAN of MySQL is a small number.
        "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "YEAR" | "BIT" => "integer",
        "DECIMAL" => "decimal",
        "FLOAT" | "DOUBLE" => "float",
        "DATE" => "date",
        "DATETIME" => "timestamp",
        "TIMESTAMP" => "moment",
        _ => "text",
    }
}

/// A SQLite column may hold anything: one with a value of another type stays text.
fn sqlite(declared: &str) -> &'static str {
    match declared {
        "INTEGER" | "INT8" | "BOOLEAN" => "integer",
        "REAL" => "float",
        // An expression: its values tell.
        "NULL" | "NUMERIC" => "any",
        _ => "text",
    }
}

fn clickhouse(declared: &str) -> &'static str {
    let inner = declared.trim_start_matches("LowCardinality(").trim_start_matches("Nullable(");
    let starts = |names: &[&str]| names.iter().any(|name| inner.starts_with(name));
    match inner {
        _ if starts(&["Int", "UInt"]) && !starts(&["Interval"]) => "integer",
        _ if starts(&["Decimal"]) => "decimal",
        _ if starts(&["Float", "BFloat"]) => "float",
        _ if starts(&["Bool"]) => "boolean",
        _ if starts(&["DateTime"]) => "moment",
        _ if starts(&["Date"]) => "date",
        _ => "text",
    }
}

fn sqlserver(declared: &str) -> &'static str {
    match declared {
        "TINYINT" | "SMALLINT" | "INT" | "BIGINT" => "integer",
        "DECIMAL" | "MONEY" => "decimal",
        "REAL" | "FLOAT" => "float",
        "BIT" => "boolean",
        "DATE" => "date",
        "DATETIME" | "DATETIME2" => "timestamp",
        "DATETIMEOFFSET" => "moment",
        _ => "text",
    }
}

/// Types as Arrow's columns are called here, and as Trino calls its own.
fn standard(declared: &str) -> &'static str {
    let declared = declared.to_ascii_lowercase();
    let starts = |names: &[&str]| names.iter().any(|name| declared.starts_with(name));
    match declared.as_str() {
        "tinyint" | "smallint" | "int" | "integer" | "bigint" | "uint" | "ubigint" => "integer",
        "float" | "real" | "double" => "float",
        "boolean" => "boolean",
        "date" => "date",
        "timestamp_ntz" => "timestamp",
        _ if starts(&["decimal"]) => "decimal",
        _ if declared.ends_with("with time zone") && starts(&["timestamp"]) => "moment",
        // Without a zone in Trino, with one in Spark: the values tell.
        _ if starts(&["timestamp("]) => "timestamp",
        "timestamp" => "moment",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_every_engine_are_known() {
        for (dialect, declared, want) in [
            (Dialect::Postgres, "NUMERIC", "decimal"),
            (Dialect::Postgres, "TIMESTAMPTZ", "moment"),
            (Dialect::Postgres, "INT4[]", "text"),
            (Dialect::MySql, "BIGINT UNSIGNED", "integer"),
            (Dialect::MySql, "DATETIME", "timestamp"),
            (Dialect::Sqlite, "TEXT", "text"),
            (Dialect::Sqlite, "NULL", "any"),
            (Dialect::ClickHouse, "LowCardinality(Nullable(UInt64))", "integer"),
            (Dialect::ClickHouse, "IntervalDay", "text"),
            (Dialect::ClickHouse, "DateTime64(3, 'Asia/Shanghai')", "moment"),
            (Dialect::ClickHouse, "Date32", "date"),
            (Dialect::MsSql, "MONEY", "decimal"),
            (Dialect::MsSql, "NVARCHAR", "text"),
            (Dialect::ClickHouse, "Array(Int64)", "text"),
        ] {
            assert_eq!(kept(dialect, declared), want, "{declared}");
        }
    }
}
