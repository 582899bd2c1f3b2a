//! A statement over files that an engine reads where they lie (SPEC N5): every name in it becomes the file that it stands
//! for, and every name that stands for none is refused. The engine's own tables, and all other files, stay out of reach.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Ident, ObjectName, ObjectNamePart, Query, Statement, TableAlias, TableFactor, VisitMut, VisitorMut,
};

use super::{Checked, Dialect, Refusal, SetExpr};

/// A Parquet file or folder, and the names it goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTable {
    pub names: Vec<String>,
    /// `s3://bucket/key`: of our own making, never of a model's.
    pub url: String,
}

/// Checks a statement in Spark's SQL, and names the files in it.
pub fn check_over(sql: &str, tables: &[FileTable]) -> Result<Checked, Refusal> {
    stacker::grow(super::STACK_BYTES, || named(sql, tables))
}

fn named(sql: &str, tables: &[FileTable]) -> Result<Checked, Refusal> {
    let dialect = Dialect::Spark;
    let mut statement = super::understood(&super::lexed(sql, dialect)?, dialect, &[])?;
    let Statement::Query(query) = &mut statement else {
        return Err(Refusal::NotARead("anything but a query".to_owned()));
    };
    name_files(query, tables)?;
    super::rewritten(&statement, dialect)
}

/// Puts the files in the place of their names.
pub(super) fn name_files(query: &mut Query, tables: &[FileTable]) -> Result<(), Refusal> {
    let urls =
        tables.iter().flat_map(|t| t.names.iter().map(move |n| (n.to_lowercase(), t.url.as_str()))).collect();
    let mut files = Files { urls, own: HashMap::new(), mark: mark() };
    // All names of WITH first: they are renamed to what nobody can guess, so that one used where it is not in scope finds
    // nothing instead of a table of the engine.
    let mut names = CteNames::default();
    let _ = query.visit(&mut names);
    for name in names.0 {
        let renamed = format!("{}_{}", files.mark, files.own.len());
        files.own.insert(name, renamed);
    }
    match query.visit(&mut files) {
        ControlFlow::Break(refusal) => Err(refusal),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// A beginning that is new for each statement.
fn mark() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("with_{random:016x}")
}

#[derive(Default)]
struct CteNames(Vec<String>);

impl VisitorMut for CteNames {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            let name = cte.alias.name.value.to_lowercase();
            if !self.0.contains(&name) {
                self.0.push(name);
            }
        }
        ControlFlow::Continue(())
    }
}

struct Files<'a> {
    urls: HashMap<String, &'a str>,
    /// What a name of WITH is called in the statement that is sent.
    own: HashMap<String, String>,
    mark: String,
}

impl Files<'_> {
    fn known(&self) -> String {
        let mut names: Vec<&str> = self.urls.keys().map(String::as_str).collect();
        names.sort_unstable();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

impl VisitorMut for Files<'_> {
    type Break = Refusal;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Refusal> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            let name = cte.alias.name.value.to_lowercase();
            if self.urls.contains_key(&name) {
                return ControlFlow::Break(Refusal::Inexpressible(format!(
                    "WITH {name}, which is a table's name,"
                )));
            }
            if let Some(renamed) = self.own.get(&name) {
                cte.alias.name = Ident::with_quote('`', renamed);
            }
        }
        if names_a_table(&query.body) {
            return ControlFlow::Break(Refusal::Inexpressible("TABLE …".to_owned()));
        }
        ControlFlow::Continue(())
    }

    /// Each name once, here: a table function has arguments and was looked at by the guard.
    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Refusal> {
        let TableFactor::Table { name, alias, args, .. } = factor else { return ControlFlow::Continue(()) };
        if args.is_some() {
            return ControlFlow::Continue(());
        }
        let [ObjectNamePart::Identifier(given)] = name.0.as_slice() else {
            return ControlFlow::Break(Refusal::UnknownTable { name: name.to_string(), known: self.known() });
        };
        let (shown, key) = (given.value.clone(), given.value.to_lowercase());
        let parts = match (self.urls.get(&key), self.own.get(&key)) {
            (Some(url), _) => vec![Ident::new("parquet"), Ident::with_quote('`', *url)],
            (None, Some(renamed)) => vec![Ident::with_quote('`', renamed)],
            (None, None) => {
                let name = ba_protocol::text::shorten(&shown, 80);
                return ControlFlow::Break(Refusal::UnknownTable { name, known: self.known() });
            }
        };
        *name = ObjectName::from(parts);
        if alias.is_none() {
            let name = Ident::with_quote('`', shown);
            *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None });
        }
        ControlFlow::Continue(())
    }
}

