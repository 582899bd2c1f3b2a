//! What the words around a Chinese phrase say about it: a classifier after a number, a verb in the place of one, who a
//! figure is about, what was not done. Changes mentions; decides nothing about what is asked.

use super::{Dictionary, Meaning, Mention};
use crate::norm::is_cjk;
use crate::word::Word;

const NOT: [&str; 11] =
    ["没", "没有", "未", "还没", "还没有", "尚未", "还未", "并未", "未曾", "没人", "无人"];

/// Characters of verbs that say what became of something.
const FATES: &str = "退坏丢死赔亏欠罚漏撤停关拒废返弃断离换补还赠免逃迟缺超误伤损烂裂破降涨增减剩余转失流省节浪新老复续重错改取消瘦胖偷骗辞裁淘汰胜败赢输违逾延拖晚早未不没无非只仅另其他";

/// What neighbours say, before unknown words are looked at.
pub(super) fn settle(text: &[char], mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    join_classifiers(text, mentions, dictionary);
    keep_verbs(text, mentions, dictionary);
    ask_kinds(mentions, dictionary);
    pass_over_owners(text, mentions, dictionary);
}

/// What neighbours say, when all words are known.
pub(super) fn settle_last(mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    split_unrated(mentions, dictionary);
    deny(mentions, dictionary);
    narrow_heads(mentions, dictionary);
}

fn is_stop(mention: &Mention) -> bool {
    mention.meanings.iter().all(|m| *m == Meaning::Stop)
}

fn says(mention: &Mention, words: &[Word]) -> bool {
    mention.meanings.iter().any(|m| matches!(m, Meaning::Word(w) if words.contains(w)))
}

/// Goods as such: after `多少件` they repeat what is counted.
const GOODS: [&str; 58] = [
    "货", "货物", "货品", "东西", "商品", "产品", "物品", "物件", "衣服", "服装", "衣物", "鞋", "鞋子", "布",
    "布料", "面料", "料", "材料", "物料", "原料", "水", "电", "气", "燃气", "油", "药", "药品", "书", "菜",
    "饭", "茶", "茶叶", "酒", "饮料", "奶", "粮", "粮食", "水果", "蔬菜", "肉", "鱼", "花", "煤", "钢",
    "钢材", "木材", "纸", "砖", "设备", "机器", "配件", "零件", "包裹", "快递", "件儿", "活", "活儿", "车",
];

/// `3盒以上`, `5晚及以上`, `3件`: the classifier belongs to the number.
fn join_classifiers(text: &[char], mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    const OTHER: [&str; 8] = ["晚", "夜", "斤", "米", "平", "克", "块", "度"];
    let counted = |word: &str| OTHER.contains(&word) || dictionary.hints.pieces.iter().any(|p| p == word);
    for at in 0..mentions.len() {
        let end = mentions[at].end;
        let digit = end > 0
            && (text[end - 1].is_ascii_digit() || "二两三四五六七八九十百千万".contains(text[end - 1]));
        if !matches!(mentions[at].meanings[..], [Meaning::Number(_), ..]) || !digit || end >= text.len() {
            continue;
        }
        let word = text[end].to_string();
        let covered = mentions.iter().position(|m| m.start <= end && end < m.end);
        let bounded = bound_follows(text, end + 1);
        // `工作年限5年以上`: how long, not when.
        let length = ["年", "天", "岁"].contains(&word.as_str()) && limit_follows(text, end + 1);
        if !(counted(&word) && bounded || length) {
            continue;
        }
        match covered {
            Some(next) if length && says(&mentions[next], &[Word::Year, Word::Day]) => {
                if mentions[next].end != end + 1 {
                    continue;
                }
                mentions[next].meanings.clear();
            }
            Some(next) if is_stop(&mentions[next]) && mentions[next].end == end + 1 => {
                mentions[next].meanings.clear();
            }
            None => {}
            Some(_) => continue,
        }
        mentions[at].end = end + 1;
        mentions[at].text.push_str(&word);
    }
    // `（含5年）`, said again.
    for at in 1..mentions.len() {
        let (before, this) = (&mentions[at - 1], &mentions[at]);
        let again = is_stop(before) && before.text.chars().all(|c| c.is_ascii_digit());
        let closed = before.end == this.start && text.get(this.end) == Some(&')');
        if again && closed && says(this, &[Word::Year, Word::Day, Word::Month]) {
            mentions[at].meanings = vec![Meaning::Stop];
        }
    }
    mentions.retain(|m| !m.meanings.is_empty());
}

