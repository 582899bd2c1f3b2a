//! Which labels, periods and columns a figure's surroundings name, and which of them it is said of. Reads order and
//! nearness; looks at no value.

use std::sync::LazyLock;

use regex::Regex;

use crate::figures::{Figure, Place};
use crate::index::{Holds, Index};
use crate::layout::{Kind, Layout, Span};
use crate::number::Unit;
use crate::period::{self, Grain, Period};
use crate::told;
use crate::words::Mention;

/// The report with everything that was found in it.
pub struct Page<'r> {
    pub report: &'r str,
    pub layout: &'r Layout,
    pub sentences: Vec<Span>,
    pub mentions: Vec<Mention>,
    pub periods: Vec<period::Found>,
    pub figures: Vec<Span>,
    /// The unit of each figure.
    pub units: Vec<Unit>,
    pub index: &'r Index<'r>,
}

/// A label or period at its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    pub start: usize,
    pub end: usize,
    pub key: Key,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Key {
    Label(u32),
    Time(Period),
}

/// What a figure's words ask of a column of labels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked {
    /// One of these; nothing is asked when empty.
    pub keys: Vec<Key>,
    /// Said in the figure's own sentence, cell or chart, not only further off.
    pub near: bool,
}

static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:[\p{L}\-/]+\s+){0,3}?(?:in|for|at|on|of|by|across|during|within)\s+(?:the\s+|grade\s+)?$").ok()
});
static BRACKET: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*[\p{L}/²]{0,12}\s*[(（]\s*$").ok());
static JOINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*\**(?:[、，,&/]|和|与|及|以及|,?\s*and\b|vs\.?)\s*(?:the\s+)?\**\s*$").ok()
});

fn fits(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    text.len() < 60 && pattern.as_ref().is_some_and(|p| p.is_match(text))
}

impl<'r> Page<'r> {
    /// Marks of one column of labels within a span.
    pub fn marks(&self, within: &Span, of: (usize, usize)) -> Vec<Mark> {
        match &self.index.tables[of.0].columns[of.1].holds {
            Holds::Labels { .. } => self
                .mentions_in(within)
                .iter()
                .filter(|m| self.index.entries[m.entry as usize].labels.binary_search(&of).is_ok())
                .map(|m| Mark { start: m.span.start, end: m.span.end, key: Key::Label(m.entry) })
                .collect(),
            Holds::Times { rows, .. } => {
                let grains: Vec<Grain> =
                    rows.keys().map(|part| Period { year: None, part: *part }.grain()).collect();
                self.times(within)
                    .into_iter()
                    .filter(|(p, _)| grains.contains(&p.grain()))
                    .map(|(_, m)| m)
                    .collect()
            }
            Holds::Numbers { .. } => Vec::new(),
        }
    }

    pub fn mentions_in(&self, within: &Span) -> &[Mention] {
        let from = self.mentions.partition_point(|m| m.span.start < within.start);
        let to = self.mentions.partition_point(|m| m.span.start < within.end);
        &self.mentions[from..to.max(from)]
    }

    /// Periods of a span; one without its year takes it from the one before.
    pub fn times(&self, within: &Span) -> Vec<(Period, Mark)> {
        let from = self.periods.partition_point(|p| p.start < within.start);
        let to = self.periods.partition_point(|p| p.start < within.end).max(from);
        let mut year = None;
        self.periods[from..to]
            .iter()
            .map(|found| {
                let mut period = found.period;
                year = period.year.or(year);
                period.year = year;
                (period, Mark { start: found.start, end: found.end, key: Key::Time(period) })
            })
            .collect()
    }

    /// Which of a column's labels the figure is said of.
    pub fn asked(&self, figure: &Figure, of: (usize, usize)) -> Asked {
        let mut asked = self.asked_by(figure, |within| self.marks(within, of));
        if matches!(self.index.tables[of.0].columns[of.1].holds, Holds::Times { .. }) {
            asked = told::retold(self, figure, of, asked);
        }
        match self.in_table_order(figure, of) {
            Some(key) if !asked.near => Asked { keys: vec![key], near: true },
            _ => asked,
        }
    }

    /// "三类依次为 1、2、3" without their names: in the order of the table.
    fn in_table_order(&self, figure: &Figure, of: (usize, usize)) -> Option<Key> {
        let Place::Prose { sentence, .. } = &figure.place else { return None };
        let table = &self.index.tables[of.0];
        let run = figure.run;
        let said = ["分别", "依次", "respectively"].iter().any(|w| self.report[sentence.clone()].contains(w));
        if run.of < 2 || run.of != table.rows || !said {
            return None;
        }
        match &table.columns[of.1].holds {
            Holds::Labels { of_row, .. } => of_row.get(run.at).map(|l| Key::Label(*l)),
            Holds::Times { of_row, .. } => of_row.get(run.at).copied().flatten().map(Key::Time),
            Holds::Numbers { .. } => None,
        }
    }

