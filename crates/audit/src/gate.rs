//! The one turn in which a model is shown the figures nothing proves, and asked to mend them. Writes the request; asks
//! no model.

use crate::verdict::{Audit, FigureProof, Operand, State};

/// Figures listed in a request; the rest are counted.
pub const MAX_LISTED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Chinese,
    English,
}

/// What to ask of the model, or nothing when no figure is marked.
pub fn gate_request(audit: &Audit, language: Language) -> Option<String> {
    let marked: Vec<&FigureProof> = audit.marked().collect();
    if marked.is_empty() {
        return None;
    }
    let chinese = language == Language::Chinese;
    let mut lines = vec![if chinese {
        format!("报告中有 {} 个数字无法从工具结果中得到证实：", marked.len())
    } else {
        format!("{} figure(s) of the report are not borne out by any tool result:", marked.len())
    }];
    for (at, figure) in marked.iter().take(MAX_LISTED).enumerate() {
        lines.push(format!("{}. {}", at + 1, listed(figure, chinese)));
    }
    if let Some(more) = marked.len().checked_sub(MAX_LISTED).filter(|m| *m > 0) {
        lines.push(if chinese {
            format!("……另有 {more} 个，同样处理。")
        } else {
            format!("… and {more} more, to be treated alike.")
        });
    }
    lines.push(
        if chinese {
            "请逐一处理：用工具把它计算出来；或者改成工具结果里的数字，并核对它属于哪个名称、哪个时期、哪一列；或者删去这个数字。其余数字与文字保持不变，然后重新给出完整报告。"
        } else {
            "For each: compute it with a tool; or correct it to what a tool result says, checking name, period and column; or leave it out. Keep all other figures and words, and give the whole report again."
        }
        .to_owned(),
    );
    Some(lines.join("\n"))
}

fn listed(figure: &FigureProof, chinese: bool) -> String {
    let (text, context) = (&figure.text, &figure.context);
    let near = figure.nearest.as_ref().map(|o| place(o, chinese));
    match (figure.state, near, chinese) {
        (State::Mismatch, Some(near), true) => {
            format!("“{text}”，见“{context}”：这个值只在别的名称下出现（{near}），与文中所说的不符。")
        }
        (State::Mismatch, Some(near), false) => format!(
            "\"{text}\" in \"{context}\": this value is found only under other names ({near}), not those of the text."
        ),
        (_, Some(near), true) => {
            format!("“{text}”，见“{context}”：没有结果给出这个值；文中所指之处是 {near}。")
        }
        (_, Some(near), false) => format!(
            "\"{text}\" in \"{context}\": no result has this value; what the text points at is {near}."
        ),
        (_, None, true) => format!("“{text}”，见“{context}”：没有结果给出这个值。"),
        (_, None, false) => format!("\"{text}\" in \"{context}\": no result has this value."),
    }
}

fn place(operand: &Operand, chinese: bool) -> String {
    let value = operand.value.map_or_else(String::new, |v| format!(" = {v}"));
    match (operand.row, chinese) {
        (Some(row), true) => format!("{} 第 {} 行 {}{value}", operand.tool_call_id, row + 1, operand.column),
        (Some(row), false) => format!("{} row {} {}{value}", operand.tool_call_id, row + 1, operand.column),
        (None, _) => format!("{} {}{value}", operand.tool_call_id, operand.column),
    }
}
