//! Small facts about what is said where: the words before and after an item, what a column is like, turns of phrase that
//! several parts of a reading look for.

use crate::lex::ColRef;
use crate::table::Role;
use crate::weigh::items::{Item, Sense};
use crate::weigh::people::is_people;
use crate::weigh::view::View;

/// `guests`, `患者`: people, whatever the table calls them.
pub fn names_people(text: &str) -> bool {
    is_people(text) || ["病人", "患者", "客户", "顾客", "会员", "学员", "客人"].contains(&text)
}

impl Item {
    /// The word may be what a row is called.
    pub fn names_row(&self) -> bool {
        self.senses.iter().any(|(s, _)| *s == Sense::Row)
    }

    /// `最多的是` without what only joins it to the next word.
    pub fn bare(&self) -> &str {
        self.text.trim_end_matches(['的', '是'])
    }

    /// `the most`, `最少`: by number.
    pub fn is_most(&self) -> bool {
        matches!(self.bare(), "most" | "fewest" | "least" | "最多" | "最少")
    }
}

impl View<'_> {
    /// What was said before an item, without the space at its end.
    pub fn head(&self, i: usize) -> String {
        let head: String = self.text[..self.items[i].start].iter().collect();
        head.trim_end().to_owned()
    }

    /// The first characters after an item.
    pub fn tail(&self, i: usize, length: usize) -> String {
        self.text[self.items[i].end..].iter().take(length).collect()
    }

    /// Some form of a word was said: `bills` of `billed`.
    pub fn says_form_of(&self, word: &str) -> bool {
        let root = crate::names::stem(word);
        let bare = |w: &str| w.trim_end_matches(['?', ',', '.']).to_owned();
        self.whole.split(' ').any(|w| crate::names::stem(&bare(w)) == root)
    }

    pub fn says_row(&self) -> bool {
        self.items.iter().any(Item::names_row)
    }

    /// Almost every row has another value: the column tells rows apart and groups nothing.
    pub fn row_like(&self, c: ColRef) -> bool {
        self.scope.column(c).distinct * 10 >= self.scope.tables[c.table].rows * 9
    }

    /// `一共`, `in total`: one figure for all that was named.
    pub fn says_together(&self) -> bool {
        const TOGETHER: [&str; 9] =
            ["together", "combined", "in total", "altogether", "一共", "合计", "加起来", "总共", "合起来"];
        self.items.iter().any(|i| TOGETHER.contains(&i.text.as_str()) && i.columns().next().is_none())
    }

    /// `how much`, `多少钱`: an amount of money is asked for.
    pub fn asks_amount(&self) -> bool {
        self.items.iter().any(|i| matches!(i.text.as_str(), "how much" | "多少钱"))
    }

    /// `per X`, `每X`.
    pub fn per_before(&self, i: usize) -> bool {
        self.before(i).is_some_and(|k| matches!(self.items[k].text.as_str(), "per" | "每"))
    }

    /// `how many guests`, `多少位客人`.
    pub fn counts_people(&self, i: usize) -> bool {
        is_people(&self.items[i].text)
            || self.lead(i).is_some_and(|k| self.items[k].text.ends_with(['名', '位', '人']))
    }

    /// `几类`, `how many kinds of`.
    pub fn asks_kinds(&self, i: usize) -> bool {
        self.lead(i).is_some_and(|k| self.scope.glossary.classifiers.asks_kinds(&self.items[k].text))
    }

    /// One of the goods that are sold: how many of it is a quantity.
    pub fn is_goods(&self, item: &Item) -> bool {
        let goods = ["product", "item", "category", "dish"];
        item.value_columns().any(|c| goods.iter().any(|id| self.scope.column(c).has_concept(id)))
    }

    /// The column that tells how much of something there was.
    pub fn quantity(&self) -> Option<ColRef> {
        self.scope.concept_columns("quantity").first().map(|(c, _)| *c)
    }

    /// `多少单` of 订单数: the column that counts what the word counts; of several the largest, which the others are parts of.
    pub fn tallied(&self, i: usize) -> Option<ColRef> {
        let one = self.items[i].text.chars().last().filter(|c| crate::norm::is_cjk(*c))?;
        let main = self.scope.in_scope[0];
        let table = &self.scope.tables[main];
        let high = |c: &usize| table.columns[*c].high();
        let counts = |c: &crate::table::Column| {
            c.role == Role::Measure && crate::names::without_unit(&c.full).ends_with(&format!("{one}数"))
        };
        // `报销单有多少张` asks for rows, whatever 票据张数 says of each.
        let row = self
            .before(i)
            .filter(|k| self.items[*k].names_row() && self.items[*k].end == self.items[i].start);
        let about = |c: &usize| row.is_none_or(|k| table.columns[*c].full.starts_with(&self.items[k].text));
        let found: Vec<usize> = table.indices(counts).into_iter().filter(about).collect();
        let column = found.iter().copied().max_by(|a, b| high(a).total_cmp(&high(b)))?;
        Some(ColRef { table: main, column })
    }

    /// A column of rates or percentages, which are never added up.
    pub fn is_rate(&self, c: ColRef) -> bool {
        let column = self.scope.column(c);
        let word = |w: &str| matches!(w, "pct" | "percent" | "percentage" | "rate" | "ratio" | "share");
        column.unit.as_deref() == Some("%")
            || column.full.split(|c: char| !c.is_ascii_alphanumeric()).any(word)
            || ["率", "%", "折扣", "比例", "占比"].iter().any(|w| column.full.contains(w))
    }

    /// Where a column was named first.
    pub fn place(&self, c: ColRef) -> Option<usize> {
        self.items.iter().position(|i| i.columns().any(|d| d == c))
    }

    /// The word may name a column of figures.
    pub fn names_figure(&self, item: &Item) -> bool {
        item.columns().any(|c| self.role(c) == Role::Measure)
    }

    /// A word or character of the question that is in a column's name and says more than a unit does.
    pub fn hints_at(&self, column: &crate::table::Column) -> bool {
        const GENERAL: &str = "金额费用价元钱款总数量的了多少一共单位个件人天次时分公斤吨米年月日";
        let idle =
            self.items.iter().filter(|i| i.columns().next().is_none() && i.value_columns().next().is_none());
        if self.english {
            let stems: Vec<String> =
                idle.flat_map(|i| i.text.split(' ').map(crate::names::stem).collect::<Vec<_>>()).collect();
            let name: Vec<String> = column.full.split(' ').map(crate::names::stem).collect();
            return name.iter().any(|n| n.len() > 3 && stems.contains(n));
        }
        let said: Vec<char> = idle
            .flat_map(|i| i.text.chars())
            .filter(|c| crate::norm::is_cjk(*c) && !GENERAL.contains(*c))
            .collect();
        column.name.chars().any(|c| said.contains(&c))
    }
}
