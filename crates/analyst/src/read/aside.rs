//! Columns that are named only to be set aside: `whatever their status`, `across all orders`, `taken by agents in Cork`.
//! They neither group nor limit.

use crate::lex::ColRef;
use crate::read::draft::Reader;
use crate::read::tokens::Tok;
use crate::table::Role;
use crate::word::Word;

/// What comes right before a column that makes no difference.
const BEFORE: [&str; 22] = [
    "whatever",
    "whatever the",
    "whatever their",
    "whatever its",
    "no matter the",
    "no matter what",
    "no matter which",
    "no matter their",
    "regardless of",
    "regardless of the",
    "regardless of their",
    "irrespective of",
    "irrespective of the",
    "irrespective of their",
    "不分",
    "不管",
    "不论",
    "无论",
    "不管什么",
    "不论什么",
    "无论什么",
    "不区分",
];
const AFTER: [&str; 8] =
    ["together", "combined", "taken together", "put together", "不限", "都算", "都算上", "加在一起"];

impl Reader<'_> {
    /// Whether a column is named only to say that it makes no difference.
    pub(super) fn is_set_aside(&self, i: usize) -> bool {
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        let after: String = self.text[self.tokens[i].end..].iter().collect();
        let (before, after) = (before.trim_end(), after.trim_start());
        let ends = |w: &str| {
            before.strip_suffix(w).is_some_and(|rest| {
                !w.is_ascii() || rest.is_empty() || !rest.ends_with(|c: char| c.is_ascii_alphanumeric())
            })
        };
        let all = before.ends_with(" all")
            || before == "all"
            || before.ends_with("所有")
            || before.ends_with("全部");
        BEFORE.iter().any(|w| ends(w))
            || all && AFTER.iter().any(|w| after.starts_with(w))
            || self.spans_all(i, before)
            || self.did_it(i)
    }

    /// `cancelled ones included`: not only those.
    pub(super) fn is_counted_in(&self, i: usize) -> bool {
        let after: String = self.text[self.tokens[i].end..].iter().collect();
        let mut words = after.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
        let (first, second) = (words.next(), words.next());
        let zh: String = after.chars().take(6).collect();
        first == Some("included")
            || second == Some("included") && first != Some("not")
            || zh.contains("在内")
            || zh.contains("也算")
    }

    /// `how long do customers rent for`: the subject of a question about a figure, not what to group by.
    pub(super) fn is_subject(&self, i: usize) -> bool {
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        let helped = [" do", " did", " do our", " did our", " do the", " do most"];
        let plural = self.tokens[i].text.is_ascii() && self.tokens[i].text.ends_with('s');
        let figure = self.draft.says(Word::HowMuch)
            && !self.draft.says_any(&[Word::Spend, Word::Earn, Word::Sell, Word::Compare, Word::Highest]);
        plural && figure && helped.iter().any(|w| before.trim_end().ends_with(w))
    }

    /// `payments that had a late fee`, `overdue loans`, `how many loans were renewed`: rows that have some of it.
    pub(super) fn is_had(&self, i: usize, column: ColRef) -> bool {
        let found = self.scope.column(column);
        let text = self.tokens[i].text.as_str();
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        const HAVING: [&str; 10] = [
            " with",
            " with a",
            " with any",
            " with some",
            " had a",
            " have a",
            " has a",
            " had any",
            " got a",
            " having a",
        ];
        let some = found.counts_from_zero() || found.nulls > 0;
        let bounded = self.draft.numbers.iter().any(|(c, _, _)| *c == Some(column))
            || (i.saturating_sub(1)..i + 3)
                .any(|j| self.word(Some(j)).is_some_and(|w| crate::read::draft::comparison(w).is_some()));
        let row = |t: &crate::read::tokens::Token| t.tok == Tok::RowNoun || t.rows;
        let counts = self.draft.says_any(&[Word::HowMany, Word::Count, Word::Share])
            && self.tokens[..i].iter().any(row);
        let had = counts && HAVING.iter().any(|w| before.trim_end().ends_with(w));
        let participle = text.ends_with("ed") || text == "overdue" || text == "late";
        let done = counts && participle && self.before(i) == Some(Word::Equal);
        let next = self.tokens.get(i + 1);
        let extreme = self.draft.says_any(&[Word::Highest, Word::Lowest, Word::Max, Word::Min]);
        let such = participle && !extreme && next.is_some_and(row) && self.close(i, i + 1);
        text.is_ascii() && some && !bounded && (had || done || such)
    }

    /// `across all subscriptions, which country …`: all of them together.
    fn spans_all(&self, i: usize, before: &str) -> bool {
        let all = before.ends_with("across all")
            || before.ends_with("across all the")
            || before.ends_with("across all our");
        let column = self.col(i);
        let numbers = column.is_some_and(|c| self.scope.role(c) == Role::Id);
        let grouped = |j: usize| {
            j != i
                && matches!(self.before(j), Some(Word::Which | Word::Who | Word::By))
                && self.col(j).is_some_and(|c| Some(c) != column && self.scope.role(c) != Role::Measure)
        };
        all && (numbers || (0..self.tokens.len()).any(grouped))
    }

    /// `calls taken by agents in Cork`: who did it, narrowed to some; no figure for each.
    pub(super) fn did_it(&self, i: usize) -> bool {
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        const DONE: [&str; 16] = [
            "taken", "made", "sold", "sent", "given", "written", "led", "run", "done", "driven", "paid",
            "bought", "won", "built", "brought", "held",
        ];
        let Some(deed) = before.trim_end().strip_suffix(" by") else { return false };
        let last = deed.trim_end().rsplit(' ').next().unwrap_or("");
        let participle = last.len() > 3 && last.ends_with("ed") || DONE.contains(&last);
        let plural = self.tokens[i].text.ends_with('s');
        let next = self.tokens.get(i + 1);
        let narrowed = next.is_some_and(|t| {
            matches!(t.tok, Tok::Val(..)) && t.start.saturating_sub(self.tokens[i].end) <= 10
        });
        participle && plural && narrowed
    }

    /// `who handled the most calls`: the verb says nothing of how long the handling took.
    pub(super) fn is_verb_of_rows(&self, i: usize, column: ColRef) -> bool {
        let text = self.tokens[i].text.as_str();
        let named = self.scope.column(column).full.split(' ').any(|w| w == text);
        let verb = text.is_ascii() && text.ends_with("ed") && !named;
        let rows = |j: usize| match self.tokens[j].tok {
            Tok::RowNoun => true,
            Tok::Col(c, _) => matches!(self.scope.role(c), Role::Id | Role::Dimension) && c != column,
            _ => false,
        };
        // `how many returns were refunded in cash`: such rows are counted.
        let counted = self.draft.says(Word::HowMany)
            && (0..i).any(|j| rows(j) && matches!(self.before_values(j), Some(Word::HowMany)));
        verb && (counted || (i + 1..(i + 5).min(self.tokens.len())).any(|j| rows(j) && self.most(j)))
    }

    /// The word is in a column's name, but the name is of something else: `room` of `room type`.
    pub(super) fn is_modifier(&self, i: usize, column: ColRef) -> bool {
        let found = self.scope.column(column);
        let words: Vec<&str> = found.full.split(' ').collect();
        let Some((last, before)) = words.split_last() else { return false };
        let names = matches!(
            *last,
            "id" | "name" | "title" | "no" | "no." | "number" | "code" | "key" | "ref" | "reference"
        );
        let text = self.tokens[i].text.as_str();
        if text.chars().all(crate::norm::is_cjk) {
            // `处理` of `处理状态`
            const KINDS: [&str; 18] = [
                "状态", "类型", "方式", "原因", "渠道", "等级", "来源", "性别", "年龄", "年级", "级别",
                "性质", "城市", "省份", "地区", "职业", "学历", "行业",
            ];
            let kind = KINDS.iter().any(|e| found.full.ends_with(e));
            return found.role == Role::Dimension
                && kind
                && found.full.starts_with(text)
                && found.full != text;
        }
        let said = crate::names::stem(text);
        found.role == Role::Dimension && !names && before.iter().any(|w| crate::names::stem(w) == said)
    }

    /// `地区为华东`, `the East region`: the column's name beside its value says nothing more.
    pub(super) fn swallow_name(&mut self, i: usize, column: ColRef) {
        let mut j = i;
        if j > 0 && self.before(i) == Some(Word::Equal) {
            j -= 1;
        }
        if j > 0
            && self.col(j - 1) == Some(column)
            && !matches!(self.before(j - 1), Some(Word::By | Word::Which))
            && self.close(j - 1, j)
        {
            self.used[j - 1] = true;
        }
        let next_is_name = self.col(i + 1).is_some_and(|c| c == column || self.same_concept(c, column));
        if next_is_name
            && self.close(i, i + 1)
            && self.after(i + 1) != Some(Word::CountSuffix)
            && self.scope.role(column) != Role::Id
        {
            self.used[i + 1] = true;
        }
    }

    fn same_concept(&self, a: ColRef, b: ColRef) -> bool {
        self.scope.column(a).concepts.iter().any(|(id, _)| self.scope.column(b).has_concept(id))
    }
}
