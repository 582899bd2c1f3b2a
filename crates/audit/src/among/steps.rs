//! One step from figures right beside: difference, sum, ratio, growth, what is left of a whole, another unit of time. Few
//! pairs are tried, and only what the words beside the figure call for.

use super::{Among, Found};
use crate::cues::Cues;
use crate::figures::Place;
use crate::lines::Scope;
use crate::number::{Sign, Unit};
use crate::verdict::Proof;

const REST: &[&str] = &[
    "其余",
    "剩余",
    "余下",
    "其他",
    "其它",
    "尚有",
    "尚余",
    "缺口",
    "差额",
    "扣除",
    "净",
    "未",
    "毛利",
    "空置",
    "remaining",
    "the rest",
    "other",
    "left",
    "leaving",
    "net ",
    "net of",
    "shortfall",
    "gap",
    "open",
    "after",
    "gross",
    "vacan",
];
const COMPLEMENT: &[&str] = &[
    "其余",
    "剩余",
    "余下",
    "其他",
    "未",
    "不",
    "毛利率",
    "良率",
    "良品",
    "达成",
    "准时",
    "及时",
    "流失",
    "remaining",
    "the rest",
    "other",
    "left",
    "not ",
    "margin",
    "yield",
    "on-time",
    "abandon",
    "cheaper",
    "discount",
    "lost",
    "off ",
];
const TOGETHER: &[&str] =
    &["合计", "总", "共", "加起来", "两项", "三项", "之和", "together", "combined", "total", "sum", "both"];
const APART: &[&str] = &[
    "差",
    "多",
    "少",
    "高",
    "低",
    "超",
    "比",
    "增",
    "减",
    "gap",
    "difference",
    "more",
    "fewer",
    "less",
    "higher",
    "lower",
    "exceed",
    "spread",
    "by ",
    "change",
    "increase",
    "decrease",
    "add",
    "lost",
    "losing",
    "saving",
    "over",
    "which is",
];
const PER: &[&str] = &["每", "均", "单", "折合", "per ", "each", "average", "avg", "ratio", "比"];
/// What has a size and no sign.
const SIZES: &[&str] = &[
    "相差",
    "差距",
    "其余",
    "剩余",
    "缺口",
    "gap",
    "difference",
    "spread",
    "between",
    "remaining",
    "leaving",
];
/// From the earlier to the later.
const MOVES: &[&str] = &["由", "从", "升至", "降至", "提高到", "提升至", "from ", " to "];

pub fn find(among: &Among<'_, '_>, at: usize) -> Option<Found> {
    let Place::Prose { sentence, clause, .. } = &among.figures[at].place else { return None };
    let (before, behind) = (among.before(at), among.behind(at));
    if before.is_empty() && behind.is_empty() {
        return None;
    }
    let cues = &Cues::of(among.page, &among.figures[at]);
    let step = Step {
        among,
        at,
        cues,
        near: among.page.report[clause.clone()].to_lowercase(),
        wide: among.page.report[sentence.clone()].to_lowercase(),
    };
    let found = match among.figures[at].number.unit {
        Unit::Points if cues.difference || cues.apart => step.points_of(&before),
        Unit::Points => None,
        Unit::Times => step.pairs(&before, &behind, Step::over),
        Unit::Percent => step.percent(&before, &behind),
        Unit::Plain => step.plain(&before, &behind),
    };
    found.map(|(formula, of, exact)| (Proof::formula(formula, among.operands(&of)), exact))
}

struct Step<'s, 'a, 'p> {
    among: &'s Among<'a, 'p>,
    at: usize,
    cues: &'s Cues,
    near: String,
    wide: String,
}

