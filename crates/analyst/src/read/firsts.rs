//! Who came for the first time: `new customers a month`, `each donor's first gift`, `首次下单`. Only where one comes up in many
//! rows; where each row is one, the rows are counted as they are.

use crate::glossary::ConceptRole;
use crate::question::{Agg, Group, Intent, Measure, Question, Refusal};
use crate::read::draft::{Draft, Reader};
use crate::read::tokens::{Scope, Tok, Token};
use crate::table::Role;
use crate::word::Word;

impl Reader<'_> {
    /// Finds whose first time is asked about.
    pub(super) fn read_firsts(&mut self) {
        let text: String = self.text.iter().collect();
        let entities: Vec<usize> = (0..self.tokens.len()).filter(|i| self.comes_again(*i, 30)).collect();
        let few: Vec<usize> = (0..self.tokens.len()).filter(|i| self.comes_again(*i, 4)).collect();
        let new = entities.iter().find(|i| self.is_new(**i));
        let first = text.contains("first-time")
            || text.contains("first time")
            || ["首次", "第一次", "首单", "首购", "初次", "头一次", "最早的"]
                .iter()
                .any(|w| text.contains(w))
            || self.tokens.iter().enumerate().any(|(i, t)| t.text == "first" && self.happens_once(i + 1));
        let whose = new.or_else(|| few.first().filter(|_| first));
        self.draft.firsts = whose.and_then(|i| self.col(*i));
    }

    /// A thing or person that several rows are about.
    fn comes_again(&self, i: usize, least: u64) -> bool {
        let Some(column) = self.col(i) else { return false };
        let found = self.scope.column(column);
        let rows = self.scope.tables[column.table].rows;
        let known = found
            .concepts
            .iter()
            .any(|(id, _)| self.scope.glossary.concept(id).is_some_and(|c| c.role == ConceptRole::Entity));
        let people = known || least < 30 && super::asked::is_people(&self.tokens[i].text);
        column.table == self.scope.in_scope[0]
            && found.distinct < rows
            && (found.role == Role::Id || found.role == Role::Dimension && people && found.distinct > least)
    }

    /// `new donors`, `新客户`, `新增会员`.
    fn is_new(&self, i: usize) -> bool {
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        let before = before.trim_end();
        ["新", "新增", "新增的", "新来的", "新的"].iter().any(|w| before.ends_with(w))
            || before
                .split(|c: char| !c.is_ascii_alphabetic())
                .next_back()
                .is_some_and(|w| matches!(w, "new" | "newly"))
            || before.ends_with("first-time")
            || before.ends_with("first time")
    }

    /// `first gift`: one such row of each.
    fn happens_once(&self, i: usize) -> bool {
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
        self.tokens.get(i).is_some_and(|t| {
            let row = match t.tok {
                Tok::RowNoun => true,
                Tok::Col(c, _) => self.scope.role(c) == Role::Id || self.scope.role(c) == Role::Time,
                _ => t.rows,
            };
            row && (EVENTS.contains(&t.text.as_str()) || !t.text.ends_with('s'))
        })
    }
}

/// How many there were for the first time.
pub(super) fn first_seen(scope: &Scope<'_>, draft: &Draft, question: &mut Question) -> Result<bool, Refusal> {
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
    let Some(entity) = draft.firsts else { return Ok(false) };
    let date = question.date.ok_or(Refusal::NoDate)?;
    // What they brought in, or where they came from, would need more than the day of the first row.
    let others = draft.dims.iter().any(|d| *d != entity && scope.role(*d) != Role::Id);
    let asked = draft.says_any(&COUNTS) || draft.grain.is_some();
    let growing =
        draft.says_any(&[Word::Share, Word::Growth, Word::Yoy, Word::Mom, Word::Mean, Word::Forecast]);
    if others || !asked || growing || !draft.plain_measures().is_empty() || question.having.is_some() {
        return Err(Refusal::NothingAsked);
    }
    question.measures = vec![Measure::Of(Agg::Distinct, entity)];
    question.groups = draft.grain.map(|g| Group::Time(date, g)).into_iter().collect();
    question.intent = Intent::FirstSeen { entity, date };
    Ok(true)
}

/// The word says that something came first, and whose first it is was found.
pub(super) fn is_told(draft: &Draft, token: &Token) -> bool {
    draft.firsts.is_some() && matches!(token.text.as_str(), "first" | "首次")
}
