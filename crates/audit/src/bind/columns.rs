//! Which column a figure is said of: the name right behind it, the nearest before it, its header or series.

use std::sync::LazyLock;

use regex::Regex;

use crate::figures::{Figure, Place};
use crate::layout::Span;
use crate::number::Unit;
use crate::period::Period;
use crate::scope::{Key, Page};
use crate::words::Mention;

type At = (usize, usize);

#[derive(Debug, Default)]
pub struct Columns {
    /// Columns named in full for this figure.
    pub named: Vec<At>,
    /// The name was part of a longer word such as 利润率, so the figure is made from the column.
    pub compound: bool,
    /// The name was said of another label before this figure's own.
    pub carried: bool,
    /// The name stands in another clause than the figure.
    pub far: bool,
    /// Columns hinted at nearby.
    pub hinted: Vec<At>,
    /// Columns named in the sentence for other figures.
    pub others: Vec<At>,
    /// Every column named in the sentence.
    pub all: Vec<At>,
    /// Years the figure is said of, for columns that have one in their name.
    pub years: Vec<Period>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agrees {
    Yes,
    Perhaps,
    No,
}

static ADJACENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s?元?\s?(?:of |in |个|条|次|名|位|家|的|new |worth of |total )?\s?$").ok()
});
const MADE_AFTER: [&str; 9] = ["率", "比", "占", "份额", "均", "增速", "增长", "结构", "差"];
const MADE_BEFORE: [&str; 9] = ["均", "每", "per ", "毛", "单位", "/", "客", "折合", "人"];

impl Columns {
    pub fn of(page: &Page<'_>, figure: &Figure) -> Self {
        let mut found = Self::default();
        let entry = |m: &Mention| &page.index.entries[m.entry as usize];
        let spans = page.around(figure);
        for mention in spans.iter().flat_map(|s| page.mentions_in(s)) {
            found.all.extend(&entry(mention).names);
        }
        found.years = years(page, figure);
        match &figure.place {
            Place::Prose { sentence, clause, .. } => found.in_prose(page, figure, sentence, clause),
            Place::Cell { .. } => {
                // The header says the column; a table on its side has it in the row.
                let named =
                    spans.iter().rev().flat_map(|s| page.mentions_in(s)).find(|m| !entry(m).names.is_empty());
                if let Some(mention) = named {
                    found.named.clone_from(&entry(mention).names);
                    found.compound = is_compound(page.report, &mention.span);
                }
                found.hinted = spans
                    .iter()
                    .flat_map(|s| page.mentions_in(s))
                    .flat_map(|m| &entry(m).hints)
                    .copied()
                    .collect();
            }
            Place::Chart { .. } => {
                let named =
                    spans.iter().rev().flat_map(|s| page.mentions_in(s)).find(|m| !entry(m).names.is_empty());
                found.named = named.map(|m| entry(m).names.clone()).unwrap_or_default();
                found.hinted = spans
                    .iter()
                    .flat_map(|s| page.mentions_in(s))
                    .flat_map(|m| &entry(m).hints)
                    .copied()
                    .collect();
            }
        }
        found
    }

