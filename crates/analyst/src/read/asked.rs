//! What a question word asks for by itself: an amount of money, a unit, a person; and columns that are hinted at.

use crate::lex::{ColRef, Lexed, Meaning};
use crate::names::{stem, without_unit};
use crate::question::{Agg, Cmp, Measure, Refusal};
use crate::read::draft::{Draft, Reader, Wanted};
use crate::read::tokens::{Scope, Tok, Token};
use crate::table::{Column, Role};
use crate::units::{self, Unit};
use crate::word::Word;

/// Words for people whose age a bound is about.
const PEOPLE: [&str; 34] = [
    "people", "person", "patient", "member", "customer", "client", "user", "student", "pupil", "employee",
    "staff", "worker", "kid", "child", "children", "guest", "player", "women", "men", "adult", "borrower",
    "donor", "reader", "resident", "tenant", "人", "患者", "会员", "客户", "用户", "员工", "学生", "病人",
    "读者",
];

pub(crate) fn is_people(text: &str) -> bool {
    PEOPLE.contains(&text) || text.is_ascii() && text.strip_suffix('s').is_some_and(|t| PEOPLE.contains(&t))
}

impl Reader<'_> {
    /// The unit said right after a place in the text.
    pub(super) fn unit_after(&self, end: usize) -> Option<Unit> {
        self.units.iter().find(|(start, _)| (end..=end + 1).contains(start)).map(|(_, unit)| *unit)
    }

    pub(super) fn note_question_word(&mut self, i: usize, w: Word) {
        if !matches!(w, Word::HowMany | Word::HowMuch) {
            return;
        }
        let token = &self.tokens[i];
        let unit = units::ending(&token.text).or_else(|| self.unit_after(token.end));
        let unit = unit.filter(|u| !matches!(u, Unit::Person | Unit::Piece));
        self.draft.asks_money |=
            matches!(token.text.as_str(), "how much" | "多少钱" | "几元") || unit == Some(Unit::Money);
        self.draft.asks_unit = self.draft.asks_unit.or(unit.filter(|u| *u != Unit::Money));
    }

    /// `deals`, where a column is called `deal value`: the rows, not what they are worth.
    pub(super) fn names_what_rows_are(&self, i: usize, column: ColRef) -> bool {
        const WORTH: [&str; 17] = [
            "age", "value", "amount", "price", "cost", "fee", "total", "size", "charge", "revenue", "worth",
            "days", "hours", "minutes", "duration", "length", "weight",
        ];
        let found = self.scope.column(column);
        let text = self.tokens[i].text.as_str();
        if !text.is_ascii() || text.contains(' ') {
            return false;
        }
        // `number of sales`, where the price of each is what came in.
        if self.tokens[i].rows
            && found.has_concept("price")
            && matches!(self.before_values(i), Some(Word::HowMany | Word::Count))
        {
            return true;
        }
        let full = without_unit(&found.full);
        let root = stem(text);
        let Some((before, last)) = full.rsplit_once(' ') else { return false };
        let of_it = before.split(' ').any(|w| stem(w) == root) && stem(last) != root;
        let counted = matches!(self.before_values(i), Some(Word::HowMany | Word::Count)) || self.most(i);
        let judged = [
            Word::Mean,
            Word::Median,
            Word::Sum,
            Word::Highest,
            Word::Lowest,
            Word::Top,
            Word::Bottom,
            Word::Max,
            Word::Min,
        ];
        let plural = text.ends_with('s') && !self.draft.says_any(&judged) && self.draft.loose_agg.is_none();
        let named = found.concepts.iter().filter_map(|(id, _)| self.scope.glossary.concept(id));
        let is_name = named.into_iter().any(|c| c.names.iter().any(|n| stem(n) == root));
        // `win probability of qualified deals`: another figure is asked for.
        let other = self
            .tokens
            .iter()
            .any(|t| matches!(t.tok, Tok::Col(c, _) if c != column && self.scope.role(c) == Role::Measure));
        let after_value = i > 0 && matches!(self.tokens[i - 1].tok, Tok::Val(..)) && self.close(i - 1, i);
        let plural = plural || text.ends_with('s') && other && after_value;
        of_it && !is_name && WORTH.contains(&last) && (counted || plural && !self.draft.says(Word::HowMuch))
    }

    /// `谁审批的`: the one who does it, not another column of the same name.
    pub(super) fn doer(&self, i: usize, column: ColRef) -> ColRef {
        let text = self.tokens[i].text.as_str();
        let human = |c: &Column| ["人", "员", "者", "师"].iter().any(|e| c.words.ends_with(e));
        if !self.draft.says(Word::Who)
            || !text.chars().all(crate::norm::is_cjk)
            || human(self.scope.column(column))
            || self.scope.role(column) == Role::Measure
        {
            return column;
        }
        let columns = &self.scope.tables[column.table].columns;
        let found =
            columns.iter().position(|c| c.role != Role::Measure && c.words.starts_with(text) && human(c));
        found.map_or(column, |at| ColRef { table: column.table, column: at })
    }

    /// `哪种设备`: their kinds, where a column tells them.
    pub(super) fn kind_of_thing(&self, i: usize, column: ColRef) -> ColRef {
        let kinds = ["哪种", "哪类", "各种", "各类", "每种", "每类", "哪一种", "哪一类", "什么类型"];
        let asked = i > 0 && kinds.contains(&self.tokens[i - 1].text.as_str());
        let text = self.tokens[i].text.as_str();
        let chinese = text.chars().all(crate::norm::is_cjk);
        let which = chinese
            && matches!(self.before(i), Some(Word::Which | Word::By))
            && self.scope.role(column) == Role::Measure
            && !self.scope.column(column).words.starts_with(text);
        let classed = i > 0
            && ["哪类", "各类", "每类", "哪一类", "每一类", "哪几类", "什么类型"]
                .contains(&self.tokens[i - 1].text.as_str());
        if !which && !classed && (!asked || self.scope.role(column) != Role::Id) {
            return column;
        }
        let kind = |c: &Column| {
            c.role == Role::Dimension
                && c.words.starts_with(text)
                && ["类型", "类别", "种类", "分类", "品类"].iter().any(|e| c.words.ends_with(e))
        };
        let found = self.scope.tables[column.table].columns.iter().position(kind);
        found.map_or(column, |at| ColRef { table: column.table, column: at })
    }

    /// `patients over 60`: how old, where the table says so.
    pub(super) fn age_bound(&self, i: usize) -> Option<ColRef> {
        let age = self.scope.concept_columns("age").first().map(|(c, _)| *c)?;
        let noun = i.checked_sub(2).and_then(|j| self.tokens.get(j))?;
        let noun =
            if noun.tok == Tok::Word(Word::Equal) { self.tokens.get(i.checked_sub(3)?)? } else { noun };
        let unitless = self.unit_after(self.tokens[i].end).is_none();
        (unitless && is_people(&noun.text)).then_some(age)
    }

    /// Whether any column in reach is an amount of money.
    pub(super) fn knows_money(&self) -> bool {
        const MONEY: [&str; 7] = ["revenue", "cost", "price", "profit", "salary", "fee", "rent"];
        let tables = self.scope.in_scope.iter().map(|t| &self.scope.tables[*t]);
        tables.flat_map(|t| &t.columns).any(|c| {
            units::is_money(c) || c.role == Role::Measure && MONEY.iter().any(|id| c.has_concept(id))
        })
    }

    /// `in euros`, where nothing is told in money: no other figure will do.
    pub(super) fn need_money(&mut self) {
        let said = self.units.iter().find(|(_, unit)| *unit == Unit::Money).map(|(start, _)| *start);
        if let Some(start) = said.filter(|_| !self.knows_money()) {
            let word = self.text[start..].iter().take_while(|c| c.is_alphanumeric()).collect();
            self.draft.dangling.push(word);
        }
    }

    /// The only column measured in a unit.
    pub(super) fn only_in(&self, unit: Unit) -> Option<ColRef> {
        let main = *self.scope.in_scope.first()?;
        let found = units::columns(&self.scope.tables[main], unit);
        found.first().filter(|_| found.len() == 1).map(|column| ColRef { table: main, column: *column })
    }

    /// What takes long where several columns are times: not the waiting, unless that is said.
    pub(super) fn what_lasts(&self) -> Option<ColRef> {
        const APART: [&str; 6] = ["wait", "delay", "response", "talk", "tenure", "age"];
        let main = *self.scope.in_scope.first()?;
        let timed = |c: &Column| units::of(c).is_some_and(units::is_time) || c.has_concept("duration");
        let apart = |c: &Column| {
            APART.iter().any(|id| c.has_concept(id))
                || [
                    "wait",
                    "delay",
                    "late",
                    "absent",
                    "lead",
                    "estimated",
                    "planned",
                    "等",
                    "延",
                    "逾期",
                    "候",
                    "计划",
                    "预计",
                ]
                .iter()
                .any(|w| c.full.contains(w))
        };
        let table = &self.scope.tables[main];
        let all = table.indices(|c| c.role == Role::Measure && timed(c));
        let said = |t: &Token| matches!(t.tok, Tok::Col(c, _) if all.contains(&c.column));
        if self.tokens.iter().any(said) {
            return None;
        }
        let kept: Vec<usize> = all.iter().copied().filter(|i| !apart(&table.columns[*i])).collect();
        let one = match (&all[..], &kept[..]) {
            ([one], _) | (_, [one]) => Some(*one),
            _ => None,
        };
        one.map(|column| ColRef { table: main, column })
    }

    /// `out of stock`.
    pub(super) fn read_no_stock(&mut self) {
        let Some(at) = self.tokens.iter().position(|t| t.tok == Tok::Word(Word::NoStock)) else { return };
        let stock =
            self.scope.concept_columns("stock").into_iter().chain(self.scope.concept_columns("quantity"));
        match stock.map(|(c, _)| c).next() {
            Some(column) => {
                self.draft.numbers.push((Some(column), Cmp::Le, 0.0));
                self.draft.conditioned.push(column);
            }
            None => self.draft.dangling.push(self.tokens[at].text.clone()),
        }
    }
}

