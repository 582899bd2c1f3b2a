//! The reading that was chosen, said to the user, and the questions worth asking next.

use super::Desk;
use super::format::text;
use crate::plan::label;
use crate::question::{Agg, Group, Intent, Measure, Note};
use crate::table::Role;

impl Desk<'_> {
    pub(super) fn notes(&self) -> Vec<String> {
        let notes = self.question.notes.iter().filter_map(|n| self.note(n));
        notes.chain(self.units()).collect()
    }

    /// What the figures are in, where the name of their column does not say it (SPEC B4).
    fn units(&self) -> Vec<String> {
        let mut said = Vec::new();
        for measure in &self.question.measures {
            let Measure::Of(agg, at) = measure else { continue };
            let column = self.scope.column(*at);
            let unit = column.unit.as_deref().filter(|u| *u != "%" && !column.name.contains(*u));
            if let Some(unit) = unit.filter(|_| !matches!(agg, Agg::Distinct | Agg::Variance)) {
                let (name, unit) = (text(&column.name), text(unit));
                let line = if self.zh() {
                    format!("“{name}”的单位是{unit}。")
                } else {
                    format!("“{name}” is in {unit}.")
                };
                if !said.contains(&line) {
                    said.push(line);
                }
            }
        }
        said
    }

    fn note(&self, note: &Note) -> Option<String> {
        let column = |c| text(label::column(self.scope, c));
        let zh = self.zh();
        Some(match note {
            Note::Column { said, taken, other } if zh => {
                format!("“{}”按列“{}”理解（也可能指“{}”）。", text(said), column(*taken), column(*other))
            }
            Note::Column { said, taken, other } => format!(
                "“{}” was read as column “{}” (it could also be “{}”).",
                text(said),
                column(*taken),
                column(*other)
            ),
            Note::ReadAs { said, taken } if zh => format!("“{}”按列“{}”理解。", text(said), column(*taken)),
            Note::ReadAs { said, taken } => {
                format!("“{}” was read as column “{}”.", text(said), column(*taken))
            }
            Note::DefaultMeasure(m) if zh => format!("问题没有指明指标，按“{}”计算。", self.measure_name(m)),
            Note::DefaultMeasure(m) => format!("No measure was named; “{}” was used.", self.measure_name(m)),
            Note::DefaultAgg(Agg::Mean, c) if zh => {
                format!("“{}”按平均值计算（如需合计请说明）。", column(*c))
            }
            Note::DefaultAgg(Agg::Mean, c) => {
                format!("“{}” was averaged (ask for the total if that is meant).", column(*c))
            }
            Note::DefaultAgg(..) => return None,
            Note::Relative { last, label } if zh => {
                format!("相对时间以数据的最后一天 {last} 为准，即 {}。", text(label))
            }
            Note::Relative { last, label } => {
                format!("Relative times count from the last day in the data, {last}: {}.", text(label))
            }
            Note::AssumedYear { label } if zh => format!("没有说明年份，取最近的 {}。", text(label)),
            Note::AssumedYear { label } => {
                format!("No year was given; the latest one was taken: {}.", text(label))
            }
            Note::DateColumn { taken, other } if zh => {
                format!("时间按列“{}”计算（另有“{}”）。", column(*taken), column(*other))
            }
            Note::DateColumn { taken, other } => format!(
                "Time is measured by column “{}” (there is also “{}”).",
                column(*taken),
                column(*other)
            ),
            Note::Spelling { written, read } if zh => format!("“{}”按“{}”理解。", text(written), text(read)),
            Note::Spelling { written, read } => format!("“{}” was read as “{}”.", text(written), text(read)),
            Note::Table { taken } if zh => {
                format!("使用的表：{}。", text(&self.scope.tables[*taken].filename))
            }
            Note::Table { taken } => format!("Table used: {}.", text(&self.scope.tables[*taken].filename)),
            Note::Joined { table, key } if zh => {
                format!("已按“{}”关联 {}。", column(*key), text(&self.scope.tables[*table].filename))
            }
            Note::Joined { table, key } => {
                format!("Joined with {} on “{}”.", text(&self.scope.tables[*table].filename), column(*key))
            }
            Note::FollowUp if zh => "接着上一个问题理解。".to_owned(),
            Note::FollowUp => "Read as a follow-up to the question before.".to_owned(),
            Note::Ignored(word) if zh => format!("没有理解“{}”，未计入。", text(word)),
            Note::Ignored(word) => {
                format!("“{}” was not understood and is not taken into account.", text(word))
            }
            Note::PerGroup => return None,
        })
    }

    pub(super) fn recommended(&self) -> Vec<String> {
        let mut out = Vec::new();
        for note in &self.question.notes {
            out.extend(self.other_reading(note));
        }
        out.extend(self.next_questions());
        out.dedup();
        out.truncate(4);
        out
    }

    /// The question that asks for the reading not taken.
    fn other_reading(&self, note: &Note) -> Option<String> {
        let column = |c| label::column(self.scope, c).to_owned();
        match note {
            Note::Column { other, .. } => Some(self.ask_by(&column(*other))),
            Note::DefaultAgg(Agg::Mean, c) => Some(if self.zh() {
                format!("{}的合计是多少？", column(*c))
            } else {
                format!("What is the total {}?", column(*c))
            }),
            _ => None,
        }
    }

    fn ask_by(&self, measure: &str) -> String {
        match self.question.groups.first() {
            Some(Group::By(c)) if self.zh() => {
                format!("各{}的{measure}是多少？", label::column(self.scope, *c))
            }
            Some(Group::By(c)) => format!("{measure} by {}", label::column(self.scope, *c)),
            _ if self.zh() => format!("{measure}的合计是多少？"),
            _ => format!("What is the total {measure}?"),
        }
    }

    fn next_questions(&self) -> Vec<String> {
        let table = &self.scope.tables[self.question.table];
        let measure = self.question.measures.iter().find_map(|m| match m {
            Measure::Of(_, c) => Some(label::column(self.scope, *c).to_owned()),
            _ => None,
        });
        let fallback = table.columns.iter().find(|c| c.role == Role::Measure).map(|c| c.name.clone());
        let Some(measure) = measure.or(fallback) else { return Vec::new() };
        let used = |name: &str| {
            self.question
                .groups
                .iter()
                .any(|g| matches!(g, Group::By(c) if label::column(self.scope, *c) == name))
        };
        let dims = table
            .columns
            .iter()
            .filter(|c| c.role == Role::Dimension && (2..=200).contains(&c.distinct) && !used(&c.name));
        let mut out: Vec<String> = dims
            .take(2)
            .map(|c| {
                if self.zh() {
                    format!("各{}的{measure}是多少？", c.name)
                } else {
                    format!("{measure} by {}", c.name)
                }
            })
            .collect();
        let timed = self.question.groups.iter().any(|g| matches!(g, Group::Time(..)));
        if table.main_date().is_some() {
            out.push(match (timed, self.zh()) {
                (false, true) => format!("{measure}的月度趋势如何？"),
                (false, false) => format!("monthly trend of {measure}"),
                (true, true) => format!("{measure}同比增长多少？"),
                (true, false) => format!("year over year growth of {measure}"),
            });
        } else if self.question.intent != Intent::Distribution {
            out.push(if self.zh() {
                format!("{measure}的分布如何？")
            } else {
                format!("distribution of {measure}")
            });
        }
        out
    }
}
