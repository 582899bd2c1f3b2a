//! The text of the one gate turn (SPEC V4): figures that nothing proves, a witness that disagrees, and what else the answer
//! lacks, in the user's language. Writes only.

use std::fmt::Write;

use ba_audit::gate_request;
use ba_protocol::audit::{Audit, WitnessReport};
use ba_protocol::text::shorten;
use ba_protocol::turn::Round;

use super::faults::Fault;
use crate::run::Language;

/// Characters of a query or of code that are shown.
const MAX_QUERY: usize = 1_500;
/// Own queries shown beside the witness's.
const MAX_QUERIES: usize = 2;

/// All that speaks against an answer.
#[derive(Debug, Default)]
pub struct Objections {
    pub audit: Option<Audit>,
    pub witness: Option<WitnessReport>,
    pub faults: Vec<Fault>,
}

impl Objections {
    /// How much there is to mend.
    pub fn count(&self) -> usize {
        let marked = self.audit.as_ref().map_or(0, |a| a.unproven + a.mismatch);
        marked + self.faults.len() + usize::from(self.witness.as_ref().is_some_and(|w| !w.agrees))
    }

    /// Figures that something proves.
    pub fn proven(&self) -> usize {
        self.audit.as_ref().map_or(0, |a| a.proven + a.derived + a.given)
    }

    /// What to ask of the model; `None` when there is nothing to mend.
    pub fn request(&self, steps: &[Round], language: Language) -> Option<String> {
        let chinese = language == Language::Zh;
        let of_audit = match language {
            Language::Zh => ba_audit::Language::Chinese,
            Language::En => ba_audit::Language::English,
        };
        let figures = self.audit.as_ref().and_then(|audit| gate_request(audit, of_audit));
        let witness = self.witness.as_ref().filter(|w| !w.agrees);
        let witness = witness.map(|w| disagreement(w, &self.own_queries(steps), chinese));
        let faults = (!self.faults.is_empty()).then(|| listed(&self.faults, chinese));
        let parts: Vec<String> = [figures, witness, faults].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// The calls behind the answer's figures with what they ran, in the order they were made.
    fn own_queries<'s>(&self, steps: &'s [Round]) -> Vec<(&'s str, &'s str)> {
        let used = self.audit.as_ref().map(Audit::used_calls).unwrap_or_default();
        let made = steps.iter().flat_map(|s| &s.tool_calls).filter_map(|call| {
            let ran = ["query", "code"].iter().find_map(|key| call.arguments.get(*key)?.as_str())?;
            Some((call.tool_call_id.as_str(), ran))
        });
        let made: Vec<_> = made.collect();
        let backing: Vec<_> = made.iter().copied().filter(|(id, _)| used.contains(id)).collect();
        let chosen = if backing.is_empty() { made } else { backing };
        chosen[chosen.len().saturating_sub(MAX_QUERIES)..].to_vec()
    }
}

fn disagreement(witness: &WitnessReport, own: &[(&str, &str)], chinese: bool) -> String {
    let WitnessReport { value, query, name, .. } = witness;
    let mut text = if chinese {
        format!(
            "对同一问题的独立核算与报告不一致：{name} 算得 {value}，报告里没有这个数字。\n独立核算的查询：\n"
        )
    } else {
        format!(
            "An independent computation for the same question disagrees with the report: {name} = {value}, which the report does not show.\nIts query:\n"
        )
    };
    let _ = write!(text, "```sql\n{}\n```", shorten(query, MAX_QUERY));
    for (id, ran) in own {
        let said = if chinese { "报告所依据的调用" } else { "What the report rests on:" };
        let _ = write!(text, "\n{said} {id}\n```\n{}\n```", shorten(ran, MAX_QUERY));
    }
    text.push_str(if chinese {
        "\n请核对两者的口径（筛选、连接、去重、时间范围、聚合方式）：报告有误就重新计算并改正；报告的口径才是所问的，就保留，并用一句话说明口径。然后重新给出完整报告。"
    } else {
        "\nCompare the two (filters, joins, duplicates, period, aggregation): if the report is wrong, compute again and correct it; if its reading is the one that was asked for, keep it and state that reading in one sentence. Then give the whole report again."
    });
    text
}

fn listed(faults: &[Fault], chinese: bool) -> String {
    let head = if chinese { "回答还有以下问题：" } else { "The answer also has these faults:" };
    let lines = faults.iter().enumerate().map(|(at, fault)| format!("{}. {}", at + 1, fault.line(chinese)));
    let end = if chinese {
        "请逐一改正，其余内容保持不变，然后重新给出完整报告。"
    } else {
        "Mend each of them, keep everything else, and give the whole report again."
    };
    let mut all = vec![head.to_owned()];
    all.extend(lines);
    all.push(end.to_owned());
    all.join("\n")
}
