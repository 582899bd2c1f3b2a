//! Progressive disclosure (SPEC S2): level 1 the list, level 2 the instructions, level 3 one file. Every level has a
//! cap in counted tokens; a cut says that it is one.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::limits::Limits;
use crate::rank;
use crate::skill::Skill;

/// Counts the tokens of a text as the model will.
pub type CountTokens<'a> = &'a (dyn Fn(&str) -> usize + Send + Sync);

/// Tokens the list of all skills may take.
pub const LIST_BUDGET: usize = 2000;
/// Tokens of one `SKILL.md`.
pub const BODY_BUDGET: usize = 8000;

/// How much of a skill is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum LoadLevel {
    FrontMatter,
    Instructions,
    Resource,
}

impl From<LoadLevel> for u8 {
    fn from(level: LoadLevel) -> u8 {
        match level {
            LoadLevel::FrontMatter => 1,
            LoadLevel::Instructions => 2,
            LoadLevel::Resource => 3,
        }
    }
}

impl TryFrom<u8> for LoadLevel {
    type Error = String;
    fn try_from(n: u8) -> Result<Self, String> {
        match n {
            1 => Ok(Self::FrontMatter),
            2 => Ok(Self::Instructions),
            3 => Ok(Self::Resource),
            _ => Err(format!("load_level is 1, 2 or 3, not {n}")),
        }
    }
}

/// The list of skills as the prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillList {
    pub text: String,
    pub tokens: usize,
    pub shown: usize,
    pub left_out: usize,
    /// Depends on the question, so it must not be part of the cached prefix.
    pub ranked: bool,
}

const LIST_HEAD: &str =
    "可用技能（先用 `activate_skill` 激活，再按其方法分析；做完后以 skill_name \"done\" 结束）：\n";

/// Level 1 within `budget`. All skills in order when they fit, with shorter descriptions if need be; else the ones
/// that fit the question best. Empty when there is none.
pub fn list(skills: &[Arc<Skill>], question: &str, budget: usize, count: CountTokens<'_>) -> SkillList {
    let skills: Vec<&Skill> =
        skills.iter().map(Arc::as_ref).filter(|s| !s.front.disable_model_invocation).collect();
    if skills.is_empty() {
        return SkillList { text: String::new(), tokens: 0, shown: 0, left_out: 0, ranked: false };
    }
    for chars in [usize::MAX, 240, 120] {
        let text = skills.iter().fold(LIST_HEAD.to_owned(), |text, skill| text + &line(skill, chars));
        let tokens = count(&text);
        if tokens <= budget {
            return SkillList { text, tokens, shown: skills.len(), left_out: 0, ranked: false };
        }
    }
    let mut text = LIST_HEAD.to_owned();
    let order = rank::by_question(&skills, question);
    let note = |left: usize| format!("（另有 {left} 个技能未列出，可按名称激活）\n");
    let mut shown = 0;
    for index in order {
        let longer = format!("{text}{}", line(skills[index], 120));
        if count(&longer) + count(&note(skills.len())) > budget {
            break;
        }
        (text, shown) = (longer, shown + 1);
    }
    let left_out = skills.len() - shown;
    text.push_str(&note(left_out));
    SkillList { tokens: count(&text), text, shown, left_out, ranked: true }
}

/// When a skill is of use, where its description says so (`Use when …`, as the public format asks); else all of it. What it
/// does is read on activation.
fn trigger(description: &str) -> &str {
    let begins = description.match_indices("Use ").map(|(at, _)| at);
    let mut begins =
        begins.filter(|at| *at == 0 || description[..*at].trim_end().ends_with(['.', '。', ';']));
    begins.next().map_or(description, |at| &description[at + "Use ".len()..])
}

