//! Names of the evidence found in a text: a trie over labels and column names, longest match first, in both languages.
//! Knows spelling only, not what a name stands for.

use std::collections::HashMap;

use crate::layout::Span;

const MAX_NAME: usize = 60;
const MAX_NAMES: usize = 60_000;

/// Names by their letters; `-`, `_` and blanks are one, capitals do not count.
#[derive(Debug, Default)]
pub struct Trie {
    next: HashMap<(u32, char), u32>,
    /// The entry that ends at a node.
    ends: Vec<Option<u32>>,
    names: usize,
    /// Single letters count only as written.
    exact: HashMap<u32, char>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    pub span: Span,
    pub entry: u32,
}

fn fold(c: char) -> char {
    match c {
        '_' | '-' | '–' | '\u{a0}' | '·' | '/' => ' ',
        '（' => '(',
        '）' => ')',
        c => c.to_lowercase().next().unwrap_or(c),
    }
}

impl Trie {
    /// The entry of a name, made by `make` when new. Names that would match everywhere get none.
    pub fn entry(&mut self, name: &str, make: impl FnOnce() -> u32) -> Option<u32> {
        let name = name.trim();
        let mut chars = name.chars();
        let single = chars.next().filter(|_| chars.next().is_none());
        let nothing = name.chars().all(|c| !c.is_alphabetic()) && !is_range(name);
        let wide_single = single.is_some_and(|c| !c.is_ascii_uppercase());
        if nothing || wide_single || name.chars().count() > MAX_NAME || self.names >= MAX_NAMES {
            return None;
        }
        if self.ends.is_empty() {
            self.ends.push(None);
        }
        let mut node = 0u32;
        for c in name.chars().map(fold) {
            let made = self.ends.len() as u32;
            let to = *self.next.entry((node, c)).or_insert(made);
            if to == made {
                self.ends.push(None);
            }
            node = to;
        }
        let end = &mut self.ends[node as usize];
        if end.is_none() {
            *end = Some(make());
            self.names += 1;
            if let (Some(c), Some(entry)) = (single, *end) {
                self.exact.insert(entry, c);
            }
        }
        *end
    }

    /// Every mention, from left to right, none overlapping.
    pub fn mentions(&self, text: &str) -> Vec<Mention> {
        let mut all = Vec::new();
        if self.ends.is_empty() {
            return all;
        }
        let (mut at, mut before) = (0, ' ');
        while let Some(first) = text[at..].chars().next() {
            let inside = first.is_ascii_alphanumeric() && before.is_ascii_alphanumeric();
            let found = if inside { None } else { self.longest(text, at) };
            let end = match found {
                Some((end, entry)) => {
                    all.push(Mention { span: at..end, entry });
                    end
                }
                None => at + first.len_utf8(),
            };
            before = text[..end].chars().next_back().unwrap_or(' ');
            at = end;
        }
        all
    }

    fn longest(&self, text: &str, start: usize) -> Option<(usize, u32)> {
        let (mut node, mut best) = (0u32, None);
        for (i, c) in text[start..].char_indices() {
            match self.next.get(&(node, fold(c))) {
                Some(to) => node = *to,
                // "90 天以上" is 90天以上.
                None if c == ' ' && node != 0 && beside_wide(text, start + i) => continue,
                None => break,
            }
            let end = start + i + c.len_utf8();
            if let Some(entry) = self.ends[node as usize]
                && ends_a_word(text, end, c)
                && self.exact.get(&entry).is_none_or(|e| *e == c)
            {
                best = Some((end, entry));
            }
        }
        best
    }
}

/// Whether a blank stands beside a Chinese character.
fn beside_wide(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 1..].chars().next();
    [before, after].into_iter().flatten().any(|c| !c.is_ascii() && c.is_alphabetic())
}

/// `5-10%`, `0~30`, `<5`, `60+`: a label, however much of it is digits.
fn is_range(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let inner = name.trim_start_matches(|c: char| c.is_ascii_digit());
    digits > 0
        && name.chars().all(|c| c.is_ascii_digit() || "-–~～<>≤≥+% .".contains(c))
        && (inner.starts_with(['-', '–', '~', '～']) && inner.len() > 1 && name.len() > inner.len()
            || name.starts_with(['<', '>', '≤', '≥'])
            || name.ends_with('+'))
}

/// Latin names end at the end of a word, give or take an ending.
fn ends_a_word(text: &str, end: usize, last: char) -> bool {
    if !last.is_ascii_alphanumeric() {
        return true;
    }
    let rest = &text[end..];
    let tail: &str = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
    tail.is_empty() || (last.is_ascii_alphabetic() && ["s", "es", "ed", "d", "ing"].contains(&tail))
}

