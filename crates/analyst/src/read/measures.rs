//! Which figures a question is about, when it says so, implies it, or leaves it open.

use crate::glossary::DefaultAgg;
use crate::lex::ColRef;
use crate::question::{Agg, Intent, Measure, Note, Question, Refusal};
use crate::read::draft::{Draft, Wanted};
use crate::read::pairs::about_nouns;
use crate::read::tokens::Scope;
use crate::table::Role;
use crate::word::Word;

/// Measures that other words stand for: `the cheapest`, `卖了多少件`, `the earliest date`, `admissions`.
pub(super) fn add_implied(scope: &Scope<'_>, draft: &mut Draft) {
    let extreme = if draft.says(Word::Earliest) {
        Some(Agg::Min)
    } else {
        draft.says(Word::Latest).then_some(Agg::Max)
    };
    if let (Some(agg), Some(date), true) = (extreme, draft.dates.first(), draft.measures.is_empty()) {
        draft.measures.push(Wanted::Fixed(Measure::Of(agg, *date)));
    }
    let product =
        || ["product", "category"].iter().find_map(|id| scope.concept_columns(id).first().map(|(c, _)| *c));
    if draft.says_any(&[Word::BestSelling, Word::WorstSelling])
        && draft.dims.is_empty()
        && draft.grain.is_none()
    {
        draft.dims.extend(product().filter(|c| scope.role(*c) != Role::Measure));
    }
    if draft.says(Word::Who) && draft.dims.is_empty() {
        draft.dims.extend(person(scope));
    }
    if draft.most_of && draft.loose_agg.is_none() && most_rows(scope, draft) {
        draft.measures = vec![Wanted::Fixed(counted_things(scope, draft))];
    }
    if !draft.measures.is_empty() {
        return;
    }
    if let Some(column) = draft.implied {
        draft.measures.push(Wanted::Plain(column, None));
    } else if let Some(column) = acted_on(scope, draft) {
        draft.measures.push(Wanted::Plain(column, None));
    } else if draft.asks_units {
        let quantity = scope.concept_columns("quantity");
        draft.measures.extend(quantity.first().map(|(c, _)| Wanted::Plain(*c, Some(Agg::Sum))));
    } else if draft.events
        && !draft.asks_money
        && !draft.asks_people
        && draft.loose_agg.is_none()
        && draft.things.is_empty()
        && (draft.order.is_none() || draft.most)
    {
        draft.measures.push(Wanted::Fixed(Measure::Rows));
    }
}

/// What `sold`, `spent` and `earned` are about when nothing else is measured.
fn acted_on(scope: &Scope<'_>, draft: &Draft) -> Option<ColRef> {
    let of = |id: &str| scope.concept_columns(id).first().map(|(c, _)| *c);
    let counts = draft.says(Word::HowMany);
    if draft.says(Word::Sell) && counts && draft.dims.is_empty() {
        return of("quantity");
    }
    let asks = draft.says_any(&[
        Word::HowMuch,
        Word::Highest,
        Word::Lowest,
        Word::Which,
        Word::Who,
        Word::Top,
        Word::Sum,
        Word::Compare,
        Word::Gt,
    ]) || draft.loose_agg.is_some()
        || !draft.numbers.is_empty();
    // `what share of members pay annually`: of the members.
    let of_rows = draft.says(Word::Share) && draft.names_rows && !draft.asks_money;
    if counts || !asks || of_rows {
        return None;
    }
    let main = scope.in_scope[0];
    let money = || crate::units::main_money(&scope.tables[main]).map(|column| ColRef { table: main, column });
    if draft.says(Word::Spend) {
        of("cost").or_else(|| of("revenue")).or_else(money)
    } else {
        of("revenue").or_else(money).filter(|_| draft.says_any(&[Word::Sell, Word::Earn]))
    }
}

