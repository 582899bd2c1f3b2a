//! One loaded skill: its front matter, its instructions and the list of its files. Loading reads; it runs nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::front_matter::{self, FrontMatter};
use crate::limits::Limits;
use crate::name::SkillName;
use crate::tree;

/// Where a skill comes from. Later kinds shadow earlier ones by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Part of the program.
    Shipped,
    /// In the data folder.
    Installed,
    /// In a folder named by the configuration.
    Configured,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Shipped => "shipped",
            Source::Installed => "installed",
            Source::Configured => "configured",
        }
    }
}

/// A file of a skill with the hash it had when it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillFile {
    pub path: String,
    pub size: u64,
    #[serde(skip)]
    hash: blake3::Hash,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    pub name: SkillName,
    pub front: FrontMatter,
    pub dir: PathBuf,
    pub source: Source,
    /// `SKILL.md` after its front matter.
    pub body: String,
    /// Everything but `SKILL.md`, sorted.
    pub files: Vec<SkillFile>,
    /// `blake3:<hex>` over every path and content: what an approval pins.
    pub hash: String,
    pub warnings: Vec<String>,
}

/// The file that makes a folder a skill.
pub const SKILL_MD: &str = "SKILL.md";

impl Skill {
    pub fn load(dir: &Path, source: Source, limits: &Limits) -> Result<Self, LoadError> {
        let found = tree::list(dir, limits)?;
        let md_path = dir.join(SKILL_MD);
        let md = found
            .iter()
            .find(|f| f.path == SKILL_MD)
            .ok_or_else(|| LoadError::new(&md_path, "is missing"))?;
        if md.size > limits.skill_md_bytes {
            return Err(LoadError::new(
                &md_path,
                format!("is larger than {} KB", limits.skill_md_bytes >> 10),
            ));
        }
        let mut all = blake3::Hasher::new();
        let (mut text, mut files) = (String::new(), Vec::new());
        for file in &found {
            let bytes = tree::read(dir, &file.path, limits)?;
            if tree::is_program(&bytes) {
                return Err(LoadError::new(
                    &dir.join(&file.path),
                    "is a compiled program; scripts must be text",
                ));
            }
            let hash = blake3::hash(&bytes);
            all.update(&(file.path.len() as u64).to_le_bytes());
            all.update(file.path.as_bytes());
            all.update(hash.as_bytes());
            if file.path == SKILL_MD {
                text = utf8(&md_path, bytes)?;
            } else {
                files.push(SkillFile { path: file.path.clone(), size: bytes.len() as u64, hash });
            }
        }
        let parts = front_matter::split(&md_path, &text, limits)?;
        let front = front_matter::parse(&md_path, parts.yaml, limits)?;
        let mut warnings = front.warnings.clone();
        let name = name_of(&md_path, dir, &front, &mut warnings)?;
        if parts.body.trim().is_empty() {
            return Err(LoadError::at(
                &md_path,
                parts.body_line,
                "there are no instructions after the front matter",
            ));
        }
        let body = parts.body.trim().to_owned();
        let hash = format!("blake3:{}", all.finalize().to_hex());
        Ok(Self { name, front, dir: dir.to_owned(), source, body, files, hash, warnings })
    }

    /// Reads a file as it was loaded: a file that changed since is refused, so that what was approved is what is used.
    pub fn read_file(&self, path: &str, limits: &Limits) -> Result<Vec<u8>, LoadError> {
        let place = self.dir.join(path);
        let known = self
            .files
            .iter()
            .find(|f| f.path == path)
            .ok_or_else(|| LoadError::new(&place, "is not a file of this skill"))?;
        let bytes = tree::read(&self.dir, path, limits)?;
        if blake3::hash(&bytes) != known.hash {
            return Err(LoadError::new(&place, "changed since the skill was loaded"));
        }
        Ok(bytes)
    }

    /// Scripts for the sandbox, as (path inside the skill, place on disk).
    pub fn scripts(&self) -> impl Iterator<Item = (&str, PathBuf)> {
        self.files
            .iter()
            .filter(|f| f.path.starts_with("scripts/"))
            .map(|f| (f.path.as_str(), self.dir.join(&f.path)))
    }
}

fn utf8(file: &Path, bytes: Vec<u8>) -> Result<String, LoadError> {
    String::from_utf8(bytes).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|b| **b == b'\n').count() as u64 + 1;
        LoadError::at(file, line, "is not UTF-8 text")
    })
}

