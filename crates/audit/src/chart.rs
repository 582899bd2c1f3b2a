//! The numbers of chart options: a tolerant reader of object literals, strict or not, inside scripts that may be
//! programs. Finds series values with their names; runs nothing.

use crate::layout::Span;

/// Values read of one chart, and how deep they nest.
const MAX_NODES: usize = 60_000;
const MAX_DEPTH: usize = 40;
/// How often the source may be gone through: once for every function an option is nested in.
const MAX_PASSES: usize = 16;

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Object(Vec<(String, Span, Node)>),
    List(Vec<Node>),
    Text(Span),
    Number(Span),
    Other,
}

/// One value of a chart: where it is, and the words that name it.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub span: Span,
    pub category: Option<Span>,
    pub series: Option<Span>,
}

#[derive(Debug, Default)]
pub struct Found {
    pub points: Vec<Point>,
    /// Titles and other running text.
    pub texts: Vec<Span>,
    /// The reader stopped before the end.
    pub cut: bool,
}

/// Reads all options of a chart's source, which lies at `within` in the report.
pub fn read(report: &str, within: Span) -> Found {
    let mut reader = Reader { bytes: report.as_bytes(), at: within.start, end: within.end, nodes: 0 };
    let mut found = Found::default();
    let mut work = 0;
    while let Some(start) = reader.next_brace() {
        reader.at = start;
        let node = reader.value(0);
        work += reader.at - start;
        if let Node::Object(fields) = &node
            && fields.iter().any(|(k, ..)| matches!(k.as_str(), "series" | "dataset" | "baseOption"))
        {
            option(fields, &mut found);
        } else {
            // Not an option: there may be one inside it.
            reader.at = start + 1;
        }
        if reader.nodes > MAX_NODES || work > MAX_PASSES * (within.len() + 1_000) {
            found.cut = true;
            break;
        }
    }
    found
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
    end: usize,
    nodes: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        (self.at < self.end).then(|| self.bytes[self.at])
    }

    fn next_brace(&mut self) -> Option<usize> {
        while let Some(b) = self.peek() {
            match b {
                b'{' => return Some(self.at),
                b'"' | b'\'' | b'`' => drop(self.string()),
                b'/' if self.comment() => {}
                _ => self.at += 1,
            }
        }
        None
    }

    fn comment(&mut self) -> bool {
        let close: &[u8] = match self.bytes.get(self.at + 1) {
            Some(b'/') => b"\n",
            Some(b'*') => b"*/",
            _ => {
                self.at += 1;
                return false;
            }
        };
        let rest = &self.bytes[self.at + 2..self.end.max(self.at + 2)];
        let found = rest.windows(close.len()).position(|w| w == close);
        self.at = found.map_or(self.end, |i| self.at + 2 + i + close.len());
        true
    }

    fn space(&mut self) {
        while let Some(b) = self.peek() {
            if b.is_ascii_whitespace() {
                self.at += 1;
            } else if b != b'/' || !self.comment() {
                break;
            }
        }
    }

    /// The inside of a string; the place moves behind it.
    fn string(&mut self) -> Span {
        let quote = self.bytes[self.at];
        let start = self.at + 1;
        self.at = start;
        while let Some(b) = self.peek() {
            match b {
                b'\\' => self.at += 2,
                b if b == quote => {
                    self.at += 1;
                    return start..self.at - 1;
                }
                b'\n' if quote != b'`' => break,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.end);
        start..self.at
    }

    fn value(&mut self, depth: usize) -> Node {
        self.nodes += 1;
        self.space();
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            self.skip();
            return Node::Other;
        }
        let node = match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"' | b'\'' | b'`') => Node::Text(self.string()),
            Some(b) if b.is_ascii_digit() || b"+-.".contains(&b) => self.number(),
            _ => Node::Other,
        };
        self.space();
        match self.peek() {
            Some(b',' | b'}' | b']') | None => node,
            // `a ? b : c`, `1 + 2`, calls and functions are programs, not values.
            _ if depth == 0 => node,
            _ => {
                self.skip();
                Node::Other
            }
        }
    }

    fn number(&mut self) -> Node {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b"+-._".contains(&b)) {
            self.at += 1;
        }
        Node::Number(start..self.at)
    }

    fn object(&mut self, depth: usize) -> Node {
        self.at += 1;
        let mut fields = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => break,
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            let key = match self.peek() {
                Some(b'"' | b'\'') => self.string(),
                _ => self.word(),
            };
            self.space();
            if self.peek() == Some(b':') {
                self.at += 1;
                let name = String::from_utf8_lossy(&self.bytes[key.clone()]).into_owned();
                let node = self.value(depth + 1);
                fields.push((name, key, node));
            } else {
                let before = self.at;
                self.skip();
                if self.at == before && !matches!(self.peek(), Some(b'}' | b',')) {
                    self.at += 1;
                }
            }
            if self.nodes > MAX_NODES {
                break;
            }
        }
        Node::Object(fields)
    }

    fn word(&mut self) -> Span {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80) {
            self.at += 1;
        }
        start..self.at
    }

    fn list(&mut self, depth: usize) -> Node {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => break,
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                _ => {
                    let before = self.at;
                    items.push(self.value(depth + 1));
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
            if self.nodes > MAX_NODES {
                break;
            }
        }
        Node::List(items)
    }

    /// Moves to the end of what is no value: the next comma or closing bracket of this level.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(b) = self.peek() {
            match b {
                b'"' | b'\'' | b'`' => drop(self.string()),
                b'/' => drop(self.comment()),
                b'{' | b'[' | b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' | b')' => {
                    if depth == 0 {
                        return;
                    }
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                _ => self.at += 1,
            }
        }
    }
}

