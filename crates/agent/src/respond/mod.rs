//! From a model's turn to the API's answer (SPEC R1–R9): refs resolved, code taken out, links checked.
//!
//! Pure: facts come in, an answer and the code to save go out. Never reads a store and never saves.

pub mod charts;
mod fences;
mod links;
mod refs;
#[cfg(test)]
mod tests;

use ba_audit::Evidence;
use ba_protocol::api::{AgentResponse, CallSummary, ResponseMetadata, SavedCode, Status, UsageInfo};
use ba_protocol::structured::Report;
use ba_protocol::{
    Action, Artifact, Clarification, CodeFile, CodeId, ConversationId, DataNote, RunId, StructuredResponse,
    Upload, text,
};
use ba_store::languages::{self, Language};

/// What a conversation holds when the answer is built.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The newest version of each.
    pub code: Vec<CodeFile>,
    pub uploads: Vec<Upload>,
    pub artifacts: Vec<Artifact>,
    /// What the calls returned, nearest first: charts by reference are drawn from it.
    pub results: Evidence,
}

/// What the run itself knows and the model does not say.
#[derive(Debug, Clone)]
pub struct RunFacts {
    pub conversation_id: ConversationId,
    pub run_id: RunId,
    pub duration_ms: u64,
    pub tool_calls: Vec<CallSummary>,
    pub artifacts: Vec<Artifact>,
    pub model: String,
    pub offline: bool,
    pub usage: UsageInfo,
    /// The skills that were active in this turn.
    pub skill_chain: Vec<String>,
    pub stop_reason: Option<String>,
    /// What the run wants people to know, before the warnings found here.
    pub warnings: Vec<String>,
    /// On the tables its calls used.
    pub data_notes: Vec<DataNote>,
}

/// What the model finally said.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// A parsed `complete` turn. (A `tool_call` turn here gives an empty report.)
    Structured(&'a StructuredResponse),
    /// No object in it: the text is the answer (SPEC P11).
    Plain { text: &'a str, round: u32 },
}

/// Code to be saved before the answer is delivered (SPEC R5, R9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeToSave {
    pub code_id: CodeId,
    /// Always a supported language (SPEC C3).
    pub language: Language,
    pub description: String,
    pub code: String,
}

/// An answer that waits for its code to be saved.
#[derive(Debug, Clone)]
pub struct Draft {
    response: AgentResponse,
    pub save: Vec<CodeToSave>,
    /// The answer as history keeps it (SPEC X8): refs as the model wrote them, code as its CODE_SAVED line.
    pub history: String,
}

/// A turn that called tools (SPEC R2).
pub fn processing(turn: &StructuredResponse, run: RunFacts) -> AgentResponse {
    let mut metadata = metadata_of(turn);
    metadata.content_type = "text".to_owned();
    if let Action::ToolCall { content } = &turn.action {
        metadata.tool_calls.clone_from(content);
    }
    answer_of(String::new(), metadata, run)
}

/// The complete answer (SPEC R3–R9). `new_code_id` names code found in fences: `code_YYYYMMDD_<8 hex>`.
pub fn complete(
    answer: Answer<'_>,
    known: &Known,
    run: RunFacts,
    new_code_id: &mut dyn FnMut() -> CodeId,
) -> Draft {
    let empty = Report::default();
    let (mut metadata, content, report) = match answer {
        Answer::Structured(turn) => match &turn.action {
            Action::Complete(report) => (metadata_of(turn), report.content.as_str(), report),
            Action::ToolCall { .. } => (metadata_of(turn), "", &empty),
        },
        Answer::Plain { text, round } => (plain_metadata(round), text, &empty),
    };
    metadata.status = Status::Complete;
    metadata.action_type = "complete".to_owned();
    metadata.data_notes.clone_from(&run.data_notes);

    let mut save = blocks_to_save(report, &mut metadata.warnings);
    let stated = save.len();
    let pieces = fences::split(content);
    let content = fences::take_code(&pieces, &mut save, new_code_id);
    metadata.contains_html = fences::holds_html(&pieces);
    metadata.content_type = if metadata.contains_html { "html" } else { "markdown" }.to_owned();

    let charted = charts::resolve(&content, &known.results);
    metadata.warnings.extend(charted.faults.iter().map(|faulty| faulty.fault.to_string()));
    metadata.charts = charted.charts;
    let resolved = refs::resolve(&charted.text, known, &save, &mut metadata.warnings);
    metadata.code_refs = resolved.code_refs;
    metadata.file_refs = resolved.file_refs;
    metadata.needs_clarification =
        report.needs_clarification.as_ref().map(|asked| Clarification { choices: questions(&asked.choices) });
    // Whoever knows only recommended questions can still choose.
    let offered =
        metadata.needs_clarification.as_ref().map_or(&report.recommended_questions, |asked| &asked.choices);
    metadata.recommended_questions = questions(offered);
    metadata.download_links = links::keep(&report.download_links, known, &save, &mut metadata.warnings);
    metadata.saved_codes = save.iter().map(provisional).collect();

    let mut history = content;
    for block in save.iter().take(stated) {
        history.push_str(if history.is_empty() { "" } else { "\n\n" });
        history.push_str(&fences::saved_line(&block.code_id, &block.description));
    }
    Draft { response: answer_of(resolved.text, metadata, run), save, history }
}

