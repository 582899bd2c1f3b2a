//! Traces every figure of a report to the evidence it came from, or marks it. Pure: text and tables in, verdicts out;
//! no IO, no model.

mod chart;
pub mod evidence;
mod layout;
mod number;
mod period;
mod skip;
