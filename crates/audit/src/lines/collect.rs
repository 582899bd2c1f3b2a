//! Which figures of a report stand in line with each other: by table column, table row, series, or by the words before and
//! behind them in the items of a list. Looks at no value.

use std::collections::HashMap;

use crate::figures::{Figure, Place};
use crate::layout::{Kind, Span};
use crate::number::Unit;
use crate::scope::Page;

/// Figures in line.
#[derive(Debug, Default)]
pub struct Line {
    /// Each figure, and the place of its row, item or point among those of its group.
    pub members: Vec<(usize, usize)>,
    /// One figure for each place of the group, which says whose place it is.
    pub group: Vec<usize>,
    /// What the line is called, in small letters without units.
    pub word: String,
    /// Texts that may say its unit.
    pub captions: Vec<Span>,
    /// Lines of one table or list have the same.
    pub id: usize,
    /// All of one unit by its nature: a column of a table, not a row of one.
    pub uniform: bool,
}

/// Bytes of words before and behind a figure that tell places of a list apart.
const REACH: usize = 60;

pub fn collect(page: &Page<'_>, figures: &[Figure]) -> Vec<Line> {
    let mut all = tables(page, figures);
    all.extend(charts(page, figures));
    all.extend(lists(page, figures));
    all.retain(|l| l.members.len() > 1);
    // Groups are told apart by the figures that stand for their places.
    let mut ids: HashMap<Vec<usize>, usize> = HashMap::new();
    for line in &mut all {
        let next = ids.len();
        line.id = *ids.entry(line.group.clone()).or_insert(next);
    }
    all
}

fn tables(page: &Page<'_>, figures: &[Figure]) -> Vec<Line> {
    // Which of its cell's figures a figure is, from nought.
    let mut nth: HashMap<(usize, usize, usize), usize> = HashMap::new();
    let mut columns: HashMap<(usize, usize, usize), Line> = HashMap::new();
    let mut rows: HashMap<(usize, usize, usize), Line> = HashMap::new();
    let mut of_row: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    let mut of_column: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
    for (at, figure) in figures.iter().enumerate() {
        let Place::Cell { block, row, column } = figure.place else { continue };
        let k = nth.entry((block, row, column)).or_default();
        columns.entry((block, column, *k)).or_default().members.push((at, row));
        rows.entry((block, row, *k)).or_default().members.push((at, column));
        *k += 1;
        of_row.entry(block).or_default().push((row, at));
        of_column.entry(block).or_default().push((column, at));
    }
    let mut all = Vec::new();
    for (lines, groups, down) in [(columns, of_row, true), (rows, of_column, false)] {
        let mut keyed: Vec<_> = lines.into_iter().filter(|(_, l)| l.members.len() > 1).collect();
        keyed.sort_by_key(|(key, _)| *key);
        for ((block, place, _), mut line) in keyed {
            line.finish(groups.get(&block).map_or(&[], Vec::as_slice));
            let Kind::Table { header, rows } = &page.layout.blocks[block].kind else { continue };
            let named = if down { header.get(place) } else { rows[place].first() };
            line.word = named.map(|s| word(&page.report[s.clone()])).unwrap_or_default();
            line.uniform = down;
            line.captions.extend(named.cloned());
            line.captions.extend(page.captions(block));
            all.push(line);
        }
    }
    all
}

impl Line {
    /// Places are numbered without gaps; the first figure of each stands for it.
    fn finish(&mut self, group: &[(usize, usize)]) {
        let mut places: Vec<(usize, usize)> = group.to_vec();
        places.sort_unstable();
        places.dedup_by_key(|(place, _)| *place);
        for (_, place) in &mut self.members {
            *place = places.partition_point(|(p, _)| p < place);
        }
        self.group = places.into_iter().map(|(_, figure)| figure).collect();
    }
}

fn charts(page: &Page<'_>, figures: &[Figure]) -> Vec<Line> {
    let mut found: HashMap<(Option<usize>, Option<usize>), Line> = HashMap::new();
    for (at, figure) in figures.iter().enumerate() {
        let Place::Chart { block, series, titles, .. } = &figure.place else { continue };
        let line = found.entry((*block, series.as_ref().map(|s| s.start))).or_default();
        if line.members.is_empty() {
            line.word = series.as_ref().map(|s| word(&page.report[s.clone()])).unwrap_or_default();
            line.captions.extend(series.iter().chain(titles).cloned());
        }
        line.members.push((at, line.members.len()));
        line.group.push(at);
    }
    let mut all: Vec<Line> = found.into_values().collect();
    all.sort_by_key(|l| l.group.first().copied());
    all
}

/// Where in a list, under which words, in which unit.
type Key = (usize, u8, usize, String, String, Unit);

