//! What the messages say: the questions so far, the files there are, and the tool results of this turn.
//! Reads only; the analyst keeps nothing between turns.

use ba_protocol::notice::LAST_TURN;
use ba_protocol::{ContentBlock, Message, Role};

/// An uploaded file as the list names it (SPEC F2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub file_id: String,
    pub filename: String,
    pub file_type: String,
}

/// A tool result of the current turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub call_id: String,
    pub content: String,
    pub failed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    pub question: String,
    pub earlier: Vec<String>,
    pub files: Vec<Listed>,
    pub outcomes: Vec<Outcome>,
    /// How many times tools were called in this turn.
    pub rounds: usize,
    /// No more tools may be called.
    pub last: bool,
}

const TABLE_TYPES: [&str; 34] = [
    "csv", "tsv", "xlsx", "xls", "json", "jsonl", "parquet", "excel", "xlsm", "xlsb", "ods", "ndjson", "gz",
    "zip", "docx", "html", "htm", "sqlite", "sqlite3", "db", "duckdb", "ddb", "feather", "arrow", "ipc",
    "orc", "dta", "sav", "zsav", "sas7bdat", "xpt", "tab", "txt", "md",
];

impl Turn {
    pub fn read(messages: &[Message]) -> Self {
        let questions: Vec<usize> =
            messages.iter().enumerate().filter(|(_, m)| is_question(m)).map(|(i, _)| i).collect();
        let Some((&now, before)) = questions.split_last() else { return Self::default() };
        let mut turn = Self {
            question: messages[now].text(),
            earlier: before.iter().map(|i| messages[*i].text()).collect(),
            ..Self::default()
        };
        for message in messages[..now].iter().filter(|m| m.role == Role::System) {
            let listed = files(&message.text());
            if !listed.is_empty() {
                turn.files = listed;
            }
        }
        for message in &messages[now + 1..] {
            turn.last |= message.role == Role::System && message.text().starts_with(LAST_TURN);
            turn.rounds +=
                usize::from(message.role == Role::Assistant && message.tool_uses().next().is_some());
            for block in &message.content {
                if let ContentBlock::ToolResult { tool_use_id, content, is_error } = block {
                    turn.outcomes.push(Outcome {
                        call_id: tool_use_id.clone(),
                        content: content.clone(),
                        failed: *is_error,
                    });
                }
            }
        }
        turn
    }

    /// The number of this turn in its conversation, from 1.
    pub fn number(&self) -> usize {
        self.earlier.len() + 1
    }

    pub fn outcome(&self, call_id: &str) -> Option<&Outcome> {
        self.outcomes
            .iter()
            .find(|o| o.call_id == call_id)
            .or_else(|| self.outcomes.iter().find(|o| o.call_id.starts_with(call_id)))
    }

    pub fn tables(&self) -> impl Iterator<Item = &Listed> {
        self.files.iter().filter(|f| TABLE_TYPES.contains(&f.file_type.as_str()))
    }
}

fn is_question(message: &Message) -> bool {
    message.role == Role::User && message.tool_results().next().is_none() && !message.text().trim().is_empty()
}

/// `- [upload_001] sales_data.csv (csv) - 2024年销售数据 | 15.3 KB`
fn files(text: &str) -> Vec<Listed> {
    let useful: Vec<_> =
        text.lines().filter(|line| !line.ends_with(" | 无法读取")).filter_map(file).collect();
    // When nothing can be read, trying tells why.
    if useful.is_empty() { text.lines().filter_map(file).collect() } else { useful }
}

fn file(line: &str) -> Option<Listed> {
    let rest = line.trim().strip_prefix("- [upload_")?;
    let (number, rest) = rest.split_once("] ")?;
    if number.is_empty() || !number.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    // A name may hold brackets itself: the type is the first short word in brackets that is followed by the rest of the line.
    let mut from = 0;
    while let Some(at) = rest[from..].find(" (").map(|i| i + from) {
        let close = rest[at..].find(')').map(|i| i + at)?;
        let kind = &rest[at + 2..close];
        let after = &rest[close + 1..];
        let ends = after.is_empty() || after.starts_with(" - ") || after.starts_with(" | ");
        if ends && kind.len() <= 8 && kind.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Some(Listed {
                file_id: format!("upload_{number}"),
                filename: rest[..at].to_owned(),
                file_type: kind.to_lowercase(),
            });
        }
        from = at + 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_upload_is_left_alone_unless_it_is_the_only_one() {
        let ids = |list: &str| files(list).into_iter().map(|f| f.file_id).collect::<Vec<_>>();
        let (good, bad) =
            ("- [upload_001] a.csv (csv) | 1 B", "- [upload_002] b.xlsx (xlsx) | 1 B | 无法读取");
        assert_eq!(ids(&format!("{good}\n{bad}")), ["upload_001"]);
        assert_eq!(ids(bad), ["upload_002"]);
    }

    #[test]
    fn the_list_of_the_spec_is_read() {
        let list = "可用文件列表：\n\n**代码文件：**\n- [code_sales_analysis] sales_analysis.py (python) - 销售数据分析 | 2.5 KB\n\n**上传文件：**\n- [upload_001] sales_data.csv (csv) - 2024年销售数据 | 15.3 KB\n- [upload_002] a (1).xlsx (xlsx) | 3 B\n- [upload_x] no.csv (csv)";
        let found = files(list);
        assert_eq!(found.len(), 2);
        assert_eq!(
            found[0],
            Listed {
                file_id: "upload_001".into(),
                filename: "sales_data.csv".into(),
                file_type: "csv".into()
            }
        );
        assert_eq!(found[1].filename, "a (1).xlsx");
    }

    #[test]
    fn only_results_after_the_question_count() {
        let result = |id: &str| {
            Message::new(
                Role::User,
                vec![ContentBlock::ToolResult {
                    tool_use_id: id.into(),
                    content: "x".into(),
                    is_error: false,
                }],
            )
        };
        let messages = [
            Message::system("p"),
            Message::user("一"),
            result("old"),
            Message::assistant("a"),
            Message::system("- [upload_001] a.csv (csv) | 1 B"),
            Message::user("二"),
            result("new"),
        ];
        let turn = Turn::read(&messages);
        assert_eq!(turn.question, "二");
        assert_eq!(turn.earlier, ["一"]);
        assert_eq!(turn.outcomes.len(), 1);
        assert!(turn.outcome("new").is_some() && turn.outcome("old").is_none());
        assert_eq!(turn.number(), 2);
    }

    #[test]
    fn the_last_turn_is_known_by_its_code_and_not_by_its_words() {
        let last = |notice: &str| Turn::read(&[Message::user("q"), Message::system(notice)]).last;
        assert!(last(&format!("{LAST_TURN} in any words")));
        assert!(!last("这是本次运行的最后一轮"));
    }

    #[test]
    fn no_question_is_no_turn() {
        assert_eq!(Turn::read(&[Message::system("p")]), Turn::default());
    }
}
