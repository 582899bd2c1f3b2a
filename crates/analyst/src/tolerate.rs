//! Words nothing is known about that cannot change a figure: the verb of a question, a noun that only repeats what the
//! rows are. A word that may be a condition or a figure of its own is never let pass.

use crate::lex::{Meaning, Mention};
use crate::names::stem;
use crate::norm::{is_cjk, is_word};
use crate::plain;

const HELPING: [&str; 9] = ["do", "does", "did", "have", "has", "had", "can", "could", "who"];
const PRONOUNS: [&str; 9] = ["we", "they", "i", "you", "he", "she", "it", "us", "who"];
const NEGATIONS: &str = "没未不无非";

/// Whether a word may be passed over. `known` are the characters of the tables' own names.
pub fn tolerable(text: &[char], start: usize, end: usize, mentions: &[Mention], known: &str) -> bool {
    if is_cjk(text[start]) {
        return repeats_a_name(text, start, end, known);
    }
    let word: String = text[start..end].iter().collect();
    let plain = word.chars().all(|c| c.is_ascii_alphabetic()) && word.len() >= 3;
    plain
        && !plain::tells_a_fate(&word)
        && !after_negation(text, start)
        && (is_verb(text, start, mentions) || names_rows(text, start, end, mentions))
}

/// A character or two that the headers or the file are called by: `退` of `退款金额`.
fn repeats_a_name(text: &[char], start: usize, end: usize, known: &str) -> bool {
    let negated = start > 0 && NEGATIONS.contains(text[start - 1]);
    end - start <= 2 && !negated && text[start..end].iter().all(|c| known.contains(*c))
}