/// The figures whose names hold a word that was passed over: `退` hints at `退款金额`.
pub(super) fn hints(scope: &Scope<'_>, lexed: &Lexed) -> Vec<ColRef> {
    const GENERAL: &str = "数量额费人时天日元件个单总价率分次用年月的度成";
    let Some(&main) = scope.in_scope.first() else { return Vec::new() };
    // Verbs that mean nothing by themselves hint just as well: `报了多少` at `报销金额`.
    let verbs = lexed
        .mentions
        .iter()
        .filter(|m| m.meanings.iter().all(|m| *m == Meaning::Stop))
        .map(|m| m.text.trim_end_matches('了'));
    let verbs = verbs.filter(|w| !w.is_empty() && !w.is_ascii() && !w.chars().all(|c| GENERAL.contains(c)));
    let words: Vec<&str> = lexed.ignored.iter().map(String::as_str).chain(verbs).collect();
    let holds =
        |c: &Column| c.role == Role::Measure && words.iter().any(|w| !w.is_ascii() && c.words.contains(w));
    scope.tables[main].indices(holds).into_iter().map(|column| ColRef { table: main, column }).collect()
}

/// Takes the units out of the tokens: they say how a number is meant, not what is asked.
pub(super) fn without_units(tokens: Vec<Token>) -> (Vec<Token>, Vec<(usize, Unit)>) {
    let unit = |t: &Token| match t.tok {
        Tok::Unit(u) => Some((t.start, u)),
        _ => None,
    };
    let units = tokens.iter().filter_map(unit).collect();
    (tokens.into_iter().filter(|t| unit(t).is_none()).collect(), units)
}