pub(super) fn measures(scope: &Scope<'_>, draft: &mut Draft, notes: &mut Vec<Note>) -> Vec<Measure> {
    let superlative = draft.says_any(&[Word::Highest, Word::Lowest]);
    let scalar = draft.dims.is_empty() && draft.grain.is_none();
    let mut out: Vec<Measure> = Vec::new();
    // Named twice, once with how to aggregate it: that holds.
    let said_how =
        |c: &ColRef| draft.measures.iter().any(|w| matches!(w, Wanted::Plain(d, Some(_)) if d == c));
    for wanted in &draft.measures {
        if matches!(wanted, Wanted::Plain(c, None) if said_how(c)) {
            continue;
        }
        let measure = match wanted {
            Wanted::Fixed(measure) => measure.clone(),
            Wanted::Plain(column, Some(agg)) => Measure::Of(*agg, *column),
            Wanted::Plain(column, None) => {
                let default = default_agg(scope, draft, *column);
                let agg = draft.loose_agg.unwrap_or(default);
                let special = draft.says_any(&[Word::Correlation, Word::Distribution, Word::Outlier])
                    || superlative && scalar;
                if draft.loose_agg.is_none() && default == Agg::Mean && !special {
                    notes.push(Note::DefaultAgg(agg, *column));
                }
                Measure::Of(agg, *column)
            }
        };
        if !out.contains(&measure) {
            out.push(measure);
        }
    }
    // `how many stayed longer than 10 days`: the column only states the condition.
    let conditional = |w: &Wanted| matches!(w, Wanted::Plain(c, None) if draft.conditioned.contains(c));
    if (draft.says(Word::HowMany) || draft.asks_rows) && draft.measures.iter().all(conditional) {
        out.clear();
    }
    let counted = draft.says(Word::Count) && draft.loose_agg.is_none();
    let of_values =
        draft.asks_rows && draft.dims.is_empty() && !(draft.values.is_empty() && draft.numbers.is_empty());
    if out.is_empty() && (draft.says(Word::HowMany) || counted || of_values && draft.loose_agg.is_none()) {
        out.push(counted_things(scope, draft));
    }
    out
}

/// What `how many` counts when nothing is named: people or homes where they have numbers, else rows.
pub(crate) fn counted_things(scope: &Scope<'_>, draft: &Draft) -> Measure {
    let people: Vec<ColRef> = ["employee", "customer", "student", "patient", "candidate"]
        .iter()
        .flat_map(|id| scope.concept_columns(id))
        .map(|(c, _)| c)
        .filter(|c| scope.role(*c) == Role::Id || scope.column(*c).distinct < scope.tables[c.table].rows)
        .collect();
    // Namesakes have one name and two numbers.
    let numbered = |name: &ColRef| {
        let names = scope.column(*name).distinct;
        // … or every row is one of them.
        let alike = |c: &&ColRef| {
            let numbers = scope.column(**c).distinct;
            (names..=names + names / 4).contains(&numbers) || numbers >= scope.tables[c.table].rows
        };
        people.iter().filter(alike).find(|c| c.table == name.table && scope.role(**c) == Role::Id).copied()
    };
    let person = people.first().map(|c| numbered(c).unwrap_or(*c));
    let person = person.or_else(|| counted_people(scope).map(|(c, _)| c)).filter(|_| draft.asks_people);
    // `几种`: of the goods, where rows would be too many.
    let goods = scope.concept_columns("product").first().map(|(c, _)| *c).filter(|_| draft.asks_kinds);
    let goods = goods.filter(|c| scope.role(*c) == Role::Dimension);
    match person.or(goods).or_else(|| home(scope).filter(|_| draft.asks_homes)) {
        Some(c) if scope.role(c) == Role::Measure => Measure::Of(Agg::Sum, c),
        Some(c) => Measure::Of(Agg::Distinct, c),
        None => Measure::Rows,
    }
}

/// `房号`: what a home is known by, where it comes up in many rows.
fn home(scope: &Scope<'_>) -> Option<ColRef> {
    const HOMES: [&str; 7] = ["房号", "户号", "房间号", "门牌号", "房屋编号", "户主", "住户"];
    let main = *scope.in_scope.first()?;
    let table = &scope.tables[main];
    let named = |c: &crate::table::Column| {
        c.role != Role::Measure && c.distinct < table.rows && HOMES.iter().any(|e| c.words.ends_with(e))
    };
    table.columns.iter().position(named).map(|column| ColRef { table: main, column })
}

/// The only column that says how many people: `常住人数`.
fn counted_people(scope: &Scope<'_>) -> Option<(ColRef, u8)> {
    let main = *scope.in_scope.first()?;
    let found = crate::units::columns(&scope.tables[main], crate::units::Unit::Person);
    found.first().filter(|_| found.len() == 1).map(|column| (ColRef { table: main, column: *column }, 2))
}

/// Mean for prices and scores, sum for amounts; `the most` sums whatever is not known to be averaged.
pub(super) fn default_agg(scope: &Scope<'_>, draft: &Draft, column: ColRef) -> Agg {
    let column = scope.column(column);
    let guessed = column.concepts.is_empty();
    match column.default_agg {
        DefaultAgg::Mean if draft.most && (guessed || crate::units::is_money(column)) => Agg::Sum,
        // `the most nights` are counted together.
        DefaultAgg::Mean if draft.most && crate::units::of(column) == Some(crate::units::Unit::Night) => {
            Agg::Sum
        }
        DefaultAgg::Mean => Agg::Mean,
        DefaultAgg::Sum => Agg::Sum,
    }
}

