//! Which figures a reading measures, how they are aggregated, and how well they fit what was asked.

use crate::glossary::DefaultAgg;
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Measure, Question};
use crate::scope::{self, Scope, ratio};
use crate::table::Role;
use crate::units;
use crate::weigh::items::Sense;
use crate::weigh::options::Part;
use crate::weigh::people::{Counted, counted_things};
use crate::weigh::said::names_people;
use crate::weigh::view::View;
use crate::word::Word;

pub struct Figures {
    pub measures: Vec<Measure>,
    /// An aggregate other than the sum was said.
    pub strong: bool,
    /// What the figure is divided by.
    pub per: Vec<(usize, Part)>,
}

impl Figures {
    pub fn new(view: &View<'_>, parts: &[(usize, Part)], cost: &mut f32) -> Self {
        let aggs = view.aggs();
        let mut measures: Vec<Measure> = Vec::new();
        let mut seen: Vec<ColRef> = Vec::new();
        let explicit = parts.iter().any(|(_, p)| matches!(p, Part::Figure(_) | Part::Ratio(_)));
        for (i, part) in parts {
            match part {
                Part::Figure(c) if !seen.contains(c) => {
                    seen.push(*c);
                    measures.push(Measure::Of(agg_for(view, &aggs, *i, *c), *c));
                }
                Part::Implied(c) if !explicit && !seen.contains(c) => {
                    seen.push(*c);
                    measures.push(Measure::Of(agg_for(view, &aggs, *i, *c), *c));
                }
                Part::Rows => {
                    measures.push(Measure::Rows);
                }
                Part::Kinds(c) => {
                    measures.push(Measure::Of(Agg::Distinct, *c));
                }
                Part::Ratio(r) => measures.extend(ratio(view.scope, *r)),
                _ => {}
            }
        }
        let mut once: Vec<Measure> = Vec::new();
        for measure in measures {
            if !once.contains(&measure) {
                once.push(measure);
            }
        }
        let mut measures = once;
        if let Some(defined) = &view.defined {
            match defined.measure(parts) {
                Some(measure) => measures = vec![measure],
                None => *cost += 3.0,
            }
        }
        per_unit(view, parts, &mut measures);
        divided(parts, &mut measures);
        // One figure, several aggregates: `median and average`.
        if let ([Measure::Of(_, c)], true) = (&measures[..], aggs.len() > 1) {
            let c = *c;
            measures = aggs.iter().map(|(_, a)| Measure::Of(*a, c)).collect();
            measures.dedup();
        }
        if measures.len() > 2 {
            *cost += 0.8 * (measures.len() - 2) as f32;
        }
        let per =
            parts.iter().filter(|(_, p)| matches!(p, Part::Per(_) | Part::PerEach(_))).cloned().collect();
        Self { measures, strong: !aggs.is_empty(), per }
    }
}

/// `takings per transaction`: one figure over another.
fn per_unit(view: &View<'_>, parts: &[(usize, Part)], measures: &mut Vec<Measure>) {
    let [Measure::Of(_, first), Measure::Of(_, second)] = measures[..] else { return };
    let per = |c: ColRef| {
        let at = parts.iter().find(|(_, p)| *p == Part::Figure(c)).map(|(i, _)| *i);
        at.and_then(|i| view.before(i)).is_some_and(|k| {
            matches!(view.items[k].text.as_str(), "per" | "每" | "每个" | "每次" | "每条" | "每一")
        })
    };
    if per(second) {
        *measures = vec![over(first, second)];
    } else if per(first) {
        *measures = vec![over(second, first)];
    }
}

fn over(numerator: ColRef, denominator: ColRef) -> Measure {
    let sum = |c| Box::new(Measure::Of(Agg::Sum, c));
    Measure::Ratio { concept: crate::question::PER, numerator: sum(numerator), denominator: sum(denominator) }
}

/// `每箱海运费`, `spend per customer`.
pub fn divided(parts: &[(usize, Part)], measures: &mut Vec<Measure>) {
    let [Measure::Of(_, figure)] = measures[..] else { return };
    for (_, part) in parts {
        match part {
            Part::Per(unit) if *unit != figure => *measures = vec![over(figure, *unit)],
            Part::PerEach(entity) => {
                *measures = vec![Measure::Ratio {
                    concept: crate::question::PER,
                    numerator: Box::new(Measure::Of(Agg::Sum, figure)),
                    denominator: Box::new(Measure::Of(Agg::Distinct, *entity)),
                }];
            }
            _ => {}
        }
    }
}

