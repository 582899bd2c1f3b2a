//! From a tag and a table to an ECharts option: data by `dataset`, no colours and no functions. Whoever draws it adds theme and number formats.

use ba_protocol::api::ChartRef;
use serde_json::{Map, Value, json};

use super::data::Frame;
use super::{ChartFault, tag::Tag};

pub(super) const KINDS: [&str; 6] = ["bar", "line", "area", "pie", "scatter", "stacked"];
/// Up to this many marks carry their value.
const LABELLED: usize = 14;
/// Categories beyond these are reached by zooming.
const ZOOMED: usize = 60;

struct Shape<'a> {
    kind: &'a str,
    title: &'a str,
    unit: Option<&'a str>,
    x: &'a str,
    /// Names of the measures, as the dataset has them.
    measures: Vec<String>,
    rows: Vec<Value>,
    stacked: bool,
}

/// The option for `kind`, `x` and `y`.
pub(super) fn built(tag: &Tag<'_>, frame: &Frame<'_>, index: usize) -> Result<ChartRef, ChartFault> {
    let kind = tag.get("kind").or(tag.get("type")).unwrap_or("bar").to_ascii_lowercase();
    let kind = *KINDS.iter().find(|known| **known == kind).ok_or(ChartFault::UnknownKind { kind })?;
    let x = match tag.get("x").filter(|x| !x.is_empty()) {
        Some(name) => frame.column(name)?,
        None => (0..frame.columns.len()).find(|at| !frame.numeric(*at)).unwrap_or(0),
    };
    let mut y = tag.y().into_iter().map(|name| frame.column(name)).collect::<Result<Vec<_>, _>>()?;
    if y.is_empty() {
        y = (0..frame.columns.len()).filter(|at| *at != x && frame.numeric(*at)).take(4).collect();
    }
    if y.is_empty() {
        return Err(ChartFault::NotNumeric { column: frame.columns.join(", ") });
    }
    for at in &y {
        if !frame.numeric(*at) {
            return Err(ChartFault::NotNumeric { column: frame.columns[*at].clone() });
        }
    }
    let split = tag.get("series").filter(|s| !s.is_empty()).map(|name| frame.column(name)).transpose()?;
    let (measures, rows) = match (split, y.first()) {
        (Some(series), Some(measure)) => frame.spread(x, series, *measure),
        _ => {
            let wanted: Vec<(usize, bool)> = std::iter::once((x, kind == "scatter" && frame.numeric(x)))
                .chain(y.iter().map(|at| (*at, true)))
                .collect();
            (y.iter().map(|at| frame.columns[*at].clone()).collect(), frame.source(&wanted))
        }
    };
    let stacked = kind == "stacked" || tag.get("stack").is_some_and(|s| !matches!(s, "" | "false" | "0"));
    let shape = Shape {
        kind,
        title: tag.get("title").unwrap_or(""),
        unit: tag.get("unit").filter(|u| !u.is_empty()),
        x: &frame.columns[x],
        measures,
        rows,
        stacked,
    };
    let y = y.iter().map(|at| frame.columns[*at].clone()).collect();
    Ok(ChartRef {
        index,
        tool_call_id: frame.call.clone(),
        kind: kind.to_owned(),
        title: shape.title.to_owned(),
        x: shape.x.to_owned(),
        y,
        unit: shape.unit.map(str::to_owned),
        cut: frame.is_cut(),
        option: shape.option(),
    })
}