impl Draft {
    /// What will be delivered.
    pub fn text(&self) -> &str {
        &self.response.response
    }

    /// The answer as it stands, its code not yet saved.
    pub fn answer(&self) -> &AgentResponse {
        &self.response
    }

    /// The answer, with what the store made of the code: its version and its path.
    pub fn finish(mut self, saved: &[CodeFile]) -> AgentResponse {
        for entry in &mut self.response.metadata.saved_codes {
            if let Some(file) = saved.iter().rev().find(|file| file.code_id == entry.code_id) {
                entry.version = file.version;
                entry.file_path.clone_from(&file.file_path);
            }
        }
        self.response
    }
}

/// The largest piece of code that is kept; the store refuses more.
pub(super) const MAX_CODE_BYTES: usize = 4 * 1024 * 1024;

/// Slugs the ids the model gave (SPEC C5) and settles the languages (SPEC C3).
fn blocks_to_save(report: &Report, warnings: &mut Vec<String>) -> Vec<CodeToSave> {
    let mut save: Vec<CodeToSave> = Vec::new();
    for block in &report.code_blocks {
        if block.code.trim().is_empty() {
            warnings.push(format!("代码块 {} 为空，未保存", shown(&block.code_id)));
            continue;
        }
        if block.code.len() > MAX_CODE_BYTES {
            let id = shown(&block.code_id);
            warnings.push(format!("代码块 {id} 超过 {}，未保存", text::human_size(MAX_CODE_BYTES as u64)));
            continue;
        }
        let language = languages::find(&block.language).unwrap_or_else(|| {
            if !block.language.trim().is_empty() {
                tracing::warn!(language = %shown(&block.language), "unsupported language: the code is saved as python");
                warnings.push(format!("不支持的语言 {}，已按 python 保存", shown(&block.language)));
            }
            languages::FALLBACK
        });
        let given = text::one_line(block.description.trim());
        let description =
            if given.is_empty() { fences::first_line(&block.code) } else { text::shorten(&given, 200) };
        let code_id = CodeId::parse(&block.code_id).unwrap_or_else(|_| CodeId::slug(&block.code_id));
        save.push(CodeToSave { code_id, language, description, code: block.code.clone() });
    }
    save
}

fn provisional(code: &CodeToSave) -> SavedCode {
    SavedCode {
        code_id: code.code_id.clone(),
        version: 1,
        language: code.language.name.to_owned(),
        description: code.description.clone(),
        file_path: format!("data/{}.{}", code.code_id, code.language.extension),
        original_length: code.code.chars().count() as u64,
    }
}

fn questions(given: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for question in given {
        let question = text::one_line(question.trim());
        if !question.is_empty() && !kept.contains(&question) {
            kept.push(question);
        }
    }
    kept
}

/// A name the model made up, safe to show.
fn shown(name: &str) -> String {
    text::shorten(&text::one_line(name.trim()), 80)
}

fn metadata_of(turn: &StructuredResponse) -> ResponseMetadata {
    ResponseMetadata {
        has_structured_response: true,
        action_type: turn.action.kind().to_owned(),
        task_analysis: turn.task_analysis.clone(),
        execution_plan: turn.execution_plan.clone(),
        ..plain_metadata(turn.current_round)
    }
}

fn plain_metadata(round: u32) -> ResponseMetadata {
    ResponseMetadata {
        content_type: "text".to_owned(),
        has_structured_response: false,
        action_type: "complete".to_owned(),
        current_round: round.max(1),
        task_analysis: String::new(),
        execution_plan: String::new(),
        status: Status::Processing,
        contains_html: false,
        tool_calls: Vec::new(),
        recommended_questions: Vec::new(),
        needs_clarification: None,
        download_links: Vec::new(),
        code_refs: Vec::new(),
        file_refs: Vec::new(),
        saved_codes: Vec::new(),
        charts: Vec::new(),
        warnings: Vec::new(),
        data_notes: Vec::new(),
        audit: None,
        witness: None,
        skill_chain: Vec::new(),
        stop_reason: None,
        model: String::new(),
        offline: false,
        usage: UsageInfo::default(),
    }
}

fn answer_of(response: String, mut metadata: ResponseMetadata, run: RunFacts) -> AgentResponse {
    metadata.warnings.splice(0..0, run.warnings);
    metadata.skill_chain = run.skill_chain;
    metadata.stop_reason = run.stop_reason;
    metadata.model = run.model;
    metadata.offline = run.offline;
    metadata.usage = run.usage;
    AgentResponse {
        response,
        conversation_id: run.conversation_id,
        run_id: run.run_id,
        duration_ms: run.duration_ms,
        tool_calls: run.tool_calls,
        artifacts: run.artifacts,
        metadata,
    }
}
