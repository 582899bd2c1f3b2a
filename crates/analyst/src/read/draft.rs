//! From tokens to a draft: which columns are measured, grouped by, filtered. Patterns over neighbouring tokens;
//! nothing here knows SQL.

use crate::lex::{ColRef, Lexed};
use crate::question::{Agg, ChartKind, Cmp, Order};
use crate::read::periods::{A_PERIOD, ADDED};
use crate::read::tokens::{Scope, Tok, Token};
use crate::read::{asked, chinese, formula, pairs, sense, unmarked};
use crate::table::Role;
use crate::units::Unit;
use crate::word::{Beyond, Word};

pub use crate::read::drafted::{Draft, Wanted};

pub(super) struct Reader<'a> {
    pub(super) scope: &'a Scope<'a>,
    pub(super) tokens: &'a [Token],
    pub(super) used: Vec<bool>,
    /// Where units were said.
    pub(super) units: Vec<(usize, Unit)>,
    pub(super) draft: Draft,
    /// The question, normalised.
    pub(super) text: &'a [char],
}

pub fn draft(scope: &Scope<'_>, tokens: &[Token], lexed: &Lexed) -> Draft {
    // Verbs only imply a figure; between other words they would stand in the way.
    let verb = |t: &Token| matches!(t.tok, Tok::Word(Word::Sell | Word::Spend | Word::Earn));
    let (verbs, spoken): (Vec<Token>, Vec<Token>) = tokens.iter().cloned().partition(verb);
    let (spoken, units) = asked::without_units(spoken);
    let draft =
        Draft { hints: asked::hints(scope, lexed), unsure: !lexed.ignored.is_empty(), ..Draft::default() };
    let text = &lexed.text;
    let mut reader = Reader { scope, tokens: &spoken, used: vec![false; spoken.len()], units, draft, text };
    let words: String = text.iter().collect();
    reader.draft.adds_up = ADDED.iter().any(|w| words.contains(w));
    reader.draft.value_figure = sense::figure_of_value(scope, lexed);
    for token in verbs {
        if let Tok::Word(w) = token.tok {
            reader.draft.words.insert(w);
        }
    }
    reader.read_firsts();
    reader.read_row_extreme();
    reader.collect_words();
    reader.read_times();
    reader.read_time_before();
    reader.read_more_than();
    reader.need_money();
    reader.read_values();
    reader.read_numbers();
    reader.read_no_stock();
    reader.read_formula();
    reader.read_comparisons();
    reader.read_filled();
    reader.read_unrecorded();
    reader.read_columns();
    reader.read_both();
    reader.read_most_in_one();
    reader.read_wholes();
    reader.read_part_of_all();
    let mut draft = reader.draft;
    if let Some(unit) = draft.per_unit.filter(|u| !draft.plain_measures().contains(u)) {
        draft.measures.push(Wanted::Plain(unit, None));
    }
    draft.asks_worth = asked::worth_said(lexed);
    draft.asks_money |= lexed.ignored.iter().any(|w| matches!(w.as_str(), "费" | "款" | "额"));
    draft.acts = chinese::says_deed(lexed);
    draft.each_share = chinese::says_each_share(text);
    chinese::both_sides(&mut draft);
    chinese::value_both_ways(scope, &mut draft);
    let denied: Vec<ColRef> = draft.flags.iter().filter(|(_, yes)| !yes).map(|(c, _)| *c).collect();
    draft.flags.retain(|(c, yes)| !yes || !denied.contains(c));
    draft.part_last = pairs::part_comes_last(scope, &spoken);
    draft.part_bound = pairs::bound_comes_last(&spoken);
    draft.names_numbers = unmarked::numbers_said(scope, &spoken);
    formula::settle(&mut draft, scope, lexed);
    pairs::pair_up(&mut draft);
    chinese::explained_rate(&mut draft);
    draft
}

