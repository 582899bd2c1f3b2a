//! ECharts as HTML inside a report. Data goes in as JSON with every `<` escaped, so no value can end the script;
//! the only code is written here.

use serde_json::{Value, json};

use crate::norm::Lang;
use crate::question::ChartKind;

/// What is drawn. Labels and values are plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    pub title: String,
    pub shape: Shape,
    /// Values are shares.
    pub percent: bool,
}

/// How an axis writes large numbers: 万 and 亿, or k, M and B. The unary plus drops zeros at the end.
fn short_number(lang: Lang) -> &'static str {
    lang.pick(
        "Math.abs(v)>=1e8?+(v/1e8).toFixed(2)+'亿':Math.abs(v)>=1e4?+(v/1e4).toFixed(2)+'万':String(v)",
        "Math.abs(v)>=1e9?+(v/1e9).toFixed(2)+'B':Math.abs(v)>=1e6?+(v/1e6).toFixed(2)+'M':Math.abs(v)>=1e4?+(v/1e3).toFixed(1)+'k':String(v)",
    )
}

/// A name and its values.
pub type Series = (String, Vec<Option<f64>>);

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Line {
        labels: Vec<String>,
        series: Vec<Series>,
    },
    Bar {
        labels: Vec<String>,
        series: Vec<Series>,
    },
    /// Bars with a cumulative line in shares.
    Pareto {
        labels: Vec<String>,
        values: Vec<Option<f64>>,
        cumulative: Vec<Option<f64>>,
    },
    Pie(Vec<(String, f64)>),
    Scatter {
        x: String,
        y: String,
        points: Vec<(f64, f64)>,
        line: Option<[(f64, f64); 2]>,
    },
    Box {
        labels: Vec<String>,
        boxes: Vec<[f64; 5]>,
    },
    Funnel(Vec<(String, f64)>),
    Heat {
        rows: Vec<String>,
        columns: Vec<String>,
        cells: Vec<(usize, usize, f64)>,
    },
}

/// Categories drawn at most; a longer list stays readable only as a table.
const MAX_BARS: usize = 30;
const COLORS: [&str; 8] =
    ["#2f6fdb", "#f2a541", "#3fa36c", "#d1495b", "#7a5cc4", "#2aa5a0", "#8c6d46", "#6b7a8f"];

impl Chart {
    /// The same data in the shape a user asked for, where that makes sense.
    pub fn reshaped(mut self, wanted: Option<ChartKind>) -> Option<Self> {
        let shape = match (wanted, self.shape) {
            (Some(ChartKind::None), _) => return None,
            (Some(ChartKind::Line), Shape::Bar { labels, series }) => Shape::Line { labels, series },
            (Some(ChartKind::Line), Shape::Pie(parts)) => {
                let (labels, values) = parts.into_iter().map(|(l, v)| (l, Some(v))).unzip();
                Shape::Line { labels, series: vec![(self.title.clone(), values)] }
            }
            (Some(ChartKind::Bar), Shape::Line { labels, series }) => Shape::Bar { labels, series },
            (Some(ChartKind::Bar), Shape::Pie(parts)) => {
                let (labels, values) = parts.into_iter().map(|(l, v)| (l, Some(v))).unzip();
                Shape::Bar { labels, series: vec![(self.title.clone(), values)] }
            }
            (Some(ChartKind::Pie), Shape::Bar { labels, series } | Shape::Line { labels, series })
                if series.len() == 1
                    && labels.len() <= 12
                    && series[0].1.iter().flatten().all(|v| *v >= 0.0) =>
            {
                let values = series[0].1.iter().map(|v| v.unwrap_or(0.0));
                Shape::Pie(labels.into_iter().zip(values).collect())
            }
            (_, shape) => shape,
        };
        self.shape = shape;
        Some(self)
    }

    /// The HTML block. `id` must be unique in the page.
    pub fn html(&self, id: &str, lang: Lang) -> String {
        let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let option = script_safe(&self.option().to_string());
        let axis = if self.percent { "(v*100).toFixed(1)+'%'" } else { short_number(lang) };
        format!(
            "<div id=\"{id}\" style=\"width:100%;height:380px\"></div>\n<script>(function(){{var o={option};var f=function(v){{return {axis};}};[].concat(o.yAxis||[]).forEach(function(a){{if(a.type==='value'&&!a.axisLabel)a.axisLabel={{formatter:f}};}});var c=echarts.init(document.getElementById('{id}'));c.setOption(o);window.addEventListener('resize',function(){{c.resize();}});}})();</script>"
        )
    }

