//! Whom or what a question asks for without naming a column: `who`, `the five episodes`, `卖得最多的是啥`.

use crate::lex::ColRef;
use crate::question::Grain;
use crate::table::{Column, Role};
use crate::weigh::complete::Built;
use crate::weigh::people::is_people;
use crate::weigh::people::person;
use crate::word::Word;

impl Built<'_> {
    /// The group that nothing but the wording tells of.
    pub fn unnamed_group(&mut self, dims: &mut Vec<ColRef>, grain: Option<Grain>) {
        let view = self.view;
        if view.says(Word::Who) && dims.is_empty() {
            dims.extend(self.somebody());
        }
        let ranked = view.superlative().is_some();
        // Single rows, by what they are called.
        if view.limit.is_some_and(|n| n > 1) && ranked && dims.is_empty() && view.says_row() {
            dims.extend(self.row_id());
        }
        // `哪一类成交额最高`
        let kinds = |i: &crate::weigh::items::Item| {
            i.word() == Some(Word::Which) && ["类", "类型", "种类"].iter().any(|e| i.text.ends_with(e))
        };
        if dims.is_empty() && ranked && view.items.iter().any(kinds) {
            dims.extend(self.only(|c| {
                c.role == Role::Dimension
                    && ["类别", "品类", "类型", "种类", "分类", "类目"].iter().any(|e| c.words.ends_with(e))
            }));
        }
        let sold = view.says_any(&[Word::Sell, Word::BestSelling, Word::WorstSelling]);
        if view.says(Word::Which) && sold && ranked && dims.is_empty() && grain.is_none() {
            let goods = view.scope.concept_columns("product").first().map(|(c, _)| *c);
            if let Some(goods) = goods.filter(|c| view.role(*c) == Role::Dimension) {
                dims.push(goods);
                self.cost += 0.6;
            }
        }
    }

    /// The people `who` asks for.
    fn somebody(&mut self) -> Option<ColRef> {
        let view = self.view;
        let ranked = view.superlative().is_some();
        let row = view.items.iter().any(|i| i.names_row() && is_people(&i.text));
        let each = self.row_id().filter(|_| row && ranked);
        let found = each
            .or_else(|| self.doer())
            .or_else(|| person(view.scope))
            .or_else(|| self.row_name().filter(|_| ranked));
        if found.is_none() {
            self.cost += 3.0;
        }
        found
    }

    /// `who placed the most orders`, of `ordered by`.
    fn doer(&self) -> Option<ColRef> {
        let said = |verb: &str| self.view.says_form_of(verb);
        self.column(|c| c.role == Role::Dimension && c.full.strip_suffix(" by").is_some_and(said))
    }

    /// The column that numbers the rows.
    pub fn row_id(&self) -> Option<ColRef> {
        let table = &self.view.scope.tables[self.question.table];
        self.column(|c| c.role == Role::Id && c.distinct * 100 >= table.rows * 99)
    }

    /// `谁的月薪最高`, where every row is somebody.
    fn row_name(&self) -> Option<ColRef> {
        let table = &self.view.scope.tables[self.question.table];
        let called = |c: &Column| ["姓名", "name"].iter().any(|n| c.words.ends_with(n));
        self.column(|c| called(c) && c.distinct * 10 >= table.rows * 9)
    }

    /// The one column that fits.
    fn only(&self, fits: impl Fn(&Column) -> bool) -> Option<ColRef> {
        let table = self.question.table;
        match self.view.scope.tables[table].indices(fits)[..] {
            [column] => Some(ColRef { table, column }),
            _ => None,
        }
    }

    fn column(&self, fits: impl Fn(&Column) -> bool) -> Option<ColRef> {
        let table = self.question.table;
        let column = self.view.scope.tables[table].columns.iter().position(fits)?;
        Some(ColRef { table, column })
    }
}
