//! What Chinese says by the place of a word: a verb before a count, a noun after `的`, a value that is there or was never
//! recorded, goods counted by the piece. Reads neighbouring tokens and characters; knows no table by name.

use crate::lex::{ColRef, Lexed, Meaning};
use crate::norm::is_cjk;
use crate::question::{Agg, Cmp, Filter, Grain, Measure, PER, Question};
use crate::read::draft::{Draft, Reader, Wanted};
use crate::read::tokens::{Scope, Tok};
use crate::table::{Column, Role};
use crate::word::Word;

/// What a figure's name ends with: such a word is no verb.
const FIGURES: [&str; 16] = [
    "量", "数", "额", "费", "率", "价", "金", "款", "收入", "利润", "成本", "分", "度", "时长", "时间", "天",
];

/// Such words that are verbs nevertheless.
const VERBS: [&str; 8] = ["消费", "耗费", "花费", "缴费", "付费", "收费", "付款", "交费"];

fn names_figure(text: &str) -> bool {
    FIGURES.iter().any(|f| text.ends_with(f)) && !VERBS.contains(&text)
}

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
        let named = self.scope.column(column).words == text || names_figure(text);
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
                Tok::Word(Word::Day | Word::Month | Word::Year) => {
                    i > 1 && matches!(self.tokens[i - 2].tok, Tok::Num(_))
                }
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
        const DENIED: [&str; 7] = ["没有", "没", "只有", "未有", "共有", "所有", "拥有"];
        for i in 0..self.tokens.len() {
            let Some(column) = self.col(i).filter(|_| !self.used[i] && self.chinese(i)) else { continue };
            let denied = self.ends_before(i, &DENIED) || i > 0 && self.before(i) == Some(Word::Exclude);
            let rest: String = self.text[self.tokens[i].end..].iter().take(2).collect();
            // `有多少个孩子还有欠费`
            let asked = |t: &crate::read::tokens::Token| t.tok == Tok::Word(Word::HowMany);
            let ends = i + 1 == self.tokens.len()
                && self.tokens[..i].iter().any(asked)
                && self.scope.column(column).counts_from_zero();
            let said = self.ends_before(i, &HAVING) && (ends || rest.chars().any(|c| c == '的'));
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

    /// `按杯数看，卖得最多的饮品`: what is ranked by, where something else is ranked.
    pub(super) fn ranked_by(&self, i: usize) -> bool {
        let ranked = |j: usize| j != i && self.col(j).is_some_and(|c| self.scope.role(c) == Role::Dimension);
        self.chinese(i) && (0..self.tokens.len()).any(ranked)
    }

    /// `各年级人数`: people are counted, not grades.
    pub(super) fn people_of(&self, i: usize, column: ColRef) -> bool {
        const PEOPLE: [&str; 6] = ["employee", "customer", "student", "patient", "candidate", "player"];
        let found = self.scope.column(column);
        self.tokens.get(i + 1).is_some_and(|t| t.text == "人数")
            && !PEOPLE.iter().any(|id| found.has_concept(id))
            && !self.tokens[i].rows
    }

    /// `成交重量`, `耗费的工时`: a verb before the figure it is said of.
    pub(super) fn verb_of_figure(&self, i: usize, column: ColRef) -> bool {
        let text = self.tokens[i].text.as_str();
        let named = self.scope.column(column).words == text || names_figure(text);
        let Some(next) = self.tokens.get(i + 1) else { return false };
        let gap = &self.text[self.tokens[i].end..next.start.max(self.tokens[i].end)];
        let figure = self.col(i + 1).is_some_and(|c| c != column && self.scope.role(c) == Role::Measure);
        // `每个转化的成本` divides.
        let each = self.before(i) == Some(Word::By);
        self.chinese(i) && !named && !each && figure && gap.len() <= 1 && gap.iter().all(|c| *c == '的')
    }

    /// `60岁及以上被保人`: whose age was bounded.
    pub(super) fn bounded_thing(&self, i: usize, column: ColRef) -> bool {
        self.chinese(i)
            && self.draft.conditioned.contains(&column)
            && !self.scope.column(column).words.ends_with(self.tokens[i].text.as_str())
    }

    /// `供应商评级` over two tables: of whom the other table tells it.
    pub(super) fn owner_of_next(&self, i: usize, column: ColRef) -> bool {
        let next =
            self.col(i + 1).filter(|c| c.table != column.table && self.scope.role(*c) == Role::Dimension);
        self.scope.in_scope.len() > 1
            && next.is_some()
            && self.chinese(i)
            && self.tokens[i].end == self.tokens[i + 1].start
    }

    /// `医保支付的金额占…`: the part is an amount, not a number of rows.
    pub(super) fn amount_of_flag(&self, i: usize) -> bool {
        let share = |j: usize| self.word(Some(j)) == Some(Word::Share);
        let added = |c: ColRef| {
            self.scope.role(c) == Role::Measure
                && self.scope.column(c).default_agg == crate::glossary::DefaultAgg::Sum
        };
        self.chinese(i)
            && self.col(i + 1).is_some_and(added)
            && (i + 2..self.tokens.len()).any(share)
            && self.draft.says(Word::Share)
    }

    /// `一单最多买了几杯`: the most in one row.
    pub(super) fn read_most_in_one(&mut self) {
        const ONE: [&str; 12] = [
            "一单",
            "一次",
            "一笔",
            "单笔",
            "单次",
            "每单",
            "每次",
            "一张单",
            "一人",
            "每人",
            "一趟",
            "一场",
        ];
        let text: String = self.text.iter().collect();
        let said = |word: &str| {
            ONE.iter().any(|o| text.contains(&format!("{o}{word}")) || text.contains(&format!("{word}{o}")))
        };
        let agg = if said("最多") {
            Agg::Max
        } else if said("最少") {
            Agg::Min
        } else {
            return;
        };
        let mut plain = self.draft.plain_measures();
        if plain.is_empty() && self.draft.asks_units {
            plain.extend(self.scope.concept_columns("quantity").first().map(|(c, _)| *c));
        }
        if let ([column], true) = (&plain[..], self.draft.dims.is_empty()) {
            self.draft.measures = vec![Wanted::Plain(*column, Some(agg))];
            self.draft.words.remove(&Word::Highest);
            self.draft.words.remove(&Word::Lowest);
            self.draft.order = None;
        }
    }

    /// `走驿站代收的占已签收的多少`: what stands after `占` is the whole.
    pub(super) fn read_wholes(&mut self) {
        let Some(at) = self.tokens.iter().position(|t| t.text.starts_with('占')) else { return };
        let valued = |t: &crate::read::tokens::Token| match t.tok {
            Tok::Val(c, _) => Some(c),
            _ => None,
        };
        let before: Vec<ColRef> = self.tokens[..at].iter().filter_map(valued).collect();
        let after: Vec<ColRef> = self.tokens[at..].iter().filter_map(valued).collect();
        if !before.is_empty() {
            self.draft.wholes = after.into_iter().filter(|c| !before.contains(c)).collect();
        }
    }

    /// `单笔金额最大`: of single rows, not the mean of all.
    pub(super) fn single_amount(&self, i: usize) -> Option<ColRef> {
        let one = self.tokens[i].text.starts_with(['单', '每']) && self.tokens[i].text.ends_with('额');
        let main = self.scope.in_scope[0];
        let asked = self.draft.says_any(&[
            Word::Highest,
            Word::Lowest,
            Word::Max,
            Word::Min,
            Word::Median,
            Word::Gt,
            Word::Lt,
        ]);
        let money = crate::units::main_money(&self.scope.tables[main]).filter(|_| one && asked);
        money.map(|column| ColRef { table: main, column })
    }

    /// `学员` of `学员来源`, where the rows are people and have no number of their own.
    pub(super) fn rows_are_such(&self, i: usize, column: ColRef) -> bool {
        const PEOPLE: [&str; 5] = ["employee", "customer", "student", "patient", "candidate"];
        let text = self.tokens[i].text.as_str();
        let concept = self
            .scope
            .glossary
            .concepts
            .iter()
            .find(|c| PEOPLE.contains(&c.id.as_str()) && c.names.iter().any(|n| n == text));
        let told = concept.is_some_and(|c| !self.scope.concept_columns(&c.id).is_empty());
        self.chinese(i) && concept.is_some() && !told && column.table == self.scope.in_scope[0]
    }

    /// `每位会员平均`: one of many that come up again and again under a number.
    pub(super) fn each_of_many(&self, i: usize, column: ColRef) -> bool {
        const EACH: [Word; 7] =
            [Word::Which, Word::Who, Word::Highest, Word::Lowest, Word::Top, Word::Rank, Word::List];
        self.chinese(i)
            && self.before(i) == Some(Word::By)
            && self.tokens[i - 1].text.starts_with('每')
            && self.scope.role(column) == Role::Id
            && self.scope.column(column).distinct < self.scope.tables[column.table].rows
            && self.draft.says(Word::Mean)
            && !self.draft.says_any(&EACH)
            && self.draft.dims.is_empty()
            && self.draft.grain.is_none()
    }

    /// `谁经手的采购单`: whose, where the noun is no person.
    pub(super) fn asks_whose(&self, i: usize, column: ColRef) -> bool {
        let human =
            ["人", "员", "者", "师", "名", "长"].iter().any(|e| self.scope.column(column).words.ends_with(e));
        self.before(i) == Some(Word::Who)
            && self.chinese(i)
            && !human
            && self.ends_before(i, &["的"])
            && self.count_of(column) == Measure::Rows
    }

    /// `不含30岁`, `含60岁`: whether the bound itself belongs.
    pub(super) fn bound_said_again(&self, i: usize, cmp: Cmp) -> Cmp {
        let number: String =
            self.tokens[i].text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let text: String = self.text.iter().collect();
        let said = |word: &str| !number.is_empty() && text.contains(&format!("{word}{number}"));
        let without = ["不含", "不包括", "不包含", "不算", "不计"].iter().any(|w| said(w));
        let with = !without && ["含", "包括", "包含", "算上"].iter().any(|w| said(w));
        match cmp {
            Cmp::Ge if without => Cmp::Gt,
            Cmp::Le if without => Cmp::Lt,
            Cmp::Gt if with => Cmp::Ge,
            Cmp::Lt if with => Cmp::Le,
            other => other,
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

/// `促销日和非促销日`: a flag said both ways is what to tell apart.
pub(super) fn both_sides(draft: &mut Draft) {
    let said = |yes: bool| draft.flags.iter().filter(move |(_, y)| *y == yes).map(|(c, _)| *c);
    let both: Vec<ColRef> = said(true).filter(|c| said(false).any(|d| d == *c)).collect();
    for column in both {
        draft.flags.retain(|(c, _)| *c != column);
        if !draft.dims.contains(&column) {
            draft.dims.push(column);
            draft.grouped = true;
        }
    }
}

/// Said before or after a question, in either language.
pub(super) fn is_courtesy(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "谢谢",
        "多谢",
        "你好",
        "您好",
        "早上好",
        "晚上好",
        "hello",
        "hi",
        "hey",
        "thanks",
        "thank you",
        "good morning",
        "good evening",
        "help me",
    ];
    WORDS.contains(&text)
}

/// `各占多少`: each has its share.
pub(super) fn says_each_share(text: &[char]) -> bool {
    let text: String = text.iter().collect();
    ["各占", "分别占", "各自占"].iter().any(|w| text.contains(w))
}

/// A rate of a value, explained by the value once more: `拒赔率（拒赔件数占全部案件）`.
pub(super) fn explained_rate(draft: &mut Draft) {
    let rated: Vec<(ColRef, String)> = draft
        .measures
        .iter()
        .filter_map(|w| match w {
            Wanted::Fixed(Measure::RateIs { column, value }) => Some((*column, value.clone())),
            _ => None,
        })
        .collect();
    if rated.is_empty() {
        return;
    }
    draft.values.retain(|(c, v, _)| !rated.iter().any(|(rc, rv)| rc == c && rv == v));
    draft.measures.retain(|w| *w != Wanted::Fixed(Measure::Rows));
    draft.dangling.retain(|w| w != "÷");
}

/// `谁派得最多`, `多接了百分之几`: a verb of handling rows, one by one.
pub(super) fn says_deed(lexed: &Lexed) -> bool {
    const DEEDS: [&str; 24] = [
        "派", "送", "接", "办", "签", "揽", "修", "检", "投", "报", "租", "借", "来", "寄", "发", "接待",
        "处理", "派送", "揽收", "办理", "接诊", "受理", "检验", "服务",
    ];
    lexed.mentions.iter().any(|m| {
        let bare = m.text.trim_end_matches(['了', '得', '的', '过']);
        m.meanings.iter().all(|m| *m == Meaning::Stop) && DEEDS.contains(&bare)
    })
}

/// `月均` names a period and a mean in one word.
pub(crate) fn mean_per(text: &str) -> Option<Grain> {
    Some(match text {
        "日均" => Grain::Day,
        "周均" => Grain::Week,
        "月均" => Grain::Month,
        "季均" => Grain::Quarter,
        "年均" => Grain::Year,
        _ => return None,
    })
}

/// `处方药和非处方药`: a value and all others, which are only told apart where there are two.
pub(super) fn value_both_ways(scope: &Scope<'_>, draft: &mut Draft) {
    let said = |no: bool| draft.values.iter().filter(move |(_, _, n)| *n == no);
    let both: Vec<(ColRef, String)> = said(false)
        .filter(|(c, v, _)| said(true).any(|(d, w, _)| c == d && v == w))
        .map(|(c, v, _)| (*c, v.clone()))
        .collect();
    for (column, value) in both {
        draft.values.retain(|(c, v, _)| *c != column || *v != value);
        if scope.column(column).distinct == 2 {
            draft.dims.push(column);
            draft.grouped = true;
        } else {
            draft.dangling.push(value);
        }
    }
}

/// `每位会员平均花了多少钱`: the total over the number of members.
pub(super) fn divide_by_entity(scope: &Scope<'_>, draft: &Draft, question: &mut Question) {
    let Some(entity) = draft.per_entity.filter(|_| question.groups.is_empty() && draft.says(Word::Mean))
    else {
        return;
    };
    let numerator = match &question.measures[..] {
        [Measure::Of(Agg::Mean | Agg::Sum, column)] => Measure::Of(Agg::Sum, *column),
        [Measure::Rows] => Measure::Rows,
        _ => return,
    };
    let (numerator, denominator) = (Box::new(numerator), Box::new(Measure::Of(Agg::Distinct, entity)));
    question.measures = vec![Measure::Ratio { concept: PER, numerator, denominator }];
    // What belongs to nobody is not theirs.
    if scope.column(entity).nulls > 0 {
        question.filters.push(Filter::Filled { column: entity });
    }
}