/// `以上`, `及以下`.
fn limit_follows(text: &[char], at: usize) -> bool {
    let rest: String = text[at.min(text.len())..].iter().take(3).collect();
    ["以上", "以下", "及以上", "及以下", "或以上", "或以下"].iter().any(|b| rest.starts_with(b))
}

/// A bound follows: `以上`, `及以上`, `以下的`, or the thing itself.
fn bound_follows(text: &[char], at: usize) -> bool {
    let rest: String = text[at.min(text.len())..].iter().take(4).collect();
    ["以上", "以下", "及以上", "及以下", "或以上", "或以下", "以内", "(含", "的", "或更多", "起"]
        .iter()
        .any(|b| rest.starts_with(b))
}

/// `客人打分`, `乘客投诉`: who it is about, where no column tells people apart.
fn pass_over_owners(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    const ASKED: [Word; 7] =
        [Word::Which, Word::By, Word::HowMany, Word::HowMuch, Word::Distinct, Word::Count, Word::Top];
    for at in 0..mentions.len() {
        let this = &mentions[at];
        let nobody = |m: &Meaning| matches!(m, Meaning::Concept(i) if dictionary.hints.nobody.contains(i));
        if !this.text.chars().all(is_cjk) || !this.meanings.iter().all(nobody) {
            continue;
        }
        let asked = at > 0 && mentions[at - 1].end == this.start && says(&mentions[at - 1], &ASKED);
        let next = mentions[at + 1..].iter().find(|m| !is_stop(m) || m.text.chars().count() > 1);
        let near = next.filter(|m| m.start - this.end <= 2);
        let about = near.is_some_and(|m| {
            m.meanings.iter().any(|m| {
                matches!(m, Meaning::Column(..) | Meaning::Word(Word::Mean | Word::Sum))
                    || matches!(m, Meaning::Concept(i) if !dictionary.hints.nobody.contains(i))
            })
        });
        let counted = near.is_some_and(|m| says(m, &[Word::Count, Word::CountSuffix, Word::Distinct]));
        let joined = this.end < text.len() && matches!(text[this.end], '和' | '与' | '、' | '及');
        if about && !asked && !counted && !joined {
            mentions[at].meanings = vec![Meaning::Stop];
        }
    }
}

/// `已收的律师费`, where `已收律师费` stands beside `律师费`: both words name one column.
fn narrow_heads(mentions: &mut [Mention], dictionary: &Dictionary) {
    for at in 0..mentions.len() {
        let [Meaning::Column(whole, 2)] = mentions[at].meanings[..] else { continue };
        if !mentions[at].text.chars().all(is_cjk) {
            continue;
        }
        let Some(next) = (at + 1..mentions.len()).find(|j| !is_stop(&mentions[*j])) else { continue };
        let head = &mentions[next];
        // `已经收了多少学费`, where `已缴` is all there is of fees.
        let asked = says(head, &[Word::HowMuch]);
        let last = mentions[next + 1..].iter().find(|m| !is_stop(m)).filter(|m| asked && m.start == head.end);
        let lacking = last.filter(|m| {
            let absent =
                |m: &Meaning| matches!(m, Meaning::Concept(i) if dictionary.hints.absent.contains(i));
            m.text.ends_with(['费', '款', '金', '钱', '额']) && m.meanings.iter().all(absent)
        });
        if let Some(start) = lacking.map(|m| m.start) {
            mentions[at].meanings = vec![Meaning::Column(whole, 4)];
            mentions.iter_mut().filter(|m| m.start == start).for_each(|m| m.meanings = vec![Meaning::Stop]);
            continue;
        }
        let same = |m: &Meaning| matches!(m, Meaning::Column(c, _) if *c == whole);
        let others = head.meanings.iter().any(|m| matches!(m, Meaning::Column(c, _) if *c != whole));
        if head.start - mentions[at].end <= 3 && others && head.meanings.iter().any(same) {
            mentions[next].meanings = vec![Meaning::Column(whole, 4)];
            // With the mark of its name, as `应` of `应收电费`.
            if let Some(called) = dictionary.called(whole) {
                called.clone_into(&mut mentions[next].text);
            }
            mentions[at].meanings = vec![Meaning::Stop];
        }
    }
}

