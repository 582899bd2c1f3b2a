//! `ba-agent eval`: runs a set of questions with known answers through the configured model, with the real tools, and
//! reports accuracy, rounds, tokens, seconds and failures (docs/evaluation.md). One conversation a question.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use ba_config::Config;
use ba_eval::report::{Outcome, Summary};
use ba_eval::{self as eval, Case, score};
use ba_protocol::UserId;
use ba_protocol::api::{AgentResponse, QueryRequest};
use ba_protocol::audit::FigureState;

use serde::Serialize;

use super::WrongUse;
use super::ask::{answer, upload};
use super::progress::TerminalSink;
use crate::args::EvalArgs;
use crate::output;
use crate::wire::{self, App};

pub async fn run(config: Config, mut args: EvalArgs) -> anyhow::Result<ExitCode> {
    // An archive of sets is unpacked for the run.
    let unpacked = tempfile::tempdir().context("a temporary folder")?;
    if args.folder.is_file() {
        eval::unpack(&args.folder, unpacked.path()).map_err(|e| WrongUse(e.to_string()))?;
        args.folder = unpacked.path().to_owned();
    }
    let cases = cases(&args)?;
    let models = wire::models::models(&config, None)?;
    let model = models.default.info().name.clone();
    let app = wire::app(&config, models, Arc::new(TerminalSink::new(true))).await?;
    let mut outcomes = Vec::new();
    let mut proofs = Proofs::default();
    for (i, case) in cases.iter().enumerate() {
        let outcome = run_case(&app, &args.folder, case, &mut proofs).await;
        let mark = if outcome.right { "✓" } else { "✗" };
        output::note(&format!("{mark} {}/{} {} ({:.1} s)", i + 1, cases.len(), outcome.id, outcome.seconds));
        outcomes.push(outcome);
    }
    app.agent.shutdown(std::time::Duration::from_secs(1)).await;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    let summary = Summary::new(&model, outcomes);
    write(&args.out, &summary, &proofs)?;
    output::say(&summary.markdown());
    output::say(&proofs.line());
    let enough = args.at_least.is_none_or(|least| summary.total.accuracy >= least);
    Ok(if enough { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads the set and checks it before any model is asked.
fn cases(args: &EvalArgs) -> anyhow::Result<Vec<Case>> {
    let path = args.folder.join("questions.jsonl");
    let text = std::fs::read_to_string(&path).map_err(|e| WrongUse(format!("{}: {e}", path.display())))?;
    let mut cases = eval::read(&text).map_err(|e| WrongUse(format!("{}: {e}", path.display())))?;
    cases.retain(|c| args.split.is_empty() || args.split.contains(&c.split));
    cases.truncate(args.limit.unwrap_or(usize::MAX));
    if cases.is_empty() {
        return Err(WrongUse("no question of these splits".to_owned()).into());
    }
    for file in cases.iter().flat_map(|c| paths(&args.folder, c)) {
        if !file.is_file() {
            return Err(WrongUse(format!("no file {}", file.display())).into());
        }
    }
    Ok(cases)
}

fn paths(folder: &Path, case: &Case) -> Vec<PathBuf> {
    case.files.iter().map(|f| folder.join(f)).collect()
}

async fn run_case(app: &App, folder: &Path, case: &Case, proofs: &mut Proofs) -> Outcome {
    let mut outcome = Outcome {
        id: case.id.clone(),
        split: case.split.clone(),
        question: case.question.clone(),
        right: false,
        problem: None,
        answer: String::new(),
        rounds: 0,
        tokens: 0,
        seconds: 0.0,
    };
    match ask(app, folder, case, &mut outcome).await {
        Ok(response) => {
            proofs.add(case, &response);
            outcome.problem = score::judge(&case.expect, &response.response).err();
            outcome.right = outcome.problem.is_none();
            outcome.answer = score::first_paragraph(&response.response);
            outcome.rounds = u64::from(response.metadata.current_round);
            outcome.tokens = response.metadata.usage.input_tokens + response.metadata.usage.output_tokens;
        }
        Err(error) => outcome.problem = Some(format!("{error:#}")),
    }
    outcome
}

/// Uploads, asks what comes before, then the question itself; only that one is timed.
async fn ask(app: &App, folder: &Path, case: &Case, outcome: &mut Outcome) -> anyhow::Result<AgentResponse> {
    let owner = UserId::local();
    let (mut conversation, files) = upload(app, &owner, None, &case.question, &paths(folder, case)).await?;
    for earlier in &case.earlier {
        let query = query(earlier.clone(), conversation.clone(), files.clone());
        conversation = Some(answer(app, &owner, query).await?.conversation_id);
    }
    let start = Instant::now();
    let response = answer(app, &owner, query(eval::prompt(case), conversation, files)).await;
    outcome.seconds = start.elapsed().as_secs_f64();
    Ok(response?)
}

fn query(
    message: String,
    conversation_id: Option<ba_protocol::ConversationId>,
    file_ids: Vec<ba_protocol::UploadId>,
) -> QueryRequest {
    QueryRequest { message, conversation_id, file_ids, model: None, output_level: None }
}

/// The figures of all answers (docs/proof.md).
#[derive(Default, Serialize)]
struct Proofs {
    figures: usize,
    unproven: Vec<Unproven>,
}

/// One that nothing proves.
#[derive(Serialize)]
struct Unproven {
    id: String,
    text: String,
    state: FigureState,
}

impl Proofs {
    fn add(&mut self, case: &Case, response: &AgentResponse) {
        let Some(audit) = &response.metadata.audit else { return };
        self.figures += audit.figures.len();
        let marked = audit.marked();
        self.unproven.extend(marked.map(|f| Unproven {
            id: case.id.clone(),
            text: f.text.clone(),
            state: f.state,
        }));
    }

    fn line(&self) -> String {
        format!("{} figures in the answers, {} unproven", self.figures, self.unproven.len())
    }
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    proofs: &'a Proofs,
}

fn write(folder: &Path, summary: &Summary, proofs: &Proofs) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let json = folder.join("report.json");
    std::fs::write(&json, serde_json::to_string_pretty(&Written { summary, proofs })?)
        .with_context(|| json.display().to_string())?;
    let markdown = folder.join("report.md");
    std::fs::write(&markdown, summary.markdown()).with_context(|| markdown.display().to_string())?;
    output::note(&format!("wrote {} and {}", json.display(), markdown.display()));
    Ok(())
}
