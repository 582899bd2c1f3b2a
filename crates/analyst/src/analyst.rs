//! The model itself: looks at how far the turn has come and takes the next step. Stateless; every step is derived from
//! the messages.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use ba_model::{Model, ModelError, ModelInfo, ModelReply, ModelRequest, OnDelta, StopReason};
use ba_protocol::structured::Report;
use ba_protocol::{Action, StructuredResponse, ToolCall};
use serde_json::{Map, Value, json};

use crate::budget::LONGEST;
use crate::database::{Asked, asking};
use crate::export;
use crate::glossary::{Glossary, GlossaryError};
use crate::memory::Memory;
use crate::norm::Lang;
use crate::observe::{self, Grid};
use crate::plan::{self, Query};
use crate::question::{Question, Refusal};
use crate::report::{Desk, format, refuse};
use crate::scope::Scope;
use crate::source::Connection;
use crate::table::Table;
use crate::turn::{Listed, Turn};
use crate::understand::Understanding;
use crate::values;
use crate::word::Beyond;

/// Tables read at the start of a turn; one round of calls.
pub(crate) const MAX_TABLES: usize = ba_protocol::structured::MAX_TOOL_CALLS;

/// The rule-based model of SPEC L3. Clones share what they remember.
#[derive(Clone)]
pub struct OfflineAnalyst {
    info: ModelInfo,
    glossary: Arc<Glossary>,
    pub(crate) connections: Vec<Connection>,
    memory: Arc<Memory>,
}

impl OfflineAnalyst {
    /// With the built-in vocabulary.
    pub fn new() -> Result<Self, GlossaryError> {
        Ok(Self::with_glossary(Glossary::built_in()?))
    }

    pub fn with_glossary(glossary: Glossary) -> Self {
        let info = ModelInfo { name: "offline".to_owned(), window: 1_000_000, offline: true, prices: None };
        Self { info, glossary: Arc::new(glossary), connections: Vec::new(), memory: Arc::default() }
    }

    /// Databases to ask where no upload answers.
    #[must_use]
    pub fn asking(self, connections: Vec<Connection>) -> Self {
        Self { connections, ..self }
    }

    pub(crate) fn glossary(&self) -> &Glossary {
        &self.glossary
    }

    /// The next step of a turn.
    pub fn respond(&self, turn: &Turn) -> StructuredResponse {
        let lang = Lang::of(&turn.question);
        let step = self.step(turn, lang);
        let round = u32::try_from(turn.rounds + 1).unwrap_or(u32::MAX);
        let (analysis, action) = match step {
            Step::Call(why, calls) => (why, Action::ToolCall { content: calls }),
            Step::Done(why, report) => (why, Action::Complete(report)),
        };
        StructuredResponse {
            task_analysis: analysis,
            execution_plan: outline(lang, &action, turn.rounds),
            current_round: round,
            action,
        }
    }

    /// How the question of a turn is understood whose tables have been read: for those who measure.
    pub fn understood(&self, turn: &Turn) -> Arc<Understanding> {
        let mut tables = self.tables(turn, &listed(turn));
        if let Some(found) = turn.outcome(&lookup_id(turn.number())) {
            values::learn(&mut tables, &observe::grid(&found.content).unwrap_or_default());
        }
        self.understand(turn, &tables)
    }

    pub(crate) fn understand(&self, turn: &Turn, tables: &[Table]) -> Arc<Understanding> {
        self.memory.understand(&self.glossary, tables, &turn.earlier, &turn.question)
    }

