//! Files that ship inside the binary, unpacked where the program can use them as files: a lone binary works.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../skills"]
#[allow_missing = true]
pub struct ShippedSkills;

#[derive(RustEmbed)]
#[folder = "../../examples"]
#[allow_missing = true]
pub struct Examples;

/// Tests, build scripts and caches beside the files stay where they are.
fn ships(name: &str) -> bool {
    let aside = ["tests/"].iter().any(|folder| name.starts_with(folder));
    !aside && !name.contains("__pycache__") && !name.contains("/tests/") && name != "generate.py"
}

/// Writes what is missing or different below `folder`, and removes what no longer ships.
pub fn unpack<E: RustEmbed>(folder: &Path) -> anyhow::Result<PathBuf> {
    for name in E::iter().filter(|name| ships(name)) {
        let Some(file) = E::get(&name) else { continue };
        let path = folder.join(name.as_ref());
        if std::fs::read(&path).is_ok_and(|found| found == file.data.as_ref()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            ba_store::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        let temporary = path.with_extension("part");
        let mut written =
            ba_store::create_file(&temporary).with_context(|| temporary.display().to_string())?;
        written.write_all(&file.data).with_context(|| temporary.display().to_string())?;
        std::fs::rename(&temporary, &path).with_context(|| path.display().to_string())?;
    }
    remove_unknown::<E>(folder, folder)?;
    Ok(folder.to_owned())
}

fn remove_unknown<E: RustEmbed>(root: &Path, folder: &Path) -> anyhow::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            remove_unknown::<E>(root, &path)?;
            // Fails while something is in it, which is right.
            let _ = std::fs::remove_dir(&path);
        } else if let Ok(name) = path.strip_prefix(root)
            && (E::get(&name.to_string_lossy()).is_none() || !ships(&name.to_string_lossy()))
        {
            std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_skills_are_inside_and_unpack_without_their_tests() {
        let dir = tempfile::tempdir().unwrap();
        let folder = unpack::<ShippedSkills>(&dir.path().join("skills")).unwrap();
        let skills = std::fs::read_dir(&folder).unwrap().flatten();
        let with_instructions = skills.filter(|e| e.path().join("SKILL.md").exists()).count();
        assert_eq!(with_instructions, 12);
        assert!(folder.join("trend-growth/scripts/trend.py").exists());
        assert!(!folder.join("tests").exists());
    }
}