/// A formula, the figures it is over, and its value.
type Made = (&'static str, Vec<usize>, f64);

impl Step<'_, '_, '_> {
    fn exact(&self, figure: usize) -> f64 {
        self.among.bound[figure].exact.unwrap_or(f64::NAN)
    }

    fn unit(&self, figure: usize) -> Unit {
        self.among.figures[figure].number.unit
    }

    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.near.contains(w))
    }

    /// Operands differ in their row or in their column, not in both; ratios are no operands of amounts.
    fn goes_with(&self, first: usize, second: usize) -> bool {
        let scope = |i: usize| super::scopes::scope_of(self.among, i);
        let column = |i: usize| self.among.operands(&[i]).first().map(|o| o.column.clone());
        match (scope(first), scope(second)) {
            (Some(a), Some(b)) if a == b => {
                // Of one row, and not of the row the figure's own words name: of another.
                let rows = &self.among.bound[self.at].seen.rows;
                let own = rows.iter().find(|(t, _)| *t == a.0).map(|(_, r)| r.clone());
                a.1 == Scope::Whole || own.is_none_or(|r| a.1 == Scope::Rows(r))
            }
            (Some(a), Some(b)) => a.0 != b.0 || column(first) == column(second),
            (None, None) => true,
            // A sum of some rows is no multiple of one of them.
            _ => self.unit(self.at) != Unit::Times,
        }
    }

    /// Read from cells or added up, not divided.
    fn is_amount(&self, figure: usize) -> bool {
        match &self.among.bound[figure].proof {
            Some(Proof::Formula { formula, .. }) => !formula.contains(['/', '-', '*']),
            Some(_) => true,
            None => false,
        }
    }

    /// The words between the figure before and this one, without "the most" and "the least".
    fn lead(&self) -> String {
        let report = self.among.page.report;
        let span = &self.among.figures[self.at].number.span;
        let Place::Prose { sentence, .. } = &self.among.figures[self.at].place else { return String::new() };
        let before = self.at.checked_sub(1).map_or(0, |i| self.among.figures[i].number.span.end);
        let from = before.max(sentence.start).min(span.start);
        let text = report[from..span.start].to_lowercase();
        ["最多", "最少", "最高", "最低"].iter().fold(text, |text, most| text.replace(most, ""))
    }

    /// Without a sign or a word of direction, the size alone is said.
    fn is(&self, value: f64) -> bool {
        let unsigned = self.among.figures[self.at].number.sign == Sign::Bare && self.cues.direction.is_none();
        let sized = unsigned
            && self.unit(self.at) != Unit::Percent
            && (SIZES.iter().any(|w| self.wide.contains(w)) || self.cues.apart);
        self.among.is(self.at, value) || (sized && self.among.is(self.at, value.abs()))
    }

    /// Pairs of figures right beside, the one said first in front.
    fn pairs(
        &self,
        before: &[usize],
        behind: &[usize],
        make: impl Fn(&Self, usize, usize) -> Option<Made>,
    ) -> Option<Made> {
        let mut all = Vec::new();
        for (i, later) in before.iter().take(3).enumerate() {
            all.extend(before.iter().take(4).skip(i + 1).map(|earlier| (*earlier, *later)));
        }
        if let Some(last) = before.first() {
            all.extend(behind.first().map(|next| (*last, *next)));
        }
        if let [one, two] = behind {
            all.push((*one, *two));
        }
        all.into_iter().find_map(|(first, second)| make(self, first, second))
    }

    /// The one said first less the other; the other way round where something moves from one to the other.
    fn less(&self, first: usize, second: usize) -> Option<Made> {
        let value = self.exact(first) - self.exact(second);
        let moves = MOVES.iter().any(|w| self.wide.contains(w));
        let value = if moves { -value } else { value };
        let same = self.unit(first) == self.unit(second) && self.goes_with(first, second);
        (same && self.is(value)).then(|| ("a - b", vec![first, second], value))
    }

    /// Percentages of the last sentences, two at a time.
    fn points_of(&self, before: &[usize]) -> Option<Made> {
        let percents: Vec<usize> =
            before.iter().copied().filter(|i| self.unit(*i) == Unit::Percent).take(5).collect();
        for (i, later) in percents.iter().enumerate() {
            for earlier in &percents[i + 1..] {
                if let Some(made) = self.points(*earlier, *later) {
                    return Some(made);
                }
            }
        }
        None
    }

    fn points(&self, first: usize, second: usize) -> Option<Made> {
        (self.unit(first) == Unit::Percent).then(|| self.less(first, second)).flatten()
    }

    fn over(&self, first: usize, second: usize) -> Option<Made> {
        let (a, b) = (self.exact(first), self.exact(second));
        let same = self.unit(first) == self.unit(second)
            && self.goes_with(first, second)
            && (self.unit(self.at) != Unit::Times || self.is_amount(first) == self.is_amount(second))
            && (self.unit(self.at) != Unit::Percent || self.among.figures[self.at].number.value < 10.0);
        let one = self.among.is(self.at, a / b).then(|| ("a / b", vec![first, second], a / b));
        let made =
            one.or_else(|| self.among.is(self.at, b / a).then(|| ("a / b", vec![second, first], b / a)));
        made.filter(|_| same)
    }

    fn growth(&self, first: usize, second: usize) -> Option<Made> {
        let (a, b) = (self.exact(first), self.exact(second));
        let same = self.unit(first) == self.unit(second) && self.goes_with(first, second);
        let made = |a: f64, b: f64| a / b - 1.0;
        let (on, back) = (made(b, a), made(a, b));
        // A small step is as large backwards: then the order of the words decides.
        let moves = MOVES.iter().any(|w| self.wide.contains(w));
        let half = self.among.figures[self.at].number.half;
        let alike = (on.abs() - back.abs()).abs() <= 2.0 * half;
        let one = (self.is(on) && (moves || !alike)).then(|| ("a / b - 1", vec![second, first], on));
        let other =
            || (self.is(back) && (!moves || !alike)).then(|| ("a / b - 1", vec![first, second], back));
        one.or_else(other).filter(|_| same)
    }

    fn percent(&self, before: &[usize], behind: &[usize]) -> Option<Made> {
        let plain = |i: &&usize| self.unit(**i) == Unit::Plain;
        let amounts: Vec<usize> = before.iter().filter(plain).copied().collect();
        let next: Vec<usize> = behind.iter().filter(plain).copied().collect();
        if self.cues.growth
            && let Some(made) = self.pairs(before, behind, Self::growth)
        {
            return Some(made);
        }
        if (self.cues.share || self.cues.ratio || self.cues.first || self.wide.contains(" of "))
            && let Some(made) = self.pairs(&amounts, &next, Self::over)
        {
            return Some(made);
        }
        let beside = self.lead().chars().filter(|c| c.is_alphabetic() && *c != '元').count() == 0;
        if (self.cues.share || beside)
            && let Some(made) = amounts.first().or(next.first()).and_then(|i| self.share(*i))
        {
            return Some(made);
        }
        if let Some(made) = amounts.first().and_then(|i| self.of_difference(*i)) {
            return Some(made);
        }
        let percents: Vec<usize> =
            before.iter().filter(|i| self.unit(**i) == Unit::Percent).copied().collect();
        if self.says(COMPLEMENT) {
            let rest = |i: &usize| 1.0 - self.exact(*i);
            let one = percents.iter().take(2).find(|i| self.among.is(self.at, rest(i)));
            if let Some(i) = one {
                return Some(("1 - a", vec![*i], rest(i)));
            }
            let rest = |s: &Self, a: usize, b: usize| {
                let value = 1.0 - s.exact(a).min(s.exact(b)) / s.exact(a).max(s.exact(b));
                s.among.is(s.at, value).then(|| ("1 - a / b", vec![a, b], value))
            };
            if let Some(made) = self.pairs(&amounts, &next, rest) {
                return Some(made);
            }
        }
        self.sum(&percents)
    }

    /// "41,300 (8.6%)": a difference, as a part of what it is taken from.
    fn of_difference(&self, less: usize) -> Option<Made> {
        let Some(Proof::Formula { formula, operands }) = &self.among.bound[less].proof else { return None };
        let [_, _] = operands.as_slice() else { return None };
        let ratio = |o: &crate::verdict::Operand| o.value.map(|v| self.exact(less) / v);
        let values = operands.iter().filter_map(ratio);
        let fits = |v: &f64| self.among.is(self.at, *v) || self.among.is(self.at, v.abs());
        let alone = self.lead().chars().filter(|c| c.is_alphabetic()).count() < 6;
        let value = values.into_iter().find(|v| formula == "a - b" && alone && fits(v))?;
        Some(("(a - b) / b", vec![less], value))
    }

    /// "252.9万元，22.3%": the amount right before, over the whole of its column.
    fn share(&self, part: usize) -> Option<Made> {
        let operands = self.among.operands(&[part]);
        let first = operands.first()?;
        let table = self.among.page.index.tables.iter().find(|t| t.id == first.tool_call_id)?;
        let column = table.columns.iter().find(|c| c.name == first.column && !c.rate && !c.averaged)?;
        let alone = operands.iter().all(|o| o.column == first.column && o.row.is_some());
        // "延误 211 票，占全部延误的 31.1%": the whole of a difference is the difference of the wholes.
        if let [a, b] = operands.as_slice()
            && a.row.is_some()
            && a.row == b.row
            && let Some(other) = table.columns.iter().find(|c| c.name == b.column)
        {
            let value = self.exact(part) / (column.total()? - other.total()?);
            return self.among.is(self.at, value).then(|| ("(a - b) / sum(a - b)", vec![part], value));
        }
        let value = self.exact(part) / column.total()?;
        (alone && self.among.is(self.at, value)).then(|| ("a / sum(a)", vec![part], value))
    }

    fn plain(&self, before: &[usize], behind: &[usize]) -> Option<Made> {
        let plain = |i: &&usize| self.unit(**i) == Unit::Plain;
        let shown: Vec<usize> = before.iter().filter(plain).copied().collect();
        if let Some(made) = self.restated(&shown) {
            return Some(made);
        }
        let lead = self.lead();
        let says = |words: &[&str]| words.iter().any(|w| lead.contains(w));
        let rest = says(REST);
        // Ratios are compared with ratios, amounts with amounts.
        let of_kind = |a: usize, b: usize| self.is_amount(a) == self.is_amount(b);
        let signed = self.among.figures[self.at].number.sign != Sign::Bare;
        if (rest || signed || says(APART) || self.cues.direction.is_some())
            && let Some(made) = self.pairs(&shown, &[], |s, a, b| {
                let made = s.less(a, b).or_else(|| rest.then(|| s.less(b, a)).flatten());
                made.filter(|_| of_kind(a, b))
            })
        {
            return Some(made);
        }
        let amounts: Vec<usize> = shown.into_iter().filter(|i| self.is_amount(*i)).collect();
        let next: Vec<usize> = behind.iter().copied().filter(|i| self.unit(*i) == Unit::Plain).collect();
        if let Some(made) = self.sum(&amounts).or_else(|| self.sum(&next)) {
            return Some(made);
        }
        let telling = self.among.figures[self.at].number.digits_shown > 1;
        if (says(PER) || self.near.contains(" per ")) && telling {
            return self.pairs(&amounts, &[], Self::over);
        }
        None
    }

    /// Two or three figures right before, added up.
    fn sum(&self, before: &[usize]) -> Option<Made> {
        if !self.says(TOGETHER) {
            return None;
        }
        for size in [2, 3] {
            let some = before.get(..size)?;
            let value: f64 = some.iter().map(|i| self.exact(*i)).sum();
            if self.among.is(self.at, value) {
                return Some(("sum(a)", some.to_vec(), value));
            }
        }
        None
    }

    /// "61.2 minutes (about 1.0 hours)", "annualised": the figure right before, in another unit of time.
    fn restated(&self, before: &[usize]) -> Option<Made> {
        let one = *before.first()?;
        let number = &self.among.figures[self.at].number;
        let report = self.among.page.report;
        let to = report.floor_char_boundary((number.span.end + 16).min(report.len()));
        let after = report[number.span.end..to].trim_start().to_lowercase();
        let starts = |words: &[&str]| words.iter().any(|w| after.starts_with(w));
        let mut factors: Vec<(&'static str, f64)> = Vec::new();
        if starts(&["hour", "小时", "h)", "h）", "min", "分钟"]) {
            factors.push(("a / 60", 1.0 / 60.0));
        }
        if starts(&["day", "天"]) {
            factors.push(("a / 24", 1.0 / 24.0));
        }
        if self.says(&["annual", "年化", "run-rate", "run rate", "a year", "per year", "全年", "arr"]) {
            factors.push(("a * 12", 12.0));
        }
        let value = |factor: f64| self.exact(one) * factor;
        let made = factors.into_iter().find(|(_, factor)| self.among.is(self.at, value(*factor)))?;
        Some((made.0, vec![one], value(made.1)))
    }
}