    fn step(&self, turn: &Turn, lang: Lang) -> Step {
        if turn.question.chars().count() > LONGEST {
            return Step::done(lang, refuse::report(&Refusal::TooLong, &[], lang));
        }
        let listed = &listed(turn)[..];
        let n = turn.number();
        let nothing = listed.is_empty() && self.connections.is_empty();
        if let Some(report) = self.without_tables(turn, lang, nothing) {
            return Step::done(lang, report);
        }
        if listed.is_empty() || self.names_database(&turn.question) {
            return match self.ask_databases(turn, lang) {
                Asked::Step(step) => step,
                Asked::Refused(refusal, tables) => Step::done(lang, refuse::report(&refusal, &tables, lang)),
                Asked::Unread => Step::done(lang, failed_read(turn, lang)),
            };
        }
        let unread: Vec<ToolCall> = listed
            .iter()
            .filter(|f| turn.outcome(&profile_id(n, &f.file_id)).is_none())
            .map(|f| read_call(n, f))
            .collect();
        if !unread.is_empty() && !turn.last {
            return Step::Call(
                lang.pick(
                    "先读取表格的结构：列、类型、取值。",
                    "First read the tables' structure: columns, types, values.",
                )
                .to_owned(),
                unread,
            );
        }
        let sheets = unread_sheets(turn, listed);
        if !sheets.is_empty() && !turn.last {
            let why = lang.pick("读取工作簿的其他工作表。", "Read the workbook's other sheets.");
            return Step::Call(why.to_owned(), sheets);
        }
        let mut tables = self.tables(turn, listed);
        if tables.is_empty() {
            return Step::done(lang, failed_read(turn, lang));
        }
        let lookup = lookup_id(n);
        match turn.outcome(&lookup) {
            Some(found) => values::learn(&mut tables, &observe::grid(&found.content).unwrap_or_default()),
            None if !turn.last => {
                if let Some(sql) =
                    values::lookup(&self.glossary, &tables, None, turn, &self.unknown(turn, &tables))
                {
                    let why = lang.pick(
                        "在表格的取值中查找问题里的词。",
                        "Look for the question's words among the tables' values.",
                    );
                    return Step::Call(why.to_owned(), vec![query_call(&lookup, &sql, 600)]);
                }
            }
            None => {}
        }
        match self.understand(turn, &tables).question.clone() {
            // What the uploads do not hold, a database may.
            Err(refusal) if !self.connections.is_empty() && !matches!(refusal, Refusal::Beyond(_)) => {
                match self.ask_databases(turn, lang) {
                    Asked::Step(step) => step,
                    _ => Step::done(lang, refuse::report(&refusal, &tables, lang)),
                }
            }
            Err(refusal) => Step::done(lang, refuse::report(&refusal, &tables, lang)),
            Ok(question) => self.compute(turn, lang, &tables, &question),
        }
    }

    /// Answers that need no table: small talk, and a conversation without files.
    fn without_tables(&self, turn: &Turn, lang: Lang, no_files: bool) -> Option<Report> {
        let found = self.memory.understand(&self.glossary, &[], &[], &turn.question);
        match found.question.clone() {
            // What else is beyond reach may yet be a name in the tables: `检验` of `检验日期`.
            Err(refusal @ Refusal::Beyond(Beyond::Chat | Beyond::Write))
                if found.unknown.is_empty() && !found.asks =>
            {
                Some(refuse::report(&refusal, &[], lang))
            }
            Err(refusal @ Refusal::Beyond(_)) if no_files => Some(refuse::report(&refusal, &[], lang)),
            _ if no_files => Some(refuse::report(&Refusal::NoTable, &[], lang)),
            _ => None,
        }
    }

    fn tables(&self, turn: &Turn, listed: &[&Listed]) -> Vec<Table> {
        let mut out = Vec::new();
        for file in listed {
            let Some(found) = turn.outcome(&profile_id(turn.number(), &file.file_id)).filter(|o| !o.failed)
            else {
                continue;
            };
            let mut profiles = observe::profiles(&found.content);
            let single = profiles.len() == 1;
            let numbers = observe::other_sheets(&found.content);
            for number in &numbers {
                let sheet = turn.outcome(&sheet_id(turn.number(), &file.file_id, *number));
                profiles.extend(
                    sheet.filter(|o| !o.failed).into_iter().flat_map(|o| observe::profiles(&o.content)),
                );
            }
            for (i, profile) in profiles.iter().enumerate() {
                let mut table = Table::new(&file.file_id, &file.filename, profile, &self.glossary);
                match (&profile.sheet, numbers.is_empty()) {
                    (Some(sheet), false) => table.is_sheet(sheet, i == 0),
                    // SPEC T7: the id always names the table.
                    _ if single => table.sql_name.clone_from(&file.file_id),
                    _ => {}
                }
                out.push(table);
            }
        }
        out
    }