impl Reader<'_> {
    pub(super) fn word(&self, i: Option<usize>) -> Option<Word> {
        match self.tokens.get(i?)?.tok {
            Tok::Word(w) => Some(w),
            _ => None,
        }
    }

    pub(super) fn before(&self, i: usize) -> Option<Word> {
        self.word(i.checked_sub(1))
    }

    pub(super) fn after(&self, i: usize) -> Option<Word> {
        self.word(Some(i + 1))
    }

    pub(super) fn col(&self, i: usize) -> Option<ColRef> {
        match self.tokens.get(i)?.tok {
            Tok::Col(c, _) => Some(c),
            _ => None,
        }
    }

    /// Nothing but a joining word between two tokens.
    pub(super) fn close(&self, i: usize, j: usize) -> bool {
        self.tokens[j].start.saturating_sub(self.tokens[i].end) <= 2
    }

    fn says_linear(&self) -> bool {
        self.tokens.iter().any(|t| matches!(t.tok, Tok::Word(Word::Linear)))
    }

    fn collect_words(&mut self) {
        for (i, token) in self.tokens.iter().enumerate() {
            match &token.tok {
                Tok::Word(w) => self.note_word(i, *w),
                // `caused by a deploy`, where a column tells causes, asks for rows.
                Tok::Beyond(Beyond::Cause) if token.text.starts_with("cause") && self.causes_are_told() => {}
                Tok::Beyond(Beyond::Chat) if chinese::is_courtesy(&token.text) && self.tokens.len() > 1 => {}
                // `if it follows a linear trend, what should we expect`: the method is said, nothing is judged.
                Tok::Beyond(Beyond::Judgement | Beyond::Advice) if self.says_linear() => {}
                Tok::Beyond(b) => self.draft.beyond.push(*b),
                Tok::Pctl(p) => self.draft.loose_agg = Some(Agg::Percentile(*p)),
                Tok::Thing(c) => {
                    self.draft.things.push(*c);
                    // `which landing page`, where no row is a page.
                    let which = matches!(self.before(i), Some(Word::Which | Word::By));
                    if which && token.text.is_ascii() && !self.rows_are_numbered() {
                        self.draft.lacking.push((usize::MAX, token.text.clone()));
                    }
                }
                Tok::Col(c, _) if token.text == "费用" && self.scope.role(*c) == Role::Dimension => {
                    self.draft.asks_money = true;
                }
                Tok::Lacking(c) => self.draft.lacking.push((*c, token.text.clone())),
                _ => {}
            }
        }
    }

    fn note_word(&mut self, i: usize, w: Word) {
        self.draft.words.insert(w);
        if matches!(w, Word::Repeated | Word::Once) {
            self.draft.repeated = (0..i).rev().find_map(|j| self.col(j));
        }
        self.note_question_word(i, w);
        let next = self.tokens.get(i + 1);
        self.draft.most_such |= w == Word::Highest
            && matches!(self.tokens[i].text.as_str(), "most" | "fewest" | "least")
            && next.is_some_and(|t| matches!(t.tok, Tok::Val(..)) && t.start - self.tokens[i].end <= 1);
        let after_value = i > 0
            && matches!(self.tokens[i - 1].tok, Tok::Val(..))
            && self.tokens[i].start - self.tokens[i - 1].end <= 5;
        self.draft.most_such |=
            w == Word::Highest && self.tokens[i].text == "most" && next.is_none() && after_value;
        // `the most kilometres`
        if w == Word::Highest && matches!(self.tokens[i].text.as_str(), "most" | "fewest" | "least") {
            let unit = self.unit_after(self.tokens[i].end).filter(|u| self.only_in(*u).is_some());
            self.draft.asks_unit = self.draft.asks_unit.or(unit);
        }
        self.draft.mean_period |= w == Word::Mean
            && next.is_some_and(|t| {
                matches!(t.tok, Tok::Word(Word::Day | Word::Week | Word::Month))
                    && t.start - self.tokens[i].end <= 1
            });
        self.draft.mean_period |= A_PERIOD.contains(&self.tokens[i].text.as_str());
        self.draft.next_year |= matches!(self.tokens[i].text.as_str(), "明年" | "next year" | "下一年");
        self.draft.long |= matches!(self.tokens[i].text.as_str(), "how long" | "多久" | "多长时间");
        self.draft.share_leads |= w == Word::Share && self.tokens[i].text.is_ascii();
        let spoken = || chinese::mean_per(&self.tokens[i].text).filter(|_| w == Word::Mean);
        let grain = w.grain().or_else(spoken);
        // `12 months` counts, it does not group.
        let counted =
            i > 0 && matches!(self.tokens[i - 1].tok, Tok::Num(_)) && self.before(i - 1) != Some(Word::By);
        // `total hours`, where a column is in hours.
        if w == Word::Hour && self.tokens[i].text == "hours" && self.before(i) != Some(Word::By) {
            let main = self.scope.in_scope[0];
            if !crate::units::columns(&self.scope.tables[main], Unit::Hour).is_empty() {
                self.draft.asks_unit = Some(Unit::Hour);
                return;
            }
        }
        // `是多少小时`: the unit of what is asked.
        let asked = i > 0
            && matches!(self.before(i), Some(Word::HowMany | Word::HowMuch))
            && self.tokens[i].start.saturating_sub(self.tokens[i - 1].end) <= 1
            && crate::units::ending(&self.tokens[i].text).is_some();
        if asked {
            self.draft.asks_unit = crate::units::ending(&self.tokens[i].text);
            return;
        }
        // … unless it is the window of a moving average, which is of such periods.
        let window = self.tokens.iter().any(|t| t.tok == Tok::Word(Word::Moving));
        // `雨天` is a kind of day, not a period.
        let part_of_value = i > 0
            && matches!(self.tokens[i - 1].tok, Tok::Val(..))
            && self.tokens[i - 1].end == self.tokens[i].start
            && self.tokens[i].text.chars().count() == 1;
        if grain.is_some() && !part_of_value && (!counted || window) && self.draft.grain.is_none() {
            self.draft.grain = grain;
        }
        let chart = match w {
            Word::ChartLine => Some(ChartKind::Line),
            Word::ChartBar => Some(ChartKind::Bar),
            Word::ChartPie => Some(ChartKind::Pie),
            Word::ChartScatter => Some(ChartKind::Scatter),
            Word::ChartBox => Some(ChartKind::Box),
            Word::ChartTable => Some(ChartKind::None),
            _ => None,
        };
        self.draft.chart = chart.or(self.draft.chart);
        let implied = asked::implied_measure(&self.tokens[i].text).iter();
        let implied = implied.map(|id| self.scope.concept_columns(id)).find(|c| !c.is_empty());
        let implied = self.dearest_row(i).map(|c| vec![(c, 3)]).or(implied);
        let grained = |t: &Token| {
            matches!(
                t.tok,
                Tok::Word(Word::Day | Word::Weekday | Word::Month | Word::Week | Word::Quarter | Word::Hour)
            )
        };
        let pace = matches!(w, Word::Fastest | Word::Slowest)
            && !self.tokens.iter().any(grained)
            && !self.tokens.iter().any(|t| t.tok == Tok::Word(Word::Growth));
        let timed = pace || asked::implied_measure(&self.tokens[i].text).contains(&"duration");
        let lasts = timed.then(|| self.what_lasts());
        match implied.unwrap_or_default()[..] {
            _ if lasts.flatten().is_some() => self.draft.implied = lasts.flatten(),
            // Two columns may be meant alike: better to ask than to guess.
            [(_, a), (_, b), ..] if a == b => {}
            [(first, _), ..] => self.draft.implied = Some(first),
            [] => {}
        }
        let said = self.tokens[i].text.as_str();
        self.draft.judged = match said {
            "best" | "最好" => Some(true),
            "worst" | "最差" => Some(false),
            _ => self.draft.judged,
        };
        // `多少人` counts people, `多少人次` visits.
        let people =
            ["多少人", "几人", "多少名", "几名", "多少位", "几位", "个人"].iter().any(|p| said.ends_with(p));
        self.draft.asks_people |= people;
        self.draft.added_up |= matches!(
            said,
            "一共" | "总共" | "加起来" | "共计" | "合起来" | "共" | "altogether" | "combined" | "in total"
        );
        self.draft.asks_people |= said == "人数";
        self.draft.asks_rows |= said.ends_with("有多少");
        self.draft.amounts |= said.contains("总额") || said.contains("总金额");
        self.draft.popular |= said.contains("popular") || said.contains("欢迎") || said.contains("热门");
        self.draft.asks_units |= self.scope.glossary.classifiers.asks_pieces(said);
        self.draft.asks_kinds |= self.scope.glossary.classifiers.asks_kinds(said);
        self.draft.most |=
            matches!(said.trim_end_matches(['的', '是']), "most" | "fewest" | "least" | "最多" | "最少");
        // `the most borrowed format`
        self.draft.most |= said.starts_with("most ") && (said.ends_with("ed") || said.ends_with("read"));
        self.draft.most_of |=
            matches!(said.trim_end_matches(['的', '是']), "最多" | "最少") && self.counts_before(i);
        self.draft.asks_people |= self.draft.most_of && self.counts_people_before(i);
        self.draft.asks_homes |= said.ends_with("多少户") || said.ends_with("几户") || said == "户数";
        // `their very first invoice`: of each, which is not told apart here.
        let next = self.tokens.get(i + 1).map(|t| &t.tok);
        if !crate::read::firsts::is_told(&self.draft, &self.tokens[i])
            && (self.tokens[i].text == "first"
                && matches!(next, Some(Tok::Col(c, _)) if self.scope.role(*c) == Role::Id)
                || self.tokens[i].text == "首次" && matches!(next, Some(Tok::Col(..))))
        {
            self.draft.dangling.push(self.tokens[i].text.clone());
        }
        // `per mile`, `每公里`: divided by something that is no column.
        let text = self.tokens[i].text.as_str();
        let apart = |most: usize| {
            self.tokens.get(i + 1).is_none_or(|next| next.start.saturating_sub(self.tokens[i].end) > most)
        };
        let unit = matches!(text, "per" | "每").then(|| self.unit_after(self.tokens[i].end)).flatten();
        if let Some(column) = unit.and_then(|u| self.only_in(u)) {
            self.draft.per_unit = Some(column);
        } else if text == "per" && apart(1) || text == "每" && apart(0) {
            self.draft.dangling.push(text.to_owned());
        }
        let quiet = matches!(text, "quietest" | "least busy" | "最清闲" | "最冷清");
        match w {
            Word::Highest if matches!(text, "coldest" | "最冷") => {
                self.draft.order = Some(Order::Ascending)
            }
            Word::Busiest if quiet => self.draft.order = Some(Order::Ascending),
            Word::Bottom | Word::Lowest | Word::Ascending | Word::WorstSelling | Word::Slowest => {
                self.draft.order = Some(Order::Ascending)
            }
            Word::Top
            | Word::Highest
            | Word::Descending
            | Word::BestSelling
            | Word::Fastest
            | Word::Busiest
            | Word::MostCommon => {
                self.draft.order = self.draft.order.or(Some(Order::Descending));
            }
            _ => {}
        }
    }

    fn read_values(&mut self) {
        let mut excluding = false;
        for i in 0..self.tokens.len() {
            match &self.tokens[i].tok {
                Tok::Word(Word::Exclude) => {
                    excluding = true;
                    self.negation_leads_nowhere(i);
                }
                Tok::Word(Word::And) => {}
                Tok::Val(column, value) if !excluding && self.rate_of_value(i, *column, value) => {}
                Tok::Val(..) if self.is_counted_in(i) => self.used[i] = true,
                Tok::Val(column, value) => {
                    if i > 0 && self.tokens[i - 1].start == self.tokens[i].start {
                        self.draft.together.push(*column);
                    }
                    self.draft.values.push((*column, value.clone(), excluding));
                    // `approvals`: such rows.
                    let text = self.tokens[i].text.as_str();
                    self.draft.names_rows |= text.is_ascii()
                        && text.ends_with('s')
                        && !value.ends_with('s')
                        && self.draft.loose_agg.is_none();
                    self.used[i] = true;
                    self.swallow_name(i, *column);
                }
                Tok::Col(c, _) if excluding && self.scope.role(*c) == Role::Dimension => {}
                // `uninsured dogs`: only the flag is denied.
                Tok::Col(c, _) if excluding && self.scope.role(*c) == Role::Flag => {
                    excluding = i == 0
                        || self.tokens[i - 1].end != self.tokens[i].start
                        || !self.tokens[i].text.is_ascii();
                }
                _ => excluding = false,
            }
        }
    }
}

pub(super) fn comparison(w: Word) -> Option<Cmp> {
    Some(match w {
        Word::Gt => Cmp::Gt,
        Word::Ge => Cmp::Ge,
        Word::Lt => Cmp::Lt,
        Word::Le => Cmp::Le,
        _ => return None,
    })
}
