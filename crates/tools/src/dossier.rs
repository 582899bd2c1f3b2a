//! The dossier's facts (SPEC W1): gathers what is stored and what Python holds, and has it written. Opens no table.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use async_trait::async_trait;
use ba_agent::{Briefing, BriefingRequest};
use ba_data::Connections;
use ba_data::dossier::{Facts, KnownTable, Words, write};
use ba_protocol::text::human_size;
use ba_sandbox::SessionKey;
use ba_store::{ConversationFiles, Store};
use rustix::fs::{Mode, OFlags};

use crate::Python;
use crate::conversation_tables::named;
use crate::run_python::basis;

/// Where sizes and columns of kept results are written down, in the conversation's folder. Code of the conversation can change it:
/// it is shown like any other text from there.
const KEPT_FACTS: &str = ".kept.json";
const MAX_FACTS: u64 = 64 * 1024;

pub struct Dossier {
    pub store: Store,
    pub python: Python,
    pub connections: Connections,
}

#[async_trait]
impl Briefing for Dossier {
    async fn brief(&self, wanted: BriefingRequest<'_>) -> Option<String> {
        let own = self.own(wanted).await;
        let connections = self.beside(wanted).await;
        let told: Vec<String> = own.into_iter().chain(connections).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }
}

impl Dossier {
    /// The databases beside the conversation, which share a budget of their own.
    async fn beside(&self, wanted: BriefingRequest<'_>) -> Vec<String> {
        let each = wanted.tokens / self.connections.list().len().max(1);
        self.connections.lists(&|text| (wanted.counter)(text) <= each).await
    }

    async fn own(&self, wanted: BriefingRequest<'_>) -> Option<String> {
        let BriefingRequest { conversation, files, question, tokens, counter, language } = wanted;
        let variables = match &self.python {
            Python::Ready(sandbox) => {
                sandbox.variables_over(&SessionKey::new(conversation.as_str()), &basis(&files.uploads))
            }
            Python::Refused(_) => Vec::new(),
        };
        let kept = if files.artifacts.iter().any(|a| a.name.ends_with(".parquet")) {
            let folder = self.store.work_dir(conversation).await.ok();
            folder.map(|folder| kept_facts(&folder)).unwrap_or_default()
        } else {
            BTreeMap::new()
        };
        let mut facts = Facts { words: Words(language), question, ..facts_of(files, &kept) };
        facts.variables = variables.into_iter().map(|v| (v.name, v.kind, v.about)).collect();
        write(&facts, tokens, &|text| counter(text))
    }
}

fn facts_of<'a>(files: &'a ConversationFiles, kept: &BTreeMap<String, String>) -> Facts<'a> {
    let (all, taken) = named(&files.uploads);
    let mut facts = Facts::default();
    for (upload, tables) in files.uploads.iter().zip(all) {
        for (profile, names) in tables {
            // The one to show; a name that another table has already is no use.
            let Some(sql) = names.first().cloned() else { continue };
            let python = sql.clone();
            facts.tables.push(KnownTable {
                file_id: &upload.file_id,
                filename: &upload.filename,
                sql,
                python,
                profile,
            });
        }
    }
    for artifact in &files.artifacts {
        match artifact.name.strip_suffix(".parquet").filter(|stem| !taken.contains(&stem.to_lowercase())) {
            Some(stem) => {
                let about = kept.get(stem).cloned().unwrap_or_else(|| human_size(artifact.size));
                facts.kept.push((stem.to_owned(), about));
            }
            None => facts.files.push(artifact.name.clone()),
        }
    }
    facts
}

/// Never through a link, and never much.
fn kept_facts(folder: &Path) -> BTreeMap<String, String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(folder.join(KEPT_FACTS), flags, Mode::empty()) else {
        return BTreeMap::new();
    };
    let mut text = String::new();
    let read = std::fs::File::from(file).take(MAX_FACTS).read_to_string(&mut text);
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Writes down what a result that was kept looks like, for the next turns.
pub(crate) fn remember_kept(folder: &Path, name: &str, rows: u64, columns: &[ba_protocol::table::Column]) {
    let mut all = kept_facts(folder);
    let names: Vec<&str> = columns.iter().take(12).map(|c| c.name.as_str()).collect();
    let more = if columns.len() > names.len() { " …" } else { "" };
    all.insert(name.to_owned(), format!("{rows} × {}：{}{more}", columns.len(), names.join(", ")));
    let written = tempfile::NamedTempFile::with_prefix_in(".keeping-", folder).and_then(|file| {
        serde_json::to_writer(&file, &all)?;
        file.persist(folder.join(KEPT_FACTS)).map_err(|e| e.error)
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the size of a kept result was not written down");
    }
}

#[cfg(test)]
mod tests {
    use ba_protocol::table::Column;

    use super::*;

    #[test]
    fn kept_results_are_remembered_and_a_planted_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("work");
        std::fs::create_dir(&folder).unwrap();
        let secret = dir.path().join("secret.json");
        std::fs::write(&secret, r#"{"monthly": "secret"}"#).unwrap();
        std::os::unix::fs::symlink(&secret, folder.join(KEPT_FACTS)).unwrap();
        assert!(kept_facts(&folder).is_empty());
        remember_kept(
            &folder,
            "monthly",
            12,
            &[Column::new("月份", "DATE"), Column::new("销售额", "DOUBLE")],
        );
        assert_eq!(kept_facts(&folder)["monthly"], "12 × 2：月份, 销售额");
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), r#"{"monthly": "secret"}"#);
    }
}