/// A name and its triggers.
fn line(skill: &Skill, chars: usize) -> String {
    let description = trigger(&skill.front.description);
    let keywords: String =
        skill.front.keywords.iter().take(6).map(String::as_str).collect::<Vec<_>>().join("、");
    let keywords = if keywords.is_empty() { keywords } else { format!("（{keywords}）") };
    if description.chars().count() <= chars {
        return format!("- {}: {description}{keywords}\n", skill.name);
    }
    let cut: String = description.chars().take(chars).collect();
    format!("- {}: {}…\n", skill.name, cut.trim_end())
}

/// Level 2: the instructions, and which files there are.
pub fn instructions(skill: &Skill, budget: usize, count: CountTokens<'_>) -> String {
    let mut files = String::new();
    for file in skill.files.iter().take(60) {
        let _ = writeln!(files, "- {} ({})", file.path, size(file.size));
    }
    if skill.files.len() > 60 {
        let _ = writeln!(files, "- … 共 {} 个文件", skill.files.len());
    }
    let mut text = format!("<skill name=\"{}\" hash=\"{}\">\n", skill.name, short_hash(&skill.hash));
    text.push_str(&capped(&defused(&skill.body), budget, count));
    text.push_str("\n</skill>\n");
    if !files.is_empty() {
        let _ = write!(text, "资源文件（以 activate_skill 的 resource 参数读取）：\n{files}");
    }
    if let Some((script, _)) = skill.scripts().find(|(path, _)| path.ends_with(".py")) {
        let place = sandbox_path(skill, script);
        let _ = writeln!(
            text,
            "脚本只在 run_python 中运行：`s = skill(\"{place}\")`，然后调用其中的函数，如 `s.函数名(…)`。"
        );
    }
    text
}

/// The name under which the sandbox shows a skill's file in the working folder, read-only: `rfm__score.py` for
/// `scripts/score.py`. One plain name, because inputs of a job have no folders.
pub fn sandbox_path(skill: &Skill, path: &str) -> String {
    format!("{}__{}", skill.name, path.strip_prefix("scripts/").unwrap_or(path).replace('/', "__"))
}

/// Level 3: one file as text. A binary file is described, not shown.
pub fn resource(
    skill: &Skill,
    path: &str,
    budget: usize,
    limits: &Limits,
    count: CountTokens<'_>,
) -> Result<String, LoadError> {
    let path = path.trim().trim_start_matches("./");
    let bytes = skill.read_file(path, limits).map_err(|mut e| {
        let known: Vec<&str> = skill.files.iter().take(30).map(|f| f.path.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        e.message = format!("{}; files of `{}`: {known}", e.message, skill.name);
        e.file = path.chars().take(120).collect::<String>().into();
        e
    })?;
    let shown = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => capped(&defused(&text), budget, count),
        Ok(text) => format!("（二进制文件，{}，不显示）", size(text.len() as u64)),
        Err(e) => format!("（二进制文件，{}，不显示）", size(e.as_bytes().len() as u64)),
    };
    Ok(format!("<skill_resource name=\"{}\" path=\"{path}\">\n{shown}\n</skill_resource>\n", skill.name))
}

/// A text cannot close the tag it stands in.
fn defused(text: &str) -> String {
    text.replace("</skill", "<\\/skill")
}

fn short_hash(hash: &str) -> &str {
    hash.get(..19).unwrap_or(hash)
}

pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} B") } else { format!("{:.1} KB", bytes as f64 / 1024.0) }
}

/// The longest run of whole lines that fits, and how many were left out.
pub(crate) fn capped(text: &str, budget: usize, count: CountTokens<'_>) -> String {
    if count(text) <= budget {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut fits, mut too_many) = (0, lines.len());
    while too_many - fits > 1 {
        let middle = fits.midpoint(too_many);
        if count(&lines[..middle].concat()) <= budget { fits = middle } else { too_many = middle }
    }
    let kept = lines[..fits].concat();
    format!("{}\n... (省略 {} 行) ...", kept.trim_end(), lines.len() - fits)
}

#[cfg(test)]
mod tests;