fn field<'n>(fields: &'n [(String, Span, Node)], name: &str) -> Option<&'n Node> {
    fields.iter().find(|(k, ..)| k == name).map(|(.., n)| n)
}

/// A node as a list: itself when it is one, else of one.
fn each(node: Option<&Node>) -> Vec<&Node> {
    match node {
        Some(Node::List(items)) => items.iter().collect(),
        Some(other) => vec![other],
        None => Vec::new(),
    }
}

fn text_of(node: Option<&Node>) -> Option<Span> {
    match node {
        Some(Node::Text(span) | Node::Number(span)) => Some(span.clone()),
        _ => None,
    }
}

fn option(fields: &[(String, Span, Node)], found: &mut Found) {
    if let Some(Node::Object(base)) = field(fields, "baseOption") {
        option(base, found);
    }
    for title in each(field(fields, "title")) {
        if let Node::Object(title) = title {
            found.texts.extend(["text", "subtext"].iter().filter_map(|k| text_of(field(title, k))));
        }
    }
    let axis_name = |axis: &str| match each(field(fields, axis)).first() {
        Some(Node::Object(axis)) => text_of(field(axis, "name")),
        _ => None,
    };
    let axes = [axis_name("xAxis"), axis_name("yAxis")];
    let mut categories = Vec::new();
    for axis in ["xAxis", "yAxis", "angleAxis", "radiusAxis"].iter().flat_map(|a| each(field(fields, a))) {
        if let Node::Object(axis) = axis
            && let Some(Node::List(items)) = field(axis, "data")
            && categories.is_empty()
        {
            categories = items.iter().map(name_of).collect();
        }
    }
    for series in each(field(fields, "series")) {
        if let Node::Object(series) = series {
            let name = text_of(field(series, "name"));
            for (at, item) in each(field(series, "data")).into_iter().enumerate() {
                let from = found.points.len();
                point(item, categories.get(at).cloned().flatten(), name.clone(), found);
                // A point of two numbers has each on its axis.
                if let [x, y] = &mut found.points[from..]
                    && name.is_none()
                {
                    (x.series, y.series) = (axes[0].clone(), axes[1].clone());
                }
            }
        }
    }
    for data in each(field(fields, "dataset")) {
        if let Node::Object(data) = data {
            source(field(data, "source"), found);
        }
    }
}

