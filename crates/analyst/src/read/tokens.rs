//! From mentions to tokens: chooses the table a question is about and, for each mention, the one meaning that fits it.

use crate::glossary::{Concept, ConceptRole, Glossary};
use crate::lex::{ColRef, Lexed, Meaning, Mention};
use crate::read::{kindred, sense, unmarked};
use crate::table::{Role, Table};
use crate::timex::When;
use crate::units::Unit;
use crate::word::{Beyond, Word};

#[derive(Debug, Clone, PartialEq)]
pub enum Tok {
    /// A column; the other one is an equally good reading.
    Col(ColRef, Option<ColRef>),
    /// Something a figure is about.
    Thing(ColRef),
    Ratio(usize),
    /// A concept no column stands for.
    Lacking(usize),
    Val(ColRef, String),
    Word(Word),
    Num(f64),
    Pctl(f64),
    Time(When),
    Beyond(Beyond),
    Table,
    /// Divided by this column.
    Per(ColRef),
    /// What a row is called.
    RowNoun,
    Unit(Unit),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub tok: Tok,
    pub text: String,
    /// Directly after the one before, stop words aside.
    pub start: usize,
    pub end: usize,
    /// The word is also a name for the rows.
    pub rows: bool,
}

pub struct Scope<'a> {
    pub glossary: &'a Glossary,
    pub tables: &'a [Table],
    /// The main table first, then those joined to it.
    pub in_scope: Vec<usize>,
}

impl Scope<'_> {
    pub fn column(&self, at: ColRef) -> &crate::table::Column {
        &self.tables[at.table].columns[at.column]
    }

    pub fn role(&self, at: ColRef) -> Role {
        self.column(at).role
    }

    /// Columns of the tables in scope that stand for a concept, the surest first.
    pub fn concept_columns(&self, id: &str) -> Vec<(ColRef, u8)> {
        let of = |&t: &usize| {
            self.tables[t]
                .with_concept(id)
                .into_iter()
                .map(move |(column, q)| (ColRef { table: t, column }, q))
        };
        self.in_scope.iter().flat_map(of).collect()
    }

    /// Columns that stand for a concept or, failing that, for one that will do instead.
    pub fn columns_for(&self, concept: &Concept) -> Vec<(ColRef, u8)> {
        let own = self.concept_columns(&concept.id);
        if !own.is_empty() {
            return own;
        }
        let instead = concept.or.iter().map(|id| self.concept_columns(id)).find(|c| !c.is_empty());
        instead.unwrap_or_default().into_iter().map(|(c, q)| (c, q.min(2))).collect()
    }

    /// The first of several concepts (`a|b`) that a column stands for.
    pub fn first_of<'t>(&self, terms: &'t str) -> Option<&'t str> {
        terms.split('|').find(|t| !self.concept_columns(t.strip_prefix("count:").unwrap_or(t)).is_empty())
    }
}

/// How well a table explains what was mentioned.
pub fn fit(table: usize, tables: &[Table], glossary: &Glossary, lexed: &Lexed) -> u32 {
    lexed.mentions.iter().map(|m| u32::from(explains(table, tables, glossary, m))).sum()
}

/// How well a table explains one mention: 0 not at all.
pub fn explains(table: usize, tables: &[Table], glossary: &Glossary, mention: &Mention) -> u8 {
    let score = |m: &Meaning| match m {
        Meaning::Column(at, q) if at.table == table => *q,
        Meaning::Value(at, _, q) if at.table == table => *q,
        Meaning::Table(t) | Meaning::RowNoun(t) if *t == table => 3,
        Meaning::Concept(i) => concept_fit(table, tables, glossary, *i),
        // What was paid is told where there is money.
        Meaning::Word(Word::HowMuch) if mention.text == "多少钱" && tables.len() > 1 => {
            3 * u8::from(crate::units::main_money(&tables[table]).is_some())
        }
        _ => 0,
    };
    mention.meanings.iter().map(score).max().unwrap_or(0)
}

fn concept_fit(table: usize, tables: &[Table], glossary: &Glossary, concept: usize) -> u8 {
    let concept = &glossary.concepts[concept];
    let has = |id: &str| tables[table].with_concept(id).first().map_or(0, |(_, q)| *q);
    match &concept.terms {
        None => {
            std::iter::once(&concept.id).chain(&concept.or).map(|id| has(id)).find(|q| *q > 0).unwrap_or(0)
        }
        Some((n, d)) => {
            let of = |terms: &str| {
                terms
                    .split('|')
                    .map(|t| has(t.strip_prefix("count:").unwrap_or(t)))
                    .find(|q| *q > 0)
                    .unwrap_or(0)
            };
            of(n).min(of(d))
        }
    }
}

