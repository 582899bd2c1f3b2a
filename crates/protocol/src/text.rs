//! Small text helpers shared by every view: sizes for people, and cuts that respect characters.

/// `512 B`, `2.5 KB`, `15.3 KB`, `1.2 MB` (SPEC F2).
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1023.95 && unit < UNITS.len() - 1 {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

/// The longest prefix of at most `max` bytes that ends on a character boundary.
pub fn prefix(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max.min(text.len()))]
}

/// The first `max` characters, with `…` when something was cut.
pub fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// One line, without control characters: for names and messages that go into lists, logs and headers.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_bidi_control(c) { ' ' } else { c }).collect()
}

/// Marks that reorder text and so can disguise a file name.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// What nobody sees: control characters (not line ends and tabs), marks of direction, spaces without width, tags.
pub fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
        || is_bidi_control(c)
}

/// The text with everything invisible shown by its number, so that who approves it sees what a model reads.
pub fn show_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) { out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_shown() {
        assert_eq!(
            show_invisible("a\u{200b}b\u{202e}\u{e0041}\u{7}\n销售"),
            "a⟨U+200B⟩b⟨U+202E⟩⟨U+E0041⟩⟨U+0007⟩\n销售"
        );
    }

    #[test]
    fn sizes_read_as_in_the_spec() {
        assert_eq!(human_size(0), "0 B");
        assert_eq!(human_size(1023), "1023 B");
        assert_eq!(human_size(2560), "2.5 KB");
        assert_eq!(human_size(15_667), "15.3 KB");
        assert_eq!(human_size(1024 * 1024), "1.0 MB");
        assert_eq!(human_size(u64::MAX), "16777216.0 TB");
    }

    #[test]
    fn cuts_respect_characters() {
        assert_eq!(prefix("销售", 4), "销");
        assert_eq!(shorten("销售额", 2), "销售…");
        assert_eq!(shorten("销售", 2), "销售");
        assert_eq!(one_line("a\r\nb\u{202e}c"), "a  b c");
    }
}
