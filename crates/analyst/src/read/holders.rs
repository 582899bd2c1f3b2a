//! Things that have some of a figure, and nouns that a condition narrows: `members who bought lessons`, `还有欠费的户`,
//! `江北区的门店`. They limit the rows; they are neither measured nor grouped by.

use crate::lex::ColRef;
use crate::read::draft::Reader;
use crate::read::tokens::Tok;
use crate::table::Role;
use crate::word::Word;

/// Verbs of having something, as they stand right before it.
const HAVING: [&str; 40] = [
    "有",
    "还有",
    "仍有",
    "存在",
    "买过",
    "用过",
    "上过",
    "参加过",
    "交过",
    "付过",
    "发生过",
    "产生过",
    "使用过",
    "享受过",
    "领过",
    "请过",
    "拿过",
    "借过",
    "退过",
    "充过",
    "消费过",
    "购买过",
    "出现过",
    "使用了",
    "享受了",
    "had",
    "have",
    "has",
    "with",
    "used",
    "got",
    "incurred",
    "received",
    "bought",
    "took",
    "having",
    "booked",
    "purchased",
    "paid",
    "charged",
];

impl Reader<'_> {
    /// `how many payments had a late fee`, `买过私教课的会员`: where the figure is more than nothing.
    pub(super) fn holds_some(&self, i: usize, column: ColRef) -> bool {
        let found = self.scope.column(column);
        if !(found.counts_from_zero() || found.nulls > 0 && found.role == Role::Measure) {
            return false;
        }
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        let words = before.trim_end();
        let words =
            [" a", " an", " any", " some"].iter().find_map(|w| words.strip_suffix(w)).unwrap_or(words);
        let verb = HAVING.iter().find(|v| {
            words.strip_suffix(**v).is_some_and(|rest| {
                !v.is_ascii() || rest.is_empty() || !rest.ends_with(|c: char| c.is_ascii_alphanumeric())
            })
        });
        let Some(verb) = verb else { return false };
        let after: String = self.text[self.tokens[i].end..].iter().collect();
        let asked_before = self.tokens[..i].iter().any(|t| t.tok == Tok::Word(Word::HowMany));
        let asked_after =
            self.tokens[i..].iter().any(|t| matches!(t.tok, Tok::Word(Word::HowMuch | Word::HowMany)));
        if verb.is_ascii() {
            return asked_before && !asked_after && words != before.trim_end();
        }
        // `有多少欠费` asks for the figure itself.
        let narrows = after.starts_with('的') && i + 1 < self.tokens.len();
        let counted = asked_before && !asked_after && !self.draft.says(Word::Mean);
        narrows && verb.chars().count() > 1 || counted
    }

    /// `江北区的门店一共…`, `suppliers in Germany`: a noun that a condition narrows, where one figure is asked for.
    pub(super) fn is_narrowed(&self, i: usize, column: ColRef) -> bool {
        const APART: [Word; 15] = [
            Word::Which,
            Word::Who,
            Word::By,
            Word::List,
            Word::Compare,
            Word::Rank,
            Word::Top,
            Word::Bottom,
            Word::Highest,
            Word::Lowest,
            Word::Share,
            Word::Trend,
            Word::Distribution,
            Word::BestSelling,
            Word::Pareto,
        ];
        // `how many students in Year 10`: they are what is counted.
        let lead = self.before_values(i);
        if matches!(lead, Some(Word::HowMany | Word::Count | Word::Distinct | Word::HowMuch)) {
            return false;
        }
        let scalar =
            self.draft.says_any(&[Word::HowMany, Word::HowMuch, Word::Sum, Word::Mean, Word::Median]);
        if !scalar || self.draft.says_any(&APART) || self.draft.grain.is_some() {
            return false;
        }
        let own = |j: usize| matches!(&self.tokens[j].tok, Tok::Val(c, _) if *c == column);
        let limits = |j: usize| match &self.tokens[j].tok {
            Tok::Val(..) | Tok::Num(_) => true,
            Tok::Col(c, _) => self.scope.role(*c) == Role::Flag,
            Tok::Word(w) => crate::read::draft::comparison(*w).is_some(),
            _ => false,
        };
        let before = i > 0 && limits(i - 1) && !own(i - 1) && {
            let gap: String = self.text[self.tokens[i - 1].end..self.tokens[i].start].iter().collect();
            matches!(gap.trim(), "的" | "'s" | "" | "天的" | "级的" | "岁的" | "元的" | "级")
        };
        let english = self.tokens[i].text.is_ascii();
        let after = english && i + 1 < self.tokens.len() && limits(i + 1) && !own(i + 1) && {
            let gap: String = self.text[self.tokens[i].end..self.tokens[i + 1].start].iter().collect();
            matches!(
                gap.trim(),
                "in" | "from" | "of" | "with" | "based in" | "located in" | "on" | "at" | "who are"
            )
        };
        before || after
    }
}
