//! Words for things no column stands for: what they may be all the same, and what it costs to pass over them.

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::table::Role;
use crate::units;
use crate::weigh::columns::column;
use crate::weigh::items::Sense;
use crate::weigh::options::Part;
use crate::weigh::people::person;
use crate::weigh::said::names_people;
use crate::weigh::view::View;
use crate::word::Word;

pub fn lacking(view: &View<'_>, i: usize, concept: usize) -> Vec<(Part, f32)> {
    let found = &view.scope.glossary.concepts[concept];
    let role = found.role;
    // `收入最高（按总费用）`: another word says which amount is meant.
    let amount = |k: &crate::weigh::items::Item| {
        k.columns().any(|c| view.role(c) == Role::Measure && units::is_money(view.scope.column(c)))
    };
    let told = matches!(found.id.as_str(), "revenue" | "income") && view.whole.contains(['(', '（']);
    if told && view.items.iter().any(amount) {
        return vec![(Part::Nothing, 0.5)];
    }
    if generic_head(view, i, &found.id) {
        return vec![(Part::Nothing, 0.2)];
    }
    // `spend on energy`, of meters.
    let metered = [units::Unit::KilowattHour, units::Unit::MegawattHour].map(|u| view.in_unit(u));
    if found.id == "energy" && metered.iter().any(Option::is_some) {
        return vec![(Part::Nothing, 0.3)];
    }
    // `sign-ups`, where a date tells when somebody signed up.
    let bare = view.items[i].text.replace('-', "");
    let bare = bare.strip_suffix('s').unwrap_or(&bare);
    let dated = |c: &crate::table::Column| c.role == Role::Time && c.full.replace(' ', "").contains(bare);
    let main = &view.scope.tables[view.scope.in_scope[0]];
    if view.english && bare.len() > 3 && main.columns.iter().any(dated) {
        return vec![(Part::Rows, 0.6)];
    }
    // `leaving Gdansk`: where it went from is told.
    let moves =
        ["leaving", "arriving", "departing", "entering", "heading"].contains(&view.items[i].text.as_str());
    if moves && view.items.get(i + 1).is_some_and(|n| n.value_columns().next().is_some()) {
        return vec![(Part::Nothing, 0.3)];
    }
    // `usage`, of meters.
    let used = ["usage", "consumption", "用电", "耗电"].contains(&view.items[i].text.as_str());
    if let Some(c) = metered.iter().find_map(|c| *c).filter(|_| used) {
        return vec![(Part::Figure(c), 0.3)];
    }
    // `other companies`: not those of the table.
    let other = view.head(i).ends_with("other") && !view.says(Word::Exclude);
    let asked_for = view
        .before(i)
        .is_some_and(|k| k + 1 == i && matches!(view.word(k), Some(Word::HowMuch)) && view.english);
    if other || asked_for {
        return vec![(Part::Nothing, 5.0)];
    }
    // `takings`, `income`, `amount`: the money the table is about, where nothing is called so.
    let text = view.items[i].text.as_str();
    let billed = matches!(text, "bill" | "bills" | "billing" | "takings" | "the bill" | "total bill");
    let money = found.id == "revenue" || billed || text == "money" || text == "钱";
    let priced = matches!(found.id.as_str(), "revenue" | "price" | "cost" | "fee");
    if let Some(c) = view.main_money() {
        // `passes that cost more than 300 euros`
        if priced && view.bounds.iter().any(|b| b.column == Some(c)) {
            return vec![(Part::Nothing, 0.3)];
        }
        let main = view.scope.in_scope[0];
        let taken = units::takings(&view.scope.tables[main]).is_some_and(|t| t == c.column);
        // `居民的平均收入` is not what they paid.
        let earned = text == "收入" && view.says(Word::Mean);
        if money && !earned && (taken || billed || text == "money") {
            return vec![(Part::Figure(c), 0.7), (Part::Nothing, 3.0)];
        }
    }
    // `国家` of `目的国`: the one dimension that ends so.
    if let (false, Some(first)) = (view.english, text.chars().next())
        && matches!(role, ConceptRole::Dimension | ConceptRole::Entity)
        && text.chars().count() == 2
    {
        let main = view.scope.in_scope[0];
        let found =
            view.scope.tables[main].indices(|c| c.role == Role::Dimension && c.words.ends_with(first));
        if let [column_at] = found[..] {
            return column(view, i, ColRef { table: main, column: column_at });
        }
    }
    // `车` of 二手车台账: what its rows are, though no column is called so.
    if !view.english && role == ConceptRole::Entity && names_the_file(view, text) {
        return vec![(if view.counted(i) { Part::Rows } else { Part::Nothing }, 0.3)];
    }
    // `病人`, where 患者性别 and 患者年龄 are told: each row is about one.
    let attribute = |full: &str| {
        found.names.iter().any(|n| n.chars().count() > 1 && full != n && full.starts_with(n.as_str()))
    };
    let attributes = main.columns.iter().filter(|c| attribute(&c.full)).count();
    if role == ConceptRole::Entity && attributes > 1 {
        return vec![(if view.counted(i) { Part::Rows } else { Part::Nothing }, 0.5)];
    }
    // `诊所到现在一共实收多少`: whose table it is.
    let opens = view.before(i).is_none() && !view.marked(i) && !view.counted(i);
    if opens && !view.english && matches!(role, ConceptRole::Entity | ConceptRole::Dimension) {
        return vec![(Part::Nothing, 0.7)];
    }
    match role {
        ConceptRole::Entity if view.counted(i) && view.says(Word::Which) && view.most_said() => {
            vec![(Part::Rows, 1.6)]
        }
        // `how many people borrowed something`: whoever the table tells of.
        ConceptRole::Entity if view.counted(i) && text == "people" => match person(view.scope) {
            Some(c) => vec![(Part::Kinds(c), 1.6), (Part::Rows, 3.0)],
            None => vec![(Part::Rows, 3.0)],
        },
        ConceptRole::Entity if view.counted(i) => vec![(Part::Rows, 3.0)],
        ConceptRole::Entity if names_people(text) && (0..view.items.len()).any(|k| view.counts_rows(k)) => {
            vec![(Part::Nothing, 0.9)]
        }
        // `自费患者`: a value says which ones.
        ConceptRole::Entity | ConceptRole::Dimension if after_value(view, i) => vec![(Part::Nothing, 0.8)],
        ConceptRole::Entity | ConceptRole::Dimension if !view.marked(i) => {
            vec![(Part::Nothing, 1.6)]
        }
        ConceptRole::Time | ConceptRole::Flag => vec![(Part::Nothing, 3.0)],
        _ => vec![(Part::Nothing, 5.0)],
    }
}

