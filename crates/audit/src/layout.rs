//! The shape of a report: headings, list items, paragraphs, tables, charts, and what is code. Cuts Markdown and HTML
//! into ranges of bytes; never changes a character.

use std::ops::Range;
mod html;

use std::sync::LazyLock;

use regex::Regex;

pub type Span = Range<usize>;

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Heading(usize),
    /// A list item and how deep it is indented.
    Item(usize),
    Paragraph,
    /// Header cells, then the cells of each row.
    Table {
        header: Vec<Span>,
        rows: Vec<Vec<Span>>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    pub kind: Kind,
    pub span: Span,
    /// The item it hangs below, and the heading it stands under.
    pub parent: Option<usize>,
    pub heading: Option<usize>,
}

#[derive(Debug, Default)]
pub struct Layout {
    pub blocks: Vec<Block>,
    /// Chart options: object literals or scripts.
    pub charts: Vec<Span>,
    /// Code, tags, addresses: no figure is looked for here. Sorted.
    pub masked: Vec<Span>,
}

static MASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        r"<!--[\s\S]*?-->",
        r"<(?:code|file)_ref>[^<]*</(?:code|file)_ref>",
        r"(?s)<style\b.*?</style\s*>",
        r"</?[a-zA-Z][^<>]{0,2000}>",
        r"``[^`\n]+``|`[^`\n]+`",
        r"(?:https?|ftp|file)://[^\s)）>\]」]+|www\.[^\s)）>\]]+",
        r"\]\([^)\s]*\)",
        r"\[\^?\d{1,3}\]",
        r"\{\{[A-Z]+:\d+\}\}",
        r"&#?[a-zA-Z0-9]{1,8};",
    ];
    Regex::new(&parts.join("|")).ok()
});
static SCRIPT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<script\b[^>]*>(.*?)(?:</script\s*>|\z)").ok());
static ITEM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([ \t]*)(?:[-*+•·]|\d{1,3}[.)、）]|[（(]\d{1,3}[)）])[ \t]*").ok());

impl Layout {
    pub fn of(report: &str) -> Self {
        let mut layout = Self::default();
        let mut closed = layout.scripts(report);
        closed.extend(layout.fences(report, &closed));
        closed.sort_by_key(|s| s.start);
        layout.read_lines(report, &closed);
        layout.masked = closed;
        if let Some(masks) = MASKS.as_ref() {
            layout.masked.extend(masks.find_iter(report).map(|m| m.range()));
        }
        layout.masked.sort_by_key(|s| (s.start, s.end));
        layout
    }

    /// Whether a byte lies in code or the like.
    pub fn hides(&self, at: usize) -> bool {
        let upto = self.masked.partition_point(|s| s.start <= at);
        // Spans may nest, but only in a script or fence, which come first at their start.
        self.masked[..upto].iter().rev().take(64).any(|s| s.contains(&at))
    }

    /// The block a byte lies in.
    pub fn block_at(&self, at: usize) -> Option<usize> {
        let upto = self.blocks.partition_point(|b| b.span.start <= at);
        upto.checked_sub(1).filter(|i| self.blocks[*i].span.contains(&at))
    }

    fn scripts(&mut self, report: &str) -> Vec<Span> {
        let mut closed = Vec::new();
        for found in SCRIPT.iter().flat_map(|s| s.captures_iter(report)) {
            if let (Some(all), Some(inner)) = (found.get(0), found.get(1)) {
                self.charts.push(inner.range());
                closed.push(all.range());
            }
        }
        closed
    }

    /// Fenced code; one named for charts is a chart.
    fn fences(&mut self, report: &str, closed: &[Span]) -> Vec<Span> {
        let mut found = Vec::new();
        let mut open: Option<(usize, usize, &str, bool)> = None;
        for (start, line) in lines(report) {
            let text = line.trim();
            let fence = ["```", "~~~"].into_iter().find(|f| text.starts_with(f));
            let end = start + line.len();
            match (fence, open) {
                (Some(mark), None) if !closed.iter().any(|s| s.contains(&start)) => {
                    let word = text.trim_start_matches(['`', '~']).trim().to_lowercase();
                    open = Some((start, end, mark, word.starts_with("echart") || word == "chart"));
                }
                (Some(mark), Some((from, inner, opened, chart))) if mark == opened => {
                    found.push(from..end);
                    if chart {
                        self.charts.push(inner..start);
                    }
                    open = None;
                }
                _ => {}
            }
        }
        if let Some((from, inner, _, chart)) = open {
            found.push(from..report.len());
            if chart {
                self.charts.push(inner..report.len());
            }
        }
        found
    }