/// The name the front matter gives, made safe; else the folder's.
fn name_of(
    file: &Path,
    dir: &Path,
    front: &FrontMatter,
    warnings: &mut Vec<String>,
) -> Result<SkillName, LoadError> {
    let folder = dir.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let Some(given) = &front.name else {
        warnings.push(format!("`name` is missing; the folder's name `{folder}` is used"));
        return SkillName::slug(folder)
            .ok_or_else(|| LoadError::at(file, 1, "`name` is missing and the folder's name cannot serve"));
    };
    if let Ok(name) = SkillName::parse(given) {
        return Ok(name);
    }
    let name = SkillName::slug(given).or_else(|| SkillName::slug(folder));
    let name = name.ok_or_else(|| {
        LoadError::at(
            file,
            2,
            format!("`{}` cannot be a skill's name; use a-z, 0-9 and hyphens", given.escape_debug()),
        )
    })?;
    warnings.push(format!("`{}` is not of the public form; called `{name}` here", given.escape_debug()));
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(dir: &Path, path: &str, text: impl AsRef<[u8]>) {
        let file = dir.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn load(dir: &Path) -> Result<Skill, LoadError> {
        Skill::load(dir, Source::Installed, &Limits::default())
    }

    #[test]
    fn real_layouts_load_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        // A document skill: upper-case references beside SKILL.md, a licence file, nested scripts, a binary asset.
        let doc = dir.path().join("docx");
        write(
            &doc,
            "SKILL.md",
            "---\nname: docx\ndescription: \"Comprehensive document creation: edit, analyse\"\nlicense: Proprietary. LICENSE.txt has complete terms\n---\n\n# DOCX\n\nSee `ooxml.md`.\n",
        );
        write(&doc, "LICENSE.txt", "terms");
        write(&doc, "FORMS.md", "forms");
        write(&doc, "ooxml/scripts/pack.py", "print(1)");
        write(&doc, "assets/logo.png", b"\x89PNG\r\n\x1a\n\0\0");
        let skill = load(&doc).unwrap();
        assert_eq!(skill.name.as_str(), "docx");
        assert_eq!(skill.files.len(), 4);
        assert!(skill.warnings.is_empty());
        // A minimal one, with Windows line ends and a byte-order mark.
        let min = dir.path().join("theme-factory");
        write(
            &min,
            "SKILL.md",
            "\u{feff}---\r\nname: theme-factory\r\ndescription: Toolkit\r\n---\r\nBody\r\n",
        );
        assert_eq!(load(&min).unwrap().body, "Body");
        // An older one: free-form name, comma list of another program's tools, unknown fields.
        let old = dir.path().join("pdf");
        write(
            &old,
            "SKILL.md",
            "---\nname: PDF Processing\ndescription: Extract text\nversion: 0.1.0\nallowed-tools: Read, Bash(python:*), Write\n---\nUse pypdf.\n",
        );
        let skill = load(&old).unwrap();
        assert_eq!(skill.name.as_str(), "pdf-processing");
        assert_eq!(skill.front.allowed_tools.as_deref().unwrap(), ["file_reader", "run_python"]);
        assert_eq!(skill.front.metadata["version"], "0.1.0");
        // Without a name: the folder's.
        let bare = dir.path().join("my_skill");
        write(&bare, "SKILL.md", "---\ndescription: d\n---\nBody");
        assert_eq!(load(&bare).unwrap().name.as_str(), "my-skill");
    }

    #[test]
    fn programs_and_broken_text_are_refused_with_their_place() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "SKILL.md", "---\nname: a\ndescription: b\n---\nBody");
        write(dir.path(), "scripts/tool", b"\x7fELF\x02\x01");
        assert!(load(dir.path()).unwrap_err().to_string().contains("scripts/tool"));
        fs::remove_file(dir.path().join("scripts/tool")).unwrap();
        write(dir.path(), "SKILL.md", b"---\nname: a\n\xff\xfe---\n");
        assert_eq!(load(dir.path()).unwrap_err().line, Some(3));
        write(dir.path(), "SKILL.md", "---\nname: a\ndescription: b\n---\n\n");
        assert!(load(dir.path()).unwrap_err().message.contains("no instructions"));
    }

    #[test]
    fn the_hash_covers_every_byte_and_a_changed_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "SKILL.md", "---\nname: a\ndescription: b\n---\nBody");
        write(dir.path(), "scripts/a.py", "x = 1");
        let before = load(dir.path()).unwrap();
        assert_eq!(before.read_file("scripts/a.py", &Limits::default()).unwrap(), b"x = 1");
        write(dir.path(), "scripts/a.py", "x = 2");
        assert_ne!(load(dir.path()).unwrap().hash, before.hash);
        assert!(
            before.read_file("scripts/a.py", &Limits::default()).unwrap_err().message.contains("changed")
        );
        assert!(before.read_file("../a.py", &Limits::default()).is_err());
        fs::rename(dir.path().join("scripts/a.py"), dir.path().join("scripts/b.py")).unwrap();
        assert_ne!(load(dir.path()).unwrap().hash, before.hash);
    }
}
