//! How English names the columns of a table beside their headers: by the unit they are measured in, by a class word after
//! the name, by a header's short forms, by how long something takes. Reads no question.

use super::Dictionary;
use crate::glossary::{ConceptRole, Glossary};
use crate::lex::{ColRef, Meaning};
use crate::names::{same_word, says, stem, without_unit};
use crate::table::{Column, Role, Table};
use crate::units::{self, Unit};

/// A header as the words a question may say in its place.
pub struct NamePattern {
    pub at: ColRef,
    words: Vec<String>,
    /// How long something takes: the words say what, and `time` or `duration` comes with them.
    timed: bool,
    /// A flag: `renewal rate` of `renewed`.
    rated: bool,
}

/// What the words of a sentence need to know of the columns.
#[derive(Default)]
pub struct Facts {
    pub patterns: Vec<NamePattern>,
    /// Columns and the unit they are measured in.
    pub measured: Vec<(ColRef, Unit)>,
    /// Concepts with the columns that stand for them; a concept that is not here stands for none.
    pub concepts: Vec<(usize, ColRef)>,
    /// Concepts that are figures.
    pub quantities: Vec<usize>,
    /// Columns some rows have no value of, flags excepted.
    pub gappy: Vec<ColRef>,
    /// What rows are told apart by, flags excepted.
    pub groups: Vec<ColRef>,
    /// What the rows of each table are called by its file.
    pub heads: Vec<(usize, String)>,
    /// Columns that are added up or averaged, and those of them that are amounts of money.
    pub figures: Vec<ColRef>,
    pub money: Vec<ColRef>,
    /// The one column of each table that says how much of a stuff there was.
    pub bulk: Vec<ColRef>,
    /// Columns every value of which comes up in many rows.
    pub recurring: Vec<ColRef>,
    /// Columns with another value in every row.
    pub unique: Vec<ColRef>,
    /// Columns that say by number or name whom or what a row is about.
    pub owners: Vec<ColRef>,
    /// Columns that say why, with what happened: `lapse` of `lapse reason`.
    pub reasons: Vec<(ColRef, String)>,
}

/// Words that say that a number of them is how long something takes.
const LENGTHS: [&str; 9] =
    ["time", "times", "duration", "durations", "length", "period", "turnaround", "delay", "span"];

impl Dictionary {
    pub(super) fn add_english(&mut self, t: usize, table: &Table) {
        let (heads, _) = crate::names::row_nouns(&table.rows_called);
        self.facts.heads.extend(heads.into_iter().map(|h| (t, h)));
        for (c, column) in table.columns.iter().enumerate() {
            let at = ColRef { table: t, column: c };
            if let Some(unit) = units::of(column) {
                self.facts.measured.push((at, unit));
            }
            if column.nulls > 0 && column.role != Role::Flag {
                self.facts.gappy.push(at);
            }
            if column.role == Role::Measure {
                self.facts.figures.push(at);
            }
            if units::is_money(column) {
                self.facts.money.push(at);
            }
            if column.role == Role::Id && column.distinct >= table.rows {
                self.facts.unique.push(at);
            }
            if column.role == Role::Id || column.full.ends_with(" name") {
                self.facts.owners.push(at);
            }
            let why = [" reason", " cause"].iter().find_map(|e| column.full.strip_suffix(e));
            if let Some(what) = why.filter(|w| !w.contains(' ')) {
                self.facts.reasons.push((at, what.to_owned()));
            }
            if column.role != Role::Measure && column.distinct > 0 && column.distinct * 8 < table.rows {
                self.facts.recurring.push(at);
            }
            if matches!(column.role, Role::Dimension | Role::Id | Role::Time) {
                self.facts.groups.push(at);
            }
            if column.words.is_ascii() {
                self.add_pattern(at, column);
                self.add_class_words(at, column, table);
                self.add_share_forms(at, column, table);
                self.add_kind_words(at, column, table);
            }
            self.add_initials(at, column);
        }
        self.add_unit_nouns(t, table);
        self.add_by_value(t, table);
        const BULK: [Unit; 12] = [
            Unit::Kilogram,
            Unit::Gram,
            Unit::Tonne,
            Unit::Pound,
            Unit::Litre,
            Unit::Millilitre,
            Unit::Gallon,
            Unit::CubicMetre,
            Unit::Barrel,
            Unit::Bushel,
            Unit::KilowattHour,
            Unit::MegawattHour,
        ];
        let held: Vec<usize> = BULK.iter().filter_map(|u| units::named_by(table, *u)).collect();
        if let [column] = held[..] {
            self.facts.bulk.push(ColRef { table: t, column });
        }
    }