    fn unknown(&self, turn: &Turn, tables: &[Table]) -> Vec<String> {
        self.understand(turn, tables).unknown.clone()
    }

    pub(crate) fn compute(&self, turn: &Turn, lang: Lang, tables: &[Table], question: &Question) -> Step {
        let in_scope =
            std::iter::once(question.table).chain(question.joins.iter().map(|j| j.table)).collect();
        let scope = Scope { glossary: &self.glossary, tables, in_scope };
        let n = turn.number();
        let connection = tables[question.table].connection.as_deref();
        let queries = plan::plan(&scope, question, lang);
        let id = |q: &Query| format!("t{n}_sql_{}", q.id);
        let missing: Vec<ToolCall> = queries
            .iter()
            .filter(|q| turn.outcome(&id(q)).is_none())
            .map(|q| {
                let call = query_call(&id(q), &q.sql, q.max_rows);
                connection.map_or(call.clone(), |name| asking(&call, name))
            })
            .collect();
        if !missing.is_empty() && !turn.last {
            return Step::Call(
                lang.pick("已理解问题，用 SQL 计算。", "The question is understood; compute it with SQL.")
                    .to_owned(),
                missing,
            );
        }
        let mut results: HashMap<&'static str, Grid> = HashMap::new();
        for query in &queries {
            let Some(outcome) = turn.outcome(&id(query)) else { continue };
            match observe::grid(&outcome.content).filter(|_| !outcome.failed) {
                Some(grid) => {
                    results.insert(query.id, grid);
                }
                None if query.id == "main" => {
                    return Step::done(lang, failed_query(&outcome.content, query, lang));
                }
                None => {}
            }
        }
        let export_id = format!("t{n}_export");
        let made = turn.outcome(&export_id);
        if let (None, Some(grid), false) = (made, results.get("main").filter(|g| g.rows.len() > 1), turn.last)
        {
            let call = ToolCall {
                tool_name: "run_python".to_owned(),
                tool_call_id: export_id,
                arguments: arguments(
                    json!({"code": export::python(n, grid), "timeout": 30, "response_format": "brief"}),
                ),
            };
            return Step::Call(
                lang.pick(
                    "把结果写成可下载的 Excel 文件。",
                    "Write the result to an Excel file for download.",
                )
                .to_owned(),
                vec![call],
            );
        }
        let name = export::filename(n);
        let download = made.filter(|o| !o.failed && o.content.contains(&name)).map(|_| name.as_str());
        let desk =
            Desk { scope: &scope, question, lang, queries: &queries, results: &results, turn: n, download };
        match desk.report() {
            Some(report) => Step::done(lang, report),
            None => Step::done(lang, unfinished(lang)),
        }
    }
}

pub(crate) enum Step {
    Call(String, Vec<ToolCall>),
    Done(String, Report),
}

impl Step {
    pub(crate) fn done(lang: Lang, report: Report) -> Self {
        Step::Done(
            lang.pick("离线分析器：给出结论。", "Offline analyst: give the answer.").to_owned(),
            report,
        )
    }
}

/// `R1: …; R2: …(当前)` (SPEC P2).
fn outline(lang: Lang, action: &Action, rounds: usize) -> String {
    let stages = [
        lang.pick("读取表格结构", "read the tables"),
        lang.pick("用 SQL 计算", "compute with SQL"),
        lang.pick("给出报告", "report"),
    ];
    let at = match action {
        Action::Complete(_) => 2,
        Action::ToolCall { .. } => rounds.min(1),
    };
    let marked: Vec<String> = stages
        .iter()
        .enumerate()
        .map(|(i, s)| format!("R{}: {s}{}", i + 1, if i == at { "(当前)" } else { "" }))
        .collect();
    marked.join("; ")
}

/// The newest tables, as many as one round of calls can read.
fn listed(turn: &Turn) -> Vec<&Listed> {
    let all: Vec<&Listed> = turn.tables().collect();
    all[all.len().saturating_sub(MAX_TABLES)..].to_vec()
}

