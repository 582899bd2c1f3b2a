//! The run as a pure, serialisable state machine (DESIGN 6): it decides, the driver acts.
//!
//! Never does IO, never reads a clock: time comes in. Saved after every step, so a crash resumes from the last one.

mod effects;
mod gate;
mod ids;
mod limits;
pub mod repeat;
mod stop;
#[cfg(test)]
mod tests;

use ba_protocol::structured::{MAX_TOOL_CALLS, Report};
use ba_protocol::turn::Round;
use ba_protocol::{Action, ParseOutcome, StructuredResponse, ToolCall, ToolResult, parse};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use ba_protocol::Language;
pub use effects::Effect;
pub use gate::Gate;
pub use limits::Limits;
pub use stop::{Outcome, StopReason};

use repeat::{Repeats, Verdict};

/// One turn of the agent for one user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    limits: Limits,
    language: Language,
    started_at: Timestamp,
    /// Time it has been driven, whatever clocks and outages do.
    #[serde(default)]
    active: Duration,
    steps: Vec<Round>,
    pending: Option<Pending>,
    correction: Option<Correction>,
    /// The turn before was already a correction: the next broken answer is delivered as it is.
    corrected: bool,
    model_turns: u32,
    /// Rounds the model's last plan has.
    #[serde(default)]
    planned: u32,
    tool_calls: u32,
    tokens: u64,
    repeats: Repeats,
    outcome: Option<Outcome>,
    /// Set once the audit sent an answer back.
    #[serde(default)]
    gate: Option<Gate>,
    /// The model's thinking in the present round, where its provider sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thinking: Option<String>,
}

/// A model turn whose tools have not all answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pending {
    response: StructuredResponse,
    calls: Vec<PlannedCall>,
}

/// One call, and whether it is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    pub call: ToolCall,
    pub decision: Decision,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Decision {
    Run,
    /// Not run; the model is told why.
    Refuse {
        code: String,
        reason: String,
    },
}

/// Shows the model its broken output once (SPEC P11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    pub output: String,
    pub problem: String,
}

/// What the driver is to do next. Asked for once a round, and handed on.
#[derive(Debug, PartialEq)]
pub enum Step {
    AskModel(Ask),
    RunTools(Vec<PlannedCall>),
    Done(Outcome),
}

#[derive(Debug, PartialEq)]
pub struct Ask {
    /// From 1.
    pub round: u32,
    pub correction: Option<Correction>,
    pub gate: Option<Gate>,
    /// The limit leaves no round after this one: the model must be told to answer.
    pub last_round: bool,
}

impl Run {
    pub fn new(user_message: &str, limits: Limits, now: Timestamp) -> Self {
        Self {
            limits,
            language: Language::of(user_message),
            started_at: now,
            active: Duration::ZERO,
            steps: Vec::new(),
            pending: None,
            correction: None,
            corrected: false,
            model_turns: 0,
            planned: 0,
            tool_calls: 0,
            tokens: 0,
            repeats: Repeats::default(),
            outcome: None,
            gate: None,
            thinking: None,
        }
    }

    /// What the provider sent of the model's thinking, beside the answer that comes next.
    pub fn note_thinking(&mut self, thinking: Option<String>) {
        self.thinking = thinking;
    }

    /// Decides what comes next, after so much time of being driven. A limit that was passed ends the run here, with its
    /// reason.
    pub fn next_step(&mut self, active: Duration) -> Step {
        self.active = active;
        if self.outcome.is_none()
            && self.pending.is_none()
            && let Some(reason) = self.limit_passed()
        {
            self.stop(reason);
        }
        if let Some(outcome) = &self.outcome {
            return Step::Done(outcome.clone());
        }
        if let Some(pending) = &self.pending {
            return Step::RunTools(pending.calls.clone());
        }
        Step::AskModel(Ask {
            round: self.model_turns + 1,
            correction: self.correction.clone(),
            gate: self.gate.clone(),
            last_round: self.model_turns + 1 >= self.max_rounds(),
        })
    }

    /// Takes a model's answer.
    pub fn on_model(&mut self, text: &str, tokens: u64) -> Vec<Effect> {
        self.model_turns += 1;
        self.tokens += tokens;
        let mut parsed = parse(text);
        let mut response = None;
        match parsed.outcome {
            ParseOutcome::Structured(mut understood) => {
                ids::settle(&mut understood, &mut parsed.dropped_calls, &self.steps);
                self.on_response(understood.clone(), parsed.dropped_calls);
                response = Some(Box::new(understood));
            }
            ParseOutcome::PlainText(text) => self.finish_plain(text),
            ParseOutcome::Broken { text, problem } => self.on_broken(text, problem),
        }
        let mut effects = vec![Effect::Heard { text: text.to_owned(), response: response.clone() }];
        effects.extend(parsed.repairs.iter().map(|r| Effect::Warn(format!("model output repaired: {r}"))));
        if let (None, Some(pending), Some(response)) = (&self.outcome, &self.pending, response) {
            effects.push(Effect::Announce { response, calls: pending.calls.clone() });
        }
        effects
    }

