//! The little language in which a written report says where its figures come from: `a.华东.销售额 / sum(a.销售额)`.

use serde_json::Value;

use super::table::Table;

pub struct World {
    pub tables: Vec<Table>,
    pub vars: Vec<(String, f64)>,
}

impl World {
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|t| t.name == name)
    }

    /// `a.华东/2024.销售额` as its table, row and column.
    pub fn cell(&self, path: &str) -> Option<(&Table, usize, usize)> {
        let mut parts = path.splitn(3, '.');
        let table = self.table(parts.next()?)?;
        let (row, column) = (parts.next()?, parts.next()?);
        let column = table.columns.iter().position(|c| c == column)?;
        let row = match row.parse::<usize>() {
            Ok(index) if index < 100 => index,
            _ => table.rows.iter().position(|r| row_name(r, table.keys) == row)?,
        };
        (row < table.rows.len()).then_some((table, row, column))
    }

    pub fn eval(&self, text: &str) -> f64 {
        let mut tokens = tokens(text);
        let value = sum(self, &mut tokens);
        assert!(tokens.is_empty(), "left over in {text}: {tokens:?}");
        value
    }
}

pub fn row_name(row: &[Value], keys: usize) -> String {
    let names: Vec<String> = row[..keys].iter().map(plain).collect();
    names.join("/").replace(' ', "_")
}

pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn tokens(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text.split(' ').filter(|t| !t.is_empty()).map(str::to_owned).collect();
    all.reverse();
    all
}

fn sum(world: &World, tokens: &mut Vec<String>) -> f64 {
    let mut value = product(world, tokens);
    while let Some(op) = tokens.pop_if(|t| t == "+" || t == "-") {
        let right = product(world, tokens);
        value = if op == "+" { value + right } else { value - right };
    }
    value
}

fn product(world: &World, tokens: &mut Vec<String>) -> f64 {
    let mut value = atom(world, tokens);
    while let Some(op) = tokens.pop_if(|t| t == "*" || t == "/") {
        let right = atom(world, tokens);
        value = if op == "*" { value * right } else { value / right };
    }
    value
}

fn atom(world: &World, tokens: &mut Vec<String>) -> f64 {
    let token = tokens.pop().expect("an operand");
    if token == "(" {
        let value = sum(world, tokens);
        assert_eq!(tokens.pop().as_deref(), Some(")"), "a closed bracket");
        return value;
    }
    if let Some((function, inner)) = token.strip_suffix(')').and_then(|t| t.split_once('(')) {
        let (table, column) = inner.split_once('.').expect("table.column");
        let table = world.table(table).expect("table");
        let at = table.columns.iter().position(|c| c == column).expect("column");
        let values: Vec<f64> = table.rows.iter().filter_map(|r| r[at].as_f64()).collect();
        let total: f64 = values.iter().sum();
        return if function == "mean" { total / values.len() as f64 } else { total };
    }
    if let Some((table, row, column)) = world.cell(&token) {
        return table.rows[row][column].as_f64().unwrap_or_else(|| panic!("{token} is no number"));
    }
    if let Some((_, value)) = world.vars.iter().find(|(name, _)| *name == token) {
        return *value;
    }
    token.parse().unwrap_or_else(|_| panic!("unknown operand {token}"))
}

/// Computed columns: names joined by `/`, `-`, `+`, with `sum(column)`; left to right.
pub fn in_row(text: &str, columns: &[String], rows: &[Vec<Value>], row: usize) -> f64 {
    let at = |name: &str| columns.iter().position(|c| c == name);
    let operand = |name: &str| -> f64 {
        if let Some(inner) = name.strip_prefix("sum(").and_then(|n| n.strip_suffix(')')) {
            let column = at(inner).expect("column");
            return rows.iter().filter_map(|r| r[column].as_f64()).sum();
        }
        match at(name) {
            Some(column) => rows[row][column].as_f64().expect("number"),
            None => name.parse().expect("number"),
        }
    };
    let (mut value, mut op, mut from) = (0.0, '+', 0);
    for (i, c) in text.char_indices().chain([(text.len(), '+')]) {
        if matches!(c, '/' | '-' | '+') {
            let right = operand(&text[from..i]);
            value = match op {
                '/' => value / right,
                '-' => value - right,
                _ => value + right,
            };
            (op, from) = (c, i + 1);
        }
    }
    value
}