    fn in_prose(&mut self, page: &Page<'_>, figure: &Figure, sentence: &Span, clause: &Span) {
        let entry = |m: &Mention| &page.index.entries[m.entry as usize];
        let mentions = page.mentions_in(sentence);
        let span = &figure.number.span;
        let named = |m: &&Mention| !entry(m).names.is_empty();
        // "12, 15 and 18 staff": said behind the last of them.
        let adjacent = behind(page, mentions, span.end)
            .or_else(|| behind(page, mentions, figure.run.end.max(span.end)))
            .or_else(|| behind(page, mentions, to_next(page, span.end)?))
            .filter(|(_, between)| figure.number.unit != Unit::Percent || !between.contains("of"));
        let open = |m: &&Mention| {
            m.span.end <= span.start && !page.set_aside(m.span.clone(), span.start) && !is_taken(page, m)
        };
        let before = mentions.iter().filter(named).rfind(open);
        // "In total, 12 units are on hand": named behind, for no other figure.
        let last = mentions.iter().filter(named).find(|m| {
            m.span.start >= span.end
                && m.span.start < clause.end
                && !page.figure_between(span.end, m.span.start)
                && page.unit_after(m.span.end, sentence.end).is_none()
        });
        if let Some((mention, _)) = adjacent {
            let of = entry(mention);
            self.named.clone_from(if of.names.is_empty() { &of.hints } else { &of.names });
        } else if let Some(mention) = of_bracketed(page, figure, mentions) {
            self.named.clone_from(&entry(mention).names);
        } else if let Some(mention) = before {
            self.named.clone_from(&entry(mention).names);
            self.compound = is_compound(page.report, &mention.span);
            self.carried = is_carried(page, mentions, mention, span);
            self.far = mention.span.start < clause.start;
        } else if let Some(mention) = in_next_brackets(page, mentions, span.end) {
            self.named.clone_from(&entry(mention).names);
        } else if let Some(mention) = last.filter(|_| figure.number.unit != Unit::Percent) {
            self.named.clone_from(&entry(mention).names);
        }
        // "占比最高，为 25.7%（1,234）": an amount in brackets behind a rate is not of the rate's column.
        if figure.number.unit == Unit::Plain && is_in_brackets(page.report, span) {
            self.named.retain(|(t, c)| page.index.tables[*t].columns[*c].percents() != [1.0]);
        }
        self.hinted = page.mentions_in(clause).iter().flat_map(|m| &entry(m).hints).copied().collect();
        self.measured(page, span.end);
        let label_between = |from: usize| {
            let labels = mentions.iter().filter(|m| !entry(m).labels.is_empty());
            labels.clone().any(|m| m.span.start >= from && m.span.end <= span.start)
        };
        for mention in mentions.iter().filter(named).filter(|m| !page.set_aside(m.span.clone(), sentence.end))
        {
            let behind = mention.span.start >= span.end;
            let next = page.unit_after(mention.span.end, sentence.end);
            // "23 incidents, compared with 40": the name goes on, less surely.
            if self.named.is_empty() && mention.span.end < clause.start && is_taken(page, mention) {
                self.hinted.extend(&entry(mention).names);
            }
            for at in &entry(mention).names {
                let rate = !page.index.tables[at.0].columns[at.1].percents().is_empty();
                // A name before a percentage is what the percentage is of.
                let owns = next.is_some_and(|u| rate || u != Unit::Percent);
                if (behind && owns)
                    || (is_taken(page, mention)
                        && mention.span.start >= clause.start
                        && !label_between(mention.span.end))
                {
                    self.others.push(*at);
                }
            }
        }
    }

    /// "12 人" hints at 人数: the measure behind the figure is in the column's name.
    fn measured(&mut self, page: &Page<'_>, end: usize) {
        let next = page.report[end..].trim_start().chars().next();
        let Some(measure) = next.filter(|c| !c.is_ascii() && c.is_alphabetic() && !"元的万亿个".contains(*c))
        else {
            return;
        };
        for (t, table) in page.index.tables.iter().enumerate().take(60) {
            let fits = |c: &crate::index::Column<'_>| c.values().is_some() && c.name.contains(measure);
            self.hinted.extend((0..table.columns.len()).filter(|c| fits(&table.columns[*c])).map(|c| (t, c)));
        }
    }

    /// Whether a column may be the figure's.
    pub fn agrees(&self, page: &Page<'_>, unit: Unit, at: At) -> Agrees {
        let column = &page.index.tables[at.0].columns[at.1];
        if let Some(period) = column.period
            && !self.years.is_empty()
            && !self.years.iter().any(|y| y.same(period))
        {
            return Agrees::No;
        }
        let hinted = self.hinted.contains(&at);
        if self.named.contains(&at) || (self.far && hinted) {
            return Agrees::Yes;
        }
        // 12 % is not said of an amount, even when the amount was named last.
        let of = |(t, c): &At| {
            *t == at.0 && (unit != Unit::Percent || !page.index.tables[*t].columns[*c].percents().is_empty())
        };
        let named = self.named.iter().any(of);
        let again =
            self.carried && self.named.iter().any(|n| self.others.contains(n)) && !self.all.contains(&at);
        if named && !self.compound && !again {
            return Agrees::No;
        }
        let sole = page.index.tables[at.0].columns.iter().filter(|c| c.values().is_some()).count() == 1;
        match () {
            () if column.period.is_some() && !self.years.is_empty() => Agrees::Yes,
            () if self.others.contains(&at) && !sole => Agrees::No,
            () if hinted => Agrees::Yes,
            () => Agrees::Perhaps,
        }
    }

    /// Whether a column may be an operand: it is named, or no column of its table is.
    pub fn may_use(&self, at: At) -> bool {
        let hinted = self.far && self.hinted.contains(&at);
        self.named.contains(&at) || hinted || !self.named.iter().any(|(t, _)| *t == at.0)
    }
}

