//! A report as plain markdown: placeholders filled with the code and the file names they stand for.

use ba_protocol::CodeId;
use ba_protocol::api::AgentResponse;
use ba_protocol::text::one_line;
use ba_store::Store;

use super::base_url::BaseUrl;
use super::footnotes;

/// The report, with code in fences, links to the files to download and, when wanted, footnotes on doubtful figures.
pub async fn of(answer: &AgentResponse, store: &Store, footnotes: bool, base: &BaseUrl) -> String {
    let meta = &answer.metadata;
    let (mut text, doubts) = match meta.audit.as_ref().filter(|_| footnotes) {
        Some(audit) => footnotes::add(&answer.response, audit),
        None => (answer.response.clone(), String::new()),
    };
    for entry in &meta.code_refs {
        let fence = fenced(store, answer, &entry.code_id, &entry.language).await;
        text = text.replace(&format!("{{{{CODE:{}}}}}", entry.index), &fence);
    }
    for entry in &meta.file_refs {
        text = text.replace(&format!("{{{{FILE:{}}}}}", entry.index), &format!("`{}`", entry.filename));
    }
    for saved in &meta.saved_codes {
        if let Some((from, to)) = saved_line(&text, saved.code_id.as_str()) {
            let fence = fenced(store, answer, &saved.code_id, &saved.language).await;
            text.replace_range(from..to, &fence);
        }
    }
    if !meta.download_links.is_empty() {
        text.push_str("\n\n📦 ");
        let link = |name: &String| {
            let shown = one_line(name).replace(['[', ']'], "_");
            format!("[{shown}]({})", base.download(&answer.conversation_id, name))
        };
        text.push_str(&meta.download_links.iter().map(link).collect::<Vec<_>>().join(" · "));
    }
    text.push_str(&data_notes(answer));
    text.push_str(&doubts);
    text
}

/// What must be known about the data, as a short list in the answer's language.
fn data_notes(answer: &AgentResponse) -> String {
    let notes = &answer.metadata.data_notes;
    if notes.is_empty() {
        return String::new();
    }
    let chinese = answer.response.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let title = if chinese { "数据说明：" } else { "Data notes:" };
    // A note may quote a cell: it stays one line of plain text.
    let plain = |text: &str| one_line(text).replace('<', "&lt;").replace('`', "'");
    let lines: Vec<String> = notes.iter().map(|note| format!("- {}", plain(&note.line()))).collect();
    format!("\n\n{title}\n{}", lines.join("\n"))
}

async fn fenced(store: &Store, answer: &AgentResponse, id: &CodeId, language: &str) -> String {
    match store.code(&answer.conversation_id, id, None).await {
        Ok((_, code)) => {
            // Longer than any run of backticks inside.
            let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let marks = "`".repeat(longest.max(2) + 1);
            format!("\n{marks}{language}\n{}\n{marks}\n", code.trim_end_matches('\n'))
        }
        Err(_) => format!("`{id}`"),
    }
}

/// Where `<!-- CODE_SAVED: id | … -->` stands.
fn saved_line(text: &str, id: &str) -> Option<(usize, usize)> {
    let from = text.find(&format!("<!-- CODE_SAVED: {id} |"))?;
    let to = text[from..].find("-->")? + from + "-->".len();
    Some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_on_data_are_a_list_at_the_end() {
        let answer = |text: &str| -> AgentResponse {
            serde_json::from_value(serde_json::json!({"response": text, "conversation_id": "conv_a87365d8983d",
                "run_id": "run_0123456789abcdef", "duration_ms": 1, "tool_calls": [], "artifacts": [],
                "metadata": {"content_type": "markdown", "has_structured_response": true, "action_type": "complete",
                    "current_round": 1, "status": "complete", "data_notes": [
                        {"file_id": "upload_001", "table": "sales", "code": "footer_left_out", "level": "warn",
                         "text": "left out: `a\n<b>`"}]}}))
            .unwrap()
        };
        assert_eq!(data_notes(&answer("共 42")), "\n\n数据说明：\n- sales: left out: 'a &lt;b>'");
        assert!(data_notes(&answer("42")).starts_with("\n\nData notes:\n- "));
    }
}