/// The mentions as tokens of the chosen tables. Stop words and other tables' meanings fall away.
pub fn tokens(scope: &Scope<'_>, lexed: &Lexed) -> Vec<Token> {
    let mut out = Vec::new();
    for mention in &lexed.mentions {
        let main = scope.in_scope.first().copied();
        let rows = mention.meanings.iter().any(|m| matches!(m, Meaning::RowNoun(t) if Some(*t) == main));
        for tok in choose(scope, lexed, mention) {
            out.push(Token { tok, text: mention.text.clone(), start: mention.start, end: mention.end, rows });
        }
    }
    kindred::tell_apart(scope, lexed, &mut out);
    unmarked::prefer_done(scope, &mut out);
    out
}

/// One token for a mention; several where one word stands for several values of a column: `closed`, won or lost.
fn choose(scope: &Scope<'_>, lexed: &Lexed, mention: &Mention) -> Vec<Tok> {
    let mut ranked: Vec<(u8, Tok)> =
        mention.meanings.iter().filter_map(|m| rank(scope, mention, m)).collect();
    sense::prefer(scope, lexed, mention, &mut ranked);
    sense::prefer_end(scope, lexed, mention, &mut ranked);
    // Stable: of equals the first stays first, so the main table wins over a joined one.
    ranked.sort_by_key(|(r, _)| std::cmp::Reverse(*r));
    if let Some(rows) = ranked.iter().position(|(_, t)| *t == Tok::RowNoun)
        && matches!(ranked[0].1, Tok::Col(c, _) if far_from_rows(scope, mention, c))
    {
        return vec![ranked.swap_remove(rows).1];
    }
    if let Some(named) = called_so(scope, mention, &ranked) {
        return vec![ranked.swap_remove(named).1];
    }
    let Some(best) = ranked.first().cloned() else { return Vec::new() };
    if let Tok::Val(column, _) = &best.1 {
        let same = |(r, t): &(u8, Tok)| *r == best.0 && matches!(t, Tok::Val(c, _) if c == column);
        let mut all: Vec<Tok> = ranked.iter().filter(|t| same(t)).map(|(_, t)| t.clone()).collect();
        all.dedup();
        return all;
    }
    let Tok::Col(first, None) = best.1 else { return vec![best.1] };
    let other = ranked.iter().skip(1).find_map(|(r, t)| match t {
        Tok::Col(c, _) if *r == best.0 && *c != first && c.table == first.table => Some(*c),
        _ => None,
    });
    vec![Tok::Col(first, other)]
}

/// `plays` are `Spotify Plays`, not the `Downloads` that are counted alike.
fn called_so(scope: &Scope<'_>, mention: &Mention, ranked: &[(u8, Tok)]) -> Option<usize> {
    let said = crate::names::stem(&mention.text);
    let figure = |t: &Tok| match t {
        Tok::Col(c, _) if scope.role(*c) == Role::Measure => Some(*c),
        _ => None,
    };
    let named = |c: ColRef| scope.column(c).full.split(' ').any(|w| crate::names::stem(w) == said);
    let taken = figure(&ranked.first()?.1)?;
    if !mention.text.is_ascii() || mention.text.contains(' ') || named(taken) {
        return None;
    }
    let mut found = (0..ranked.len()).filter(|i| figure(&ranked[*i].1).is_some_and(named));
    found.next().filter(|_| found.next().is_none())
}

/// `shipments` of a file of them is no `package`, which tells how the goods were packed.
fn far_from_rows(scope: &Scope<'_>, mention: &Mention, column: ColRef) -> bool {
    let found = scope.column(column);
    let said = crate::names::stem(&mention.text);
    let named = found.full.split(' ').any(|w| crate::names::stem(w) == said);
    let few = found.distinct * 10 < scope.tables[column.table].rows * 9;
    // `SKU`, where a column is called `SKU编码`: no row is one.
    let other = |c: &crate::table::Column| c.full.starts_with(said.as_str()) && !c.full.is_ascii();
    let elsewhere = scope.tables[column.table].columns.iter().any(other);
    mention.text.is_ascii() && found.role == Role::Dimension && !named && few && !elsewhere
}

