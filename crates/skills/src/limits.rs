//! Caps on what a skill may be. A skill is hostile input until proven small.

/// Sizes a skill folder, archive or front matter must stay within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of `SKILL.md`.
    pub skill_md_bytes: u64,
    /// Bytes between the two `---` lines.
    pub front_matter_bytes: usize,
    /// Characters of the description that are shown; the format allows 1,024.
    pub description_chars: usize,
    /// Files in one skill.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of one skill, unpacked.
    pub total_bytes: u64,
    /// Bytes of an archive, packed.
    pub archive_bytes: u64,
    /// Folders below the skill's own.
    pub depth: usize,
    /// Bytes of one relative path.
    pub path_bytes: usize,
    /// Skills loaded from one root.
    pub skills_per_root: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            skill_md_bytes: 256 * 1024,
            front_matter_bytes: 16 * 1024,
            description_chars: 1024,
            files: 500,
            file_bytes: 5 * 1024 * 1024,
            total_bytes: 20 * 1024 * 1024,
            archive_bytes: 20 * 1024 * 1024,
            depth: 6,
            path_bytes: 240,
            skills_per_root: 2000,
        }
    }
}
