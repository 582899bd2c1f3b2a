//! Every figure of a report: where it stands, what it says, how exactly, and in what surroundings. Judges nothing.

use std::collections::HashSet;

use crate::chart;
use crate::layout::{Kind, Layout, Span};
use crate::number::{self, Number, Sign, Unit};
use crate::period;
use crate::skip;
use crate::words::Mention;

/// Bytes of a sentence; what runs on longer is cut, so that work stays linear.
const MAX_SENTENCE: usize = 900;
const MAX_CLAUSE: usize = 240;

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub number: Number,
    pub place: Place,
    pub run: Run,
}

/// A figure's place among several in a row, such as "12、15 和 18".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Which of them, from nought.
    pub at: usize,
    pub of: usize,
    /// Bytes of the whole run.
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Prose { block: usize, sentence: Span, clause: Span },
    Cell { block: usize, row: usize, column: usize },
    Chart { block: Option<usize>, category: Option<Span>, series: Option<Span>, titles: Vec<Span> },
}

/// What was found, and whether all was looked at.
#[derive(Debug, Default)]
pub struct Found {
    pub figures: Vec<Figure>,
    pub periods: Vec<period::Found>,
    pub over: usize,
    pub charts_cut: bool,
}

/// Finds at most `max` figures. A number inside a name of the evidence, such as 客户12, is none.
pub fn find(report: &str, layout: &Layout, names: &[Mention], max: usize) -> Found {
    let mut found = Found { periods: period::find(report), ..Found::default() };
    found.periods.retain(|p| !is_amount(report, p));
    let sentences = sentences(report, layout);
    for number in number::find(report) {
        let upto = names.partition_point(|m| m.span.start < number.digits.end);
        let named = names[..upto].last().is_some_and(|m| m.span.end > number.digits.start);
        if named || layout.hides(number.digits.start) || skip::is_no_figure(report, &number) {
            continue;
        }
        let Some(block) = layout.block_at(number.digits.start) else { continue };
        if let Some(figure) = placed(report, layout, &sentences, block, number, &found.periods) {
            found.figures.push(figure);
        }
    }
    for span in &layout.charts {
        let read = chart::read(report, span.clone());
        found.charts_cut |= read.cut;
        let block = layout.blocks.partition_point(|b| b.span.start < span.start).checked_sub(1);
        charted(report, &read, block, &mut found.figures);
    }
    found.figures.sort_by_key(|f| f.number.span.start);
    found.over = found.figures.len().saturating_sub(max);
    found.figures.truncate(max);
    runs(report, &mut found.figures);
    found
}

/// Whether a number is a label made of digits, such as the hour `09`: written so, or where labels stand.
pub fn is_code(report: &str, figure: &Figure, codes: &HashSet<&str>) -> bool {
    let digits = figure.number.digits.clone();
    if figure.number.unit != Unit::Plain || !codes.contains(&report[digits.clone()]) {
        return false;
    }
    let (before, after) = (&report[..digits.start], &report[digits.end..]);
    let bold = before.ends_with("**") && after.starts_with("**");
    let clock = ["时", "点", " 时", " 点", "h"].iter().any(|c| after.starts_with(c));
    let leads = matches!(figure.place, Place::Cell { column: 0, .. });
    report[digits].starts_with('0') || bold || clock || leads
}

/// A bare "2024" that is followed by a measure is an amount of things, not a year.
fn is_amount(report: &str, found: &period::Found) -> bool {
    let text = &report[found.start..found.end];
    let bare = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    let before = report[..found.start].trim_end().chars().next_back();
    let after = report[found.end..].trim_start().chars().next();
    bare && (before.is_some_and(|c| "$¥￥€£".contains(c))
        || after.is_some_and(|c| "元件人个台次单户吨家条名位套辆度分万亿千倍%％项笔".contains(c)))
}

