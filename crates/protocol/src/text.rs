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

#[cfg(test)]
mod tests {
    use super::*;

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
