//! An earlier answer, read again (SPEC W8): the question, what was called, and the answer as history keeps it.

use ba_agent::tool::{Body, ToolOutput};
use ba_protocol::text::{one_line, shorten};
use ba_protocol::{FileFacts, Said, Turn};

pub(super) fn output(number: usize, round: &Turn) -> ToolOutput {
    let mut text = format!("问：{}\n", round.user_message);
    for call in round.tool_calls() {
        let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
        text.push_str(&format!("工具：{} {}\n", call.tool_name, shorten(&one_line(&arguments), 400)));
    }
    let answer = round.final_answer.as_deref().unwrap_or("（这一轮没有完成。）");
    text.push_str(&format!("答：\n{answer}"));
    let name = format!("answer_{number}");
    let size = text.len() as u64;
    let mut output =
        ToolOutput::new(format!("{name}: round {number} of this conversation"), Body::Text(text))
            .saying(Said::new("earlier_answer").with("number", number));
    output.file_facts = Some(FileFacts::Other { name, file_type: "answer".to_owned(), size });
    output
}