fn placed(
    report: &str,
    layout: &Layout,
    sentences: &[Span],
    block: usize,
    mut number: Number,
    periods: &[period::Found],
) -> Option<Figure> {
    let dated = || {
        let upto = periods.partition_point(|p| p.start < number.digits.end);
        periods[..upto].last().is_some_and(|p| p.end > number.digits.start)
    };
    if let Kind::Table { header, rows } = &layout.blocks[block].kind {
        let at = number.digits.start;
        let (row, column) = rows
            .partition_point(|r| r.first().is_some_and(|c| c.start <= at))
            .checked_sub(1)
            .and_then(|r| Some((r, rows[r].iter().position(|c| c.contains(&at))?)))?;
        let head = header.get(column).map_or("", |h| &report[h.clone()]);
        let cell = report[rows[row][column].clone()].trim_matches(['*', '_', ' ']);
        if is_rank(head) || (dated() && (column == 0 || is_time(head) || !is_year(cell))) {
            return None;
        }
        // The whole of a share, in the line of totals or the first of a funnel.
        let outer = row == 0 || row + 1 == rows.len();
        if number.unit == Unit::Percent && number.value == 1.0 && outer {
            return None;
        }
        if cell.starts_with(['(', '（']) && cell.ends_with([')', '）']) && number.sign == Sign::Bare {
            number.sign = Sign::Minus;
            number.span = grown(report, number.span);
        }
        scaled_by_header(&mut number, head);
        return Some(Figure { number, place: Place::Cell { block, row, column }, run: Run::default() });
    }
    if dated() {
        return None;
    }
    let at = number.span.start;
    let sentence = sentences[sentences.partition_point(|s| s.start <= at).checked_sub(1)?].clone();
    let clause = clause(report, &sentence, &number.span);
    Some(Figure { number, place: Place::Prose { block, sentence, clause }, run: Run::default() })
}

/// A negative in brackets is marked with its brackets.
fn grown(report: &str, span: Span) -> Span {
    let before = report[..span.start].chars().next_back().map_or(0, char::len_utf8);
    let after = report[span.end..].chars().next().map_or(0, char::len_utf8);
    span.start - before..span.end + after
}

fn is_rank(head: &str) -> bool {
    let head = head.trim().trim_matches('*').to_lowercase();
    ["排名", "名次", "序号", "rank", "#", "no.", "no", "编号", "id"].contains(&head.as_str())
}

fn is_time(head: &str) -> bool {
    let head = head.to_lowercase();
    ["年", "月", "日期", "季", "期", "时间", "year", "month", "date", "quarter", "period", "week"]
        .iter()
        .any(|w| head.contains(w))
}

fn is_year(cell: &str) -> bool {
    cell.len() == 4 && cell.bytes().all(|b| b.is_ascii_digit())
}

/// "销售额（万元）", "Growth (%)": the header says the unit for its whole column.
fn scaled_by_header(number: &mut Number, head: &str) {
    if number.unit != Unit::Plain || number.scale != 1.0 {
        return;
    }
    let inside = head
        .rsplit_once(['(', '（', '/', '，', ',', '['])
        .map_or("", |(_, unit)| unit)
        .trim_matches([')', '）', ']', ' ', '*']);
    let unit = inside.trim_start_matches(['$', '¥', '￥', '€']);
    let scale = match unit {
        "万" | "万元" | "万人" | "万件" | "万台" | "万单" | "万美元" | "万人次" => 1e4,
        "亿" | "亿元" | "亿美元" => 1e8,
        "千元" | "千" | "k" | "K" | "thousands" | "thousand" | "USD k" => 1e3,
        "百万" | "百万元" | "M" | "m" | "mn" | "millions" | "million" | "USD M" | "USD m" => 1e6,
        "%" | "％" => 0.01,
        "pp" | "百分点" | "个百分点" => 0.01,
        _ => return,
    };
    number.value *= scale;
    number.half *= scale;
    number.scale = scale;
    if scale == 0.01 {
        number.unit = if unit.contains(['%', '％']) { Unit::Percent } else { Unit::Points };
    }
}