    fn on_response(&mut self, response: StructuredResponse, dropped: Vec<ToolCall>) {
        self.planned = planned_rounds(&response.execution_plan);
        match &response.action {
            Action::Complete(_) => {
                self.outcome =
                    Some(Outcome::Answer { response, structured: true, stop: StopReason::Complete });
            }
            Action::ToolCall { content } if content.is_empty() => {
                let text = serde_json::to_string(&response).unwrap_or_default();
                self.on_broken(text, "action.type 是 tool_call，但 action.content 为空".to_owned());
            }
            Action::ToolCall { content } => {
                self.correction = None;
                self.corrected = false;
                let mut calls: Vec<PlannedCall> =
                    content.iter().map(|call| self.plan(call.clone())).collect();
                calls.extend(dropped.into_iter().map(|call| PlannedCall {
                    call,
                    decision: Decision::Refuse {
                        code: "TOO_MANY_CALLS".to_owned(),
                        reason: format!(
                            "at most {MAX_TOOL_CALLS} tool calls run in one round; this one was not run. \
                             Call it again in the next round if you still need it."
                        ),
                    },
                }));
                self.pending = Some(Pending { response, calls });
            }
        }
    }

    fn plan(&mut self, call: ToolCall) -> PlannedCall {
        let decision = match self.repeats.seen(&call) {
            Verdict::Fine if self.tool_calls >= self.limits.max_tool_calls => Decision::Refuse {
                code: "TOOL_CALL_LIMIT".to_owned(),
                reason: format!(
                    "this run's limit of {} tool calls is reached; answer with what you have.",
                    self.limits.max_tool_calls
                ),
            },
            Verdict::Fine => {
                self.tool_calls += 1;
                Decision::Run
            }
            Verdict::Warn(times) => Decision::Refuse {
                code: "REPEATED_CALL".to_owned(),
                reason: format!(
                    "you have made this very call {times} times and its answer is above. It was not run again: \
                     change the arguments, use another tool, or complete with what you know."
                ),
            },
            Verdict::Stop => {
                self.stop(StopReason::RepeatedCall);
                Decision::Refuse {
                    code: "REPEATED_CALL".to_owned(),
                    reason: "the run was stopped.".to_owned(),
                }
            }
        };
        PlannedCall { call, decision }
    }

    fn on_broken(&mut self, text: String, problem: String) {
        if self.corrected {
            self.finish_plain(text);
        } else {
            self.corrected = true;
            self.correction = Some(Correction { output: text, problem });
        }
    }

    /// Takes the answers to the pending calls, in call order.
    pub fn on_tools(&mut self, results: Vec<ToolResult>) -> Vec<Effect> {
        let Some(pending) = self.pending.take() else { return Vec::new() };
        self.steps.push(Round {
            model_text: serde_json::to_string(&pending.response).unwrap_or_default(),
            thought: pending.response.task_analysis,
            thinking: self.thinking.take(),
            tool_calls: pending.calls.into_iter().map(|p| p.call).collect(),
            results,
        });
        vec![Effect::CloseRound { round: self.model_turns }]
    }

    /// Ends the run for a reason outside it: the user, a model that cannot be reached, a shutdown.
    pub fn end(&mut self, outcome: Outcome) {
        if self.outcome.is_none() {
            self.pending = None;
            self.outcome = Some(self.or_draft(outcome));
        }
    }

    fn max_rounds(&self) -> u32 {
        self.limits.rounds(self.planned).saturating_add(u32::from(self.gate.is_some()))
    }

    fn limit_passed(&self) -> Option<StopReason> {
        if self.is_at_gate() {
            return None;
        }
        if self.model_turns >= self.max_rounds() {
            Some(StopReason::MaxRounds)
        } else if self.tokens >= self.limits.max_tokens {
            Some(StopReason::TokenBudget)
        } else if self.active >= self.limits.max_wall() {
            Some(StopReason::WallTime)
        } else {
            None
        }
    }

    fn stop(&mut self, reason: StopReason) {
        let content = stop::explain(reason, &self.limits, self.planned, self.language, &self.steps);
        let response = StructuredResponse {
            task_analysis: self.steps.last().map(|s| s.thought.clone()).unwrap_or_default(),
            execution_plan: String::new(),
            current_round: self.model_turns.max(1),
            action: Action::Complete(Report { content, ..Report::default() }),
        };
        self.end(Outcome::Answer { response, structured: true, stop: reason });
    }

    fn finish_plain(&mut self, text: String) {
        let response = StructuredResponse {
            task_analysis: String::new(),
            execution_plan: String::new(),
            current_round: self.model_turns.max(1),
            action: Action::Complete(Report { content: text, ..Report::default() }),
        };
        self.end(Outcome::Answer { response, structured: false, stop: StopReason::PlainText });
    }

    /// The limits as a notice about them names them.
    pub fn spelled_limits(&self) -> String {
        self.limits.spelled(self.planned)
    }

    pub fn steps(&self) -> &[Round] {
        &self.steps
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    pub fn model_turns(&self) -> u32 {
        self.model_turns
    }

    pub fn active(&self) -> Duration {
        self.active
    }

    pub fn started_at(&self) -> Timestamp {
        self.started_at
    }
}

/// The highest round a plan names: `R1: …; R2: …` has 2.
fn planned_rounds(plan: &str) -> u32 {
    let after_r = plan.split(['R', 'r']).skip(1);
    let numbers = after_r.map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).take(3).collect();
        digits.parse().unwrap_or(0)
    });
    numbers.max().unwrap_or(0)
}
