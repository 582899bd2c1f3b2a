//! Which of the offered downloads exist (SPEC R4). An invented link becomes a warning, never a dead button.

use super::{CodeToSave, Known, shown};

/// The offered names that this conversation has, without doubles and without the folders a model put before them.
pub(super) fn keep(
    offered: &[String],
    known: &Known,
    save: &[CodeToSave],
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for link in offered {
        let link = link.trim();
        if link.is_empty() {
            continue;
        }
        match find(link, known, save) {
            Some(name) if !kept.contains(&name) => kept.push(name),
            Some(_) => {}
            None => warnings.push(format!("下载文件不存在: {}", shown(link))),
        }
    }
    kept
}

fn find(link: &str, known: &Known, save: &[CodeToSave]) -> Option<String> {
    let last = link.rsplit(['/', '\\']).next().unwrap_or(link);
    [link, last].into_iter().find_map(|name| by_name(name, known, save))
}

fn by_name(name: &str, known: &Known, save: &[CodeToSave]) -> Option<String> {
    if known.artifacts.iter().any(|file| file.name == name) {
        return Some(name.to_owned());
    }
    if let Some(upload) =
        known.uploads.iter().find(|file| file.filename == name || file.file_id.as_str() == name)
    {
        return Some(upload.filename.clone());
    }
    let code = known.code.iter().map(|file| (file.code_id.as_str(), file.filename()));
    let new = save.iter().map(|code| {
        let short = code.code_id.as_str().trim_start_matches("code_");
        (code.code_id.as_str(), format!("{short}.{}", code.language.extension))
    });
    code.chain(new)
        .find(|(id, file)| *id == name || file == name || format!("code_{file}") == name)
        .map(|(_, file)| file)
}