fn lists(page: &Page<'_>, figures: &[Figure]) -> Vec<Line> {
    let mut found: HashMap<Key, Line> = HashMap::new();
    let mut groups: HashMap<(usize, u8, usize), Vec<(usize, usize)>> = HashMap::new();
    for (at, figure) in figures.iter().enumerate() {
        let Place::Prose { block, sentence, .. } = &figure.place else { continue };
        let of = &page.layout.blocks[*block];
        let heading = of.heading.map_or(0, |h| h + 1);
        let (lead, tail) = words(page, figures, at);
        let (kind, depth) = match of.kind {
            // Without words of their own, only those of one sentence are in line.
            Kind::Item(depth) if lead.is_empty() && tail.is_empty() && is_first(figures, at) => (3, depth),
            _ if lead.is_empty() && tail.is_empty() => (2, sentence.start),
            Kind::Item(depth) => (0, depth),
            _ => (1, 0),
        };
        let place = if kind == 2 { figure.number.span.start } else { *block };
        let group = groups.entry((heading, kind, depth)).or_default();
        group.push((place, at));
        let unit = figure.number.unit;
        let line = found.entry((heading, kind, depth, lead, tail, unit)).or_default();
        line.members.push((at, place));
        if line.captions.is_empty() {
            line.captions.push(sentence.clone());
        }
    }
    let mut keyed: Vec<_> = found.into_iter().filter(|(_, l)| l.members.len() > 1).collect();
    keyed.sort_by_key(|(_, l)| l.members[0]);
    let mut all = Vec::new();
    for ((heading, kind, depth, lead, tail, _), mut line) in keyed {
        line.finish(groups.get(&(heading, kind, depth)).map_or(&[], Vec::as_slice));
        line.word = if lead.is_empty() { tail } else { word(&lead) };
        all.push(line);
    }
    all
}

/// The first figure of its block.
fn is_first(figures: &[Figure], at: usize) -> bool {
    let block = |f: &Figure| if let Place::Prose { block, .. } = f.place { Some(block) } else { None };
    at.checked_sub(1).is_none_or(|i| block(&figures[i]) != block(&figures[at]))
}

/// The words between the label or figure before and this one, and the first word behind it.
fn words(page: &Page<'_>, figures: &[Figure], at: usize) -> (String, String) {
    let span = &figures[at].number.span;
    let Place::Prose { sentence, .. } = &figures[at].place else { return Default::default() };
    let before = at.checked_sub(1).map_or(0, |i| figures[i].number.span.end);
    let reach = page.report.ceil_char_boundary(span.start.saturating_sub(REACH));
    let mut from = before.max(sentence.start).max(reach).min(span.start);
    let mut to = figures.get(at + 1).map_or(sentence.end, |f| f.number.span.start).min(sentence.end);
    to = page.report.floor_char_boundary(to.min(span.end + REACH)).max(span.end);
    for end in page.label_ends(&(from..span.start)) {
        from = from.max(end);
    }
    if let Some(start) = page.label_starts(&(span.end..to)).next() {
        to = start;
    }
    let tail = &page.report[span.end..to];
    let stop = tail.find(['，', '。', ',', '.', '；', ';', '、', '（', '(', '/']).unwrap_or(tail.len());
    let lead = &page.report[from..span.start];
    let lead =
        lead.rsplit(['，', ',', '；', ';', '（', '(', '：', ':', '、']).find(|s| !letters(s).is_empty());
    (lead.map(letters).unwrap_or_default(), letters(&tail[..stop]))
}

/// Letters alone, in small, without words of direction.
fn letters(text: &str) -> String {
    let mut small = text.to_lowercase();
    for turn in
        ["增长", "下降", "上升", "下滑", "增加", "减少", "rose", "fell", "up", "down", "grew", "declined"]
    {
        small = small.replace(turn, "");
    }
    small.chars().filter(|c| c.is_alphabetic()).collect()
}

/// A line's name and its shorter forms: 延误票数 is said as 延误.
pub fn names(word: &str) -> Vec<String> {
    let mut all = vec![word.to_owned()];
    for end in ["票数", "件数", "人数", "金额", "数", "量", "额"] {
        let short = word.strip_suffix(end).filter(|s| s.chars().count() > 1);
        all.extend(short.map(str::to_owned));
    }
    for lead in ["avg ", "avg. ", "average ", "平均"] {
        let short = word.strip_prefix(lead).filter(|s| s.chars().count() > 2);
        all.extend(short.map(str::to_owned));
    }
    all
}

/// A header or lead as a word to look for: no brackets, no marks, no fillers at its ends.
pub fn word(text: &str) -> String {
    let text = text.to_lowercase();
    let open = text.find(['(', '（', '[']).filter(|i| *i > 0).unwrap_or(text.len());
    let kept = text[..open].trim_matches(|c: char| !c.is_alphanumeric());
    kept.to_owned()
}