    /// Which concepts some column stands for.
    pub(super) fn note_concepts(&mut self, glossary: &Glossary, tables: &[Table]) {
        for (i, concept) in glossary.concepts.iter().enumerate() {
            if matches!(concept.role, ConceptRole::Measure | ConceptRole::Ratio) {
                self.facts.quantities.push(i);
            }
            let stands =
                |c: &Column| c.has_concept(&concept.id) || concept.or.iter().any(|id| c.has_concept(id));
            for (t, table) in tables.iter().enumerate() {
                let found = table.indices(stands).into_iter();
                self.facts.concepts.extend(found.map(|column| (i, ColRef { table: t, column })));
            }
        }
    }

    fn add_pattern(&mut self, at: ColRef, column: &Column) {
        const SMALL: [&str; 16] = [
            "to", "of", "in", "on", "for", "per", "at", "the", "by", "until", "till", "total", "average",
            "avg", "mean", "time",
        ];
        let words: Vec<String> = column.words.split(' ').map(str::to_owned).collect();
        if column.role == Role::Flag && words.len() == 1 && words[0].len() >= 4 {
            self.facts.patterns.push(NamePattern { at, words: words.clone(), timed: false, rated: true });
        }
        let timed = units::of(column).is_some_and(units::is_time);
        if timed {
            let what =
                |w: &&String| !SMALL.contains(&w.as_str()) && units::ending(w).is_none() && w.len() >= 3;
            let words: Vec<String> = words.iter().filter(what).cloned().collect();
            if (1..=2).contains(&words.len()) {
                self.facts.patterns.push(NamePattern { at, words, timed: true, rated: false });
            }
        }
        if (2..=4).contains(&words.len()) && words.iter().all(|w| w.len() >= 2 || units::ending(w).is_some())
        {
            self.facts.patterns.push(NamePattern { at, words, timed: false, rated: false });
        }
        let bare = without_unit(&column.words);
        if bare != column.words && bare.contains(' ') {
            let words = bare.split(' ').map(str::to_owned).collect();
            self.facts.patterns.push(NamePattern { at, words, timed: false, rated: false });
        }
    }

    /// `contract type` and `type of contract` of a column called `contract`.
    fn add_class_words(&mut self, at: ColRef, column: &Column, table: &Table) {
        const CLASS: [&str; 7] = ["type", "kind", "category", "class", "name", "group", "title"];
        let name = &column.full;
        let classed =
            name.split(' ').any(|w| CLASS.contains(&w) || matches!(w, "id" | "code" | "number" | "no"));
        let words = name.split(' ').count();
        if column.role != Role::Dimension || classed || words > 2 {
            return;
        }
        for class in CLASS {
            let phrase = format!("{name} {class}");
            let other = |c: &Column| c.full == phrase || c.full == class;
            if !table.columns.iter().any(other) {
                self.add(&phrase, Meaning::Column(at, 2));
            }
        }
        for class in ["type", "types", "kind", "kinds", "sort", "sorts"] {
            self.add(&format!("{class} of {name}"), Meaning::Column(at, 2));
        }
    }

