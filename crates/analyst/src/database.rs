//! The steps of a turn over configured databases: schema, facts, values, then the same computing as over uploads.
//! What a database's SQL cannot say is computed over a copy of the table in the conversation.

use ba_protocol::ToolCall;
use serde_json::json;

use crate::analyst::{MAX_TABLES, OfflineAnalyst, Step, arguments, query_call};
use crate::lex::ColRef;
use crate::norm::{Lang, normal};
use crate::observe;
use crate::plan::dialect::Dialect;
use crate::question::{Intent, Measure, Note, Question, Refusal};
use crate::report::refuse;
use crate::source::{self, Connection, Described};
use crate::table::Table;
use crate::turn::Turn;
use crate::values;

/// Tables looked at for one question, over all databases.
const MOST: usize = 12;
/// A copy holds a million rows at most; this many values are well within its size.
const MOST_COPIED: (u64, u64) = (1_000_000, 5_000_000);

/// How a turn over databases goes on.
pub(crate) enum Asked {
    Step(Step),
    /// The tables, where they do not answer.
    Refused(Refusal, Vec<Table>),
    /// No table could be read.
    Unread,
}

impl OfflineAnalyst {
    /// The question says that a database is meant: by its name, or by the word.
    pub(crate) fn names_database(&self, question: &str) -> bool {
        let asked = normal(question);
        let words: Vec<&str> = asked.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let named = |c: &Connection| words.contains(&normal(&c.name).as_str());
        !self.connections.is_empty()
            && (words.contains(&"database") || asked.contains("数据库") || self.connections.iter().any(named))
    }

    pub(crate) fn ask_databases(&self, turn: &Turn, lang: Lang) -> Asked {
        let n = turn.number();
        let unread: Vec<ToolCall> = (0..self.connections.len().min(MAX_TABLES))
            .filter(|i| turn.outcome(&schema_id(n, *i)).is_none())
            .map(|i| asking(&query_call(&schema_id(n, i), "SHOW COLUMNS", 1000), &self.connections[i].name))
            .collect();
        if !unread.is_empty() && !turn.last {
            let why = lang.pick("先读取数据库的表结构。", "First read the databases' tables.");
            return Asked::Step(Step::Call(why.to_owned(), unread));
        }
        let chosen = self.chosen(turn);
        let turn = &self.without_place(turn, &chosen);
        let mut unknown: Vec<ToolCall> = chosen
            .iter()
            .enumerate()
            .filter(|(i, _)| turn.outcome(&facts_id(n, *i)).is_none())
            .map(|(i, (c, t))| {
                asking(&query_call(&facts_id(n, i), &source::facts_sql(t, c.dialect), 1), &c.name)
            })
            .collect();
        unknown.truncate(MAX_TABLES);
        if !unknown.is_empty() && !turn.last {
            let why = lang.pick("查看各列的范围。", "Look at what the columns hold.");
            return Asked::Step(Step::Call(why.to_owned(), unknown));
        }
        let mut tables: Vec<Table> = Vec::new();
        for (i, (connection, described)) in chosen.iter().enumerate() {
            let found = turn.outcome(&facts_id(n, i)).filter(|o| !o.failed);
            let facts = found.and_then(|o| observe::grid(&o.content));
            tables.push(source::table(connection, described, facts.as_ref(), lang, self.glossary()));
        }
        if tables.is_empty() {
            return Asked::Unread;
        }
        if let Some(step) = self.look_for_values(turn, lang, &mut tables) {
            return Asked::Step(step);
        }
        match self.understand(turn, &tables).question.clone() {
            Err(refusal) => Asked::Refused(refusal, tables),
            Ok(mut question) => {
                // A database has many tables: which one answered is said.
                let note = Note::Table { taken: question.table };
                if tables.len() > 1 && question.joins.is_empty() && !question.notes.contains(&note) {
                    question.notes.push(note);
                }
                Asked::Step(self.compute_there(turn, lang, tables, &question))
            }
        }
    }

    /// The questions without the words that say where to look: they are no columns and no values.
    fn without_place(&self, turn: &Turn, chosen: &[(&Connection, Described)]) -> Turn {
        let free = |name: &str| !chosen.iter().any(|(_, t)| normal(&t.name).contains(&normal(name)));
        let names = self.connections.iter().map(|c| c.name.as_str()).filter(|name| free(name));
        let names: Vec<String> = names.map(regex::escape).chain(["database".to_owned()]).collect();
        let names = names.join("|");
        let place = format!(
            r"(?i)在?数据库(里面|里|中|内)?的?|\b(in|from|of|on) (the |our )?({names})( database)?\b|\b({names}) ?(里面|里|中|库)的?"
        );
        let Ok(place) = regex::Regex::new(&place) else { return turn.clone() };
        let without = |text: &String| place.replace_all(text, " ").trim().to_owned();
        let earlier = turn.earlier.iter().map(without).collect();
        Turn { question: without(&turn.question), earlier, ..turn.clone() }
    }

