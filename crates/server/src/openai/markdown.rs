//! A report as plain markdown: placeholders filled with the code and the file names they stand for.

use ba_protocol::CodeId;
use ba_protocol::api::AgentResponse;
use ba_store::Store;

/// The report, with code in fences and the names of files to download.
pub async fn of(answer: &AgentResponse, store: &Store) -> String {
    let meta = &answer.metadata;
    let mut text = answer.response.clone();
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
        text.push_str(
            &meta.download_links.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" · "),
        );
    }
    text
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