pub(crate) fn default_column(scope: &Scope<'_>) -> Option<ColRef> {
    let of = |id: &str| scope.concept_columns(id).first().map(|(c, _)| *c);
    let main = scope.in_scope[0];
    let only = scope.tables[main].indices(|c| c.role == Role::Measure);
    // What was only taken for sales is no default.
    let sure = scope.concept_columns("revenue").first().filter(|(_, q)| *q > 1).map(|(c, _)| *c);
    sure.or_else(|| of("quantity"))
        .or_else(|| of("score"))
        .or_else(|| only.first().map(|c| ColRef { table: main, column: *c }).filter(|_| only.len() == 1))
}

/// Gives a question without a measure the usual one, and says so.
pub(super) fn need_measure(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<(), Refusal> {
    if !question.measures.is_empty() {
        return Ok(());
    }
    let of = |id: &str| scope.concept_columns(id).first().map(|(c, _)| *c);
    let selling = draft.says_any(&[Word::BestSelling, Word::WorstSelling]);
    // `rides by hour`: what is counted was named, nothing to add up was.
    let superlative = draft.order.is_some() && !draft.most;
    let counting = draft.names_rows && !superlative && !draft.says(Word::Sum) && draft.loose_agg.is_none()
        || draft.says_any(&[Word::MostCommon, Word::Distribution, Word::HowMany])
        || matches!(question.intent, Intent::ShareOf { .. });
    let counting = counting && !(draft.amounts && default_column(scope).is_some());
    let busy = draft.says(Word::Busiest);
    // Means have no shares.
    let averaged = draft.says(Word::Share)
        && default_column(scope).is_some_and(|c| scope.column(c).default_agg == DefaultAgg::Mean);
    // `10月比9月多派了百分之几`
    let deeds = draft.acts
        && draft.says_any(&[Word::Growth, Word::Yoy, Word::Mom, Word::Compare])
        && !draft.says_any(&[Word::Sell, Word::Spend, Word::Earn])
        && !draft.asks_money
        && of("quantity").is_none();
    let counting = counting || busy || averaged || draft.most_such || deeds || most_rows(scope, draft);
    if draft.says_any(&[Word::Spend, Word::Earn]) && !counting && default_column(scope).is_none() {
        return Err(Refusal::NothingAsked);
    }
    let column = if busy {
        ["visits", "guests"].iter().find_map(|id| of(id)).filter(|c| scope.role(*c) == Role::Measure)
    } else if counting {
        None
    } else if let Some(about) = about_rows(scope, draft) {
        Some(about)
    } else if selling && draft.popular {
        of("quantity")
    } else if selling {
        of("quantity").or_else(|| default_column(scope))
    } else {
        default_column(scope)
    };
    if draft.unsure && !counting && column.is_some() {
        return Err(Refusal::NothingAsked);
    }
    // `the best month`: of what?
    let of_what = draft.order.is_some() && !draft.most && !draft.popular;
    if column.is_none() && !counting && of_what {
        return Err(Refusal::NothingAsked);
    }
    // `total value` of nothing that is known: rows are not what was meant.
    if column.is_none() && !counting && draft.loose_agg.is_some() {
        return Err(Refusal::NothingAsked);
    }
    let measure = match column {
        Some(c) if draft.loose_agg.is_some() => Measure::Of(draft.loose_agg.unwrap_or(Agg::Sum), c),
        Some(c) if scope.column(c).default_agg == DefaultAgg::Mean => Measure::Of(Agg::Mean, c),
        Some(c) => Measure::Of(Agg::Sum, c),
        None => Measure::Rows,
    };
    if !counting {
        question.notes.push(Note::DefaultMeasure(measure.clone()));
    }
    question.measures.push(measure);
    Ok(())
}

/// `投的人最多`, `件最多`: how many, where no column holds that number; marks and prices are never the most.
fn most_rows(scope: &Scope<'_>, draft: &Draft) -> bool {
    if !draft.most || draft.loose_agg.is_some() || draft.says_any(&[Word::Sell, Word::Spend, Word::Earn]) {
        return false;
    }
    let averaged = |c: ColRef| scope.column(c).default_agg == DefaultAgg::Mean && !draft.things.contains(&c);
    let held = ["quantity", "headcount", "visits", "guests", "passengers"]
        .iter()
        .any(|id| !scope.concept_columns(id).is_empty());
    (draft.acts || draft.most_of) && !held
        || default_column(scope).is_some_and(averaged) && about_rows(scope, draft).is_none()
}

/// The column that says who, where people come up in many rows.
pub(crate) fn person(scope: &Scope<'_>) -> Option<ColRef> {
    let main = scope.in_scope[0];
    let table = &scope.tables[main];
    let human = |c: &crate::table::Column| {
        const PEOPLE: [&str; 14] = [
            "handler",
            "salesperson",
            "employee",
            "customer",
            "doctor",
            "teacher",
            "driver",
            "coach",
            "nurse",
            "lawyer",
            "broker",
            "cashier",
            "waiter",
            "manager",
        ];
        let known = PEOPLE.iter().any(|id| c.has_concept(id));
        let named = ["人", "员", "者"].iter().any(|e| c.words.ends_with(e)) || is_trade(&c.full);
        c.role != Role::Measure && c.distinct * 10 < table.rows * 9 && (known || named)
    };
    let named = || {
        let people = |c: &crate::table::Column| {
            c.role == Role::Dimension
                && c.values_complete
                && !c.values.is_empty()
                && c.values.iter().all(|v| is_person(v))
        };
        table.columns.iter().position(people)
    };
    // `reader id`: what comes up again and again under a number.
    let repeated = || {
        let again = |c: &crate::table::Column| {
            c.role == Role::Id && c.distinct * 10 < table.rows * 9 && c.distinct > 2
        };
        let found = table.indices(again);
        found.first().copied().filter(|_| found.len() == 1)
    };
    table
        .columns
        .iter()
        .position(human)
        .or_else(named)
        .or_else(repeated)
        .map(|column| ColRef { table: main, column })
}

/// `timekeeper`, `instructor`, `pharmacist`: a header that says who does it.
fn is_trade(name: &str) -> bool {
    const THINGS: [&str; 34] = [
        "order",
        "number",
        "quarter",
        "center",
        "color",
        "floor",
        "sector",
        "tier",
        "offer",
        "filter",
        "transfer",
        "letter",
        "paper",
        "tower",
        "counter",
        "corner",
        "sensor",
        "door",
        "motor",
        "vendor",
        "supplier",
        "carrier",
        "distributor",
        "manufacturer",
        "container",
        "trailer",
        "printer",
        "computer",
        "weather",
        "gender",
        "matter",
        "folder",
        "router",
        "chapter",
    ];
    let last = name.rsplit(' ').next().unwrap_or(name);
    let does = ["er", "or", "ist", "ian", "eer", "keeper", "attendant"].iter().any(|e| last.ends_with(e));
    last.len() >= 5 && does && !THINGS.contains(&last) && name.is_ascii()
}

/// `J. Smith`, `Dr. Adams`, `陈静`: written as people's names are.
fn is_person(value: &str) -> bool {
    const SURNAMES: &str = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文";
    let chars: Vec<char> = value.chars().collect();
    let chinese = (2..=3).contains(&chars.len())
        && chars.iter().all(|c| crate::norm::is_cjk(*c))
        && (SURNAMES.contains(chars[0]) || chars[0] == '小');
    let words: Vec<&str> = value.split(' ').collect();
    let capital = |w: &&str| {
        w.chars().next().is_some_and(char::is_uppercase)
            && w.chars().all(|c| c.is_alphabetic() || c == '.' || c == '\'' || c == '-')
    };
    let titled = words.first().is_some_and(|w| w.ends_with('.')) && words.len() >= 2;
    chinese || titled && words.iter().all(capital)
}

/// `the largest loan`, `the best reviews`: the figure whose name begins with that thing.
fn about_rows(scope: &Scope<'_>, draft: &Draft) -> Option<ColRef> {
    let named = draft.dims.first().and_then(|d| {
        let entity = scope.column(*d).words.split(' ').next()?;
        let table = &scope.tables[d.table];
        let about = |c: &crate::table::Column| {
            c.role == Role::Measure && c.words.split_once(' ').is_some_and(|(first, _)| first == entity)
        };
        table.columns.iter().position(about).map(|column| ColRef { table: d.table, column })
    });
    named
        .filter(|_| !draft.grouped)
        .or_else(|| {
            about_nouns(scope, draft)
                .filter(|_| draft.loose_agg.is_some() || draft.order.is_some() && !draft.most)
        })
        .or_else(|| {
            let asked = draft.order.is_some() || draft.loose_agg.is_some() || draft.says(Word::HowMuch);
            draft.things.first().copied().filter(|_| asked)
        })
}