/// The aggregate said nearest before a figure, else right after it, else what is usual for it.
fn agg_for(view: &View<'_>, aggs: &[(usize, Agg)], at: usize, c: ColRef) -> Agg {
    // `最高分` names the figure as well.
    let before = aggs.iter().rev().find(|(i, _)| *i <= at);
    let summed =
        (0..at).rev().take(3).any(|i| view.word(i) == Some(Word::Sum) && before.is_none_or(|(b, _)| *b < i));
    if summed && view.same_clause(at.saturating_sub(1), at) {
        return Agg::Sum;
    }
    let after = aggs.iter().find(|(i, _)| *i > at);
    if let Some((_, agg)) = before.or(after) {
        return *agg;
    }
    let text = view.items[at].text.as_str();
    if ["average", "avg", "mean ", "平均", "人均"].iter().any(|w| text.contains(w)) {
        return Agg::Mean;
    }
    // `how many minutes were booked`: all of them.
    if text.starts_with("how many ") || text.starts_with("多少") && units::ending(text).is_some() {
        return Agg::Sum;
    }
    // `how many hours was Jas out`: all of them, unless one asks how long it takes.
    let asked =
        view.items.iter().any(|i| i.text.starts_with("how many ") && units::ending(&i.text).is_some());
    let takes = [" take", " took"].iter().any(|w| view.whole.contains(w));
    if asked && !takes && adds_up(view, c) {
        return Agg::Sum;
    }
    let column = view.scope.column(c);
    let paid = view.asks_amount() && units::is_money(column);
    // `sales revenue` of a sale price is what came in.
    let lacking = view.items[at].senses.iter().any(|(s, _)| matches!(s, Sense::Lacking(_)));
    let taken = lacking
        || column.has_concept("price") && column.has_concept("revenue") && !column.full.contains(text);
    if view.says(Word::Sum) || view.counted(at) || text.contains("total") || text.starts_with('总') || taken
    {
        return Agg::Sum;
    }
    if paid && !column.has_concept("price") { Agg::Sum } else { default_agg(view, c) }
}

pub fn default_agg(view: &View<'_>, c: ColRef) -> Agg {
    let column = view.scope.column(c);
    match column.default_agg {
        DefaultAgg::Mean if view.most_said() && adds_up(view, c) => Agg::Sum,
        DefaultAgg::Mean if view.says(Word::Top) && is_spent_time(&column.full) => Agg::Sum,
        DefaultAgg::Mean => Agg::Mean,
        DefaultAgg::Sum => Agg::Sum,
    }
}

/// `hours`, `days on hire`: time that was used, of which there can be more or less in all; not how long something took.
fn is_spent_time(name: &str) -> bool {
    let used = ["hours", "hrs", "days on", "工时", "课时"].iter().any(|w| name.contains(w));
    used && ![" to ", "avg", "average", "per ", "平均"].iter().any(|w| name.contains(w))
}

/// `area by crop`, where nobody said whether the mean or the total is meant: both, where they can be added up.
pub fn mean_and_total(view: &View<'_>, figures: &Figures, measures: &mut Vec<Measure>) {
    let [Measure::Of(Agg::Mean, c)] = measures[..] else { return };
    let open = !figures.strong && figures.per.is_empty() && view.superlative().is_none();
    if open && !view.says(Word::Mean) && adds_up(view, c) && view.bounds.is_empty() {
        measures.push(Measure::Of(Agg::Sum, c));
    }
}

/// `the most hours`: all of them together, which scores, ages and prices have not.
fn adds_up(view: &View<'_>, c: ColRef) -> bool {
    let column = view.scope.column(c);
    let alone = ["score", "rating", "age", "price", "temperature", "tenure", "salary"];
    !view.is_rate(c) && (units::is_money(column) || !alone.iter().any(|id| column.has_concept(id)))
}