    /// `catering charges` of `Catering (£)`, `wind speed` of `Avg Wind (m/s)`: what kind of figure the unit says it is.
    fn add_kind_words(&mut self, at: ColRef, column: &Column, table: &Table) {
        const MONEY: [&str; 18] = [
            "amount", "amounts", "value", "cost", "costs", "charge", "charges", "fee", "fees", "spend",
            "income", "revenue", "sales", "takings", "money", "bill", "bills", "payments",
        ];
        const SMALL: [&str; 6] = ["avg", "average", "mean", "total", "max", "min"];
        if column.role != Role::Measure {
            return;
        }
        let raw = column.name.to_ascii_lowercase();
        let fast = ["m/s", "km/h", "kmh", "mph", "kph", "knots"].iter().any(|u| raw.contains(u));
        let kinds: &[&str] = match units::of(column) {
            Some(Unit::Money) => &MONEY,
            Some(Unit::Kilogram | Unit::Gram | Unit::Tonne | Unit::Pound | Unit::Ounce) => &["weight"],
            Some(Unit::Kilometre | Unit::Mile) => &["distance"],
            _ if fast => &["speed", "speeds"],
            _ => return,
        };
        let bare: Vec<&str> =
            without_unit(&column.full).split(' ').filter(|w| !SMALL.contains(w) && !w.is_empty()).collect();
        let named = bare.last().is_some_and(|w| MONEY.contains(w) || kinds.contains(w) || *w == "price");
        if bare.is_empty() || bare.len() > 2 || named {
            return;
        }
        let bare = bare.join(" ");
        for kind in kinds {
            let phrase = format!("{bare} {kind}");
            if !table.columns.iter().any(|c| without_unit(&c.full) == phrase) {
                self.add(&phrase, Meaning::Column(at, 2));
            }
        }
    }

    /// `fee percentage` of `fee_pct`, beside the fee itself.
    fn add_share_forms(&mut self, at: ColRef, column: &Column, table: &Table) {
        let Some(bare) = share_of(column) else { return };
        for form in ["X percentage", "X percent", "X pct", "X %", "percentage X", "percent X", "% X"] {
            self.add(&form.replace('X', bare), Meaning::Column(at, 4));
        }
        let twin =
            |c: &Column| c.name != column.name && without_unit(&c.full) == bare && c.role == Role::Measure;
        if table.columns.iter().any(twin) {
            let phrase: Vec<char> = bare.chars().collect();
            if let Some(entries) = phrase.first().and_then(|c| self.by_first.get_mut(c)) {
                entries.retain(|(p, m)| *p != phrase || !matches!(m, Meaning::Column(c, _) if *c == at));
            }
            for form in ["X rate", "rate of X"] {
                self.add(&form.replace('X', bare), Meaning::Column(at, 4));
            }
        }
    }

    /// `CS` of `Computer Science`, written in capitals.
    fn add_initials(&mut self, at: ColRef, column: &Column) {
        let few = column.values_complete && (2..=60).contains(&column.distinct);
        if column.role != Role::Dimension || !few {
            return;
        }
        let initials = |value: &str| {
            let words: Vec<&str> = value.split([' ', '-']).filter(|w| !w.is_empty()).collect();
            let capital = |w: &&str| w.chars().next().is_some_and(|c| c.is_ascii_uppercase());
            let joined: String =
                words.iter().filter(|w| capital(w)).filter_map(|w| w.chars().next()).collect();
            (words.len() >= 2 && joined.len() >= 2).then_some(joined)
        };
        for value in &column.values {
            let Some(short) = initials(value) else { continue };
            let others = column.values.iter().filter(|v| *v != value);
            let taken = others.into_iter().any(|v| *v == short || initials(v).as_ref() == Some(&short));
            if !taken {
                self.codes.push((short, Meaning::Value(at, value.clone(), 3)));
            }
        }
    }

    /// `begin` of `start date`, `ended at` of `end station`: the verb of one end of something.
    pub(super) fn add_ends(&mut self, at: ColRef, column: &Column) {
        let first = column.full.split(' ').next().unwrap_or("");
        let verbs: &[&str] = match first {
            "start" => &["begin", "begins", "began", "begun", "beginning"],
            "end" => &["end", "ends", "ended", "ending", "finish", "finishes", "finished"],
            "signup" => &["sign up", "signed up", "signs up", "signing up"],
            "checkin" => &["check in", "checked in", "checking in"],
            "checkout" => &["check out", "checked out", "checking out"],
            "pickup" => &["pick up", "picked up"],
            "dropoff" => &["drop off", "dropped off"],
            _ => return,
        };
        for verb in verbs {
            match column.role {
                Role::Time => self.add(verb, Meaning::Column(at, 2)),
                Role::Dimension => self.add(verb, Meaning::Stop),
                _ => {}
            }
        }
    }

