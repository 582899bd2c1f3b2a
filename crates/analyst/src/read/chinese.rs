//! What Chinese says by the place of a word: a verb before a count, a noun after `的`, a value that is there or was never
//! recorded, goods counted by the piece. Reads neighbouring tokens and characters; knows no table by name.

use crate::lex::ColRef;
use crate::norm::is_cjk;
use crate::question::Cmp;
use crate::read::draft::Reader;
use crate::read::tokens::Tok;
use crate::table::{Column, Role};
use crate::word::Word;

/// What a figure's name ends with: such a word is no verb.
const FIGURES: [&str; 16] = [
    "量", "数", "额", "费", "率", "价", "金", "款", "收入", "利润", "成本", "分", "度", "时长", "时间", "天",
];

impl Reader<'_> {
    fn chinese(&self, i: usize) -> bool {
        self.tokens[i].text.chars().all(is_cjk)
    }

    fn ends_before(&self, i: usize, words: &[&str]) -> bool {
        let before: String = self.text[..self.tokens[i].start].iter().collect();
        words.iter().any(|w| before.ends_with(w))
    }

    fn follows(&self, i: usize, words: &[&str]) -> bool {
        let after: String = self.text[self.tokens[i].end..].iter().collect();
        words.iter().any(|w| after.starts_with(w))
    }

    /// `消费了多少笔`, `成交几套`: what was done so often, not how much it came to.
    pub(super) fn done_so_often(&self, i: usize, column: ColRef) -> bool {
        let text = self.tokens[i].text.as_str();
        let named = self.scope.column(column).words == text
            || FIGURES.iter().any(|f| text.ends_with(f) && text != "消费");
        let Some(next) = self.tokens.get(i + 1).filter(|_| self.chinese(i) && !named) else { return false };
        let gap = &self.text[self.tokens[i].end..next.start.max(self.tokens[i].end)];
        // `接待多少桌` of `接待桌数`
        let counts = next.text.chars().last().map(|c| format!("{c}数"));
        if counts.is_some_and(|c| self.scope.column(column).words.ends_with(&c)) {
            return false;
        }
        let counted = next.tok == Tok::Word(Word::HowMany)
            && crate::units::ending(&next.text)
                .is_none_or(|u| matches!(u, crate::units::Unit::Person | crate::units::Unit::Piece));
        counted && gap.len() <= 2 && gap.iter().all(|c| "了过的".contains(*c))
    }

    /// `还没结清学费的学员`: what was settled, where the flag says whether.
    pub(super) fn object_of_flag(&self, i: usize) -> bool {
        let flag = i > 0
            && self.col(i - 1).is_some_and(|c| self.scope.role(c) == Role::Flag)
            && self.tokens[i - 1].end == self.tokens[i].start;
        flag && self.chinese(i)
            && self.chinese(i - 1)
            && self.follows(i, &["的"])
            && self.draft.says_any(&[Word::HowMany, Word::Count])
    }

    /// `已经停产的商品还有多少库存`: whose rows are meant, where neither `各` nor `哪` asks for each.
    pub(super) fn described_noun(&self, i: usize, by: bool) -> bool {
        const EACH: [Word; 13] = [
            Word::By,
            Word::Which,
            Word::Who,
            Word::Highest,
            Word::Lowest,
            Word::Top,
            Word::Bottom,
            Word::Rank,
            Word::List,
            Word::Compare,
            Word::Distribution,
            Word::BestSelling,
            Word::WorstSelling,
        ];
        let asks = self.draft.says_any(&[Word::HowMuch, Word::HowMany, Word::Sum, Word::Mean, Word::Median]);
        let limited = i > 0
            && match self.tokens[i - 1].tok {
                Tok::Val(..) | Tok::Num(_) | Tok::Time(_) => true,
                Tok::Col(c, _) => self.scope.role(c) == Role::Flag,
                Tok::Word(w) => crate::read::draft::comparison(w).is_some(),
                _ => false,
            };
        !by && asks
            && limited
            && self.chinese(i)
            && self.ends_before(i, &["的"])
            && !self.draft.says_any(&EACH)
            && self.draft.grain.is_none()
    }

    /// A word that counts, right before.
    pub(super) fn before_counts(&self, i: usize) -> bool {
        matches!(self.before_values(i), Some(Word::HowMany | Word::Count | Word::Distinct))
    }

    /// `检验了多少件产品`: how many pieces, where the table says so; `多少种产品` would be how many kinds.
    pub(super) fn counts_pieces(&self, i: usize, column: ColRef) -> bool {
        const GOODS: [&str; 4] = ["product", "drug", "model", "category"];
        let found = self.scope.column(column);
        let goods = GOODS.iter().any(|id| found.has_concept(id))
            || found.words.contains(['品', '货', '药', '料', '菜']);
        let asked = i > 0 && self.scope.glossary.classifiers.asks_pieces(&self.tokens[i - 1].text);
        let held = self.scope.concept_columns("quantity");
        asked
            && goods
            && found.role != Role::Measure
            && held.iter().any(|(c, _)| self.scope.role(*c) == Role::Measure)
    }

    /// `有会员卡号的`, `买过私教课的`: rows that have it.
    pub(super) fn read_filled(&mut self) {
        const HAVING: [&str; 24] = [
            "有",
            "有过",
            "买过",
            "买了",
            "用过",
            "用了",
            "上过",
            "做过",
            "参加过",
            "发生过",
            "产生过",
            "测过",
            "测了",
            "填了",
            "填写了",
            "登记了",
            "登记过",
            "留了",
            "留下",
            "拿过",
            "得过",
            "领过",
            "享受过",
            "享受了",
        ];
        const DENIED: [&str; 8] = ["没有", "没", "只有", "未有", "还有", "共有", "所有", "拥有"];
        for i in 0..self.tokens.len() {
            let Some(column) = self.col(i).filter(|_| !self.used[i] && self.chinese(i)) else { continue };
            let denied = self.ends_before(i, &DENIED) || i > 0 && self.before(i) == Some(Word::Exclude);
            let rest: String = self.text[self.tokens[i].end..].iter().take(2).collect();
            let said = self.ends_before(i, &HAVING) && rest.chars().any(|c| c == '的');
            if denied || !said {
                continue;
            }
            let found = self.scope.column(column);
            if found.nulls > 0 {
                self.draft.filled.push(column);
            } else if found.counts_from_zero() {
                self.draft.numbers.push((Some(column), Cmp::Gt, 0.0));
                self.draft.conditioned.push(column);
            } else {
                continue;
            }
            self.used[i] = true;
        }
    }

    /// The column a word such as `没登记` is about: the one right after it, else the one before.
    pub(super) fn read_unrecorded(&mut self) {
        let told = |i: usize| self.word(Some(i)) == Some(Word::Missing) && self.chinese(i);
        let Some(at) = (0..self.tokens.len()).find(|i| told(*i)) else { return };
        let gap = |a: usize, b: usize| self.tokens[b].start.saturating_sub(self.tokens[a].end);
        let after = self.col(at + 1).filter(|_| gap(at, at + 1) <= 1);
        let before = (0..at).rev().find_map(|j| self.col(j).filter(|_| gap(j, at) <= 6));
        let holds = |c: &ColRef| {
            let column: &Column = self.scope.column(*c);
            column.nulls > 0 || column.counts_from_zero()
        };
        self.draft.unrecorded = after.filter(holds).or(before.filter(holds));
    }
}