/// `TABLE name`, alone or in a UNION, has no place for the file that is meant.
fn names_a_table(body: &SetExpr) -> bool {
    match body {
        SetExpr::Table(_) => true,
        SetExpr::SetOperation { left, right, .. } => names_a_table(left) || names_a_table(right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(sql: &str) -> Result<String, Refusal> {
        let table = |names: &[&str], url: &str| FileTable {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            url: url.to_owned(),
        };
        let tables = [
            table(&["sales", "upload_001", "销售 2024.csv"], "s3://b/p/ab/ab12"),
            table(&["events"], "s3://lake/events/"),
        ];
        check_over(sql, &tables).map(|checked| checked.sql().to_owned())
    }

    // SPEC N5
    #[test]
    fn names_become_files() {
        let got = over(
            "SELECT sales.region, sum(e.n) FROM Sales JOIN events AS e ON e.r = sales.region GROUP BY 1",
        )
        .unwrap();
        assert_eq!(
            got,
            "SELECT sales.region, sum(e.n) FROM parquet.`s3://b/p/ab/ab12` AS `Sales` JOIN parquet.`s3://lake/events/` AS e ON e.r = sales.region GROUP BY 1"
        );
        let got = over("SELECT count(*) FROM `销售 2024.csv` WHERE x IN (SELECT x FROM upload_001)").unwrap();
        assert_eq!(got.matches("parquet.`s3://b/p/ab/ab12`").count(), 2, "{got}");
        assert!(over("SELECT * FROM range(3)").is_ok());
    }

    #[test]
    fn names_of_with_are_renamed_so_that_none_can_stand_for_a_table_of_the_engine() {
        let got = over("WITH a AS (SELECT * FROM sales), b AS (SELECT * FROM a) SELECT a.x, b.x FROM a, b")
            .unwrap();
        assert!(!got.contains("FROM a") && got.contains("AS `a`"), "{got}");
        let sneaky = "SELECT * FROM (WITH users AS (SELECT 1) SELECT * FROM users) x, users";
        assert!(!over(sneaky).unwrap().contains(" users AS"), "{}", over(sneaky).unwrap());
        assert!(over("WITH sales AS (SELECT 1) SELECT * FROM sales").is_err());
    }

    #[test]
    fn everything_else_is_refused() {
        for sql in [
            "SELECT * FROM users",
            "SELECT * FROM default.sales",
            "SELECT * FROM parquet.`s3://b/p/cd/other`",
            "SELECT * FROM `parquet`.`/etc/passwd`",
            "SELECT * FROM sales WHERE x IN (SELECT y FROM secret)",
            "SELECT (SELECT max(x) FROM secret) FROM sales",
            "SELECT * FROM sales LEFT JOIN LATERAL (SELECT * FROM secret) s ON true",
            "TABLE secret",
            "SELECT * FROM sales UNION ALL TABLE secret",
            "SHOW TABLES",
            "DESCRIBE TABLE secret",
            "EXPLAIN SELECT * FROM sales",
            "INSERT INTO sales VALUES (1)",
            "SELECT * FROM read_parquet('s3://b/x')",
        ] {
            assert!(over(sql).is_err(), "let through: {sql} as {:?}", over(sql));
        }
        let why = over("SELECT * FROM salse").unwrap_err().to_string();
        assert!(why.contains("no table `salse` here; there are: events, sales"), "{why}");
    }
}