/// `how much did we spend on energy`: money, not what the energy is measured in.
pub(super) fn pay_in_money(scope: &Scope<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    let Some(&main) = scope.in_scope.first() else { return Ok(()) };
    let plain = draft.plain_measures();
    let other = |c: &ColRef| {
        units::of(scope.column(*c))
            .is_some_and(|u| u != Unit::Money && !units::is_time(u) && u != Unit::Person)
    };
    let spent = draft.says(Word::Spend) && !draft.says(Word::HowMany) && draft.asks_unit.is_none();
    if !spent || draft.per_unit.is_some() || plain.is_empty() || !plain.iter().all(other) {
        return Ok(());
    }
    // `fuel cost` for what was spent on `fuel litres`.
    let shares = |c: &Column| {
        let first = |c: &Column| c.full.split(' ').next().map(stem);
        units::is_money(c) && plain.iter().any(|p| first(scope.column(*p)) == first(c))
    };
    let same = scope.tables[main].indices(shares);
    let same = same.first().filter(|_| same.len() == 1).map(|column| ColRef { table: main, column: *column });
    let cost = scope.concept_columns("cost").into_iter().chain(scope.concept_columns("energy_fee"));
    let money = same
        .or_else(|| cost.map(|(c, _)| c).find(|c| units::is_money(scope.column(*c))))
        .or_else(|| units::main_money(&scope.tables[main]).map(|column| ColRef { table: main, column }));
    let Some(money) = money else { return Err(Refusal::NothingAsked) };
    draft.measures.retain(|m| !matches!(m, Wanted::Plain(c, _) if plain.contains(c)));
    draft.measures.push(Wanted::Plain(money, None));
    Ok(())
}