    fn option(&self) -> Value {
        let mut option = match &self.shape {
            Shape::Line { labels, series } => self.cartesian(labels, series, "line"),
            Shape::Bar { labels, series } => self.cartesian(labels, series, "bar"),
            Shape::Pareto { labels, values, cumulative } => pareto(labels, values, cumulative),
            Shape::Pie(parts) => pie(parts, "pie"),
            Shape::Funnel(parts) => pie(parts, "funnel"),
            Shape::Scatter { x, y, points, line } => scatter(x, y, points, line.as_ref()),
            Shape::Box { labels, boxes } => boxplot(labels, boxes),
            Shape::Heat { rows, columns, cells } => heat(rows, columns, cells),
        };
        option["title"] = json!({"text": self.title, "left": "center", "textStyle": {"fontSize": 14}});
        option["color"] = json!(COLORS);
        option
    }

    fn cartesian(&self, labels: &[String], series: &[Series], kind: &str) -> Value {
        let shown = if kind == "bar" { labels.len().min(MAX_BARS) } else { labels.len() };
        let long = labels.iter().take(shown).any(|l| l.chars().count() > 6) && shown > 6;
        let drawn: Vec<Value> = series
            .iter()
            .map(|(name, values)| {
                let values: Vec<&Option<f64>> = values.iter().take(shown).collect();
                json!({"name": name, "type": kind, "data": values, "smooth": false, "showSymbol": shown <= 40, "barMaxWidth": 48})
            })
            .collect();
        json!({
            "tooltip": {"trigger": "axis"},
            "legend": {"bottom": 0, "show": series.len() > 1, "type": "scroll"},
            "grid": {"left": 12, "right": 24, "top": 48, "bottom": if series.len() > 1 { 40 } else { 16 }, "containLabel": true},
            "xAxis": {"type": "category", "data": labels[..shown], "axisLabel": {"rotate": if long { 35 } else { 0 }, "hideOverlap": true}},
            "yAxis": {"type": "value"},
            "series": drawn,
        })
    }
}

fn pareto(labels: &[String], values: &[Option<f64>], cumulative: &[Option<f64>]) -> Value {
    let shown = labels.len().min(MAX_BARS);
    let shares: Vec<Option<f64>> =
        cumulative.iter().take(shown).map(|v| v.map(|v| (v * 1000.0).round() / 10.0)).collect();
    json!({
        "tooltip": {"trigger": "axis"},
        "grid": {"left": 12, "right": 12, "top": 48, "bottom": 16, "containLabel": true},
        "xAxis": {"type": "category", "data": labels[..shown], "axisLabel": {"rotate": 35, "hideOverlap": true}},
        "yAxis": [{"type": "value"}, {"type": "value", "max": 100, "axisLabel": {"formatter": "{value}%"}, "splitLine": {"show": false}}],
        "series": [
            {"type": "bar", "data": values[..shown], "barMaxWidth": 48},
            {"type": "line", "yAxisIndex": 1, "data": shares, "markLine": {"symbol": "none", "data": [{"yAxis": 80}]}},
        ],
    })
}

fn pie(parts: &[(String, f64)], kind: &str) -> Value {
    let data: Vec<Value> = parts.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let mut series = json!({"type": kind, "data": data, "label": {"formatter": "{b}: {c}"}});
    if kind == "pie" {
        series["radius"] = json!(["35%", "65%"]);
        series["label"] = json!({"formatter": "{b}: {d}%"});
    } else {
        series["sort"] = json!("none");
        series["top"] = json!(48);
        series["bottom"] = json!(16);
    }
    json!({"tooltip": {"trigger": "item", "formatter": "{b}: {c} ({d}%)"}, "series": [series]})
}