fn charted(report: &str, read: &chart::Found, block: Option<usize>, figures: &mut Vec<Figure>) {
    for point in &read.points {
        let Some(number) = number::find(&report[point.span.clone()]).into_iter().next() else { continue };
        let by = point.span.start;
        let number = Number {
            span: number.span.start + by..number.span.end + by,
            digits: number.digits.start + by..number.digits.end + by,
            ..number
        };
        let place = Place::Chart {
            block,
            category: point.category.clone(),
            series: point.series.clone(),
            titles: read.texts.clone(),
        };
        figures.push(Figure { number, place, run: Run::default() });
    }
    let shift = |span: Span, by: usize| span.start + by..span.end + by;
    for text in &read.texts {
        let inside = &report[text.clone()];
        let periods = period::find(inside);
        for number in number::find(inside) {
            let dated = periods.iter().any(|p| p.start < number.digits.end && number.digits.start < p.end);
            if dated || skip::is_no_figure(inside, &number) {
                continue;
            }
            let number = Number {
                span: shift(number.span.clone(), text.start),
                digits: shift(number.digits.clone(), text.start),
                ..number
            };
            let place =
                Place::Prose { block: block.unwrap_or(0), sentence: text.clone(), clause: text.clone() };
            figures.push(Figure { number, place, run: Run::default() });
        }
    }
}

/// Where sentences lie, over all blocks.
pub fn sentences(report: &str, layout: &Layout) -> Vec<Span> {
    let mut all = Vec::new();
    for block in &layout.blocks {
        let text = &report[block.span.clone()];
        let mut from = 0;
        for (i, c) in text.char_indices() {
            let end = i + c.len_utf8();
            let rest = &text[end..];
            let stops = match c {
                '。' | '！' | '？' | '\n' => true,
                '!' | '?' => rest.starts_with(char::is_whitespace),
                '.' => rest.starts_with(char::is_whitespace) && !abbreviates(&text[from..i]),
                _ => false,
            };
            let blank = text[from..end].trim().is_empty();
            if (stops || end - from > MAX_SENTENCE) && !blank {
                all.push(block.span.start + from..block.span.start + end);
                from = end;
            }
        }
        if from < text.len() {
            all.push(block.span.start + from..block.span.end);
        }
    }
    all
}

fn abbreviates(before: &str) -> bool {
    let word = before.rsplit([' ', '(', '*', '\n']).next().unwrap_or("").to_lowercase();
    [
        "vs", "i.e", "e.g", "no", "approx", "inc", "ltd", "co", "mr", "mrs", "ms", "dr", "prof", "st", "etc",
        "pct",
    ]
    .contains(&word.as_str())
        || (word.chars().all(|c| c.is_ascii_digit()) && before.trim() == word)
}

/// The stretch between marks around a figure. A figure alone, as in brackets or behind a colon, takes the stretch before.
fn clause(report: &str, sentence: &Span, figure: &Span) -> Span {
    let bytes = report.as_bytes();
    let splits = |i: usize, c: char| match c {
        '，' | '；' | '：' | '（' | '）' | '(' | ')' | ';' | '、' | '—' | '|' => true,
        ',' | ':' => !bytes.get(i + 1).is_some_and(u8::is_ascii_digit),
        _ => false,
    };
    let mut end = sentence.end;
    for (i, c) in report[figure.end..sentence.end.max(figure.end)].char_indices() {
        if splits(figure.end + i, c) || i > MAX_CLAUSE {
            end = figure.end + i;
            break;
        }
    }
    let end = end.max(figure.end);
    let mut letters = report[figure.end..end].chars().filter(|c| c.is_alphabetic()).count();
    let mut start = sentence.start;
    for (i, c) in report[sentence.start..figure.start].char_indices().rev() {
        let at = sentence.start + i;
        letters += usize::from(c.is_alphabetic());
        if (splits(at, c) && letters > 2) || figure.start - at > MAX_CLAUSE {
            start = at + c.len_utf8();
            break;
        }
    }
    start..end
}