    fn read_lines(&mut self, report: &str, closed: &[Span]) {
        let mut tables = html::tables(report).into_iter().peekable();
        let mut all = lines(report)
            .filter(|(start, _)| {
                let upto = closed.partition_point(|s| s.start <= *start);
                !closed[..upto].iter().rev().take(8).any(|s| s.contains(start))
            })
            .peekable();
        let mut open = false;
        while let Some((start, line)) = all.next() {
            let text = line.trim();
            while tables.next_if(|t| t.span.start < start).is_some() {}
            if let Some(table) = tables.next_if(|t| t.span.start < start + line.len()) {
                while all.next_if(|(s, _)| *s < table.span.end).is_some() {}
                self.add(Kind::Table { header: table.header, rows: table.rows }, table.span);
                open = false;
                continue;
            }
            if text.is_empty() || is_rule(text) {
                open = false;
                continue;
            }
            if text.starts_with('|')
                || (text.contains('|') && all.peek().is_some_and(|(_, n)| is_delimiter(n)))
            {
                let mut rows = vec![cells(start, line)];
                let mut end = start + line.len();
                while let Some((s, l)) = all.next_if(|(_, l)| l.contains('|')) {
                    end = s + l.len();
                    if !is_delimiter(l) {
                        rows.push(cells(s, l));
                    }
                }
                let header = rows.remove(0);
                self.add(Kind::Table { header, rows }, start..end);
                open = false;
                continue;
            }
            let item = ITEM.as_ref().and_then(|i| i.captures(line));
            let hashes = text.bytes().take_while(|b| *b == b'#').count();
            if (1..=6).contains(&hashes) {
                self.add(Kind::Heading(hashes), start..start + line.len());
                open = false;
            } else if let Some(found) = item {
                let depth = found.get(1).map_or(0, |m| m.as_str().len());
                self.add(Kind::Item(depth), start..start + line.len());
                open = true;
            } else if open && let Some(last) = self.blocks.last_mut() {
                last.span.end = start + line.len();
            } else {
                self.add(Kind::Paragraph, start..start + line.len());
                open = true;
            }
        }
    }

    fn add(&mut self, kind: Kind, span: Span) {
        let heading = self.blocks.iter().rposition(|b| matches!(b.kind, Kind::Heading(_)));
        let parent = match kind {
            Kind::Item(depth) => self
                .blocks
                .iter()
                .rposition(|b| matches!(b.kind, Kind::Item(d) if d < depth))
                .filter(|p| heading.is_none_or(|h| h < *p)),
            _ => None,
        };
        self.blocks.push(Block { kind, span, parent, heading });
    }
}

/// Lines with the byte each starts at, without their breaks.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

fn is_rule(text: &str) -> bool {
    text.len() >= 3 && text.chars().all(|c| matches!(c, '-' | '*' | '_' | ' '))
}

fn is_delimiter(line: &str) -> bool {
    let text = line.trim();
    text.contains('-')
        && text.contains('|')
        && text.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

fn cells(start: usize, line: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut from = 0;
    let bytes = line.as_bytes();
    for at in 0..=bytes.len() {
        let bar = bytes.get(at) == Some(&b'|') && (at == 0 || bytes[at - 1] != b'\\');
        if bar || at == bytes.len() {
            let cell = &line[from..at];
            let lead = cell.len() - cell.trim_start().len();
            let edge = cell.trim().is_empty() && (from == 0 || at == bytes.len());
            if !edge {
                found.push(start + from + lead..start + from + lead + cell.trim().len());
            }
            from = at + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_cut_into_its_parts() {
        let report = "# 一\n段落 `x1` 12\n续行\n\n- a\n  - b 3\n\n| 地区 | 额 |\n|---|--:|\n| 华东 | 5 |\n\n```sql\n1\n```\n```echarts\n{a:1}\n```\n<script>var x = 2;</script>";
        let layout = Layout::of(report);
        let kinds: Vec<String> =
            layout.blocks.iter().map(|b| format!("{:?} {:?}", b.kind, b.parent)).collect();
        assert_eq!(layout.charts.len(), 2);
        assert!(layout.hides(report.find("x1").unwrap()) && layout.hides(report.find("var").unwrap()));
        assert!(!layout.hides(report.find("12").unwrap()));
        insta::assert_debug_snapshot!(kinds);
    }

    #[test]
    fn what_never_closes_ends_with_the_report() {
        for text in ["```py\n1", "| a | 1", "<script>{", "<div", "|", "- ", "`", "|||\n|"] {
            Layout::of(text);
        }
    }
}
