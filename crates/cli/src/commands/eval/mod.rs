//! `ba-agent eval`: runs a set of questions with known answers through one or more models, with the real tools, and reports
//! accuracy, rounds, tokens, cost, seconds and failures (docs/evaluation.md). One conversation a question.

mod journal;
mod judge;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use ba_config::Config;
use ba_eval::{self as eval, Case, score};
use ba_protocol::UserId;
use ba_protocol::api::{AgentResponse, QueryRequest};
use futures::StreamExt;
use futures::stream;

use super::WrongUse;
use super::ask::{answer, upload};
use super::progress::TerminalSink;
use crate::args::EvalArgs;
use crate::output;
use crate::wire::{self, App};
use journal::Journal;
use report::{Outcome, Summary, Unproven};

pub async fn run(config: Config, mut args: EvalArgs) -> anyhow::Result<ExitCode> {
    // An archive of sets is unpacked for the run.
    let unpacked = tempfile::tempdir().context("a temporary folder")?;
    if args.folder.is_file() {
        eval::unpack(&args.folder, unpacked.path()).map_err(|e| WrongUse(e.to_string()))?;
        args.folder = unpacked.path().to_owned();
    }
    let cases = cases(&args)?;
    let models = wire::models::models(&config, None).await?;
    let asked: Vec<Option<String>> = match args.model.is_empty() {
        true => vec![None],
        false => args.model.iter().cloned().map(Some).collect(),
    };
    let mut named = Vec::new();
    for model in asked {
        let Some(found) = models.get(model.as_deref()) else {
            let name = model.unwrap_or_default();
            return Err(WrongUse(format!("there is no model `{name}`; see docs/models.md")).into());
        };
        named.push((found.info().name.clone(), model));
    }
    let mut journal = Journal::open(&args.out, args.resume)?;
    let app = wire::app(&config, models, Arc::new(TerminalSink::new(true))).await?;
    let mut all = Vec::new();
    for (name, model) in &named {
        let outcomes = with_model(&app, &args, &cases, (name, model.as_deref()), &mut journal).await?;
        all.push(Summary::new(name, outcomes));
    }
    app.agent.shutdown(std::time::Duration::from_secs(1)).await;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    write(&args.out, &all)?;
    output::say(&report::markdown(&all));
    let enough = |s: &Summary| args.at_least.is_none_or(|least| s.total.accuracy >= least);
    Ok(if all.iter().all(enough) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

/// All questions with one model, several at a time; those the journal knows are not asked again.
async fn with_model(
    app: &App,
    args: &EvalArgs,
    cases: &[Case],
    (name, model): (&str, Option<&str>),
    journal: &mut Journal,
) -> anyhow::Result<Vec<Outcome>> {
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|case| journal.known(name, case)).collect();
    let open: Vec<usize> = (0..cases.len()).filter(|i| outcomes[*i].is_none()).collect();
    if open.len() < cases.len() {
        output::note(&format!(
            "{} of {} questions were answered before",
            cases.len() - open.len(),
            cases.len()
        ));
    }
    let asking = stream::iter(
        open.into_iter().map(|i| async move { (i, run_case(app, &args.folder, &cases[i], model).await) }),
    );
    let mut answered = asking.buffer_unordered(args.jobs.clamp(1, 64));
    while let Some((i, outcome)) = answered.next().await {
        journal.add(name, &cases[i], &outcome)?;
        let mark = if outcome.right { "✓" } else { "✗" };
        let done = outcomes.iter().flatten().count() + 1;
        output::note(&format!("{mark} {done}/{} {} ({:.1} s)", cases.len(), outcome.id, outcome.seconds));
        outcomes[i] = Some(outcome);
    }
    Ok(outcomes.into_iter().flatten().collect())
}

async fn run_case(app: &App, folder: &Path, case: &Case, model: Option<&str>) -> Outcome {
    let mut outcome = Outcome {
        id: case.id.clone(),
        split: case.split.clone(),
        question: case.question.clone(),
        ..Outcome::default()
    };
    match ask(app, folder, case, model, &mut outcome).await {
        Ok(response) => {
            let verdict = judge::judge(case, &response.response);
            outcome.right = verdict.problem.is_none();
            (outcome.problem, outcome.strict) = (verdict.problem, verdict.strict);
            outcome.answer = score::first_paragraph(&response.response);
            let usage = &response.metadata.usage;
            outcome.rounds = u64::from(response.metadata.current_round);
            outcome.tokens = usage.input_tokens + usage.output_tokens;
            outcome.cost = usage.cost;
            outcome.witness = response.metadata.witness.as_ref().map(|w| w.agrees);
            if let Some(audit) = &response.metadata.audit {
                outcome.figures = audit.figures.len();
                let marked = audit.marked().map(|f| Unproven { text: f.text.clone(), state: f.state });
                outcome.unproven = marked.collect();
            }
        }
        Err(error) => (outcome.failed, outcome.problem) = (true, Some(format!("{error:#}"))),
    }
    outcome
}

/// Uploads, asks what comes before, then the question itself; only that one is timed.
async fn ask(
    app: &App,
    folder: &Path,
    case: &Case,
    model: Option<&str>,
    outcome: &mut Outcome,
) -> anyhow::Result<AgentResponse> {
    let owner = UserId::local();
    let (mut conversation, files) = upload(app, &owner, None, &case.question, &paths(folder, case)).await?;
    let query = |message: String, conversation_id| QueryRequest {
        message,
        conversation_id,
        file_ids: files.clone(),
        model: model.map(str::to_owned),
        output_level: None,
        replaces: None,
    };
    for earlier in &case.earlier {
        conversation = Some(answer(app, &owner, query(earlier.clone(), conversation)).await?.conversation_id);
    }
    let start = Instant::now();
    let response = answer(app, &owner, query(judge::prompt(case), conversation)).await;
    outcome.seconds = start.elapsed().as_secs_f64();
    Ok(response?)
}

fn write(folder: &Path, all: &[Summary]) -> anyhow::Result<()> {
    let json = folder.join("report.json");
    let text = match all {
        [one] => serde_json::to_string_pretty(one)?,
        many => serde_json::to_string_pretty(&serde_json::json!({"models": many}))?,
    };
    std::fs::write(&json, text).with_context(|| json.display().to_string())?;
    let markdown = folder.join("report.md");
    std::fs::write(&markdown, report::markdown(all)).with_context(|| markdown.display().to_string())?;
    output::note(&format!("wrote {} and {}", json.display(), markdown.display()));
    Ok(())
}
