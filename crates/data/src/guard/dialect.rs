//! The dialects of SQL that the guard reads and writes, and how each marks texts and names. Knows no server.

use std::any::TypeId;

use sqlparser::dialect::{
    ClickHouseDialect, DatabricksDialect, Dialect as SqlDialect, DuckDbDialect, MsSqlDialect, MySqlDialect,
    PostgreSqlDialect, SQLiteDialect,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    DuckDb,
    Postgres,
    MySql,
    Sqlite,
    ClickHouse,
    /// Spark SQL, as Sail and Spark read it.
    Spark,
    /// Trino, Presto and other engines that keep to the standard's quotes, such as Dremio.
    Trino,
    /// SQL Server.
    MsSql,
}

/// What a backslash and a quote mean inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// A quote is doubled; a backslash is a character.
    Doubled,
    /// A quote is doubled, a backslash too.
    DoubledBoth,
    /// A backslash stands before both; two texts side by side are one.
    Backslash,
}

impl Dialect {
    /// By the name that a configuration gives.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "postgres" => Dialect::Postgres,
            "mysql" => Dialect::MySql,
            "spark" => Dialect::Spark,
            "trino" => Dialect::Trino,
            _ => return None,
        })
    }

    pub(super) fn parser(self) -> Box<dyn SqlDialect> {
        match self {
            Dialect::DuckDb => Box::new(DuckDbDialect {}),
            Dialect::Postgres => Box::new(PostgreSqlDialect {}),
            Dialect::MySql => Box::new(MySqlDialect {}),
            Dialect::Sqlite => Box::new(SQLiteDialect {}),
            Dialect::ClickHouse => Box::new(ClickHouseDialect {}),
            // The parser's own dialect of Spark knows no backslashes in texts; Databricks reads them as Spark does.
            Dialect::Spark => Box::new(DatabricksDialect {}),
            Dialect::Trino => Box::new(TrinoDialect),
            Dialect::MsSql => Box::new(MsSqlDialect {}),
        }
    }

    pub(super) fn escapes(self) -> Escapes {
        match self {
            Dialect::MySql | Dialect::ClickHouse => Escapes::DoubledBoth,
            Dialect::Spark => Escapes::Backslash,
            _ => Escapes::Doubled,
        }
    }

    /// Whether a double quote opens a text instead of a name.
    pub(super) fn has_double_quoted_texts(self) -> bool {
        matches!(self, Dialect::MySql | Dialect::Spark)
    }

    /// A name as it stands in a statement.
    pub fn quoted_name(self, name: &str) -> String {
        match self {
            Dialect::MySql | Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            Dialect::ClickHouse => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// A text as it stands in a statement.
    pub fn quoted_text(self, text: &str) -> String {
        match self.escapes() {
            // Without the N it would be read in the code page of the database.
            Escapes::Doubled if self == Dialect::MsSql => format!("N'{}'", text.replace('\'', "''")),
            Escapes::Doubled => format!("'{}'", text.replace('\'', "''")),
            Escapes::DoubledBoth => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            Escapes::Backslash => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    }
}

/// The parser has no dialect of Trino's: standard quotes, lambdas, and filters on aggregates.
#[derive(Debug)]
struct TrinoDialect;

impl SqlDialect for TrinoDialect {
    fn dialect(&self) -> TypeId {
        TypeId::of::<Self>()
    }

    fn is_delimited_identifier_start(&self, c: char) -> bool {
        c == '"'
    }

    fn identifier_quote_style(&self, _identifier: &str) -> Option<char> {
        Some('"')
    }

    fn is_identifier_start(&self, c: char) -> bool {
        c.is_alphabetic() || c == '_'
    }

    fn is_identifier_part(&self, c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn supports_lambda_functions(&self) -> bool {
        true
    }

    fn supports_window_clause_named_window_reference(&self) -> bool {
        true
    }
}
