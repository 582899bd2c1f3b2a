//! What people decided about skills: enabled or not, and which content was approved. One small JSON file,
//! replaced as a whole. An unreadable ledger approves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{LoadError, ManageError};
use crate::name::SkillName;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    #[serde(default)]
    pub skills: BTreeMap<SkillName, Decision>,
}

/// What was decided about the skill of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    #[serde(default)]
    pub disabled: bool,
    /// Hash of the content that was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Where it was installed from, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed_at: Option<Timestamp>,
}

impl Ledger {
    pub fn read(file: &Path) -> Result<Self, LoadError> {
        match fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| {
                LoadError::at(
                    file,
                    e.line() as u64,
                    format!("is not a readable ledger ({e}); nothing in it counts as approved"),
                )
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => {
                Err(LoadError::new(file, format!("cannot be read: {e}; nothing in it counts as approved")))
            }
        }
    }

    /// Writes a new file and renames it over the old one, so a crash leaves one or the other.
    pub fn write(&self, file: &Path) -> Result<(), ManageError> {
        let failed = |e: &std::io::Error| ManageError::io(format!("write {}", file.display()), e);
        let folder = file.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_vec_pretty(self).map_err(|e| failed(&e.into()))?;
        let mut temp = tempfile::NamedTempFile::new_in(folder).map_err(|e| failed(&e))?;
        temp.write_all(&text).and_then(|()| temp.as_file().sync_all()).map_err(|e| failed(&e))?;
        temp.persist(file).map_err(|e| failed(&e.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_survive_and_a_broken_ledger_approves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("skills.json");
        assert_eq!(Ledger::read(&file).unwrap(), Ledger::default());
        let mut ledger = Ledger::default();
        let decision = Decision { approved: Some("blake3:00".into()), disabled: true, ..Decision::default() };
        ledger.skills.insert(SkillName::parse("a").unwrap(), decision);
        ledger.write(&file).unwrap();
        assert_eq!(Ledger::read(&file).unwrap(), ledger);
        for broken in ["{", "7", r#"{"skills":{"../x":{}}}"#] {
            fs::write(&file, broken).unwrap();
            assert!(Ledger::read(&file).unwrap_err().message.contains("nothing"), "{broken}");
        }
    }
}
