//! Text as the rules compare it: half-width, lower case, plain punctuation. Never changes the number of characters,
//! so that positions in the normalised text are positions in the question.

/// One comparable character per character of the text.
pub fn normalise(text: &str) -> Vec<char> {
    text.chars().map(one).collect()
}

/// The same as a string.
pub fn normal(text: &str) -> String {
    normalise(text).into_iter().collect()
}

fn one(c: char) -> char {
    let c = match c {
        '\u{3000}' | '\u{a0}' | '\t' | '\n' | '\r' => ' ',
        '；' => ',',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '。' => '.',
        '“' | '”' | '「' | '」' | '『' | '』' => '"',
        '‘' | '’' => '\'',
        '–' | '—' | '−' => '-',
        other => other,
    };
    // Only the lower case of one character: `İ` would become two.
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => c,
    }
}

pub fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}')
}

/// Part of a word that is written with spaces around it.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// A column or file name as words: `OrderDate`, `order_date` and `Order Date (UTC)` are all `order date`.
pub fn name_words(name: &str) -> String {
    let mut out = String::new();
    let mut depth = 0usize;
    let mut previous = ' ';
    for c in name.chars() {
        match c {
            '(' | '（' | '[' | '【' => depth += 1,
            ')' | '）' | ']' | '】' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '_' | '-' | '.' | '/' | ' ' | '\t' | '\u{3000}' => out.push(' '),
            // `Rain?`, `Stock #`
            '?' | '？' | '*' => {}
            '#' => out.push_str(" number "),
            c => {
                if c.is_uppercase() && previous.is_lowercase() {
                    out.push(' ');
                }
                out.push(one(c));
            }
        }
        previous = c;
    }
    if let Some((what, unit)) = name.rsplit_once('/').filter(|(_, u)| is_rate_unit(u)) {
        return format!("{} per {}", name_words(what), name_words(unit));
    }
    let apart = unit_apart(&out);
    let words: Vec<&str> = apart.split_whitespace().collect();
    if words.is_empty() { normal(name).trim().to_owned() } else { words.join(" ") }
}

/// `Price/L`: for each of what comes after the stroke.
fn is_rate_unit(unit: &str) -> bool {
    const UNITS: [&str; 22] = [
        "l", "litre", "liter", "kg", "lb", "hr", "h", "hour", "day", "night", "unit", "km", "mile", "mi",
        "t", "ton", "kwh", "m2", "sqft", "case", "head", "person",
    ];
    UNITS.contains(&unit.trim().to_ascii_lowercase().as_str())
}

/// `重量kg` is a weight in kilograms: a unit in letters right after a Chinese name stands apart.
fn unit_apart(name: &str) -> String {
    const UNITS: [&str; 18] = [
        "kg", "km", "g", "t", "h", "min", "ms", "s", "cm", "mm", "m", "l", "ml", "kwh", "mb", "gb", "usd",
        "rmb",
    ];
    let bare = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &name[bare.len()..];
    if bare.ends_with(is_cjk) && UNITS.contains(&unit) { format!("{bare} {unit}") } else { name.to_owned() }
}

/// The language of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    Zh,
    En,
}

impl Lang {
    /// Chinese when the text has any Chinese outside quotation marks, else English; a sentence of English words stays
    /// English when it names something in Chinese.
    pub fn of(text: &str) -> Self {
        let mut quoted = false;
        let (mut chinese, mut words, mut inside) = (0, 0, false);
        for c in text.chars() {
            match c {
                '"' | '“' | '”' => quoted = !quoted,
                c if !quoted && is_cjk(c) => chinese += 1,
                _ => {}
            }
            let letter = c.is_ascii_alphabetic();
            words += usize::from(letter && !inside);
            inside = letter;
        }
        if chinese > 0 && (words < 3 || words <= chinese) { Lang::Zh } else { Lang::En }
    }

    /// Picks the text in this language.
    pub fn pick<'a>(self, zh: &'a str, en: &'a str) -> &'a str {
        match self {
            Lang::Zh => zh,
            Lang::En => en,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_positions() {
        for text in ["Ｔｏｐ　５ 销售额？", "İstanbul ǅ ß", "a\tb\n“华东”"] {
            assert_eq!(normalise(text).len(), text.chars().count());
        }
        assert_eq!(normal("Ｔｏｐ　５，销售额？"), "top 5,销售额?");
    }

    #[test]
    fn names_become_words() {
        for name in ["OrderDate", "order_date", "Order Date (UTC)", "order-date"] {
            assert_eq!(name_words(name), "order date");
        }
        assert_eq!(name_words("销售额（元）"), "销售额");
        assert_eq!(name_words("重量kg"), "重量 kg");
        assert_eq!(name_words("活动id"), "活动id");
        assert_eq!(name_words("(x)"), "(x)");
        assert_eq!(name_words("Rain?"), "rain");
        assert_eq!(name_words("Stock #"), "stock number");
        assert_eq!(name_words("#"), "number");
        assert_eq!(name_words("Price/L"), "price per l");
        assert_eq!(name_words("Win/Loss"), "win loss");
    }

    #[test]
    fn language_follows_the_question() {
        assert_eq!(Lang::of("华东 revenue"), Lang::Zh);
        assert_eq!(Lang::of("How much did we sell in 华东?"), Lang::En);
        assert_eq!(Lang::of("revenue of \"华东\" by month"), Lang::En);
    }
}