/// `the value of an order`: a word that names no column here.
pub(super) fn worth_said(lexed: &Lexed) -> bool {
    lexed.mentions.iter().any(|m| {
        matches!(m.text.as_str(), "value" | "values" | "worth")
            && m.meanings.iter().all(|m| *m == Meaning::Stop)
    })
}

/// `the average value of an order`: what it comes to, never how many pieces it has.
pub(super) fn add_worth(scope: &Scope<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    const JUDGED: [Word; 6] =
        [Word::Sum, Word::Highest, Word::Lowest, Word::Top, Word::Bottom, Word::HowMuch];
    let series = draft.grain.is_some() || draft.says(Word::Trend);
    let asked = draft.loose_agg.is_some() || draft.says_any(&JUDGED) || series;
    let (Some(&main), true) = (scope.in_scope.first(), draft.asks_worth && asked) else { return Ok(()) };
    if !draft.measures.is_empty() || draft.implied.is_some() {
        return Ok(());
    }
    let column = units::worth(&scope.tables[main]).ok_or(Refusal::NothingAsked)?;
    draft.measures.push(Wanted::Plain(ColRef { table: main, column }, None));
    Ok(())
}

/// Gives a question that only says `how much` or `how many days` its figure.
pub(super) fn add_asked(scope: &Scope<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    let Some(&main) = scope.in_scope.first() else { return Ok(()) };
    let table = &scope.tables[main];
    let plain = draft.plain_measures();
    const RANKED: [Word; 7] =
        [Word::Highest, Word::Lowest, Word::Top, Word::Bottom, Word::Compare, Word::Rank, Word::Share];
    // `what do our vets earn`: that is not what they brought in.
    if draft.says(Word::Earn)
        && plain.is_empty()
        && !draft.dims.is_empty()
        && !draft.grouped
        && !draft.says_any(&RANKED)
        && draft.values.is_empty()
    {
        return Err(Refusal::NothingAsked);
    }
    if let Some(unit) = draft.asks_unit {
        let held = |c: &ColRef| units::of(scope.column(*c));
        // `成交重量最大，多少公斤`: the one told in that unit.
        if plain.len() > 1 && plain.iter().any(|c| held(c) == Some(unit)) {
            draft.measures.retain(|m| !matches!(m, Wanted::Plain(c, _) if held(c) != Some(unit)));
        }
        let plain = draft.plain_measures();
        // `how many days does a deal take`: no amount of money says so.
        if plain
            .iter()
            .any(|c| held(c) == Some(Unit::Money) || held(c).is_none() && units::is_money(scope.column(*c)))
        {
            return Err(Refusal::NothingAsked);
        }
        if plain.is_empty() && draft.implied.is_none() {
            let found = units::columns(table, unit);
            let hinted = |c: &&usize| {
                draft.hints.iter().any(|h| h.column == **c) || draft.things.iter().any(|h| h.column == **c)
            };
            let main_figure = |c: &&usize| {
                ["quantity", "yield_amount", "output", "stock", "energy"]
                    .iter()
                    .any(|id| table.columns[**c].has_concept(id))
            };
            let done = |c: &&usize| {
                table.columns[**c].full.contains("actual") || table.columns[**c].full.contains("实际")
            };
            let one = if found.len() == 1 {
                found.first()
            } else {
                found
                    .iter()
                    .find(hinted)
                    .or_else(|| found.iter().find(main_figure))
                    .or_else(|| found.iter().find(done))
            };
            match one {
                Some(&column) => {
                    draft.measures.retain(|m| *m != Wanted::Fixed(Measure::Rows));
                    let agg = draft.loose_agg.unwrap_or(Agg::Sum);
                    draft.measures.push(Wanted::Plain(ColRef { table: main, column }, Some(agg)));
                }
                None if found.is_empty() && unit == Unit::Day => {}
                None => return Err(Refusal::NothingAsked),
            }
        } else if draft.loose_agg.is_none() {
            for wanted in &mut draft.measures {
                if let Wanted::Plain(c, agg @ None) = wanted
                    && units::of(scope.column(*c)) == Some(unit)
                    && !draft.long
                {
                    *agg = Some(Agg::Sum);
                }
            }
        }
    }
    if draft.measures.is_empty() && draft.implied.is_none() {
        let hinted = draft.hints.first().filter(|_| draft.hints.len() == 1).copied();
        let money = |c: &ColRef| units::is_money(scope.column(*c));
        let asked = draft.says_any(&[Word::HowMuch, Word::Highest, Word::Lowest]) && draft.grain.is_none()
            || draft.asks_money;
        // `what do we pay our drivers`: that is not what they brought in.
        if draft.asks_money && draft.says(Word::Spend) && !draft.dims.is_empty() && !draft.grouped {
            return Err(Refusal::NothingAsked);
        }
        if draft.asks_money {
            let owed = draft.flags.iter().filter(|(_, yes)| *yes).find_map(|(c, _)| amount_of(scope, *c));
            // `收了多少钱`: what came in, not what should have.
            let real = |c: &&ColRef| scope.column(**c).words.starts_with('实');
            let came_in = draft.hints.iter().find(real).copied();
            let column = owed
                .or(hinted)
                .or(came_in)
                .filter(money)
                .or_else(|| units::main_money(table).map(|column| ColRef { table: main, column }));
            let spends = draft.says(Word::Spend) && !scope.concept_columns("cost").is_empty();
            match column {
                Some(column) if !spends => draft.measures.push(Wanted::Plain(column, None)),
                _ if draft.says_any(&[Word::Sell, Word::Spend, Word::Earn]) => {}
                _ => return Err(Refusal::NothingAsked),
            }
        } else if let (Some(column), true) = (hinted, asked && !draft.says(Word::HowMany)) {
            draft.measures.push(Wanted::Plain(column, None));
        }
    }
    Ok(())
}