/// The figure of a question that names none, and how sure that is.
pub fn default(view: &View<'_>, figures: &Figures, question: &Question) -> (Measure, f32) {
    let how_many = view.items.iter().find(|i| matches!(i.word(), Some(Word::HowMany | Word::Count)));
    let money = money_for(view).map(|c| Measure::Of(default_agg(view, c), c));
    let paid = view.items.iter().any(|i| {
        matches!(i.text.as_str(), "多少钱" | "多少元" | "多少万" | "how much" | "多少块钱" | "money")
            || i.text.contains('钱')
    });
    let deals = view.says_any(&[Word::Sell, Word::Earn, Word::Spend]);
    let aggregate = |c: ColRef| {
        let summed = paid || deals || view.says(Word::Sum);
        let usual = || if summed { Agg::Sum } else { default_agg(view, c) };
        let agg = view.aggs().first().map_or_else(usual, |(_, a)| *a);
        Measure::Of(agg, c)
    };
    // A value that is also what a figure measures: `electricity` of a consumption.
    let told = view.items.iter().find_map(|i| {
        i.value_columns().next()?;
        i.columns().find(|c| view.role(*c) == Role::Measure)
    });
    if let Some(c) = told.filter(|_| how_many.is_none() && !paid) {
        return (aggregate(c), 0.3);
    }
    if let Some(item) = how_many.filter(|_| !figures.strong) {
        let said = item.text.as_str();
        let people = ["多少人", "几人", "多少名", "几名", "多少位", "几位", "个人", "人数"];
        let asked = Counted {
            people: people.iter().any(|p| said.ends_with(p))
                || view.says(Word::Distinct) && view.items.iter().any(|i| names_people(&i.text)),
            kinds: view.scope.glossary.classifiers.asks_kinds(said),
            homes: ["多少户", "几户", "户数"].iter().any(|w| said.ends_with(w)),
        };
        let pieces = view.scope.glossary.classifiers.asks_pieces(said);
        let goods = view
            .items
            .iter()
            .position(|i| i.text == item.text)
            .and_then(|k| view.items.get(k + 1))
            .is_some_and(|n| view.is_goods(n));
        let goods = goods || view.says(Word::Sell) && question.groups.is_empty();
        if let Some(quantity) = view.quantity().filter(|_| pieces || goods) {
            return (Measure::Of(Agg::Sum, quantity), 0.3);
        }
        let counted = counted_things(view.scope, &asked);
        // `住着多少人`, where rows are something else.
        let main = &view.scope.tables[view.scope.in_scope[0]];
        let people = main.rows_called.contains('人') || main.columns.iter().any(|d| d.name.contains('人'));
        let other = counted == Measure::Rows && !view.says_row() && !view.english && asked.people;
        let cost = if other && !people { 1.8 } else { 0.2 };
        return (counted, cost);
    }
    // `what share of the spend`: of the money.
    let spent = view.says(Word::Spend)
        && ["the spend", "our spend", "total spend", "spending", "花费", "支出"]
            .iter()
            .any(|w| view.whole.contains(w));
    let popular = view
        .items
        .iter()
        .any(|i| ["popular", "欢迎", "热门", "most used", "常用"].iter().any(|w| i.text.contains(w)));
    // `占总额`: a part of the money.
    if let Some(c) = view.main_money().filter(|_| ["总额", "总金额"].iter().any(|w| view.whole.contains(w)))
    {
        return (Measure::Of(Agg::Sum, c), 0.2);
    }
    // `ABC of the customers`: by what the table is about; `the share of each channel`: of the rows.
    if view.says(Word::Pareto) {
        let usual = default_column(view.scope).map(|c| Measure::Of(Agg::Sum, c));
        return (usual.unwrap_or(Measure::Rows), 0.6);
    }
    if question.intent == Intent::Share && question.groups.len() == 1 {
        return (Measure::Rows, 0.6);
    }
    if popular
        || view.says_any(&[Word::MostCommon, Word::Busiest])
        || matches!(question.intent, Intent::ShareOf { .. }) && !paid && !spent
    {
        return (Measure::Rows, 0.1);
    }
    // `差旅费报了多少`: a value that is itself an amount.
    let amount = view.items.iter().any(|i| {
        i.value_columns().next().is_some()
            && ["费", "款", "额", "fee", "fees"].iter().any(|e| i.text.ends_with(e))
    });
    // `欠得最多`: what is owed; `派得最多` counts.
    let owed =
        |c: &ColRef| ["欠", "退", "赔", "补", "罚"].iter().any(|w| view.scope.column(*c).name.contains(w));
    let hinted = hinted_money(view)
        .is_some_and(|c| view.english && view.most_said() || owed(&c) || view.says(Word::HowMuch));
    let hinted = hinted || view.whole.contains("欠得") || view.whole.contains("欠的钱");
    if let (Some(money), true) = (&money, paid || deals || amount || hinted || view.says(Word::Sum)) {
        let c = match money {
            Measure::Of(_, c) => *c,
            _ => return (money.clone(), 0.5),
        };
        // What was spent is a cost, where there is one.
        let cost = view.scope.concept_columns("cost").first().map(|(c, _)| *c);
        let c = cost.filter(|c| view.says(Word::Spend) && view.role(*c) == Role::Measure).unwrap_or(c);
        let cost = if paid || deals || hinted { 0.4 } else { 0.9 };
        return (aggregate(c), if paid_elsewhere(view) { cost + 0.8 } else { cost });
    }
    if view.says_any(&[Word::BestSelling, Word::WorstSelling]) {
        let quantity = view.quantity().map(|c| Measure::Of(Agg::Sum, c));
        return (quantity.or(money).unwrap_or(Measure::Rows), 0.5);
    }
    // `人最多的是哪个月`: where a column says how many there were.
    let people = ["人最多", "人最少", "客人最多", "游客最多"].iter().any(|w| view.whole.contains(w));
    if let Some(c) = view.in_unit(units::Unit::Person).filter(|_| people) {
        return (Measure::Of(Agg::Sum, c), 0.3);
    }
    // `超过5公斤的件有多少`: how many of them.
    let counted = view.items.iter().any(|i| i.word() == Some(Word::HowMuch) && i.text.ends_with("有多少"));
    if counted && !view.english && !question.filters.is_empty() {
        return (Measure::Rows, 0.6);
    }
    if view.says(Word::Distribution) && !question.groups.is_empty() {
        return (Measure::Rows, 0.3);
    }
    let empties = question.filters.iter().any(|f| matches!(f, Filter::Empty { .. }));
    if empties || view.most_said() {
        return (Measure::Rows, 0.6);
    }
    // `the average gift`: what one comes to.
    let each =
        view.aggs().first().and_then(|(i, _)| view.after(*i)).is_some_and(|k| view.items[k].names_row());
    if let (true, true, Some(c)) = (figures.strong, each, view.main_money()) {
        return (aggregate(c), 0.6);
    }
    if figures.strong || view.says_any(&[Word::Growth, Word::Yoy, Word::Mom, Word::Sum]) {
        // Where nothing is measured, rows are all that can grow.
        // `by what percentage did sign-ups grow`: what has a date is counted.
        let dated =
            view.items.iter().any(|i| i.names_row() || i.columns().any(|c| view.role(c) == Role::Time));
        return match default_column(view.scope) {
            Some(_) if dated && !figures.strong => (Measure::Rows, 0.9),
            Some(c) => (aggregate(c), 2.2),
            None if figures.strong => (Measure::Rows, 4.0),
            None => (Measure::Rows, 0.8),
        };
    }
    if !question.groups.is_empty() || question.filters.iter().any(|f| !matches!(f, Filter::Days { .. })) {
        let timed = question.groups.iter().any(|g| matches!(g, Group::Time(..)));
        let dated = timed && view.items.iter().any(|i| i.columns().any(|c| view.role(c) == Role::Time));
        let named = view.says_row() || dated;
        // `enquiries per quarter`, `visits by boat type`
        let apart = question.groups.iter().any(|g| match g {
            Group::Time(..) => true,
            Group::By(c) => view.place(*c).is_some_and(|i| !view.items[i].names_row()),
        });
        let cost = match (named && apart, named || !question.groups.is_empty()) {
            (true, _) => 0.6,
            (_, true) => 1.6,
            _ => 2.4,
        };
        return (Measure::Rows, cost);
    }
    // `10月比9月多派了百分之几`
    if matches!(question.intent, Intent::Change { .. }) && view.says(Word::Compare) {
        return (Measure::Rows, 1.2);
    }
    (Measure::Rows, 6.0)
}

