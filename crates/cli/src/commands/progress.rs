//! Live progress of a run on a terminal: what is being done, by which tool, for how long.

use ba_agent::EventSink;
use ba_protocol::{Event, RunEvent, RunId, text};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// Shows a run on standard error; quiet lines when it is not a terminal.
pub struct TerminalSink {
    bar: ProgressBar,
    quiet: bool,
}

impl TerminalSink {
    pub fn new(quiet: bool) -> Self {
        let bar =
            if output::is_terminal() && !quiet { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        Self { bar, quiet }
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
            RunEvent::Round(answer) if !answer.metadata.execution_plan.is_empty() => {
                self.line(&format!("📋 {}", text::shorten(&answer.metadata.execution_plan, 200)));
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
