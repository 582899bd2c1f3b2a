//! Live progress of a run on a terminal: what is being done, by which tool, for how long.

use std::sync::{Mutex, PoisonError};

use ba_agent::EventSink;
use ba_protocol::{Event, RunEvent, RunId, text};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Shows a run on standard error; quiet lines when it is not a terminal.
pub struct TerminalSink {
    bar: ProgressBar,
    quiet: bool,
    /// The plan as it was shown last: most rounds do not change it.
    plan: Mutex<String>,
}

impl TerminalSink {
    pub fn new(quiet: bool) -> Self {
        let bar =
            if output::is_terminal() && !quiet { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self { bar, quiet, plan: Mutex::default() }
    }

    fn show_plan(&self, plan: &str) {
        let plan = readable(plan);
        let mut shown = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != plan {
            self.line(&format!("📋 {}", text::shorten(&plan, 200)));
            *shown = plan;
        }
    }

    fn line(&self, text: &str) {
        if self.quiet {
            return;
        }
        if self.bar.is_hidden() {
            output::note(text);
        } else {
            self.bar.println(text);
        }
    }
}

impl EventSink for TerminalSink {
    fn publish(&self, event: &Event) {
        match &event.event {
            RunEvent::RunStarted { .. } => self.bar.set_message("asking the model"),
            RunEvent::Turn(answer) if !answer.metadata.execution_plan.is_empty() => {
                self.show_plan(&answer.metadata.execution_plan);
            }
            RunEvent::ToolStarted { tool_name, .. } => self.bar.set_message(format!("⏳ {tool_name}")),
            RunEvent::ToolFinished(done) => {
                let mark = if done.success { "✓" } else { "✗" };
                self.line(&format!(
                    "{mark} {} {:.2} s  {}",
                    done.tool_name,
                    done.duration_ms / 1e3,
                    done.summary
                ));
                self.bar.set_message("asking the model");
            }
            event if event.is_last() => self.bar.finish_and_clear(),
            _ => {}
        }
    }

    fn passing(&self, _run_id: &RunId, event: RunEvent) {
        if let RunEvent::ToolProgress { message, .. } = event {
            self.bar.set_message(message);
        }
    }
}

/// The mark of the current step (SPEC P2) in the language of the plan.
fn readable(plan: &str) -> String {
    let bare = plan.replace("(当前)", "");
    if bare.is_ascii() { plan.replace("(当前)", " (now)") } else { plan.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_step_is_in_the_language_of_the_plan() {
        assert_eq!(readable("R1: read(当前); R2: report"), "R1: read (now); R2: report");
        assert_eq!(readable("R1: 读取(当前); R2: 报告"), "R1: 读取(当前); R2: 报告");
    }
}