/// Marks runs of figures with nothing but separators and units between.
fn runs(report: &str, figures: &mut [Figure]) {
    let mut from = 0;
    for at in 1..=figures.len() {
        let goes_on = at < figures.len() && follows(report, &figures[at - 1], &figures[at]);
        if !goes_on {
            // "rated 6.0, 1,176 screens" are two figures; "6.0 and 7.1" are a run.
            let last = from..at;
            let closed = last.len() > 1 && {
                let between = &report[figures[at - 2].number.span.end..figures[at - 1].number.span.start];
                !matches!(between.trim().chars().next_back(), Some(',' | '，'))
            };
            if last.len() > 1 && !closed {
                (from..at).for_each(|i| {
                    figures[i].run = Run {
                        at: 0,
                        of: 1,
                        start: figures[i].number.span.start,
                        end: figures[i].number.span.end,
                    }
                });
                from = at;
                continue;
            }
            let start = figures.get(from).map_or(0, |f| f.number.span.start);
            let end = figures.get(at - 1).map_or(0, |f| f.number.span.end);
            for (k, figure) in figures[from..at].iter_mut().enumerate() {
                figure.run = Run { at: k, of: at - from, start, end };
            }
            from = at;
        }
    }
}

fn follows(report: &str, one: &Figure, two: &Figure) -> bool {
    let (Place::Prose { sentence: a, .. }, Place::Prose { sentence: b, .. }) = (&one.place, &two.place)
    else {
        return false;
    };
    let (from, to) = (one.number.span.end, two.number.span.start);
    if a != b || to < from || to - from > 30 || one.number.unit != two.number.unit {
        return false;
    }
    let between = report[from..to].trim();
    let ends = ["以及", "、", "，", ",", "和", "与", "及", "and", "对", "vs.", "/", "&"];
    let Some(mut unit) = ends.iter().find_map(|s| between.strip_suffix(s)) else { return false };
    unit = unit.trim_end_matches([',', '，', ' ', '）', ')']);
    let wide = unit.chars().filter(|c| !c.is_ascii()).count();
    wide <= 4
        && unit.split_whitespace().filter(|w| w.is_ascii()).count() <= 1
        && !unit.contains(['，', '；', ';', '('])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(report: &str) -> Vec<String> {
        let layout = Layout::of(report);
        find(report, &layout, &[], 100)
            .figures
            .iter()
            .map(|f| report[f.number.span.clone()].to_owned())
            .collect()
    }

    #[test]
    fn figures_are_found_in_prose_tables_and_charts_and_nowhere_else() {
        let report = "# 2024 年报告\n\n1. 华东 1,234.5 元，占 45.2%（2024-03）；`x = 9`，前 3 名，第 2 步，见 https://a.b/12 。\n\n| 排名 | 地区 | 2024 | 额（万元） |\n|---|---|---|---|\n| 1 | 华东 | 2013 | (12.5) |\n\n```py\nx = 5\n```\n\n```echarts\n{title: {text: '占比 31%', top: 10}, xAxis: {data: ['华东']}, series: [{data: [77]}]}\n```\n";
        assert_eq!(shown(report), ["1,234.5", "45.2%", "2013", "(12.5)", "31%", "77"]);
    }

    #[test]
    fn an_enumeration_is_one_run() {
        let report = "A、B和C分别为 12 件、15 件和 18 件，另有 7 个。";
        let layout = Layout::of(report);
        let runs: Vec<_> =
            find(report, &layout, &[], 100).figures.iter().map(|f| (f.run.at, f.run.of)).collect();
        assert_eq!(runs, [(0, 3), (1, 3), (2, 3), (0, 1)]);
    }

    #[test]
    fn a_sentence_ends_where_it_ends() {
        let report = "It rose 3.5% vs. May. In 2023. Then fell.\n下一句。末句";
        let layout = Layout::of(report);
        let all: Vec<_> = sentences(report, &layout).into_iter().map(|s| report[s].trim()).collect();
        assert_eq!(all, ["It rose 3.5% vs. May.", "In 2023.", "Then fell.", "下一句。", "末句"]);
    }
}
