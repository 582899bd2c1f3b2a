//! Which concepts of the vocabulary a column's name stands for. Looks at names only, never at values.

use crate::glossary::{ConceptRole, Glossary};
use crate::names::without_unit;
use crate::norm::is_cjk;

/// The concepts a column name stands for: the whole name, the name without `id` or `name`, or its last part.
pub(super) fn concepts_of(words: &str, glossary: &Glossary) -> Vec<(String, u8)> {
    let mut bare = words.to_owned();
    for ending in [
        " id",
        " name",
        " no",
        " number",
        " code",
        " key",
        " ref",
        " reference",
        " title",
        "卡号",
        "编号",
        "编码",
        "名称",
        "姓名",
        "代码",
        "号",
        "id",
        "名",
    ] {
        if let Some(stripped) = words.strip_suffix(ending)
            && !stripped.is_empty()
            && (ending.starts_with(' ') || stripped.chars().all(|c| is_cjk(c) || c == ' '))
        {
            stripped.trim().clone_into(&mut bare);
            break;
        }
    }
    // A unit at the end says how, not what.
    let unitless = without_unit(words);
    if without_unit(&bare) != bare {
        unitless.clone_into(&mut bare);
    }
    let words = unitless;
    // `tip amount` is about tips, `discount percent` about discounts.
    const FORMS: [&str; 9] =
        [" quantity", " amount", " percent", " total", " count", " value", " cost", " fee", " fees"];
    let form = FORMS.iter().find_map(|f| words.strip_suffix(f)).filter(|f| !f.is_empty());
    // … but a `visit fee` is no number of visits.
    const COUNTS: [&str; 14] = [
        "visits",
        "clicks",
        "signups",
        "carts",
        "checkouts",
        "purchases",
        "quantity",
        "impressions",
        "guests",
        "passengers",
        "views_count",
        "goals",
        "headcount",
        "stock",
    ];
    let money = [" amount", " cost", " fee", " fees", " value"].iter().any(|f| words.ends_with(f));
    let mut found: Vec<(String, u8)> = Vec::new();
    for concept in glossary.concepts.iter().filter(|c| c.role != ConceptRole::Ratio) {
        let names = concept.names.iter().map(|name| match_quality(words, &bare, name));
        let headers = concept.headers.iter().map(|h| if words == h || bare == *h { 3 } else { 0 });
        let counted = money && COUNTS.contains(&concept.id.as_str());
        let about = form.filter(|_| concept.role == ConceptRole::Measure && !counted);
        let about = if about.is_some_and(|f| concept.names.iter().any(|n| n == f)) { 3 } else { 0 };
        let quality = names.chain(headers).chain([about]).max().unwrap_or(0);
        if quality > 0 {
            found.push((concept.id.clone(), quality));
        }
    }
    // `优惠金额`, `退款金额` are amounts, but nothing that came in.
    const APART: [&str; 11] =
        ["优惠", "折扣", "减免", "抵扣", "补贴", "退款", "退费", "退货", "押金", "立减", "满减"];
    if APART.iter().any(|a| words.contains(a)) {
        found.retain(|(id, q)| id != "revenue" || *q == 3);
    }
    let best_part = found.iter().filter(|(_, q)| *q < 3).map(|(_, q)| *q).max();
    let exact = found.iter().any(|(_, q)| *q == 3);
    // A whole-name match makes its parts meaningless: `order date` is no order.
    found.retain(|(_, q)| if exact { *q == 3 } else { Some(*q) == best_part });
    found
}

/// `amount paid` and `paid amount`.
fn turned_round(words: &str, name: &str) -> bool {
    let (Some((a, b)), Some((c, d))) = (words.split_once(' '), name.split_once(' ')) else { return false };
    a == d && b == c
}

fn match_quality(words: &str, bare: &str, name: &str) -> u8 {
    if words == name || bare == name || turned_round(words, name) {
        return 3;
    }
    let ends = |text: &str| {
        text.strip_suffix(name).is_some_and(|before| {
            before.ends_with(' ')
                || (name.chars().all(is_cjk) && name.chars().count() >= 2 && !before.is_empty())
        })
    };
    if ends(words) || ends(bare) { 2 } else { 0 }
}
