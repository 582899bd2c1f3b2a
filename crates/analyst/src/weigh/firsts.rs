//! Who came for the first time: `new customers a month`, `each donor's first gift`, `首次下单`. Only where one comes up in many
//! rows; where each row is one, the rows are counted as they are.

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::{Agg, Filter, Group, Intent, Measure, Refusal};
use crate::table::Role;
use crate::weigh::complete::Built;
use crate::weigh::people::is_people;
use crate::weigh::timing::Timing;
use crate::weigh::view::View;
use crate::word::Word;

/// Whose first time is asked about.
pub fn whose(view: &View<'_>) -> Option<ColRef> {
    const FIRST: [&str; 9] =
        ["first-time", "first time", "首次", "第一次", "首单", "首购", "初次", "头一次", "最早的"];
    let again =
        |least: u64| (0..view.items.len()).filter_map(move |i| Some((i, comes_again(view, i, least)?)));
    let first = FIRST.iter().any(|w| view.whole.contains(w))
        || (0..view.items.len()).any(|i| view.items[i].text == "first" && happens_once(view, i + 1));
    let new = again(30).find(|(i, _)| is_new(&view.head(*i)));
    new.or_else(|| again(4).next().filter(|_| first)).map(|(_, c)| c)
}

/// How many there were for the first time.
pub fn settle(built: &mut Built<'_>, timing: &Timing<'_>) -> Result<bool, Refusal> {
    const COUNTS: [Word; 8] = [
        Word::HowMany,
        Word::Count,
        Word::CountSuffix,
        Word::Trend,
        Word::By,
        Word::HowMuch,
        Word::Highest,
        Word::Which,
    ];
    const GROWING: [Word; 6] = [Word::Share, Word::Growth, Word::Yoy, Word::Mom, Word::Mean, Word::Forecast];
    let view = built.view;
    let Some(entity) = view.firsts else { return Ok(false) };
    let date = built.question.date.ok_or(Refusal::NoDate)?;
    // What they brought in, or where they came from, would need more than the day of the first row.
    let others = timing.dims.iter().any(|d| *d != entity && view.role(*d) != Role::Id);
    let figure = |m: &Measure| !matches!(m, Measure::Rows | Measure::Of(Agg::Distinct, _));
    let asked = view.says_any(&COUNTS) || timing.grain.is_some();
    if others || !asked || view.says_any(&GROWING) || built.question.measures.iter().any(figure) {
        return Err(Refusal::NothingAsked);
    }
    // A column that tells who was new says the same again.
    let new =
        |c: ColRef| ["new", "first", "新", "首", "初"].iter().any(|w| view.scope.column(c).full.contains(w));
    built.question.filters.retain(|f| !matches!(f, Filter::Yes { column, .. } if new(*column)));
    built.question.measures = vec![Measure::Of(Agg::Distinct, entity)];
    built.question.groups = timing.grain.map(|g| Group::Time(date, g)).into_iter().collect();
    built.question.intent = Intent::FirstSeen { entity, date };
    Ok(true)
}

/// A thing or person that several rows are about.
fn comes_again(view: &View<'_>, i: usize, least: u64) -> Option<ColRef> {
    let main = view.scope.in_scope[0];
    let entity = |id: &str| view.scope.glossary.concept(id).is_some_and(|c| c.role == ConceptRole::Entity);
    view.items[i].columns().find(|c| {
        let column = view.scope.column(*c);
        let known = column.concepts.iter().any(|(id, _)| entity(id));
        let people = known || least < 30 && is_people(&view.items[i].text);
        c.table == main
            && column.distinct < view.scope.tables[main].rows
            && (column.role == Role::Id
                || column.role == Role::Dimension && people && column.distinct > least)
    })
}

/// `new donors`, `新客户`, `新增会员`.
fn is_new(before: &str) -> bool {
    let word = before.split(|c: char| !c.is_ascii_alphabetic()).next_back();
    ["新", "新增", "新增的", "新来的", "新的", "first-time", "first time"].iter().any(|w| before.ends_with(w))
        || word.is_some_and(|w| matches!(w, "new" | "newly"))
}

/// `first gift`: one such row of each.
fn happens_once(view: &View<'_>, i: usize) -> bool {
    const EVENTS: [&str; 16] = [
        "order",
        "purchase",
        "gift",
        "donation",
        "visit",
        "appointment",
        "booking",
        "transaction",
        "payment",
        "stay",
        "trip",
        "rental",
        "loan",
        "lesson",
        "class",
        "time",
    ];
    view.items.get(i).is_some_and(|item| {
        let row = item.names_row() || item.columns().any(|c| matches!(view.role(c), Role::Id | Role::Time));
        row && (EVENTS.contains(&item.text.as_str()) || !item.text.ends_with('s'))
    })
}