    /// The tables most named by the question, of all databases that could be read.
    fn chosen(&self, turn: &Turn) -> Vec<(&Connection, Described)> {
        let mut all: Vec<(&Connection, Described)> = Vec::new();
        for (i, connection) in self.connections.iter().enumerate().take(MAX_TABLES) {
            let found = turn.outcome(&schema_id(turn.number(), i)).filter(|o| !o.failed);
            let schema = found.and_then(|o| observe::grid(&o.content)).unwrap_or_default();
            all.extend(source::described(&schema).into_iter().map(|t| (connection, t)));
        }
        let asked =
            turn.earlier.iter().chain([&turn.question]).map(String::as_str).collect::<Vec<_>>().join(" ");
        all.sort_by_key(|(_, t)| std::cmp::Reverse(source::relevance(t, &asked)));
        all.truncate(MOST);
        all
    }

    /// Looks for the question's words among the values, once a database.
    fn look_for_values(&self, turn: &Turn, lang: Lang, tables: &mut [Table]) -> Option<Step> {
        let n = turn.number();
        let unknown = self.understand(turn, tables).unknown.clone();
        let mut calls = Vec::new();
        for (i, connection) in self.connections.iter().enumerate().take(MAX_TABLES) {
            let id = format!("t{n}_values_{i}");
            match turn.outcome(&id) {
                Some(found) => values::learn(tables, &observe::grid(&found.content).unwrap_or_default()),
                None => {
                    let sql = values::lookup(self.glossary(), tables, Some(&connection.name), turn, &unknown);
                    calls.extend(sql.map(|sql| asking(&query_call(&id, &sql, 600), &connection.name)));
                }
            }
        }
        let why =
            lang.pick("在各列的取值中查找问题里的词。", "Look for the question's words among the values.");
        (!calls.is_empty() && !turn.last).then(|| Step::Call(why.to_owned(), calls))
    }

    fn compute_there(&self, turn: &Turn, lang: Lang, mut tables: Vec<Table>, question: &Question) -> Step {
        let dialect = tables[question.table].dialect;
        if says(dialect, question) {
            return self.compute(turn, lang, &tables, question);
        }
        let table = &mut tables[question.table];
        let values = table.rows.saturating_mul(table.columns.len() as u64);
        if !question.joins.is_empty() || table.rows > MOST_COPIED.0 || values > MOST_COPIED.1 {
            return Step::done(lang, refuse::report(&Refusal::TooMuchToCopy, &tables, lang));
        }
        let n = turn.number();
        let (id, kept) = (format!("t{n}_copy"), format!("offline_copy_{n}"));
        match turn.outcome(&id) {
            None if !turn.last => {
                let columns: Vec<String> = table.columns.iter().map(|c| dialect.name(&c.name)).collect();
                let sql = format!("SELECT {}\nFROM {}", columns.join(", "), dialect.table(&table.sql_name));
                let mut call =
                    asking(&query_call(&id, &sql, 1), table.connection.as_deref().unwrap_or_default());
                call.arguments.extend(arguments(json!({ "keep_as": kept })));
                let why = lang.pick(
                    "这项计算数据库的 SQL 做不到，先把表复制到会话中。",
                    "The database's SQL cannot compute this: copy the table into the conversation first.",
                );
                Step::Call(why.to_owned(), vec![call])
            }
            Some(found) if found.failed => Step::done(lang, crate::analyst::failed_read(turn, lang)),
            _ => {
                table.sql_name = kept;
                table.dialect = Dialect::DuckDb;
                table.connection = None;
                self.compute(turn, lang, &tables, question)
            }
        }
    }
}

/// Whether the dialect has words for all that is asked.
fn says(dialect: Dialect, question: &Question) -> bool {
    let known = |m: &Measure| match m {
        Measure::Of(agg, ColRef { .. }) => dialect.knows(*agg),
        Measure::Ratio { numerator, denominator, .. } => [numerator, denominator]
            .iter()
            .all(|m| !matches!(m.as_ref(), Measure::Of(agg, _) if !dialect.knows(*agg))),
        _ => true,
    };
    let special = matches!(
        question.intent,
        Intent::Distribution | Intent::Correlation | Intent::Outliers | Intent::Cohort { .. }
    );
    dialect == Dialect::DuckDb || !special && question.measures.iter().all(known)
}

fn schema_id(turn: usize, connection: usize) -> String {
    format!("t{turn}_schema_{connection}")
}

fn facts_id(turn: usize, table: usize) -> String {
    format!("t{turn}_facts_{table:02}")
}

/// The same call to a database.
pub(crate) fn asking(call: &ToolCall, connection: &str) -> ToolCall {
    let mut call = call.clone();
    call.arguments.insert("connection".to_owned(), connection.into());
    call
}