/// `欠费金额` beside `是否欠费`: what it comes to.
pub(super) fn amount_of(scope: &Scope<'_>, flag: ColRef) -> Option<ColRef> {
    let bare = scope.column(flag).words.strip_prefix("是否").filter(|b| b.chars().count() >= 2)?;
    let about = |c: &Column| units::is_money(c) && c.words.starts_with(bare);
    let found = scope.tables[flag.table].indices(about);
    found.first().filter(|_| found.len() == 1).map(|column| ColRef { table: flag.table, column: *column })
}

/// The concepts an adjective may be about, the likeliest first.
pub(crate) fn implied_measure(text: &str) -> &'static [&'static str] {
    match text {
        "most expensive" | "priciest" | "cheapest" | "最贵" | "最便宜" => {
            &["price", "rent", "revenue", "cost", "asset_value", "fee"]
        }
        "biggest" | "largest" | "smallest" | "最大" | "最小" => &["area_size"],
        "oldest" | "youngest" | "how old" | "多大年纪" => &["age"],
        "longest" | "shortest" | "最久" | "how long" | "多久" | "多长时间" | "最长" | "最短" => {
            &[
                "duration",
                "distance",
                "resolution_time",
                "wait",
                "talk",
                "transit",
                "response",
                "delay",
                "tenure",
                "bed_days",
            ]
        }
        text if text.starts_with("多少钱一") || text.starts_with("几块钱一") => &["price"],
        "最耗电" | "最费电" | "用电最多" | "耗电最多" => &["energy"],
        "最耗油" | "最费油" => &["fuel"],
        "最耗水" | "最费水" => &["water"],
        "最烧钱" | "最花钱" | "最费钱" => &["cost", "revenue"],
        "最花时间" | "最耗时" | "最费时" => &["duration", "resolution_time", "hours_worked"],
        "coldest" | "hottest" | "warmest" | "最冷" | "最热" => &["temperature"],
        "最高分" | "最低分" => &["score"],
        "tallest" | "最高的人" => &["height"],
        "highest-paid" | "best-paid" | "lowest-paid" => &["salary"],
        "heaviest" | "lightest" | "最重" | "最轻" | "how heavy" | "多重" => &["weight"],
        "farthest" | "furthest" | "最远" | "how far" | "多远" => &["distance"],
        _ => &[],
    }
}