fn name_of(node: &Node) -> Option<Span> {
    match node {
        Node::Object(fields) => text_of(field(fields, "value")).or_else(|| text_of(field(fields, "name"))),
        other => text_of(Some(other)),
    }
}

fn point(item: &Node, category: Option<Span>, series: Option<Span>, found: &mut Found) {
    match item {
        Node::Number(span) => found.points.push(Point { span: span.clone(), category, series }),
        Node::Object(fields) => {
            let category = text_of(field(fields, "name")).or(category);
            for value in each(field(fields, "value")) {
                point(value, category.clone(), series.clone(), found);
            }
            for child in each(field(fields, "children")) {
                point(child, None, series.clone(), found);
            }
        }
        Node::List(items) => {
            // ['华东', 12]: the word names the number. [3, 12]: two numbers.
            let named = items.iter().find_map(|i| if let Node::Text(s) = i { Some(s.clone()) } else { None });
            for value in items.iter().filter(|i| matches!(i, Node::Number(_))) {
                point(value, named.clone().or_else(|| category.clone()), series.clone(), found);
            }
        }
        Node::Text(_) | Node::Other => {}
    }
}

/// A dataset: rows of a table with a header, or objects.
fn source(node: Option<&Node>, found: &mut Found) {
    let mut header: Vec<Option<Span>> = Vec::new();
    for (at, row) in each(node).into_iter().enumerate() {
        match row {
            Node::List(cells) if at == 0 && cells.iter().all(|c| matches!(c, Node::Text(_))) => {
                header = cells.iter().map(name_of).collect();
            }
            Node::List(cells) => {
                let name = cells.first().and_then(name_of);
                for (column, cell) in cells.iter().enumerate().skip(1) {
                    point(cell, name.clone(), header.get(column).cloned().flatten(), found);
                }
            }
            Node::Object(fields) => {
                let name = fields
                    .iter()
                    .find_map(|(.., n)| if let Node::Text(s) = n { Some(s.clone()) } else { None });
                for (_, key, value) in fields {
                    point(value, name.clone(), Some(key.clone()), found);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let word = |s: &Option<Span>| s.clone().map_or("-", |s| &text[s]);
        read(text, 0..text.len())
            .points
            .iter()
            .map(|p| format!("{} of {} in {}", &text[p.span.clone()], word(&p.category), word(&p.series)))
            .collect()
    }

    #[test]
    fn literals_and_programs_are_read_alike() {
        let script = "const c = echarts.init(x); function f() { return {a: 1}; } c.setOption({ // it's\n xAxis: {data: ['华东', \"华南\",]}, grid: {top: 30}, yAxis: {axisLabel: {formatter: v => (v / 1e4) + '万'}}, series: [{name: '额', data: [12, -3.5], lineStyle: {width: 3}}, {type: 'pie', data: [{name: 'A', value: 5}, {value: 1 + 2}]}] });";
        assert_eq!(shown(script), ["12 of 华东 in 额", "-3.5 of 华南 in 额", "5 of A in -"]);
        let data = "{dataset: {source: [['w', 'users'], ['W1', 7]]}}";
        assert_eq!(shown(data), ["7 of W1 in users"]);
        let rows = "{dataset: {source: [{w: 'W1', users: 8}]}, series: []}";
        assert_eq!(shown(rows), ["8 of W1 in users"]);
    }

    #[test]
    fn unclosed_and_deep_options_end() {
        for text in [
            "{series: [{data: [1, 2",
            "{'series",
            &"{a:[".repeat(30_000),
            &"{".repeat(50_000),
            "{series:/*",
            "{series: `",
        ] {
            read(text, 0..text.len());
        }
    }
}