fn lookup_id(turn: usize) -> String {
    format!("t{turn}_values")
}

fn profile_id(turn: usize, file_id: &str) -> String {
    format!("t{turn}_profile_{file_id}")
}

fn sheet_id(turn: usize, file_id: &str, number: usize) -> String {
    format!("t{turn}_sheet{number}_{file_id}")
}

/// The calls that read the sheets after the first, of all workbooks.
fn unread_sheets(turn: &Turn, listed: &[&Listed]) -> Vec<ToolCall> {
    let n = turn.number();
    let mut calls = Vec::new();
    for file in listed {
        let Some(first) = turn.outcome(&profile_id(n, &file.file_id)).filter(|o| !o.failed) else { continue };
        for number in observe::other_sheets(&first.content) {
            let id = sheet_id(n, &file.file_id, number);
            if turn.outcome(&id).is_none() {
                calls.push(ToolCall {
                    tool_name: "file_reader".to_owned(),
                    tool_call_id: id,
                    arguments: arguments(
                        json!({"path": file.file_id, "parse_metadata": true, "sheet_name": number, "response_format": "raw"}),
                    ),
                });
            }
        }
    }
    calls.truncate(MAX_TABLES);
    calls
}

pub(crate) fn arguments(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn read_call(turn: usize, file: &Listed) -> ToolCall {
    ToolCall {
        tool_name: "file_reader".to_owned(),
        tool_call_id: profile_id(turn, &file.file_id),
        arguments: arguments(json!({"path": file.file_id, "parse_metadata": true, "response_format": "raw"})),
    }
}

/// Asks for full output only where the standard level would leave rows out.
pub(crate) fn query_call(id: &str, sql: &str, max_rows: usize) -> ToolCall {
    let level = if max_rows > 50 { "full" } else { "standard" };
    ToolCall {
        tool_name: "query_database".to_owned(),
        tool_call_id: id.to_owned(),
        arguments: arguments(json!({"query": sql, "max_rows": max_rows.max(1), "response_format": level})),
    }
}

pub(crate) fn failed_read(turn: &Turn, lang: Lang) -> Report {
    let failed = turn.outcomes.iter().find(|o| o.failed);
    let said = failed.map(|o| observe::complaint(&o.content)).unwrap_or_default();
    let content = format!(
        "{}\n\n{}\n\n{}",
        lang.pick("没有能读出的表格，因此无法作答。", "No table could be read, so there is no answer."),
        format::text(&said),
        refuse::signature(lang)
    );
    Report { content, ..Report::default() }
}

fn failed_query(observation: &str, query: &Query, lang: Lang) -> Report {
    let said = format::text(&observe::complaint(observation));
    let content = format!(
        "{}\n\n{said}\n\n```sql\n{}\n```\n\n{}",
        lang.pick("查询没有成功，因此不给出数字。", "The query did not succeed, so no figure is given."),
        query.sql,
        refuse::signature(lang)
    );
    Report { content, ..Report::default() }
}

fn unfinished(lang: Lang) -> Report {
    let content = format!(
        "{}\n\n{}",
        lang.pick(
            "没有拿到完整的计算结果，因此不给出数字。",
            "The results are incomplete, so no figure is given."
        ),
        refuse::signature(lang)
    );
    Report { content, ..Report::default() }
}

#[async_trait]
impl Model for OfflineAnalyst {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(
        &self,
        request: &ModelRequest,
        on_delta: OnDelta<'_>,
    ) -> Result<ModelReply, ModelError> {
        let turn = Turn::read(&request.messages);
        // Reading computes: it has no place on the threads that serve. Whoever stops waiting is let go at once, and what
        // still runs is bounded by its budget.
        let analyst = self.clone();
        let response = tokio::task::spawn_blocking(move || analyst.respond(&turn))
            .await
            .map_err(|e| ModelError::Garbled { detail: e.to_string() })?;
        let text =
            serde_json::to_string(&response).map_err(|e| ModelError::Garbled { detail: e.to_string() })?;
        on_delta(&text);
        Ok(ModelReply { text, thinking: None, usage: None, stop: StopReason::End })
    }
}
