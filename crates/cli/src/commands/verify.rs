//! `ba-agent verify` (SPEC V7): runs the recorded calls of every answer again on the stored files and says figure by
//! figure what still holds. Changes nothing: Python works in a folder of its own, and kept tables are not made anew.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use ba_agent::proof::evidence::{self, CALL_BYTES};
use ba_agent::{NoSink, ToolContext, ToolOutput};
use ba_audit::{Evidence, Options, Source, SourceKind, audit};
use ba_config::Config;
use ba_protocol::api::AgentResponse;
use ba_protocol::audit::{Audit, FigureProof, FigureState, Proof};
use ba_protocol::{ConversationId, OutputLevel, RunEvent, RunId, ToolCall, ToolFailure, Turn, UserId, text};
use ba_store::EventScope;
use ba_tools::RunPython;

use super::{WrongUse, conversation_id, owner};
use crate::args::VerifyArgs;
use crate::output;
use crate::wire::{self, App};

/// Earlier runs whose results count for a later answer, as when it was given.
const EARLIER_RUNS: usize = 10;
const PAGE: u32 = 500;
const STORED_BYTES: usize = 64 * 1024 * 1024;

pub async fn run(config: Config, args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let models = wire::models::models(&config, None).await?;
    let app = wire::app(&config, models, Arc::new(NoSink)).await?;
    let owner = owner(&app.store, args.user.as_deref()).await?;
    if app.store.conversation(&owner, &id).await.is_err() {
        return Err(WrongUse(format!("there is no conversation {id}")).into());
    }
    // Of an imported conversation, where no server has done it yet.
    wire::ingest::read_in_all(&app, &id).await?;
    let folder = tempfile::tempdir_in(&config.data_dir).context("a folder for Python")?;
    let mut again = Again {
        app: &app,
        owner,
        conversation: id,
        connections: wire::tools::connections(&config)?.list().into_iter().map(|c| c.name).collect(),
        live: args.live,
        folder: folder.path().to_owned(),
        kept: Vec::new(),
    };
    let outcome = again.all().await;
    app.agent.shutdown(std::time::Duration::from_secs(1)).await;
    if let ba_tools::Python::Ready(sandbox) = app.python {
        sandbox.shutdown().await;
    }
    let total = outcome?;
    output::say(&total.line());
    Ok(if total.changed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Again<'a> {
    app: &'a App,
    owner: UserId,
    conversation: ConversationId,
    connections: BTreeSet<String>,
    live: bool,
    folder: PathBuf,
    /// Tables that earlier calls kept, for Python to read.
    kept: Vec<(String, PathBuf)>,
}

/// What the calls of one run say now.
struct Ran {
    run: RunId,
    evidence: Evidence,
    /// Calls that were not run again, whose stored results are taken as they are.
    unchecked: BTreeSet<String>,
}

#[derive(Default)]
struct Total {
    answers: usize,
    holds: usize,
    changed: usize,
    unchecked: usize,
    marked: usize,
}

impl Total {
    fn line(&self) -> String {
        let Self { answers, holds, changed, unchecked, marked } = self;
        let mut line = format!("{answers} answers: {holds} figures hold, {changed} changed");
        if *unchecked > 0 {
            line.push_str(&format!(", {unchecked} not checked"));
        }
        if *marked > 0 {
            line.push_str(&format!(", {marked} were never proven"));
        }
        line
    }
}

impl Again<'_> {
    async fn all(&mut self) -> anyhow::Result<Total> {
        let answers = self.answers().await?;
        let rounds = self.app.store.turns(&self.conversation).await?;
        let (mut before, mut total): (Vec<Ran>, _) = (Vec::new(), Total::default());
        let mut given: Vec<String> = Vec::new();
        for round in &rounds {
            let ran = self.round(round).await?;
            given.push(round.user_message.clone());
            if let Some(answer) = answers.get(&round.run_id) {
                total.answers += 1;
                output::say(&format!(
                    "{} {}",
                    round.run_id,
                    text::shorten(&text::one_line(&round.user_message), 60)
                ));
                match &answer.metadata.audit {
                    None => output::say("  this answer was not audited"),
                    Some(then) => compare(then, &now(answer, &ran, &before, &given), &ran, &mut total),
                }
            }
            before.push(ran);
        }
        Ok(total)
    }

    /// The delivered answers, by their run.
    async fn answers(&self) -> anyhow::Result<HashMap<RunId, AgentResponse>> {
        let (mut found, mut after) = (HashMap::new(), 0);
        loop {
            let scope = EventScope::Conversation(&self.conversation);
            let page = self.app.store.events_after(scope, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(found) };
            after = last.seq;
            for event in page {
                if let RunEvent::Report(answer) = event.event {
                    found.insert(event.run_id, *answer);
                }
            }
        }
    }

    async fn round(&mut self, round: &Turn) -> anyhow::Result<Ran> {
        let mut ran =
            Ran { run: round.run_id.clone(), evidence: Evidence::new(), unchecked: BTreeSet::new() };
        for step in &round.steps {
            for call in &step.tool_calls {
                let answered = step.results.iter().find(|r| r.tool_call_id == call.tool_call_id);
                if !answered.is_some_and(|r| r.success) {
                    continue;
                }
                match self.call(&round.run_id, call).await {
                    None => {
                        ran.unchecked.insert(call.tool_call_id.clone());
                    }
                    Some(Ok(output)) => {
                        ran.evidence.extend(evidence::of(&call.tool_call_id, &output, CALL_BYTES));
                    }
                    Some(Err(failure)) => output::say(&format!(
                        "  ✗ {} {} fails now: {}",
                        call.tool_name,
                        call.tool_call_id,
                        text::shorten(&text::one_line(&failure.message), 120)
                    )),
                }
            }
        }
        for stored in self.app.store.evidence(std::slice::from_ref(&round.run_id), STORED_BYTES).await? {
            if ran.unchecked.contains(&stored.tool_call_id) {
                ran.evidence.extend(serde_json::from_str::<Evidence>(&stored.evidence).ok());
            }
        }
        Ok(ran)
    }

    /// One call again; `None` when it would leave this machine, or change something.
    async fn call(&mut self, run: &RunId, call: &ToolCall) -> Option<Result<ToolOutput, ToolFailure>> {
        let mut arguments = call.arguments.clone();
        let level = arguments.remove("response_format");
        let level = level.and_then(|l| serde_json::from_value::<OutputLevel>(l).ok()).unwrap_or_default();
        let context =
            ToolContext::new(self.owner.clone(), self.conversation.clone(), run.clone(), &call.tool_call_id);
        let context = ToolContext { level, ..context };
        match call.tool_name.as_str() {
            "query_database" => {
                let name = arguments.get("connection").and_then(|c| c.as_str()).unwrap_or("primary");
                if self.connections.contains(name) && !self.live {
                    return None;
                }
                if let Some(table) = arguments.remove("keep_as").as_ref().and_then(|t| t.as_str()) {
                    self.keep(table).await;
                }
            }
            "file_reader" => {}
            "run_python" => {
                let args = serde_json::from_value(arguments.into()).ok()?;
                let python = RunPython { python: self.app.python.clone(), store: self.app.store.clone() };
                return Some(
                    python
                        .again(&context, args, "verify", &self.folder, &self.kept)
                        .await
                        .map_err(ba_agent::ToolError::told),
                );
            }
            _ => return None,
        }
        Some(
            self.app
                .agent
                .registry()
                .get(&call.tool_name)?
                .call(&context, arguments)
                .await
                .map_err(ba_agent::ToolError::told),
        )
    }

    async fn keep(&mut self, table: &str) {
        let name = format!("{}.parquet", table.trim().trim_end_matches(".parquet"));
        if let Ok(path) = self.app.store.artifact_path(&self.conversation, &name).await {
            self.kept.retain(|(known, _)| *known != name);
            self.kept.push((name, path));
        }
    }
}