    /// `kg by variety`, `total pounds`: the one figure measured so.
    fn add_unit_nouns(&mut self, t: usize, table: &Table) {
        for (unit, words) in units::written() {
            if unit == Unit::Money || units::is_time(unit) || matches!(unit, Unit::Person | Unit::Piece) {
                continue;
            }
            let Some(column) = units::named_by(table, unit) else { continue };
            let at = ColRef { table: t, column };
            for word in words.iter().filter(|w| w.is_ascii() && w.len() >= 2) {
                self.add(word, Meaning::Column(at, 2));
                self.add(word, Meaning::Unit(unit));
            }
        }
    }

    /// `by value`, where a table has one main amount.
    fn add_by_value(&mut self, t: usize, table: &Table) {
        let Some(column) = units::main_money(table) else { return };
        let valued = |(i, c): (usize, &Column)| {
            i != column && c.full.split(' ').any(|w| matches!(w, "value" | "amount"))
        };
        if table.columns.iter().enumerate().any(valued) {
            return;
        }
        let at = ColRef { table: t, column };
        for phrase in [
            "by value",
            "by amount",
            "by dollar value",
            "by dollars",
            "by money",
            "in money terms",
            "in value terms",
            "money-wise",
        ] {
            self.add(phrase, Meaning::Column(at, 2));
        }
    }

    /// The column that says how long what a word says takes.
    pub fn takes_so_long<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = ColRef> + 'a {
        let timed = self.facts.patterns.iter().filter(|p| p.timed && p.words.len() == 1);
        timed
            .filter(|p| words.first().is_some_and(|w| same_word(&p.words[0], w) || p.words[0] == *w))
            .map(|p| p.at)
    }

    /// Columns that words in a row name by short forms or by how long they say something takes, with how many words.
    pub fn named_by_words<'a>(&'a self, words: &'a [String]) -> impl Iterator<Item = (usize, Meaning)> + 'a {
        self.facts.patterns.iter().filter_map(move |p| {
            let length = p.words.len();
            let sum = |w: &str| matches!(w, "amount" | "amt" | "value" | "sum");
            let same = |from: usize| {
                words.len() >= from + length
                    && p.words.iter().zip(&words[from..]).all(|(t, w)| says(t, w) || sum(t) && sum(w))
            };
            if p.rated {
                let rate =
                    words.get(1).is_some_and(|w| matches!(w.as_str(), "rate" | "rates" | "percentage"));
                return (rate && stem(&p.words[0]) == stem(&words[0]))
                    .then_some((1, Meaning::Column(p.at, 4)));
            }
            if !p.timed {
                return same(0).then_some((length, Meaning::Column(p.at, 4)));
            }
            // `resolution time`, `time to resolve`, `days to resolve`
            let told = |w: &String| LENGTHS.contains(&w.as_str());
            if same(0) && words.get(length).is_some_and(told) {
                return Some((length + 1, Meaning::Column(p.at, 2)));
            }
            let long = words.first().is_some_and(|w| told(w) || units::ending(w).is_some_and(units::is_time));
            let linked =
                words.get(1).is_some_and(|w| matches!(w.as_str(), "to" | "in" | "on" | "until" | "spent"));
            (long && linked && same(2)).then_some((length + 2, Meaning::Column(p.at, 2)))
        })
    }
}

/// What a column is a share of, going by its name: `fee` of `fee percent`.
pub(crate) fn share_of(column: &Column) -> Option<&str> {
    let ends = [" percent", " pct", " percentage", " rate", " %", "%"]
        .iter()
        .find_map(|e| column.full.strip_suffix(e));
    ends.filter(|b| !b.is_empty() && column.role == Role::Measure)
}

/// A figure is called just so.
pub(super) fn calls_figure(tables: &[Table], name: &str) -> bool {
    let called = |c: &Column| c.role == Role::Measure && without_unit(&c.full) == name;
    tables.iter().any(|t| t.columns.iter().any(called))
}

/// A word of another column's name or of the file's.
pub(super) fn names_another(table: &Table, column: usize, part: &str) -> bool {
    let other = |(i, c): (usize, &Column)| i != column && c.full.split(' ').any(|w| w == part);
    let (heads, others) = crate::names::row_nouns(&table.rows_called);
    part.is_ascii()
        && (table.columns.iter().enumerate().any(other) || heads.iter().chain(&others).any(|h| h == part))
}
