//! What has been answered so far, a line a question, so that an evaluation goes on where it was stopped. A question that was
//! changed since, and one whose run failed, is asked again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use ba_eval::Case;
use serde::{Deserialize, Serialize};

use super::report::Outcome;

const NAME: &str = "outcomes.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    model: String,
    /// The question as it was when it was asked.
    case: serde_json::Value,
    outcome: Outcome,
}

pub struct Journal {
    file: File,
    known: HashMap<(String, String), (serde_json::Value, Outcome)>,
}

impl Journal {
    /// Goes on with the journal of a folder, or begins it anew.
    pub fn open(folder: &Path, resume: bool) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let path = folder.join(NAME);
        let mut known = HashMap::new();
        if resume && let Ok(text) = std::fs::read_to_string(&path) {
            // A stop may have cut the last line.
            for line in text.lines().filter_map(|l| serde_json::from_str::<Line>(l).ok()) {
                if !line.outcome.failed {
                    known.insert((line.model, line.outcome.id.clone()), (line.case, line.outcome));
                }
            }
        }
        let mut options = OpenOptions::new();
        options.create(true).append(resume).write(true).truncate(!resume);
        let mut file = options.open(&path).with_context(|| path.display().to_string())?;
        if resume {
            writeln!(file).with_context(|| path.display().to_string())?;
        }
        Ok(Self { file, known })
    }

    pub fn known(&self, model: &str, case: &Case) -> Option<Outcome> {
        let (asked, outcome) = self.known.get(&(model.to_owned(), case.id.clone()))?;
        (serde_json::to_value(case).ok().as_ref() == Some(asked)).then(|| outcome.clone())
    }

    pub fn add(&mut self, model: &str, case: &Case, outcome: &Outcome) -> anyhow::Result<()> {
        let line =
            Line { model: model.to_owned(), case: serde_json::to_value(case)?, outcome: outcome.clone() };
        writeln!(self.file, "{}", serde_json::to_string(&line)?).context(NAME)?;
        self.file.flush().context(NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, question: &str) -> Case {
        serde_json::from_value(serde_json::json!({"id": id, "question": question, "expect": {}})).unwrap()
    }

    #[test]
    fn what_was_answered_is_known_after_a_stop() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = |id: &str, failed| Outcome { id: id.into(), right: true, failed, ..Outcome::default() };
        let mut journal = Journal::open(folder.path(), true).unwrap();
        journal.add("m", &case("a", "q"), &outcome("a", false)).unwrap();
        journal.add("m", &case("b", "q"), &outcome("b", true)).unwrap();
        std::fs::write(folder.path().join("x"), "").unwrap();
        drop(journal);
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap() + "{\"model\": \"m\", \"cut";
        std::fs::write(&path, text).unwrap();

        let mut journal = Journal::open(folder.path(), true).unwrap();
        assert!(journal.known("m", &case("a", "q")).unwrap().right);
        assert_eq!(journal.known("m", &case("a", "another")), None, "the question was changed");
        assert_eq!(journal.known("m", &case("b", "q")), None, "its run failed");
        assert_eq!(journal.known("other", &case("a", "q")), None);
        journal.add("m", &case("c", "q"), &outcome("c", false)).unwrap();
        let journal = Journal::open(folder.path(), true).unwrap();
        assert!(journal.known("m", &case("c", "q")).is_some(), "a cut line does not swallow the next");
        assert_eq!(Journal::open(folder.path(), false).unwrap().known("m", &case("a", "q")), None);
    }
}