    /// Which periods of a grain the figure is said of, in its own words.
    pub fn asked_times(&self, figure: &Figure, grain: Grain) -> Vec<Key> {
        let of = |within: &Span| {
            self.times(within).into_iter().filter(|(p, _)| p.grain() == grain).map(|(_, m)| m).collect()
        };
        let asked = self.asked_by(figure, of);
        if asked.near { asked.keys } else { Vec::new() }
    }

    fn asked_by(&self, figure: &Figure, marks: impl Fn(&Span) -> Vec<Mark>) -> Asked {
        let near: Vec<Key> = match &figure.place {
            Place::Prose { sentence, clause, .. } => self.governing(figure, &marks(sentence), clause),
            _ => self.around(figure).iter().flat_map(&marks).map(|m| m.key).collect(),
        };
        if !near.is_empty() {
            return Asked { keys: near, near: true };
        }
        let further = self.fallback(figure).iter().map(marks).find(|m| !m.is_empty());
        let keys = further.unwrap_or_default().into_iter().map(|m| m.key).collect();
        Asked { keys, near: false }
    }

    fn governing(&self, figure: &Figure, marks: &[Mark], clause: &Span) -> Vec<Key> {
        let span = &figure.number.span;
        let after = marks.iter().find(|m| m.start >= span.end);
        if let Some(mark) = after.filter(|m| self.said_after(span, m)) {
            return vec![mark.key];
        }
        if let Some(key) = self.in_turn(figure, marks) {
            return vec![key];
        }
        let before =
            marks.iter().rfind(|m| m.end <= span.start && !self.set_aside(m.start..m.end, span.start));
        // "12 万元来自华东": said behind, and nothing in the clause says it before.
        let behind = after.filter(|m| m.start < clause.end && !self.figure_between(span.end, m.start));
        match (before, behind) {
            (Some(b), Some(m)) if b.start < clause.start && self.is_spent(b, span.start) => {
                vec![m.key]
            }
            (Some(b), _) => vec![b.key],
            (None, m) => m.map(|m| m.key).into_iter().collect(),
        }
    }

    /// Whether another figure was already said of a label: one stands behind it, or right before it.
    fn is_spent(&self, mark: &Mark, upto: usize) -> bool {
        let before = self.figures.partition_point(|f| f.end <= mark.start).checked_sub(1);
        let right_before =
            before.is_some_and(|i| self.report[self.figures[i].end..mark.start].trim().len() < 8);
        right_before || self.figure_between(mark.start, upto)
    }

    /// The next figure's unit from a place on, when it starts before another.
    pub fn unit_after(&self, from: usize, upto: usize) -> Option<Unit> {
        let at = self.figures.partition_point(|f| f.start < from);
        self.figures.get(at).filter(|f| f.start < upto).map(|_| self.units[at])
    }

    /// Whether a place lies in brackets that have a figure of their own and close before `upto`.
    pub fn set_aside(&self, place: Span, upto: usize) -> bool {
        let after = &self.report[place.end..upto.max(place.end)];
        let Some(close) = after.find([')', '）']) else { return false };
        if after.find(['(', '（']).is_some_and(|open| open < close) {
            return false;
        }
        let mut from = place.start.saturating_sub(120);
        while !self.report.is_char_boundary(from) {
            from += 1;
        }
        let open = self.report[from..place.start].rfind(['(', '（']);
        open.is_some_and(|open| self.figure_between(from + open, place.end + close))
    }

    /// "12 in London", "12 (Q1)": said right behind the figure.
    pub(crate) fn said_after(&self, span: &Span, mark: &Mark) -> bool {
        let between = &self.report[span.end..mark.start];
        if between.len() > 60 || self.figure_between(span.end, mark.start) {
            return false;
        }
        let closes = self.report[mark.end..].trim_start_matches(['年', ' ']).starts_with([')', '）']);
        fits(&AFTER, between) || (fits(&BRACKET, between) && closes)
    }

    pub fn figure_between(&self, from: usize, to: usize) -> bool {
        let at = self.figures.partition_point(|f| f.start < from);
        self.figures.get(at).is_some_and(|f| f.start < to)
    }