/// `哪类用户`, `哪种病人`: by kind, not one by one.
fn ask_kinds(mentions: &mut [Mention], dictionary: &Dictionary) {
    for at in 1..mentions.len() {
        let (before, this) = (&mentions[at - 1], &mentions[at]);
        let kinds = before.text.contains(['类', '种']) && says(before, &[Word::Which, Word::By]);
        // `买了几类东西`
        let counted = says(before, &[Word::HowMany]) && before.text.ends_with(['类', '种']);
        let kinds = kinds || counted && GOODS.contains(&this.text.as_str()) && is_stop(this);
        let things = this.meanings.iter().all(|m| match m {
            Meaning::Concept(i) => dictionary.hints.nobody.contains(i),
            Meaning::Column(c, q) => *q == 2 && dictionary.is_number(*c),
            Meaning::RowNoun(_) | Meaning::Stop => true,
            _ => false,
        });
        if kinds
            && things
            && before.end == this.start
            && this.text.chars().count() >= 2
            && let Some(column) = dictionary.kinds_of(&this.text)
        {
            mentions[at].meanings = vec![column];
        }
    }
}

/// `除盆栽以外，其余商品`: all others, said again.
fn all_others(text: &[char], start: usize, end: usize, mentions: &[Mention]) -> bool {
    let word: String = text[start.saturating_sub(1)..end].iter().collect();
    let excluded = mentions.iter().any(|m| m.end <= start && says(m, &[Word::Exclude]));
    excluded && ["其余", "其他", "其它", "剩下", "剩余", "余下"].iter().any(|o| word.ends_with(o))
}

/// `差评（评分2分及以下）`: a word that the brackets after it explain.
fn explained(text: &[char], end: usize, mentions: &[Mention]) -> bool {
    if text.get(end) != Some(&'(') {
        return false;
    }
    let close = (end..text.len()).find(|i| text[*i] == ')').unwrap_or(text.len());
    let mut inside = mentions.iter().filter(|m| m.start > end && m.end <= close);
    inside.any(|m| {
        says(m, &[Word::Ge, Word::Gt, Word::Le, Word::Lt, Word::Equal, Word::Missing])
            || m.meanings.iter().any(|m| matches!(m, Meaning::Value(_, _, 3..)))
    })
}

/// `没评分`, `没打分`: the marks that were not given, where one column holds them.
fn split_unrated(mentions: &mut Vec<Mention>, dictionary: &Dictionary) {
    const RATED: [&str; 5] = ["评分", "打分", "评价", "评", "给分"];
    let Some(column) = dictionary.rated() else { return };
    for at in 0..mentions.len() {
        let mention = &mentions[at];
        let told = |w: &&str| mention.text.strip_suffix(w).is_some_and(|not| NOT.contains(&not));
        let Some(word) = RATED.iter().find(|w| told(w)).filter(|_| says(mention, &[Word::Missing])) else {
            continue;
        };
        let end = mention.end;
        let middle = end - word.chars().count();
        let bare = mention.text[..mention.text.len() - word.len()].to_owned();
        mentions[at].end = middle;
        mentions[at].text = bare;
        mentions[at].meanings = vec![Meaning::Word(Word::Exclude)];
        let rating = Meaning::Column(column, 2);
        mentions.push(Mention { start: middle, end, text: (*word).to_owned(), meanings: vec![rating] });
    }
    mentions.sort_by_key(|m| m.start);
}

/// `没结`, `定金没付`: what was not done is where a column has gaps.
fn deny(mentions: &mut [Mention], dictionary: &Dictionary) {
    for at in 0..mentions.len() {
        let denied = NOT.contains(&mentions[at].text.as_str()) && says(&mentions[at], &[Word::Exclude]);
        let Some(verb) = mentions.get(at + 1).filter(|v| v.start == mentions[at].end) else { continue };
        let lacks = |m: &Meaning| matches!(m, Meaning::Column(c, _) if dictionary.has_gaps(*c));
        if !is_stop(verb) {
            continue;
        }
        if !denied || !verb.text.chars().all(is_cjk) || verb.text.chars().count() > 2 || verb.text == "的" {
            continue;
        }
        let before = mentions[..at].iter().rev().find(|m| !is_stop(m));
        let near = before.filter(|m| mentions[at].start - m.end <= 2);
        let gaps = near.is_some_and(|m| m.meanings.iter().any(lacks));
        let undone = dictionary.undone(&verb.text);
        if gaps {
            mentions[at].meanings = vec![Meaning::Word(Word::Missing)];
        } else if let Some(column) = undone {
            mentions[at + 1].meanings = vec![column];
        }
    }
}