/// The figure of a question that names none.
pub fn default_column(scope: &Scope<'_>) -> Option<ColRef> {
    let of = |id: &str| scope.concept_columns(id).first().map(|(c, _)| *c);
    let main = scope.in_scope[0];
    let only = scope.tables[main].indices(|c| c.role == Role::Measure);
    // What was only taken for sales is no default.
    let sure = scope.concept_columns("revenue").first().filter(|(_, q)| *q > 1).map(|(c, _)| *c);
    sure.or_else(|| of("quantity"))
        .or_else(|| of("score"))
        .or_else(|| only.first().map(|c| ColRef { table: main, column: *c }).filter(|_| only.len() == 1))
}

/// The amount that is meant: the one whose name the verbs hint at (`进了多少钱` at `进货金额`), else what the table is about.
pub fn money_for(view: &View<'_>) -> Option<ColRef> {
    let main = view.scope.in_scope[0];
    let worth = || units::worth(&view.scope.tables[main]).map(|column| ColRef { table: main, column });
    hinted_money(view).or_else(|| view.main_money()).or_else(worth)
}

fn hinted_money(view: &View<'_>) -> Option<ColRef> {
    if view.english {
        return verb_money(view);
    }
    const GENERAL: &str = "金额费用价元钱款总数量的了多少一共入支出额单月日年";
    let main = view.scope.in_scope[0];
    let table = &view.scope.tables[main];
    let said: Vec<char> = view
        .items
        .iter()
        .filter(|i| i.columns().next().is_none() && i.value_columns().next().is_none())
        .flat_map(|i| i.text.chars())
        .filter(|c| crate::norm::is_cjk(*c) && !GENERAL.contains(*c))
        .collect();
    let hints = |c: usize| table.columns[c].name.chars().filter(|n| said.contains(n)).count();
    let mut best: Vec<(usize, usize)> = table
        .indices(|c| units::is_money(c) && !c.has_concept("price"))
        .into_iter()
        .map(|c| (hints(c), c))
        .filter(|(n, _)| *n > 0)
        .collect();
    best.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    match best[..] {
        [(_, column)] => Some(ColRef { table: main, column }),
        [(a, column), (b, _), ..] if a > b => Some(ColRef { table: main, column }),
        _ => {
            // `收了多少钱`: what came in, not what should have.
            let real = |c: &usize| table.columns[*c].name.starts_with(['实', '已']);
            best.iter().map(|(_, c)| *c).find(real).map(|column| ColRef { table: main, column })
        }
    }
}

