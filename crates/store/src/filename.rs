//! Makes any file name safe to show, store and offer for download. Never used to build a path to a blob.

use ba_protocol::text::is_bidi_control;

/// The longest name kept, in bytes of UTF-8: below every common file system's 255.
const MAX_BYTES: usize = 200;

/// The last path component without control, bidi and reserved characters; at most 200 bytes, its extension kept.
/// Never empty, never `.` or `..`, never hidden.
pub fn clean_filename(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or("");
    let cleaned: String = last
        .chars()
        .filter(|c| !is_bidi_control(*c) && !is_invisible(*c))
        .map(|c| if c.is_control() || matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|') { '_' } else { c })
        .collect();
    let trimmed = cleaned.trim().trim_start_matches('.').trim_end_matches(['.', ' ']).trim_start();
    if trimmed.is_empty() {
        return "file".to_owned();
    }
    limit(trimmed)
}

/// The extension in lower case, `""` when there is none that looks like one.
pub fn extension(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((stem, ext)) if !stem.is_empty() && is_extension(ext) => ext.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// `sales.csv` → `sales (2).csv`, still within the length limit.
pub fn numbered(name: &str, n: u32) -> String {
    let (stem, ext) = split(name);
    let tail = format!(" ({n}){ext}");
    format!("{}{tail}", ba_protocol::text::prefix(stem, MAX_BYTES - tail.len()))
}

fn limit(name: &str) -> String {
    if name.len() <= MAX_BYTES {
        return name.to_owned();
    }
    let (stem, ext) = split(name);
    let kept = ba_protocol::text::prefix(stem, MAX_BYTES - ext.len()).trim_end();
    format!("{kept}{ext}")
}

/// Stem and extension with its dot.
fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some((stem, ext)) if !stem.is_empty() && is_extension(ext) => (stem, &name[stem.len()..]),
        _ => (name, ""),
    }
}

fn is_extension(ext: &str) -> bool {
    (1..=16).contains(&ext.len()) && ext.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Zero-width characters and the byte-order mark; the joiner of emoji stays.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200c}' | '\u{2060}' | '\u{feff}' | '\u{00ad}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_become_plain_ones() {
        for (given, wanted) in [
            ("sales.csv", "sales.csv"),
            ("2024年销售数据.xlsx", "2024年销售数据.xlsx"),
            ("../../etc/passwd", "passwd"),
            ("/etc/shadow", "shadow"),
            ("C:\\Users\\x\\report.xlsx", "report.xlsx"),
            ("a\0b.csv", "a_b.csv"),
            ("x.csv\r\nSet-Cookie: a=b", "x.csv__Set-Cookie_ a=b"),
            ("gpj\u{202e}exe.csv", "gpjexe.csv"),
            ("..", "file"),
            ("", "file"),
            ("...", "file"),
            ("dir/", "dir"),
            (".bashrc", "bashrc"),
            ("📊 图.csv", "📊 图.csv"),
            ("name. ", "name"),
        ] {
            assert_eq!(clean_filename(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_extension_and_its_characters_whole() {
        let cleaned = clean_filename(&format!("{}.csv", "销".repeat(300)));
        assert!(cleaned.len() <= MAX_BYTES && cleaned.ends_with("销.csv"));
        let again = numbered(&cleaned, 12);
        assert!(again.len() <= MAX_BYTES && again.ends_with(" (12).csv"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_in_is_one_safe_component(given in ".*") {
            let name = clean_filename(&given);
            proptest::prop_assert!(!name.is_empty() && name.len() <= MAX_BYTES);
            proptest::prop_assert!(!name.contains(['/', '\\', '\0', '\n', '\r']));
            proptest::prop_assert!(!name.starts_with('.'));
            proptest::prop_assert_eq!(clean_filename(&name), name.clone());
        }
    }
}