fn scatter(x: &str, y: &str, points: &[(f64, f64)], line: Option<&[(f64, f64); 2]>) -> Value {
    let mut series =
        vec![json!({"type": "scatter", "symbolSize": 6, "data": points, "itemStyle": {"opacity": 0.6}})];
    if let Some(line) = line {
        series.push(
            json!({"type": "line", "data": line, "showSymbol": false, "lineStyle": {"type": "dashed"}}),
        );
    }
    json!({
        "tooltip": {"trigger": "item"},
        "grid": {"left": 24, "right": 40, "top": 48, "bottom": 32, "containLabel": true},
        "xAxis": {"type": "value", "name": x, "nameLocation": "middle", "nameGap": 28, "scale": true},
        "yAxis": {"type": "value", "name": y, "scale": true},
        "series": series,
    })
}

fn boxplot(labels: &[String], boxes: &[[f64; 5]]) -> Value {
    json!({
        "tooltip": {"trigger": "item"},
        "grid": {"left": 12, "right": 24, "top": 48, "bottom": 16, "containLabel": true},
        "xAxis": {"type": "category", "data": labels},
        "yAxis": {"type": "value", "scale": true},
        "series": [{"type": "boxplot", "data": boxes}],
    })
}

fn heat(rows: &[String], columns: &[String], cells: &[(usize, usize, f64)]) -> Value {
    let data: Vec<Value> = cells.iter().map(|(r, c, v)| json!([c, r, (v * 1000.0).round() / 10.0])).collect();
    json!({
        "tooltip": {"position": "top"},
        "grid": {"left": 12, "right": 24, "top": 48, "bottom": 56, "containLabel": true},
        "xAxis": {"type": "category", "data": columns},
        "yAxis": {"type": "category", "data": rows, "inverse": true},
        "visualMap": {"min": 0, "max": 100, "orient": "horizontal", "left": "center", "bottom": 0},
        "series": [{"type": "heatmap", "data": data, "label": {"show": columns.len() <= 13}}],
    })
}

/// JSON that can neither leave its script element nor hold a placeholder of the report (`{{CODE:0}}`). Two opening
/// braces side by side only occur inside strings.
fn script_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    let mut previous = ' ';
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", c as u32)),
            '{' if previous == '{' => safe.push_str("\\u007b"),
            c => safe.push(c),
        }
        previous = c;
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str) -> Chart {
        let series = vec![("v".to_owned(), vec![Some(1.0)])];
        Chart { title: "t".into(), percent: false, shape: Shape::Bar { labels: vec![label.into()], series } }
    }

    #[test]
    fn large_numbers_on_an_axis_are_written_as_the_reader_writes_them() {
        assert!(bar("x").html("c1", Lang::Zh).contains("+'万'"));
        let english = bar("x").html("c1", Lang::En);
        assert!(english.contains("+'M'") && !english.contains('万'));
    }

    #[test]
    fn a_value_cannot_end_the_script() {
        let html = bar("</script><script>alert(1)</script>").html("c1", Lang::Zh);
        assert_eq!(html.matches("</script>").count(), 1);
        assert_eq!(html.matches("<script>").count(), 1);
    }

    #[test]
    fn a_value_cannot_be_a_placeholder() {
        assert!(!bar("{{CODE:0}} {{{").html("c1", Lang::Zh).contains("{{"));
    }

    #[test]
    fn the_id_cannot_carry_markup() {
        assert!(bar("x").html("a\" onload='x", Lang::En).starts_with("<div id=\"aonloadx\""));
    }

    #[test]
    fn shapes_follow_the_wish_where_sensible() {
        assert!(matches!(bar("a").reshaped(Some(ChartKind::Pie)).unwrap().shape, Shape::Pie(_)));
        assert!(matches!(bar("a").reshaped(Some(ChartKind::Line)).unwrap().shape, Shape::Line { .. }));
        assert!(bar("a").reshaped(Some(ChartKind::None)).is_none());
        let negative = Chart {
            title: "t".into(),
            percent: false,
            shape: Shape::Bar { labels: vec!["a".into()], series: vec![("v".into(), vec![Some(-1.0)])] },
        };
        assert!(matches!(negative.reshaped(Some(ChartKind::Pie)).unwrap().shape, Shape::Bar { .. }));
    }
}
