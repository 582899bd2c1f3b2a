//! Figures and cells as people read them. Everything that comes from data is escaped here, once.

use crate::norm::Lang;

/// `1,234.56`; whole numbers without decimals, small ones with enough of them.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs();
    let text = if value.fract() == 0.0 && magnitude < 1e15 {
        format!("{value:.0}")
    } else if magnitude >= 1.0 {
        format!("{value:.2}")
    } else if magnitude >= 0.001 {
        format!("{value:.4}")
    } else {
        return format!("{value:.3e}");
    };
    // Large figures keep their two decimals, so that sentence and table, which evens its columns out, say the same.
    let trimmed = match text.strip_suffix(".00") {
        Some(whole) => whole,
        None if text.contains('.') && magnitude < 1000.0 => text.trim_end_matches('0').trim_end_matches('.'),
        None => &text,
    };
    grouped(trimmed)
}

fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |r| ("-", r));
    let (whole, fraction) = rest.split_once('.').map_or((rest, ""), |(w, f)| (w, f));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    if fraction.is_empty() { format!("{sign}{out}") } else { format!("{sign}{out}.{fraction}") }
}

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "row counts are far below 2^52")]
pub fn count(n: u64) -> f64 {
    n as f64
}

/// A share as `12.34%`.
pub fn percent(value: f64) -> String {
    format!("{}%", number((value * 10_000.0).round() / 100.0))
}

/// A change as `+12.34%`.
pub fn growth(value: f64) -> String {
    if value > 0.0 { format!("+{}", percent(value)) } else { percent(value) }
}

/// Text from data, safe inside markdown and HTML: no tag, no table bar, no link, no code, no placeholder.
pub fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars().take(200) {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '|' => out.push_str("&#124;"),
            '`' => out.push_str("&#96;"),
            '*' => out.push_str("&#42;"),
            '[' => out.push_str("&#91;"),
            ']' => out.push_str("&#93;"),
            '{' => out.push_str("&#123;"),
            '}' => out.push_str("&#125;"),
            '\\' => out.push_str("&#92;"),
            c if c.is_control() || ba_protocol::text::is_bidi_control(c) => out.push(' '),
            c => out.push(c),
        }
    }
    if raw.chars().count() > 200 {
        out.push('…');
    }
    out
}

/// Weekday names for ISO numbers.
pub fn weekday(iso: &str, lang: Lang) -> String {
    const ZH: [&str; 7] = ["周一", "周二", "周三", "周四", "周五", "周六", "周日"];
    const EN: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let index = iso.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let names = if lang == Lang::Zh { ZH } else { EN };
    index.and_then(|i| names.get(i)).map_or_else(|| iso.to_owned(), |n| (*n).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (1234567.0, "1,234,567"),
            (1234.5, "1,234.50"),
            (-0.25, "-0.25"),
            (0.0012, "0.0012"),
            (999.999, "1,000"),
            (1e-7, "1.000e-7"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(percent(0.12345), "12.35%");
        assert_eq!(growth(0.5), "+50%");
        assert_eq!(growth(-0.5), "-50%");
    }

    #[test]
    fn nothing_from_data_can_become_markup() {
        let hostile = "</script><img src=x onerror=alert(1)>|`x`[a](javascript:1){{CODE:0}}\n# h";
        let safe = text(hostile);
        for bad in ['<', '>', '|', '`', '[', '{', '\n'] {
            assert!(!safe.contains(bad), "{bad}");
        }
    }
}