/// The token a meaning would give, with its rank among the meanings of one mention.
fn rank(scope: &Scope<'_>, mention: &Mention, meaning: &Meaning) -> Option<(u8, Tok)> {
    let known = |at: &ColRef| scope.in_scope.contains(&at.table);
    Some(match meaning {
        Meaning::Column(at, q) if known(at) => (if *q >= 4 { 90 } else { 45 }, Tok::Col(*at, None)),
        Meaning::Value(at, v, q) if known(at) => {
            let rank = match q {
                4 => 80,
                3 => 60,
                _ => 40,
            };
            (rank, Tok::Val(*at, v.clone()))
        }
        Meaning::Per(at) if known(at) => (85, Tok::Per(*at)),
        Meaning::Thing(at) if known(at) => (15, Tok::Thing(*at)),
        Meaning::Concept(i) => return concept_token(scope, mention, *i),
        // `estimated hours` and `expected amount` may be columns.
        Meaning::Word(Word::Forecast) if mention.text.is_ascii() => (44, Tok::Word(Word::Forecast)),
        Meaning::Word(w) => (50, Tok::Word(*w)),
        Meaning::Number(n) => (55, Tok::Num(*n)),
        Meaning::Percentile(p) => (56, Tok::Pctl(*p)),
        Meaning::Time(w) => (70, Tok::Time(*w)),
        Meaning::Beyond(b) => (30, Tok::Beyond(*b)),
        Meaning::Table(_) => (20, Tok::Table),
        Meaning::Unit(u) => (18, Tok::Unit(*u)),
        Meaning::RowNoun(t) if scope.in_scope.first() == Some(t) => (32, Tok::RowNoun),
        Meaning::Column(..)
        | Meaning::Value(..)
        | Meaning::Thing(_)
        | Meaning::Per(_)
        | Meaning::RowNoun(_)
        | Meaning::Stop => {
            return None;
        }
    })
}

fn concept_token(scope: &Scope<'_>, mention: &Mention, index: usize) -> Option<(u8, Tok)> {
    let concept = &scope.glossary.concepts[index];
    if concept.role == ConceptRole::Ratio {
        let (n, d) = concept.terms.as_ref()?;
        let counts_rows = d == "count:order";
        let works = scope.first_of(n).is_some() && (scope.first_of(d).is_some() || counts_rows);
        return Some(if works { (65, Tok::Ratio(index)) } else { (10, Tok::Lacking(index)) });
    }
    // `各年级人数`: how many, never by whom.
    if mention.text == "人数" && concept.role == ConceptRole::Entity {
        return None;
    }
    let columns = scope.columns_for(concept);
    let Some(&(first, quality)) = columns.first() else {
        // `billing`, `takings`: the amount the rows are about.
        const HEADS: [&str; 6] = [" income", " revenue", " sales", " takings", " earnings", " proceeds"];
        let headed = HEADS.iter().any(|h| mention.text.ends_with(h)) && !mention.text.starts_with("net");
        let main = scope.in_scope.first().copied().filter(|_| concept.id == "revenue" || headed);
        let english = mention.text.is_ascii();
        if let Some((table, column)) =
            main.filter(|_| english).and_then(|t| Some((t, crate::units::takings(&scope.tables[t])?)))
        {
            return Some((60, Tok::Col(ColRef { table, column }, None)));
        }
        // A word with another use (`rate`, `number`) keeps it; a pure concept is known to be lacking.
        let other_use = mention
            .meanings
            .iter()
            .any(|m| matches!(m, Meaning::Stop | Meaning::Thing(_) | Meaning::RowNoun(_) | Meaning::Unit(_)));
        return (!other_use).then_some((10, Tok::Lacking(index)));
    };
    let wants_name = matches!(concept.role, ConceptRole::Entity | ConceptRole::Dimension);
    let named = columns
        .iter()
        .find(|(c, q)| *q == quality && scope.role(*c) == Role::Dimension)
        .filter(|_| wants_name);
    let chosen = named.map_or(first, |(c, _)| *c);
    let other = columns
        .iter()
        .find(|(c, q)| {
            *c != chosen && *q == quality && scope.role(*c) == scope.role(chosen) && c.table == chosen.table
        })
        .map(|(c, _)| *c);
    // A column called so beats one that is only taken for it.
    Some((60 + quality, Tok::Col(chosen, other)))
}
