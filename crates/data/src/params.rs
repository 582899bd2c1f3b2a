//! Named parameters, bound and never pasted: the text keeps the engine's own placeholder, the values travel beside it.

use serde_json::{Map, Value};

use crate::DataError;
use crate::guard::Checked;

/// The statement in an engine's own placeholder style, and the values in the order in which they are bound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bound {
    pub sql: String,
    pub values: Vec<(String, Value)>,
}

/// How an engine writes its placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `$1`: one per name.
    Numbered,
    /// `?`: one per place.
    Question,
    /// `$name`
    Dollar,
    /// `{name:Type}` (ClickHouse)
    Braces,
}

pub(crate) fn bind(checked: &Checked, params: &Map<String, Value>, style: Style) -> Result<Bound, DataError> {
    let mut sql = String::with_capacity(checked.sql().len());
    let mut values: Vec<(String, Value)> = Vec::new();
    let mut done = 0;
    for place in checked.placeholders() {
        let Some(value) = params.get(&place.name) else {
            // `$1`, `?` and `:name` without a value are mistakes; a colon elsewhere (slices, JSON paths) is not.
            let text = &checked.sql()[place.range.clone()];
            if text.starts_with(':') {
                continue;
            }
            return Err(DataError::Params(format!(
                "`{text}` has no value; write parameters by name (`:name`) and give their values in params"
            )));
        };
        if value.is_object() {
            return Err(DataError::Params(format!("`{}` must be a plain value", place.name)));
        }
        sql.push_str(&checked.sql()[done..place.range.start]);
        sql.push_str(&placeholder(&place.name, value, style, &mut values));
        done = place.range.end;
    }
    sql.push_str(&checked.sql()[done..]);
    let used = |name: &String| values.iter().any(|(n, _)| n == name);
    if let Some(unused) = params.keys().find(|k| !used(k)) {
        return Err(DataError::Params(format!("`{unused}` is not in the query; write it as `:{unused}`")));
    }
    Ok(Bound { sql, values })
}

fn placeholder(name: &str, value: &Value, style: Style, values: &mut Vec<(String, Value)>) -> String {
    let known = values.iter().position(|(n, _)| n == name);
    match style {
        Style::Question => {
            values.push((name.to_owned(), value.clone()));
            "?".to_owned()
        }
        Style::Numbered => {
            let at = known.unwrap_or_else(|| {
                values.push((name.to_owned(), value.clone()));
                values.len() - 1
            });
            format!("${}", at + 1)
        }
        Style::Dollar => {
            if known.is_none() {
                values.push((name.to_owned(), value.clone()));
            }
            format!("${name}")
        }
        Style::Braces => {
            if known.is_none() {
                values.push((name.to_owned(), value.clone()));
            }
            format!("{{{name}:{}}}", clickhouse_type(value))
        }
    }
}

fn clickhouse_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "Bool",
        Value::Number(n) if n.is_f64() => "Float64",
        Value::Number(_) => "Int64",
        Value::Null => "Nullable(String)",
        _ => "String",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{Dialect, check};
    use serde_json::json;

    fn bound(sql: &str, params: Value, style: Style) -> Result<Bound, DataError> {
        let checked = check(sql, Dialect::Postgres).unwrap();
        bind(&checked, params.as_object().unwrap(), style)
    }

    #[test]
    fn each_engine_gets_its_own_placeholders() {
        let sql = "SELECT :a, '销 :a', $b FROM t WHERE x = :a";
        let params = json!({"a": 1, "b": "x'; DROP TABLE t"});
        let numbered = bound(sql, params.clone(), Style::Numbered).unwrap();
        assert_eq!(numbered.sql, "SELECT $1, '销 :a', $2 FROM t WHERE x = $1");
        assert_eq!(numbered.values.len(), 2);
        let question = bound(sql, params.clone(), Style::Question).unwrap();
        assert_eq!(question.sql, "SELECT ?, '销 :a', ? FROM t WHERE x = ?");
        assert_eq!(question.values.len(), 3);
        let braces = bound(sql, params, Style::Braces).unwrap();
        assert_eq!(braces.sql, "SELECT {a:Int64}, '销 :a', {b:String} FROM t WHERE x = {a:Int64}");
    }

    #[test]
    fn missing_and_unused_parameters_are_named() {
        assert!(bound("SELECT $x", json!({}), Style::Numbered).unwrap_err().to_string().contains("$x"));
        assert!(bound("SELECT 1", json!({"y": 1}), Style::Numbered).unwrap_err().to_string().contains(":y"));
    }
}
