//! Written reports with marks for their figures, labels and directions, and how these are rendered.

use std::ops::Range;

use ba_audit::evidence::Evidence;

use super::Random;
use super::expr::{World, plain};
use super::table;

pub struct Template {
    pub name: String,
    pub chinese: bool,
    pub user: Option<String>,
    pub tables: Vec<String>,
    pub vars: Vec<(String, f64, f64, i32)>,
    pub texts: Vec<(String, String)>,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Text(String),
    Figure {
        expr: String,
        format: String,
        shown: String,
    },
    /// A label of a table's row: its path.
    Label {
        path: String,
        shown: String,
    },
    /// A word that says whether something rose or fell: what is shown, and its opposite.
    Direction {
        shown: String,
        opposite: String,
    },
}

pub fn read(text: &str) -> Vec<Template> {
    text.split("=== ").filter(|t| !t.trim().is_empty()).map(one).collect()
}

fn one(text: &str) -> Template {
    let (head, body) = text.split_once("\n---\n").expect("a body");
    let mut lines = head.lines();
    let (name, language) = lines.next().expect("a name").split_once(' ').expect("a language");
    let mut made = Template {
        name: name.to_owned(),
        chinese: language.trim() == "zh",
        user: None,
        tables: Vec::new(),
        vars: Vec::new(),
        texts: Vec::new(),
        body: body.trim_end().to_owned() + "\n",
    };
    for line in lines {
        let (word, rest) = line.split_once(' ').expect("a word");
        match word {
            "user:" => made.user = Some(rest.to_owned()),
            "table" => made.tables.push(rest.to_owned()),
            "data" => made.tables.push(format!("data {rest}")),
            "var" => {
                let (name, spec) = rest.split_once(": ").expect("var");
                let (range, decimals) = spec.split_once(':').expect("decimals");
                let (from, to) = range.split_once("..").expect("range");
                let number = |t: &str| t.parse::<f64>().expect("number");
                made.vars.push((name.to_owned(), number(from), number(to), decimals.parse().expect("int")));
            }
            "text" => {
                let (name, line) = rest.split_once(": ").expect("text");
                made.texts.push((name.to_owned(), line.to_owned()));
            }
            _ => panic!("unknown line {line}"),
        }
    }
    made
}

impl Template {
    pub fn world(&self, random: &mut Random) -> World {
        let tables = self.tables.iter().map(|t| table::make(t, random)).collect();
        let vars = self
            .vars
            .iter()
            .map(|(n, from, to, d)| (n.clone(), table::rounded(random.between(*from, *to), *d)))
            .collect();
        World { tables, vars }
    }

    pub fn evidence(&self, world: &World) -> Evidence {
        let mut evidence = Evidence::new();
        if let Some(user) = &self.user {
            evidence.given("user", user);
        }
        for table in &world.tables {
            evidence.table(&format!("call_{}", table.name), table.columns.clone(), table.rows.clone());
        }
        let lines: Vec<String> = self.texts.iter().map(|(_, line)| render(&parse(line, world)).0).collect();
        if !lines.is_empty() {
            evidence.text("call_text", &lines.join("\n"));
        }
        evidence
    }

    pub fn pieces(&self, world: &World) -> Vec<Piece> {
        parse(&unrolled(&self.body, world), world)
    }
}

/// `[[a;, ;«a.#.x»]]` once for every row; `#+` counts from one.
fn unrolled(body: &str, world: &World) -> String {
    let mut out = String::new();
    let mut rest = body;
    loop {
        let start =
            rest.match_indices('[').map(|(i, _)| i).filter(|i| rest[*i..].starts_with("[[")).find(|i| {
                let next = &rest[i + 2..];
                next.starts_with(|c: char| c.is_ascii_lowercase()) && next[1..].starts_with(';')
            });
        let Some(start) = start else { break };
        out.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let end = inner.find("]]").expect("loop end");
        let mut parts = inner[..end].splitn(3, ';');
        let table = world.table(parts.next().expect("table")).expect("table");
        let (between, item) = (parts.next().expect("separator"), parts.next().expect("item"));
        let rows: Vec<String> = (0..table.rows.len())
            .map(|r| item.replace("#+", &(r + 1).to_string()).replace(".#.", &format!(".{r}.")))
            .collect();
        out.push_str(&rows.join(between));
        rest = &inner[end + 2..];
    }
    out + rest
}

fn parse(text: &str, world: &World) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('«') {
        let (mark, after) = after.split_once('»').expect("a closed mark");
        pieces.push(Piece::Text(before.to_owned()));
        pieces.push(piece(mark, world));
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}

fn piece(mark: &str, world: &World) -> Piece {
    if let Some(given) = mark.strip_prefix('=') {
        return Piece::Figure { expr: String::new(), format: String::new(), shown: given.to_owned() };
    }
    if let Some(choice) = mark.strip_prefix('?') {
        let parts: Vec<&str> = choice.split('|').collect();
        let up = world.eval(parts[0]) >= 0.0;
        let (shown, opposite) = if up { (parts[1], parts[2]) } else { (parts[2], parts[1]) };
        return Piece::Direction { shown: shown.to_owned(), opposite: opposite.to_owned() };
    }
    match mark.split_once('|') {
        None => {
            let (table, row, column) = world.cell(mark).unwrap_or_else(|| panic!("no label {mark}"));
            Piece::Label { path: mark.to_owned(), shown: plain(&table.rows[row][column]) }
        }
        Some((expr, format)) => Piece::Figure {
            expr: expr.to_owned(),
            format: format.to_owned(),
            shown: show(world.eval(expr), format),
        },
    }
}

/// The report, and where each figure piece is in it.
pub fn render(pieces: &[Piece]) -> (String, Vec<(Range<usize>, usize)>) {
    let (mut out, mut figures) = (String::new(), Vec::new());
    for (at, piece) in pieces.iter().enumerate() {
        let start = out.len();
        match piece {
            Piece::Text(shown) | Piece::Label { shown, .. } | Piece::Direction { shown, .. } => {
                out.push_str(shown)
            }
            Piece::Figure { shown, .. } => {
                out.push_str(shown);
                figures.push((start..out.len(), at));
            }
        }
    }
    (out, figures)
}

/// `a` absolute, `+` always signed, `(` negatives in brackets, `=` not scaled, `,` thousands, unit, decimals.
pub fn show(value: f64, format: &str) -> String {
    let mut rest = format;
    let mut flag = |c: char| rest.strip_prefix(c).map(|r| rest = r).is_some();
    let absolute = flag('a');
    let (signed, brackets, raw, grouped) = (flag('+'), flag('('), flag('='), flag(','));
    let unit = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let decimals: usize = rest[unit.len()..].parse().expect("decimals");
    let scale = match unit.trim() {
        _ if raw => 1.0,
        "%" | "pp" | "个百分点" | "percentage points" | "percentage-point" => 0.01,
        "万" => 1e4,
        "亿" => 1e8,
        "k" => 1e3,
        "M" | "million" => 1e6,
        "" | "倍" | "x" => 1.0,
        other => panic!("unknown unit {other}"),
    };
    let shown = value / scale;
    let digits = format!("{:.decimals$}", shown.abs());
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    let digits = if grouped { thousands(&digits) } else { digits };
    let negative = shown < 0.0 && !absolute && !zero;
    let sign = if negative && !brackets {
        "-"
    } else if signed && !negative {
        "+"
    } else {
        ""
    };
    let body = format!("{sign}{digits}{unit}");
    if negative && brackets { format!("({body})") } else { body }
}

fn thousands(digits: &str) -> String {
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out + fraction
}