fn words_before(text: &[char], start: usize) -> Vec<String> {
    let before: String = text[..start].iter().collect();
    let parts = before.split(|c: char| !is_word(c) && c != '\'');
    parts.filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

pub fn after_negation(text: &[char], start: usize) -> bool {
    let words = words_before(text, start);
    let near = words.iter().rev().take(3);
    near.into_iter().any(|w| {
        matches!(w.as_str(), "not" | "no" | "never" | "without" | "except" | "excluding")
            || w.ends_with("n't")
    })
}

/// `did we haul`, `does Voltex supply`, `who drove`: the verb, and what it is done to is said elsewhere.
pub fn is_verb(text: &[char], start: usize, mentions: &[Mention]) -> bool {
    let words = words_before(text, start);
    let Some(last) = words.last() else { return false };
    if last == "who" || last == "to" {
        return true;
    }
    let helped = words.iter().rev().take(6).any(|w| HELPING.contains(&w.as_str()));
    let subject = mentions.iter().any(|m| {
        m.end < start
            && start - m.end <= 1
            && m.meanings.iter().any(|m| {
                matches!(
                    m,
                    Meaning::Value(..) | Meaning::Column(..) | Meaning::Concept(_) | Meaning::RowNoun(_)
                )
            })
    });
    let rest: String = text[start..].iter().collect();
    let next = rest.split(' ').nth(1).unwrap_or("");
    let asked =
        words.iter().any(|w| w == "which") && matches!(next, "the" | "most" | "more" | "least" | "fewest");
    (helped || asked && subject) && (PRONOUNS.contains(&last.as_str()) || subject)
}

/// `Battery jobs`: a noun right after a value, with no figure or noun after it.
fn names_rows(text: &[char], start: usize, end: usize, mentions: &[Mention]) -> bool {
    // `insured pets`, where a column says who is insured.
    let told = |m: &Mention| ["ed", "able", "ing"].iter().any(|e| m.text.ends_with(e));
    let value = |m: &Mention| {
        m.meanings.iter().any(|meaning| match meaning {
            Meaning::Value(_, _, 3..) => true,
            Meaning::Column(_, 4) => told(m),
            _ => false,
        })
    };
    let follows = mentions.iter().any(|m| m.end < start && start - m.end <= 1 && value(m));
    let noun = text[end - 1] == 's' && !(end - start > 2 && text[end - 2] == 's');
    let next = mentions.iter().find(|m| m.start > end && m.start - end <= 1);
    let figure_next = next.is_some_and(|m| {
        m.meanings.iter().any(|m| matches!(m, Meaning::Column(..) | Meaning::Concept(_) | Meaning::Value(..)))
    });
    follows && noun && !figure_next
}

/// Nouns for the same kind of row: where a file or its numbers are called by one, the others mean rows, too.
const KIN: &[&[&str]] = &[
    &["call", "phone call", "caller", "通话", "来电", "电话", "呼叫"],
    &["candidate", "applicant", "application", "候选人", "应聘者", "求职者", "简历", "应聘", "招聘"],
    &[
        "order",
        "purchase",
        "sale",
        "transaction",
        "invoice",
        "receipt",
        "bill",
        "check",
        "basket",
        "订单",
        "交易",
        "单子",
        "小票",
        "单据",
        "票据",
        "账单",
        "发票",
        "销售单",
    ],
    &["deal", "opportunity", "opp", "lead", "pipeline", "prospect", "商机", "线索", "销售机会"],
    &[
        "ticket",
        "case",
        "request",
        "issue",
        "incident",
        "complaint",
        "problem",
        "fault",
        "query",
        "enquiry",
        "inquiry",
        "support",
        "工单",
        "投诉",
        "问题",
        "故障",
        "事件",
        "报障",
        "售后单",
        "售后",
    ],
    &[
        "trip",
        "haul",
        "delivery",
        "shipment",
        "load",
        "run",
        "journey",
        "ride",
        "drive",
        "consignment",
        "freight",
        "haulage",
        "transport",
        "parcel",
        "package",
        "drop",
        "运单",
        "发货单",
        "包裹",
        "车次",
        "趟",
        "配送",
        "行程",
        "快件",
        "物流",
    ],
    &[
        "appointment",
        "visit",
        "session",
        "consultation",
        "appt",
        "checkup",
        "encounter",
        "patient visit",
        "就诊",
        "门诊",
        "挂号",
        "预约",
        "问诊",
        "复诊",
        "病例",
    ],
    &["booking", "reservation", "stay", "预订", "预定", "订房", "入住"],
    &[
        "member",
        "customer",
        "client",
        "user",
        "subscriber",
        "guest",
        "people",
        "person",
        "account",
        "membership",
        "subscription",
        "会员",
        "客户",
        "用户",
        "顾客",
    ],
    &[
        "employee",
        "staff",
        "worker",
        "people",
        "person",
        "headcount",
        "colleague",
        "personnel",
        "hr",
        "员工",
        "人员",
        "职工",
        "同事",
        "花名册",
    ],
    &[
        "student", "pupil", "kid", "child", "children", "learner", "grade", "people", "学生", "同学", "学员",
        "孩子", "成绩",
    ],
    &["patient", "admission", "stay", "people", "患者", "病人", "住院"],
    &[
        "house",
        "home",
        "property",
        "flat",
        "apartment",
        "listing",
        "household",
        "residence",
        "房子",
        "房屋",
        "房源",
        "住户",
        "房间",
        "户",
        "房",
        "物业",
        "业主",
        "铺位",
        "商铺",
    ],
    &[
        "item",
        "product",
        "sku",
        "article",
        "part",
        "good",
        "stock",
        "inventory",
        "material",
        "商品",
        "产品",
        "货品",
        "物料",
        "单品",
        "库存",
    ],
    &[
        "campaign",
        "mailing",
        "email",
        "send",
        "newsletter",
        "ad",
        "promotion",
        "活动",
        "计划",
        "广告",
        "推广",
    ],
    &[
        "repair",
        "job",
        "work order",
        "service",
        "maintenance",
        "task",
        "workshop",
        "维修",
        "维修单",
        "保养",
        "任务",
        "派工单",
        "工单",
        "报修单",
        "检修",
    ],
    &["check", "cover", "table", "party", "meal", "bill", "order", "桌", "餐", "单", "用餐"],
    &["claim", "case", "policy", "理赔", "案件", "赔案", "保单"],
    &["loan", "application", "credit", "borrower", "贷款", "借款", "申请", "放款"],
    &["batch", "lot", "run", "批", "批次", "生产批次"],
    &[
        "application",
        "leave",
        "request",
        "申请",
        "请假",
        "请假单",
        "假条",
        "单子",
        "单据",
        "报销",
        "报销单",
        "审批单",
        "费用单",
    ],
    &["library", "book", "item", "borrowing", "checkout"],
    &["donation", "gift", "contribution", "pledge", "捐赠", "捐款"],
    &["placement", "candidate", "hire", "role", "position", "vacancy", "recruit", "appointee"],
    &["lot", "item", "piece", "auction"],
    &["distribution", "giveaway", "handout", "drive", "event"],
    &["bug", "ticket", "issue", "defect", "fault", "report", "problem", "case"],
    &["harvest", "pick", "picking", "load"],
    &["class", "session", "lesson", "course run", "workout"],
    &["renewal", "policy", "policyholder", "insured", "customer", "client"],
    &["flight", "departure", "leg", "service"],
    &["wedding", "event", "function", "couple", "reception", "ceremony"],
    &["enrolment", "enrollment", "registration", "student"],
    &["reading", "meter reading", "measurement", "observation"],
    &["parking", "stay", "visit", "session", "car", "vehicle", "stop"],
    &["inspection", "check", "audit", "visit", "survey"],
    &["survey", "response", "respondent", "answer", "submission", "participant"],
    &["grant", "award", "application", "applicant", "recipient", "grantee"],
    &["contract", "agreement", "deal", "signing"],
    &["project", "installation", "install", "system", "job", "customer", "client"],
    &["count", "item", "line", "product", "article", "sku"],
    &["rental", "hire", "rent", "lease", "let", "letting"],
    &["sighting", "observation", "record"],
    &["permit", "licence", "license", "application"],
    &["accident", "crash", "collision", "incident"],
    &["payment", "transaction", "transfer"],
    &["show", "performance", "gig", "concert", "event"],
    &["sample", "test", "specimen", "assay"],
    &["case", "matter", "file", "client"],
    &["animal", "pet", "intake", "rescue"],
    &["shift", "rota", "roster", "working day"],
    &["fine", "ticket", "penalty", "pcn", "citation", "violation"],
    &["call", "contact", "conversation", "通话", "来电"],
    &["delivery", "drop", "shipment", "consignment", "配送", "送货"],
    &["round", "trip", "outing", "run"],
    &["dispatch", "job", "trip", "ride"],
];

/// Other nouns for what the rows of a table are, given the nouns its file and numbers go by.
pub fn kin(subjects: &[String]) -> Vec<&'static str> {
    // `二手房` is a kind of house.
    let same = |a: &str, b: &str| {
        if a.is_ascii() && b.is_ascii() { stem(a) == stem(b) } else { a == b || a == "房" && b.ends_with(a) }
    };
    let related = |group: &&&[&'static str]| group.iter().any(|w| subjects.iter().any(|s| same(w, s)));
    KIN.iter().filter(related).flat_map(|g| g.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(text: &str, word: &str, known: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        let at = text.find(word).map(|b| text[..b].chars().count()).unwrap();
        tolerable(&chars, at, at + word.chars().count(), &[], known)
    }

    #[test]
    fn the_verb_of_a_question_is_passed_over_and_a_fate_is_not() {
        assert!(alone("how much did we haul in june", "haul", ""));
        assert!(!alone("how many did we scrap in june", "scrap", ""));
        assert!(!alone("how many were hauled", "hauled", ""));
        assert!(!alone("how many did we not haul", "haul", ""));
    }

    #[test]
    fn a_character_of_a_header_is_passed_over_unless_negated() {
        assert!(alone("一共退多少", "退", "退款金额"));
        assert!(!alone("一共没退多少", "退", "退款金额"));
        assert!(!alone("各险种", "险", "退款金额"));
    }

    #[test]
    fn rows_have_other_names() {
        assert!(kin(&["haulage".to_owned()]).contains(&"trip"));
        assert!(kin(&["orders".to_owned()]).contains(&"transaction"));
        assert!(kin(&["planet".to_owned()]).is_empty());
    }
}