/// Words that say how a column was made or measured rather than what it holds.
const MADE: &[&str] = &[
    "total", "avg", "average", "mean", "sum", "num", "number", "count", "of", "the", "n", "per", "by", "max",
    "min", "median",
];
const MEASURED: &[&str] = &[
    "usd", "cny", "rmb", "eur", "pct", "percent", "min", "mins", "minutes", "hours", "days", "tons", "kwh",
    "kg", "d1", "d7", "d30", "amt", "元", "万元", "亿元", "百万", "千元", "天", "小时", "人", "件", "amount",
    "value",
];

/// The words of a column's name.
pub fn words(name: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = ' ';
    for c in name.chars() {
        let hump = c.is_ascii_uppercase() && last.is_ascii_lowercase();
        let turn = c.is_ascii_alphanumeric() != last.is_ascii_alphanumeric()
            || (c.is_ascii_digit() != last.is_ascii_digit());
        if hump || turn || !c.is_alphanumeric() {
            all.push(String::new());
        }
        if let Some(word) = all.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    all.retain(|w| !w.is_empty());
    all
}

/// Ways to say a column's name in full, and words that only hint at it.
pub fn forms(name: &str) -> (Vec<String>, Vec<String>) {
    let all = words(name);
    let year = |w: &str| {
        w.len() == 4 && w.bytes().all(|b| b.is_ascii_digit()) && (w.starts_with("19") || w.starts_with("20"))
    };
    let kept: Vec<&str> = all.iter().map(String::as_str).filter(|w| !year(w)).collect();
    let mut full = vec![name.trim().to_owned()];
    let joined = |words: &[&str]| {
        let latin = words.iter().all(|w| w.is_ascii());
        words.join(if latin { " " } else { "" })
    };
    full.push(joined(&kept));
    let mut core = kept.clone();
    while core.len() > 1
        && core.last().is_some_and(|w| MEASURED.contains(w) || (w.len() == 1 && w.is_ascii()))
    {
        core.pop();
    }
    full.push(joined(&core));
    while core.len() > 1 && core.first().is_some_and(|w| MADE.contains(w)) {
        core.remove(0);
    }
    full.push(joined(&core));
    for lead in ["总", "平均", "合计", "累计", "日均", "月均"] {
        full.extend(joined(&core).strip_prefix(lead).filter(|r| r.chars().count() > 1).map(str::to_owned));
    }
    full.retain(|f| f.chars().count() > 1);
    full.dedup();
    let mut hints: Vec<String> = core
        .iter()
        .filter(|w| w.len() > 2 && w.is_ascii() && !MADE.contains(w))
        .flat_map(|w| [Some((*w).to_owned()), w.strip_suffix('s').filter(|s| s.len() > 2).map(str::to_owned)])
        .flatten()
        .collect();
    hints.extend(
        kept.iter().filter(|w| w.is_ascii() && w.len() > 2 && !MADE.contains(w)).map(|w| (*w).to_owned()),
    );
    for end in ["人数", "金额", "总额", "数量", "数", "量", "额", "率", "值", "价", "时长", "时间", "润"]
    {
        hints.extend(joined(&core).strip_suffix(end).filter(|r| r.chars().count() > 1).map(str::to_owned));
    }
    // 营业收入 is said as 收入.
    let wide: Vec<char> = joined(&core).chars().collect();
    let tail: String = wide.iter().skip(wide.len().saturating_sub(2)).collect();
    const COMMON: [&str; 10] =
        ["金额", "人数", "数量", "次数", "总额", "单数", "件数", "时长", "合计", "比例"];
    if wide.len() >= 4 && wide.iter().all(|c| !c.is_ascii()) && !COMMON.contains(&tail.as_str()) {
        hints.push(tail);
    }
    (full, hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_wins_and_words_stay_whole() {
        let mut trie = Trie::default();
        for (i, name) in ["华东", "华东大区", "North", "A", "avg wait"].iter().enumerate() {
            assert_eq!(trie.entry(name, || i as u32), Some(i as u32));
        }
        let text = "华东大区与华东；north's, Northern, a plan, grade A, avg_waits";
        let found: Vec<_> = trie.mentions(text).into_iter().map(|m| (&text[m.span], m.entry)).collect();
        assert_eq!(found, [("华东大区", 1), ("华东", 0), ("north", 2), ("A", 3), ("avg_wait", 4)]);
        assert_eq!(trie.entry("12", || 9), None);
    }

    #[test]
    fn a_columns_name_has_many_forms() {
        assert!(forms("avg_wait_minutes").0.contains(&"wait".to_owned()));
        assert!(forms("sales_2023").0.contains(&"sales".to_owned()));
        assert!(forms("收入2024").0.contains(&"收入".to_owned()));
        assert!(forms("总销售额（元）").0.contains(&"销售额".to_owned()));
        assert!(forms("new_customers").1.contains(&"customer".to_owned()));
        assert!(forms("离职人数").1.contains(&"离职".to_owned()));
    }
}