/// The first name behind a place, when nothing but a filler is between.
fn behind<'p>(page: &'p Page<'_>, mentions: &'p [Mention], end: usize) -> Option<(&'p Mention, &'p str)> {
    let mention = mentions.iter().find(|m| m.span.start >= end)?;
    let entry = &page.index.entries[mention.entry as usize];
    let between = &page.report[end..mention.span.start];
    let known = !entry.names.is_empty() || !entry.hints.is_empty();
    let joined = between.len() < 14 && ADJACENT.as_ref().is_some_and(|a| a.is_match(between));
    (known && joined).then_some((mention, between))
}

/// "$12M (46% of sales)": the brackets say what the figure is a part of.
fn in_next_brackets<'p>(page: &Page<'_>, mentions: &'p [Mention], end: usize) -> Option<&'p Mention> {
    let rest = page.report[end..].trim_start_matches(['元', ' ']);
    let open = page.report.len() - rest.len();
    let close = open + rest.find([')', '）'])?;
    let inside = &page.report[open..close];
    let share = inside.starts_with(['(', '（'])
        && inside.len() < 60
        && (inside.contains("% of") || inside.contains('占'));
    let within = |m: &&Mention| {
        (open..close).contains(&m.span.start) && !page.index.entries[m.entry as usize].names.is_empty()
    };
    mentions.iter().find(within).filter(|_| share)
}

/// A figure alone in brackets.
fn is_in_brackets(report: &str, span: &Span) -> bool {
    report[..span.start].ends_with(['(', '（']) && report[span.end..].starts_with([')', '）'])
}

/// "**Sales** (12.5) has the highest C": the rest of the clause says the column of the figure behind a label.
fn of_bracketed<'p>(page: &Page<'_>, figure: &Figure, mentions: &'p [Mention]) -> Option<&'p Mention> {
    let span = &figure.number.span;
    let entry = |m: &Mention| &page.index.entries[m.entry as usize];
    let lead = page.report[..span.start].trim_end_matches(['(', '（', '*', ' ']).len();
    let labelled = mentions.iter().any(|m| m.span.end == lead && !entry(m).labels.is_empty())
        || page.periods.iter().any(|p| p.end == lead);
    let next = mentions.iter().find(|m| m.span.start >= span.end && !entry(m).names.is_empty())?;
    let between = page.report[span.end..next.span.start].get(1..).unwrap_or_default();
    let within = between.len() < 80
        && !between.contains([',', '，', ';', '；', '(', '（', '。'])
        && !page.figure_between(span.end, next.span.start);
    (labelled && within && is_in_brackets(page.report, span)).then_some(next)
}

/// "from 12 to 15 users": the end of the figure behind "to".
fn to_next(page: &Page<'_>, end: usize) -> Option<usize> {
    let next = page.figures.get(page.figures.partition_point(|f| f.start < end))?;
    let between = page.report[end..next.start].trim();
    ["to", "至", "到", "-", "–", "~", "and"].contains(&between).then_some(next.end)
}

/// Whether a name stands right behind a figure, and so belongs to that one.
fn is_taken(page: &Page<'_>, mention: &Mention) -> bool {
    let upto = page.figures.partition_point(|f| f.end <= mention.span.start);
    upto.checked_sub(1).is_some_and(|i| {
        let between = &page.report[page.figures[i].end..mention.span.start];
        between.len() < 14 && between.is_ascii() && ADJACENT.as_ref().is_some_and(|a| a.is_match(between))
    })
}

/// "A 卖出 12 辆，均价 3 万元；B 卖出 15 辆": 均价 was said of A, after its label, and before B's.
fn is_carried(page: &Page<'_>, mentions: &[Mention], name: &Mention, span: &Span) -> bool {
    let label = |m: &&Mention| !page.index.entries[m.entry as usize].labels.is_empty();
    let earlier = mentions.iter().filter(label).any(|m| m.span.end <= name.span.start);
    let since =
        mentions.iter().filter(label).any(|m| m.span.start >= name.span.end && m.span.end <= span.start);
    earlier && since
}

fn years(page: &Page<'_>, figure: &Figure) -> Vec<Period> {
    page.asked_times(figure, crate::period::Grain::Year)
        .into_iter()
        .filter_map(|k| if let Key::Time(p) = k { Some(p) } else { None })
        .collect()
}

/// 利润 in 利润率, 客均销售额: the column is what the figure was made from.
fn is_compound(report: &str, span: &Span) -> bool {
    let (before, after) = (&report[..span.start], &report[span.end..]);
    MADE_AFTER.iter().any(|w| after.starts_with(w))
        || MADE_BEFORE.iter().any(|w| before.ends_with(w))
        || after.trim_start().starts_with("per ")
}