/// The answer's figures against what the calls say now.
fn now(answer: &AgentResponse, ran: &Ran, before: &[Ran], given: &[String]) -> Audit {
    let mut all = Evidence::new();
    given.iter().rev().take(EARLIER_RUNS + 1).for_each(|message| all.given("user", message));
    all.extend([ran.evidence.clone()]);
    for earlier in before.iter().rev().take(EARLIER_RUNS) {
        for source in &earlier.evidence.sources {
            let id = format!("earlier:{}/{}", earlier.run, source.id);
            all.push(Source { id, kind: SourceKind::Earlier, body: source.body.clone() });
        }
    }
    audit(&answer.response, &all, Options::default())
}

fn compare(then: &Audit, now: &Audit, ran: &Ran, total: &mut Total) {
    let (holds, marked, unchecked) = (total.holds, total.marked, total.unchecked);
    for figure in &then.figures {
        let found = now.figures.iter().find(|f| (f.start, f.end) == (figure.start, figure.end));
        match figure.state {
            FigureState::Unproven | FigureState::Mismatch => total.marked += 1,
            FigureState::Given => total.holds += 1,
            _ if rests_on(figure, &ran.unchecked) => total.unchecked += 1,
            _ if found.is_some_and(|f| !f.state.is_marked()) => total.holds += 1,
            _ => {
                total.changed += 1;
                output::say(&changed(figure, found));
            }
        }
    }
    let (holds, marked, unchecked) =
        (total.holds - holds, total.marked - marked, total.unchecked - unchecked);
    output::say(&format!("  {holds} of {} figures hold", then.figures.len() - marked - unchecked));
}

fn rests_on(figure: &FigureProof, calls: &BTreeSet<String>) -> bool {
    match &figure.proof {
        Some(Proof::Cell { tool_call_id, .. } | Proof::Line { tool_call_id, .. }) => {
            calls.contains(tool_call_id)
        }
        Some(Proof::Formula { operands, .. }) => operands.iter().any(|o| calls.contains(&o.tool_call_id)),
        None => false,
    }
}

fn changed(figure: &FigureProof, now: Option<&FigureProof>) -> String {
    let place = match &figure.proof {
        Some(Proof::Cell { tool_call_id, row, column, .. }) => {
            format!("{tool_call_id} row {} {column}", row + 1)
        }
        Some(Proof::Line { tool_call_id, line }) => format!("{tool_call_id} line {}", line + 1),
        Some(Proof::Formula { formula, .. }) => formula.clone(),
        None => String::new(),
    };
    let value = now.and_then(|f| f.nearest.as_ref()).and_then(|n| n.value);
    let value = value.map_or_else(|| "no result has it now".to_owned(), |v| format!("now {v}"));
    format!("  ✗ {} ({}): {value}", text::one_line(&figure.text), text::one_line(&place))
}