impl Shape<'_> {
    fn option(&self) -> Value {
        let mut option = Map::new();
        if !self.title.is_empty() {
            option.insert("title".into(), json!({"text": self.title, "left": 0}));
        }
        option.insert("tooltip".into(), json!({"trigger": if self.by_item() { "item" } else { "axis" }}));
        if self.measures.len() > 1 || self.kind == "pie" {
            option.insert("legend".into(), json!({"type": "scroll", "bottom": 0}));
        }
        let mut dimensions = vec![json!(self.x)];
        dimensions.extend(self.measures.iter().map(|name| json!(name)));
        option.insert("dataset".into(), json!({"dimensions": dimensions, "source": self.rows}));
        if self.kind != "pie" {
            self.axes(&mut option);
        }
        option.insert(
            "series".into(),
            Value::Array((0..self.measures.len()).map(|at| self.series(at)).collect()),
        );
        Value::Object(option)
    }

    fn by_item(&self) -> bool {
        matches!(self.kind, "pie" | "scatter")
    }

    fn axes(&self, option: &mut Map<String, Value>) {
        let values =
            self.kind == "scatter" && self.rows.iter().all(|row| row[0].is_number() || row[0].is_null());
        let kind = if values { "value" } else { "category" };
        let mut x = json!({"type": kind});
        if values {
            x["name"] = json!(self.x);
            x["scale"] = json!(true);
        }
        option.insert("xAxis".into(), x);
        let mut y = json!({"type": "value"});
        if let Some(unit) = self.unit {
            y["name"] = json!(unit);
        }
        if values {
            y["scale"] = json!(true);
        }
        option.insert("yAxis".into(), y);
        if self.rows.len() > ZOOMED && !values {
            option.insert(
                "dataZoom".into(),
                json!([{"type": "inside"}, {"type": "slider", "height": 18, "bottom": 4}]),
            );
        }
    }

    fn series(&self, at: usize) -> Value {
        let name = &self.measures[at];
        let drawn = match self.kind {
            "area" => "line",
            "stacked" => "bar",
            other => other,
        };
        let encode = match drawn {
            "pie" => json!({"itemName": 0, "value": at + 1}),
            _ => json!({"x": 0, "y": at + 1}),
        };
        let mut series = json!({"type": drawn, "name": name, "encode": encode});
        if self.kind == "area" {
            series["areaStyle"] = json!({"opacity": 0.2});
        }
        if self.stacked && drawn != "pie" {
            series["stack"] = json!("total");
        }
        if drawn == "pie" {
            series["radius"] = json!(["42%", "68%"]);
            series["label"] = json!({"formatter": "{b} {d}%"});
        } else if drawn == "bar" && self.rows.len() * self.measures.len() <= LABELLED && !self.stacked {
            series["label"] = json!({"show": true, "position": "top"});
        }
        if drawn == "line" {
            series["showSymbol"] = json!(self.rows.len() <= 60);
        }
        series
    }
}

/// A full option of the model, with the data of the result and none of its own.
pub(super) fn given(
    tag: &Tag<'_>,
    body: &str,
    frame: &Frame<'_>,
    index: usize,
) -> Result<ChartRef, ChartFault> {
    let bad = |problem: &str| ChartFault::BadOption { problem: problem.to_owned() };
    let text = body.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
    let parsed: Value = serde_json::from_str(text).map_err(|error| bad(&error.to_string()))?;
    let Value::Object(mut option) = parsed else { return Err(bad("not an object")) };
    for value in option.values_mut() {
        without_data(value, 0);
    }
    let columns: Vec<(usize, bool)> = (0..frame.columns.len()).map(|at| (at, frame.numeric(at))).collect();
    option.insert("dataset".into(), json!({"dimensions": frame.columns, "source": frame.source(&columns)}));
    let first = option.get("series").map(|series| series.get(0).unwrap_or(series));
    let Some(first) = first.filter(|series| series.is_object()) else { return Err(bad("no series")) };
    let kind = first.get("type").and_then(Value::as_str).unwrap_or("bar").to_owned();
    let title = option.get("title").and_then(|t| t.get("text")).and_then(Value::as_str).unwrap_or("");
    let title = tag.get("title").unwrap_or(title).to_owned();
    if frame.len() == 0 {
        return Err(bad("the result has no rows"));
    }
    Ok(ChartRef {
        index,
        tool_call_id: frame.call.clone(),
        kind,
        title,
        x: tag.get("x").unwrap_or("").to_owned(),
        y: tag.y().into_iter().map(str::to_owned).collect(),
        unit: tag.get("unit").map(str::to_owned),
        cut: frame.is_cut(),
        option: Value::Object(option),
    })
}

/// Data typed into an option are figures nobody proved: they go. Marks that ECharts computes stay.
fn without_data(value: &mut Value, depth: usize) {
    if depth > 24 {
        *value = Value::Null;
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| without_data(item, depth + 1)),
        Value::Object(fields) => {
            fields.retain(|name, inner| name != "data" || computed_marks(inner));
            fields.values_mut().for_each(|inner| without_data(inner, depth + 1));
        }
        _ => {}
    }
}

fn computed_marks(value: &Value) -> bool {
    let computed = |mark: &Value| {
        mark.as_object().is_some_and(|fields| {
            fields.contains_key("type")
                && !fields.values().any(Value::is_number)
                && !fields.contains_key("value")
        })
    };
    value.as_array().is_some_and(|marks| !marks.is_empty() && marks.iter().all(computed))
}
