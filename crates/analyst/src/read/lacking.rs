//! Words for things no column stands for: nouns for rows, or a reason to give no figure.

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::Measure;
use crate::read::draft::{Reader, Wanted};
use crate::read::tokens::{Tok, Token};
use crate::table::Role;
use crate::word::Word;

const PEOPLE: [&str; 3] = ["people", "persons", "person"];

impl Reader<'_> {
    /// A thing no column names: what a row is, when the file says so or it is asked for as a whole.
    pub(super) fn count_lacking(&mut self, i: usize, index: usize) {
        let concept = &self.scope.glossary.concepts[index];
        // `how much did the scrap cost us`: no number of pieces says so.
        let priced = ["cost", "price", "revenue", "profit"].contains(&concept.id.as_str())
            && self.tokens[i].text.is_ascii()
            && !self.knows_money();
        // `保费收入`: of premiums, which no column tells.
        let own = self.tokens.get(i + 1).is_some_and(|t| {
            t.start == self.tokens[i].end
                && matches!(t.text.as_str(), "收入" | "支出" | "金额" | "总额" | "费用")
        });
        if concept.role == ConceptRole::Measure
            && !own
            && self.beside_measure(i)
            && self.tokens[i].text != "turnover"
            && !priced
        {
            // `数学成绩`: the column before says which.
            self.draft.lacking.retain(|(c, _)| *c != index);
            return;
        }
        let measured = |t: &Token| matches!(t.tok, Tok::Col(c, _) if self.scope.role(c) == Role::Measure);
        if concept.id == "score" && self.tokens.iter().any(measured) {
            // `scored above 90 in math`
            self.draft.lacking.retain(|(c, _)| *c != index);
            return;
        }
        // `sign-ups`, where there is a `signup_date`: rows by that date.
        let happens = matches!(concept.role, ConceptRole::Measure | ConceptRole::Time);
        if let Some(date) = self.happened_on(i).filter(|_| happens) {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft.dates.push(date);
            self.draft.events = true;
            return;
        }
        // `how much does a check-up cost`
        let table = &self.scope.tables[self.scope.in_scope[0]];
        if concept.id == "cost"
            && self.draft.asks_money
            && !self.draft.values.is_empty()
            && self.tokens[i].text.starts_with("cost")
            && let Some(money) = crate::units::main_money(table)
        {
            let column = ColRef { table: self.scope.in_scope[0], column: money };
            self.draft.lacking.retain(|(c, _)| *c != index);
            let wanted = Wanted::Plain(column, self.draft.loose_agg.or(Some(crate::question::Agg::Mean)));
            self.draft.measures.push(wanted);
            return;
        }
        // `ticket volume`: how many there were.
        let thing = i.checked_sub(1).and_then(|j| self.tokens.get(j)).is_some_and(|t| match t.tok {
            Tok::RowNoun => true,
            Tok::Col(c, _) => self.scope.role(c) == Role::Id,
            _ => false,
        });
        if thing && self.tokens[i].text.starts_with("volume") {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            return;
        }
        if self.is_mere_noun(i, &concept.id) {
            self.draft.lacking.retain(|(c, _)| *c != index);
            return;
        }
        // `how many people gave`: those whose numbers the rows hold.
        let asked = matches!(self.before_values(i), Some(Word::HowMany | Word::Distinct));
        if PEOPLE.contains(&self.tokens[i].text.as_str())
            && asked
            && let Some(who) = crate::read::measures::person(self.scope)
        {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft.measures.push(Wanted::Fixed(Measure::Of(crate::question::Agg::Distinct, who)));
            return;
        }
        // `the two most returned items` of a file of returns: the rows.
        let said = self.tokens[i].text.as_str();
        let root = crate::names::stem(said);
        let (heads, _) = crate::names::row_nouns(&table.rows_called);
        let verb = |h: &String| h.strip_prefix(said).is_some_and(|rest| rest == "al" || rest == "er");
        if said.is_ascii() && heads.iter().any(|h| crate::names::stem(h) == root || verb(h)) {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.read_row_noun(i);
            return;
        }
        // `how many items`, where nothing tells pieces from rows: each row is of one.
        const PIECES: [&str; 5] = ["item", "items", "goods", "article", "articles"];
        let told = |id: &str| !self.scope.concept_columns(id).is_empty();
        if PIECES.contains(&self.tokens[i].text.as_str())
            && !told("product")
            && !told("quantity")
            && !matches!(self.before(i), Some(Word::By | Word::Which))
        {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.read_row_noun(i);
            return;
        }
        // `公司每个月`, `our site`: ours.
        let own = ["the ", "our ", "this "].iter().any(|w| {
            let before: String = self.text[..self.tokens[i].start].iter().collect();
            before.ends_with(w)
        });
        if (concept.id == "company" || concept.id == "store" && own)
            && !matches!(self.before(i), Some(Word::By | Word::Which | Word::HowMany))
            && !self.asked_after(i)
            && !self.most(i)
        {
            self.draft.lacking.retain(|(c, _)| *c != index);
            return;
        }
        if ["revenue", "purchase_amount", "fee"].contains(&concept.id.as_str())
            && self.tokens[i].text.chars().all(crate::norm::is_cjk)
            && !self.tokens.iter().any(measured)
            && let Some(money) = crate::units::main_money(table)
            && !["energy_fee", "balance", "arrears"].iter().any(|id| table.columns[money].has_concept(id))
        {
            let column = ColRef { table: self.scope.in_scope[0], column: money };
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft
                .notes
                .push(crate::question::Note::ReadAs { said: self.tokens[i].text.clone(), taken: column });
            self.draft.measures.push(Wanted::Plain(column, None));
            return;
        }
        if concept.id == "aov"
            && !self.draft.says_any(&[Word::Highest, Word::Lowest])
            && let Some(money) = crate::units::main_money(&self.scope.tables[self.scope.in_scope[0]])
        {
            let column = ColRef { table: self.scope.in_scope[0], column: money };
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft.measures.push(Wanted::Plain(column, Some(crate::question::Agg::Mean)));
            return;
        }
        if concept.id == "duration" && self.draft.long && self.draft.implied.is_some() {
            self.draft.lacking.retain(|(c, _)| *c != index);
            return;
        }
        let table = &self.scope.tables[self.scope.in_scope[0]];
        let words = crate::norm::name_words(&table.rows_called);
        let spoken_of = |n: &String| {
            words.contains(n.as_str()) || table.columns.iter().any(|c| c.words.split(' ').any(|w| w == n))
        };
        let named = concept.names.iter().any(|n| n.len() > 3 && spoken_of(n));
        let lead = self.before_values(i);
        let counting = matches!(lead, Some(Word::HowMany | Word::Count | Word::HowMuch))
            || self.after(i) == Some(Word::CountSuffix)
            || self.tokens[i].text == "人数"
            || self.asked_after(i);
        let grouped_by = matches!(self.before(i), Some(Word::By | Word::Which));
        if concept.role == ConceptRole::Entity
            && (named || concept.id == "employee" && self.rows_are_people())
            && !grouped_by
        {
            self.draft.lacking.retain(|(c, _)| *c != index);
            if counting {
                self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            }
        }
        // Rows that tell a person's sex or age are about people, whoever they are; how many people they are is not told.
        let about_people = ["gender", "age"].iter().any(|id| !self.scope.concept_columns(id).is_empty());
        let people = matches!(
            concept.id.as_str(),
            "patient" | "customer" | "employee" | "student" | "candidate" | "player"
        );
        let per_row = self.draft.says(Word::Count) || self.tokens.iter().any(|t| t.text.ends_with("人次"));
        let bounded = self
            .tokens
            .get(i + 1)
            .is_some_and(|t| matches!(t.tok, Tok::Word(Word::Gt | Word::Ge | Word::Lt | Word::Le)));
        // `customers waited more than 2 hours`: each row is someone's wait.
        let waited = self.draft.conditioned.iter().any(|c| {
            let column = self.scope.column(*c);
            crate::units::of(column).is_some_and(crate::units::is_time)
                && ["wait", "response", "delay", "talk"].iter().any(|id| column.has_concept(id))
        });
        if people && counting && waited {
            self.draft.lacking.retain(|(c, _)| *c != index);
            self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            return;
        }
        if people && about_people && (!counting || per_row || bounded) {
            self.draft.lacking.retain(|(c, _)| *c != index);
            if self.most(i) || counting {
                self.draft.measures.push(Wanted::Fixed(Measure::Rows));
            }
        }
        // `Enterprise customers`: a noun after the value it goes with.
        let after_value = i > 0 && matches!(self.tokens[i - 1].tok, Tok::Val(..)) && self.close(i - 1, i);
        // … unless it is what is asked for: `小班的老师是谁`.
        let asked = self.draft.says(Word::Who) || matches!(self.after(i), Some(Word::Which | Word::Equal));
        if concept.role == ConceptRole::Entity && after_value && !counting && !self.most(i) && !asked {
            self.draft.lacking.retain(|(c, _)| *c != index);
        }
    }

    /// `which driver covers the most`, `package type`, `what do people spend`: a verb or a noun that says nothing more.
    fn is_mere_noun(&self, i: usize, concept: &str) -> bool {
        let text = self.tokens[i].text.as_str();
        let after: String = self.text[self.tokens[i].end..].iter().collect();
        let column = i.checked_sub(1).and_then(|j| self.col(j)).filter(|_| self.close(i - 1, i));
        let named = column.is_some_and(|c| matches!(self.scope.role(c), Role::Dimension | Role::Id));
        let verb = named
            && i >= 2
            && matches!(self.before(i - 1), Some(Word::Which))
            && text.ends_with('s')
            && [" the ", " a ", " our ", " us ", " most"].iter().any(|w| after.starts_with(w));
        let kind = named
            && concept == "category"
            && matches!(text, "type" | "types" | "kind" | "kinds" | "category" | "categories" | "class");
        let asked = matches!(
            self.before_values(i),
            Some(Word::HowMany | Word::Count | Word::By | Word::Which | Word::Distinct | Word::Share)
        );
        let subject = PEOPLE.contains(&text) && !asked && !self.most(i);
        verb || kind || subject
    }

    /// The date named by what happened on it.
    fn happened_on(&self, i: usize) -> Option<ColRef> {
        let joined = |t: &str| t.chars().filter(|c| !matches!(c, ' ' | '-')).collect::<String>();
        let said = crate::names::stem(&joined(&self.tokens[i].text));
        let main = *self.scope.in_scope.first()?;
        // Words for becoming one of them.
        const JOINING: [&str; 14] = [
            "join",
            "joined",
            "joining",
            "signup",
            "signed",
            "registr",
            "register",
            "registration",
            "enrol",
            "enroll",
            "enrolment",
            "enrollment",
            "start",
            "subscribe",
        ];
        let joins = |w: &str| JOINING.iter().any(|j| crate::names::stem(j) == w || *j == w);
        let named = |c: &crate::table::Column| {
            let event = [" date", " time", " at", " on", " day", "日期", "时间"]
                .iter()
                .find_map(|e| c.full.strip_suffix(e))
                .map(|e| crate::names::stem(&joined(e)));
            c.role == Role::Time && event.is_some_and(|e| e == said || joins(&e) && joins(&said))
        };
        let found = self.scope.tables[main].columns.iter().position(named)?;
        Some(ColRef { table: main, column: found })
    }

    fn rows_are_people(&self) -> bool {
        ["gender", "age", "salary", "hire_date", "title", "tenure", "left", "education"]
            .iter()
            .any(|id| !self.scope.concept_columns(id).is_empty())
    }

    /// A name that needs saying: the column is called something else, and the word was only taken for it.
    pub(super) fn is_far_fetched(&self, i: usize, column: ColRef) -> bool {
        let found = self.scope.column(column);
        let text = self.tokens[i].text.trim_end_matches('s');
        let sure = found.concepts.iter().any(|(_, q)| *q >= 3);
        found.role == Role::Measure
            && !sure
            && !found.full.contains(text)
            && !text.contains(found.words.as_str())
    }

    /// A figure's column right before or after, an aggregate in between aside.
    fn beside_measure(&self, i: usize) -> bool {
        let measured = |j: usize| self.col(j).is_some_and(|c| self.scope.role(c) == Role::Measure);
        let skip =
            |j: usize| matches!(self.tokens.get(j).map(|t| &t.tok), Some(Tok::Word(w)) if w.agg().is_some());
        let before = i.checked_sub(1).map(|j| if skip(j) { j.saturating_sub(1) } else { j });
        before.is_some_and(measured) || measured(i + 1)
    }
}
