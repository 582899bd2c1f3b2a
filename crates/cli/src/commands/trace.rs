//! `ba-agent trace`: a conversation's runs as a timeline, in text or as a Mermaid gantt chart.

use std::process::ExitCode;

use ba_config::Config;
use ba_protocol::{Event, RunEvent, text};
use ba_store::EventScope;

use super::{conversation_id, owner};
use crate::args::TraceArgs;
use crate::{output, wire};

const WIDTH: usize = 40;
const MAX_EVENTS: u32 = 10_000;

/// Something that took time in a run.
struct Bar {
    label: String,
    from_ms: i64,
    to_ms: i64,
    ok: bool,
}

struct Timeline {
    title: String,
    bars: Vec<Bar>,
    total_ms: i64,
}

pub async fn run(config: &Config, args: &TraceArgs) -> anyhow::Result<ExitCode> {
    let id = conversation_id(&args.conversation)?;
    let store = wire::open_store(config).await?;
    store.conversation(&owner(&store, args.user.as_deref()).await?, &id).await?;
    let events = store.events_after(EventScope::Conversation(&id), 0, MAX_EVENTS).await?;
    let runs = timelines(&events);
    if args.mermaid {
        output::say(&mermaid(&runs));
    } else {
        runs.iter().for_each(|run| output::say(&drawn(run)));
    }
    Ok(ExitCode::SUCCESS)
}

fn timelines(events: &[Event]) -> Vec<Timeline> {
    let mut runs: Vec<(String, Timeline, i64, i64)> = Vec::new();
    for event in events {
        let at = event.at.as_millisecond();
        if let RunEvent::RunStarted { message, .. } = &event.event {
            let title = format!("{} {}", event.run_id, text::shorten(&text::one_line(message), 60));
            runs.push((event.run_id.to_string(), Timeline { title, bars: Vec::new(), total_ms: 0 }, at, at));
        }
        let Some((_, run, start, last)) = runs.iter_mut().rev().find(|r| r.0 == event.run_id.as_str()) else {
            continue;
        };
        let (from, to) = (*last - *start, at - *start);
        run.total_ms = to;
        match &event.event {
            RunEvent::Turn(_) => {
                run.bars.push(Bar { label: "model".into(), from_ms: from, to_ms: to, ok: true });
                *last = at;
            }
            RunEvent::ToolFinished(done) => {
                #[expect(clippy::cast_possible_truncation, reason = "milliseconds of one call")]
                let began = to - done.duration_ms as i64;
                let label = done.tool_name.clone();
                run.bars.push(Bar { label, from_ms: began.max(0), to_ms: to, ok: done.success });
                *last = at;
            }
            other if other.is_last() => {
                let ok = matches!(other, RunEvent::Report(_));
                run.bars.push(Bar {
                    label: format!("model → {}", other.name()),
                    from_ms: from,
                    to_ms: to,
                    ok,
                });
            }
            _ => {}
        }
    }
    runs.into_iter().map(|r| r.1).collect()
}

fn drawn(run: &Timeline) -> String {
    let total = run.total_ms.max(1);
    let place = |ms: i64| usize::try_from(ms.max(0) * WIDTH as i64 / total).unwrap_or(0).min(WIDTH);
    let mut text = format!("{} ({} ms)", run.title, run.total_ms);
    for bar in &run.bars {
        let (from, to) = (place(bar.from_ms), place(bar.to_ms).max(place(bar.from_ms) + 1).min(WIDTH + 1));
        let line = format!("{}{}", " ".repeat(from.min(WIDTH)), "█".repeat(to.saturating_sub(from).max(1)));
        let mark = if bar.ok { ' ' } else { '✗' };
        text.push_str(&format!("\n  {line:<41}{mark} {:>7} ms  {}", bar.to_ms - bar.from_ms, bar.label));
    }
    text
}

fn mermaid(runs: &[Timeline]) -> String {
    let clean = |text: &str| text.replace([':', ';', '#', '\n', ','], " ");
    let mut text = "gantt\n    dateFormat x\n    axisFormat %S.%L".to_owned();
    for run in runs {
        text.push_str(&format!("\n    section {}", clean(&run.title)));
        for bar in &run.bars {
            let state = if bar.ok { "" } else { "crit, " };
            text.push_str(&format!(
                "\n    {} :{state}{}, {}",
                clean(&bar.label),
                bar.from_ms,
                bar.to_ms.max(bar.from_ms + 1)
            ));
        }
    }
    text
}