    /// "A、B 和 C 分别为 1、2 和 3": as many labels in a row as figures in a row.
    fn in_turn(&self, figure: &Figure, marks: &[Mark]) -> Option<Key> {
        let (k, n, start) = (figure.run.at, figure.run.of, figure.run.start);
        if n < 2 {
            return None;
        }
        let before: Vec<&Mark> = marks.iter().filter(|m| m.end <= start).collect();
        let mut end = before.len();
        while end >= n {
            let joined = |pair: &[&Mark]| fits(&JOINED, &self.report[pair[0].end..pair[1].start]);
            let from = (0..end - 1).rev().find(|i| !joined(&before[*i..*i + 2])).map_or(0, |i| i + 1);
            if end - from == n {
                return Some(before[from + k].key);
            }
            end = from;
        }
        None
    }

    /// The words that stand for a figure's place in a table or chart.
    pub fn around(&self, figure: &Figure) -> Vec<Span> {
        match &figure.place {
            Place::Prose { sentence, .. } => vec![sentence.clone()],
            Place::Cell { block, row, column } => {
                let Kind::Table { header, rows } = &self.layout.blocks[*block].kind else {
                    return Vec::new();
                };
                let mut all = self.row_labels(&rows[*row], *column);
                all.extend(header.get(*column).cloned());
                all
            }
            Place::Chart { category, series, .. } => category.iter().chain(series).cloned().collect(),
        }
    }

    /// Texts that may say the unit of a table: the paragraph or item right before it, and its heading.
    pub fn captions(&self, block: usize) -> Vec<Span> {
        let before =
            block.checked_sub(1).filter(|b| !matches!(self.layout.blocks[*b].kind, Kind::Table { .. }));
        let heading = self.layout.blocks[block].heading;
        before.into_iter().chain(heading).map(|b| self.capped(self.layout.blocks[b].span.clone())).collect()
    }

    /// Where labels and periods end within a span, and where they start.
    pub fn label_ends(&self, within: &Span) -> Vec<usize> {
        let labels = self.labels_in(within).map(|s| s.end);
        labels.chain(self.times(within).iter().map(|(_, m)| m.end)).collect()
    }

    pub fn label_starts(&self, within: &Span) -> impl Iterator<Item = usize> {
        let mut all: Vec<usize> = self.labels_in(within).map(|s| s.start).collect();
        all.extend(self.times(within).iter().map(|(_, m)| m.start));
        all.sort_unstable();
        all.into_iter()
    }