/// The column that is empty where a word right after a negation was not done.
pub(super) fn undone(text: &[char], start: usize, word: &str, dictionary: &Dictionary) -> Option<Meaning> {
    let before: String = text[..start].iter().collect();
    let denied = NOT.iter().any(|n| before.ends_with(n));
    (denied && word.chars().all(is_cjk) && word.chars().count() <= 3).then(|| dictionary.undone(word))?
}

/// `开播了几场`: the verb, not the column that begins with it.
fn keep_verbs(text: &[char], mentions: &mut [Mention], dictionary: &Dictionary) {
    for mention in mentions.iter_mut() {
        let part = |m: &Meaning| matches!(m, Meaning::Column(at, 2) if !dictionary.is_figure(*at));
        let done = matches!(text.get(mention.end), Some('了' | '过'));
        let asked: String = text[mention.end.min(text.len())..].iter().skip(1).take(2).collect();
        let asks = asked.starts_with("多少") || asked.starts_with('几');
        if done && asks && mention.text.chars().all(is_cjk) && mention.meanings.iter().all(part) {
            mention.meanings = vec![Meaning::Stop];
        }
    }
}

/// Part of what became of something: `期` of `超期`; `欠` and `证` that are no amount asked for.
pub(super) fn in_fate(text: &[char], start: usize, end: usize, dictionary: &Dictionary) -> bool {
    let after: String = text[end..].iter().filter(|c| **c != '了').take(2).collect();
    let asked = after == "多少" || after.starts_with('几');
    // `赔得最多`, where a column is about it; but `欠着` is a state.
    let lasts = text.get(end) == Some(&'着');
    let limits = |c: char| {
        (dictionary.hints.flags.contains(c) || FATES.contains(c))
            && (lasts || !dictionary.hints.headers.contains(c))
    };
    if is_cjk(text[start]) && !asked && text[start..end].iter().any(|c| limits(*c)) {
        return true;
    }
    let covers = |at: usize, fate: &[char]| {
        text[at..].starts_with(fate)
            && at < end
            && at + fate.len() > start
            && (at < start || at + fate.len() > end)
            || text[at..].starts_with(fate) && at == start && at + fate.len() == end
    };
    is_cjk(text[start])
        && dictionary.fates.iter().any(|f| (start.saturating_sub(f.len())..end).any(|at| covers(at, f)))
}

/// `揽收了多少件`, `多少件衣服`: a verb of the question, or the goods it counts. What became of something is neither.
pub(super) fn says_nothing_new(
    text: &[char],
    start: usize,
    end: usize,
    mentions: &[Mention],
    dictionary: &Dictionary,
) -> bool {
    let word: String = text[start..end].iter().collect();
    let counted = |m: &Mention| {
        m.end == start
            && (says(m, &[Word::HowMany])
                || m.meanings.iter().any(|m| matches!(m, Meaning::Unit(_) | Meaning::Number(_))))
    };
    if all_others(text, start, end, mentions) || explained(text, end, mentions) {
        return true;
    }
    if GOODS.contains(&word.as_str()) && mentions.iter().any(counted) {
        return true;
    }
    let before = if start > 0 { text[start - 1] } else { ' ' };
    if in_fate(text, start, end, dictionary)
        || end - start > 2
        || word.chars().any(|c| FATES.contains(c))
        || "没未不无非别".contains(before)
    {
        return false;
    }
    let aspect = matches!(text.get(end), Some('了' | '过'));
    let rest: String = text[end.min(text.len())..].iter().skip(1).take(3).collect();
    let asks = ["多少", "几", "一共", "总共", "的"].iter().any(|a| rest.starts_with(a));
    aspect && asks
}