fn names_the_file(view: &View<'_>, text: &str) -> bool {
    let main = &view.scope.tables[view.scope.in_scope[0]];
    main.filename.contains(text)
}

fn after_value(view: &View<'_>, i: usize) -> bool {
    i > 0
        && view.items[i - 1].end + 1 >= view.items[i].start
        && view.items[i - 1].value_columns().next().is_some()
}

/// `fee income`, `停机总时长`, `自付金额`: a general word beside the figure it is about.
fn generic_head(view: &View<'_>, i: usize, concept: &str) -> bool {
    let about = |k: usize| {
        view.items[k].senses.iter().any(|(s, far)| match s {
            Sense::Column(c) if view.role(*c) == Role::Measure && *far < 0.45 => {
                let column = view.scope.column(*c);
                match concept {
                    "revenue" | "cost" | "price" | "income" | "spend" | "expense" | "fee" => {
                        units::is_money(column)
                    }
                    "duration" => units::of(column).is_some_and(units::is_time),
                    "quantity" | "energy" | "weight" => !units::is_money(column),
                    // `harvested weight`
                    _ => view.items[i].text.ends_with("ed"),
                }
            }
            Sense::Row => concept == "quantity",
            _ => false,
        })
    };
    let near = |k: Option<usize>| {
        k.is_some_and(|k| about(k) && view.items[k.max(i)].start <= view.items[k.min(i)].end + 3)
    };
    let past_sum =
        view.before(i).map(|k| if view.word(k) == Some(Word::Sum) { view.before(k) } else { Some(k) });
    near(past_sum.flatten()) || near(view.after(i))
}