/// `how much did we pay out` of `Paid ($)`: the amount called by the verb.
fn verb_money(view: &View<'_>) -> Option<ColRef> {
    let main = view.scope.in_scope[0];
    let table = &view.scope.tables[main];
    let called = |c: &crate::table::Column| {
        let opening = c.full.split(' ').next().unwrap_or("");
        units::is_money(c) && c.role == Role::Measure && opening.ends_with('d') && view.says_form_of(opening)
    };
    match table.indices(called)[..] {
        [column] => Some(ColRef { table: main, column }),
        _ => None,
    }
}

/// Another table in reach holds the payments this one only describes.
fn paid_elsewhere(view: &View<'_>) -> bool {
    let main = view.scope.in_scope[0];
    view.scope.in_scope.iter().chain(&(0..view.scope.tables.len()).collect::<Vec<_>>()).any(|t| {
        *t != main
            && view.scope.tables[*t].rows > view.scope.tables[main].rows
            && units::main_money(&view.scope.tables[*t]).is_some()
    })
}

/// Every column a question uses.
pub fn columns(question: &Question) -> Vec<ColRef> {
    let mut out: Vec<ColRef> = Vec::new();
    fn of(measure: &Measure, out: &mut Vec<ColRef>) {
        match measure {
            Measure::Rows => {}
            Measure::Of(_, c)
            | Measure::CountYes(c)
            | Measure::RateYes(c)
            | Measure::RateIs { column: c, .. } => {
                out.push(*c);
            }
            Measure::Formula { left, right, .. } => out.extend([*left, *right]),
            Measure::Ratio { numerator, denominator, .. } => {
                of(numerator, out);
                of(denominator, out);
            }
        }
    }
    question.measures.iter().for_each(|m| of(m, &mut out));
    out.extend(question.groups.iter().map(|g| match g {
        Group::By(c) | Group::Time(c, _) => *c,
    }));
    if let Intent::Change { date, .. } = &question.intent {
        out.push(*date);
    }
    let parts = match &question.intent {
        Intent::ShareOf { parts } => &parts[..],
        _ => &[],
    };
    out.extend(question.filters.iter().chain(parts).flat_map(scope::columns));
    out
}