    fn labels_in<'a>(&'a self, within: &Span) -> impl Iterator<Item = Span> + use<'a, 'r> {
        let is_label = |m: &&Mention| !self.index.entries[m.entry as usize].labels.is_empty();
        self.mentions_in(within).iter().filter(is_label).map(|m| m.span.clone())
    }

    /// Whether a cell's column writes negatives, so that a bare number in it is positive.
    pub fn is_signed(&self, figure: &Figure) -> bool {
        let Place::Cell { block, column, .. } = &figure.place else { return false };
        let Kind::Table { rows, .. } = &self.layout.blocks[*block].kind else { return false };
        rows.iter()
            .take(200)
            .filter_map(|r| r.get(*column))
            .any(|c| self.report[c.clone()].starts_with(['-', '−', '+', '(']))
    }

    /// Cells of a row that hold no figure.
    pub fn row_labels(&self, cells: &[Span], column: usize) -> Vec<Span> {
        cells
            .iter()
            .enumerate()
            .filter(|(i, c)| *i != column && !self.figure_between(c.start, c.end))
            .map(|(_, c)| c.clone())
            .take(8)
            .collect()
    }

    /// Where to look when the figure's own words name nothing: nearest first.
    pub(crate) fn fallback(&self, figure: &Figure) -> Vec<Span> {
        let (block, mut all) = match &figure.place {
            Place::Prose { block, sentence, .. } => (Some(*block), self.earlier_in_block(*block, sentence)),
            Place::Cell { block, .. } => (Some(*block), Vec::new()),
            Place::Chart { block, titles, .. } => {
                let mut all = titles.clone();
                all.extend(block.map(|b| self.layout.blocks[b].span.clone()));
                (*block, all)
            }
        };
        let Some(block) = block else { return all };
        let of = |b: usize| self.capped(self.layout.blocks[b].span.clone());
        let mut parent = self.layout.blocks[block].parent;
        for _ in 0..6 {
            let Some(p) = parent else { break };
            all.push(of(p));
            parent = self.layout.blocks[p].parent;
        }
        let intro = (0..block).rev().take(12).find(|b| !matches!(self.layout.blocks[*b].kind, Kind::Item(_)));
        let heading = self.layout.blocks[block].heading;
        // The paragraph before, unless a heading or table stands between.
        all.extend(intro.filter(|b| matches!(self.layout.blocks[*b].kind, Kind::Paragraph)).map(of));
        all.extend(heading.map(of));
        all
    }

    fn earlier_in_block(&self, block: usize, sentence: &Span) -> Vec<Span> {
        let Some(block) = self.layout.blocks.get(block) else { return Vec::new() };
        let upto = self.sentences.partition_point(|s| s.start < sentence.start);
        self.sentences[..upto]
            .iter()
            .rev()
            .take(4)
            .take_while(|s| s.start >= block.span.start)
            .cloned()
            .collect()
    }

    /// The last stretch of a long block.
    fn capped(&self, span: Span) -> Span {
        let mut start = span.start.max(span.end.saturating_sub(600));
        while !self.report.is_char_boundary(start) {
            start += 1;
        }
        start..span.end
    }

    /// Labels of a column that a comparison may be between, nearest first.
    pub fn rivals(&self, figure: &Figure, of: (usize, usize)) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        let add = |keys: &mut Vec<Key>, key: Key| {
            if !keys.contains(&key) && keys.len() < 4 {
                keys.push(key);
            }
        };
        for span in self.around(figure) {
            let marks = self.marks(&span, of);
            let at = figure.number.span.start;
            let (before, after): (Vec<&Mark>, Vec<&Mark>) = marks.iter().partition(|m| m.start < at);
            before.iter().rev().take(2).for_each(|m| add(&mut keys, m.key));
            after.iter().take(1).for_each(|m| add(&mut keys, m.key));
            before.iter().take(1).for_each(|m| add(&mut keys, m.key));
        }
        if let Place::Cell { block, .. } = &figure.place
            && let Kind::Table { header, .. } = &self.layout.blocks[*block].kind
            && keys.is_empty()
        {
            header.iter().take(20).flat_map(|h| self.marks(h, of)).for_each(|m| add(&mut keys, m.key));
        }
        if keys.len() < 2 {
            for span in self.fallback(figure) {
                let marks = self.marks(&span, of);
                marks.iter().rev().take(2).for_each(|m| {
                    if !keys.contains(&m.key) && keys.len() < 3 {
                        keys.push(m.key)
                    }
                });
                if keys.len() > 1 {
                    break;
                }
            }
        }
        keys
    }

    /// Subject and object of a comparison: "A 比 B 高", "A is higher than B". Empty when the words do not say.
    pub fn compared(&self, figure: &Figure, of: (usize, usize)) -> Vec<(Key, Key)> {
        let Place::Prose { sentence, clause, .. } = &figure.place else { return Vec::new() };
        let marks = self.marks(sentence, of);
        let span = &figure.number.span;
        let before: Vec<&Mark> = marks.iter().filter(|m| m.end <= span.start).collect();
        // The nearest that is not the object, and the one the sentence starts with.
        let subjects = |object: Key| {
            let mut all: Vec<(Key, Key)> = Vec::new();
            let nearest = before.iter().rev().map(|m| m.key).find(|k| *k != object);
            for subject in nearest.into_iter().chain(before.first().map(|m| m.key)) {
                if subject != object && !all.contains(&(subject, object)) {
                    all.push((subject, object));
                }
            }
            all
        };
        if let Some(pair) = told::former_and_latter(&self.report[clause.start..span.start], &before) {
            return vec![pair];
        }
        let after = marks.iter().find(|m| m.start >= span.end && m.start < clause.end);
        if let Some(object) = after.filter(|m| !self.figure_between(span.end, m.start)) {
            return subjects(object.key);
        }
        if let Some(object) = before.iter().rfind(|m| self.is_object(sentence, m, span.start)) {
            return subjects(object.key);
        }
        let mut own: Vec<Key> = before.iter().map(|m| m.key).collect();
        own.dedup();
        if let [subject] = own.as_slice()
            && let Some(further) =
                self.fallback(figure).iter().map(|s| self.marks(s, of)).find(|m| !m.is_empty())
        {
            return further
                .iter()
                .rev()
                .map(|m| m.key)
                .filter(|k| k != subject)
                .take(1)
                .map(|o| (*subject, o))
                .collect();
        }
        Vec::new()
    }

    /// Whether a label is what something is compared with: behind 比 or "than", or before 相比.
    fn is_object(&self, sentence: &Span, mark: &Mark, upto: usize) -> bool {
        const BEFORE: [&str; 12] =
            ["比", "较", "相比", "低于", "高于", "相较于", "than", "with", "to", "versus", "vs", "against"];
        let lead = self.report[sentence.start..mark.start].trim_end_matches(['*', ' ']).to_lowercase();
        let behind = BEFORE.iter().any(|w| lead.ends_with(w));
        let likened = self.report[mark.end..upto.max(mark.end)].trim_start().starts_with("相比");
        behind || likened
    }
}
