//! Money that goes the other way: what is paid, reimbursed or earned by others is not what came in.

use crate::lex::ColRef;
use crate::table::{Column, Role};
use crate::units;
use crate::weigh::misfit::Asked;
use crate::weigh::said::names_people;
use crate::word::Word;

/// `what did we pay for it`, `what did UPS bill us`: it goes out.
const OUT: [&str; 14] = [
    " spend on ",
    " spent on ",
    "we pay ",
    "we paid ",
    "we are paying ",
    "we spend ",
    "we spent ",
    "bill us",
    "billed us",
    "charge us",
    "charged us",
    "cost us",
    "hourly pay",
    "pay rate",
];

/// `how much did they reimburse`: it comes back, which only a column of its own tells.
const BACK: [&str; 8] =
    ["reimburs", "credit back", "credited back", "pay back", "paid back", "paid out", "pay out", "pays out"];

impl Asked<'_> {
    /// `how much do we pay Hannah`, `what do our tenants earn`.
    pub(super) fn paid_by_us(&self) -> f32 {
        let view = self.view;
        let spent = |c: &ColRef| {
            let column = view.scope.column(*c);
            ["cost", "salary", "spend", "wage", "expense", "budget"]
                .iter()
                .any(|w| column.full.contains(w) || column.has_concept(w))
        };
        let taken =
            |c: &ColRef| units::is_money(view.scope.column(*c)) && !spent(c) && view.place(*c).is_none();
        if !self.sells() || !self.figures.iter().any(taken) {
            return 0.0;
        }
        // `how much do our tenants earn`: they, not we.
        let earned = (1..view.items.len()).any(|i| {
            view.word(i) == Some(Word::Earn)
                && view.items[i].text.starts_with("earn")
                && view.items[..i].iter().any(|k| k.columns().any(|c| view.role(c) != Role::Measure))
                && !view.whole.contains(" we ")
        });
        // `members spend on drinks`: they do, and that comes in.
        let theirs = view.items.iter().any(|i| names_people(&i.text)) && !view.whole.contains(" we ");
        let paying = OUT.iter().any(|w| view.whole.contains(w)) && !theirs;
        if paying || earned { 2.5 } else { 0.0 }
    }

    pub(super) fn money_back(&self) -> f32 {
        let kept = |c: &Column| {
            ["reimburs", "credit", "refund", "paid out", "payout", "claim", "paid"]
                .iter()
                .any(|w| c.full.contains(w))
        };
        let said = BACK.iter().any(|w| self.view.whole.contains(w));
        let table = &self.view.scope.tables[self.question.table];
        if said && !table.columns.iter().any(kept) { 2.5 } else { 0.0 }
    }

    /// The table tells of what is sold, not of what is bought.
    fn sells(&self) -> bool {
        let table = &self.view.scope.tables[self.question.table];
        let named =
            |words: &[&str]| table.columns.iter().any(|c| c.full.split(' ').any(|w| words.contains(&w)));
        let bought = named(&["vendor", "supplier", "expense", "payee", "purchase", "purchased"]);
        let sold = named(&[
            "sales",
            "revenue",
            "sold",
            "fee",
            "fees",
            "rent",
            "customer",
            "cust",
            "guest",
            "member",
            "student",
            "client",
            "patient",
            "donor",
            "buyer",
            "tenant",
            "host",
            "sponsor",
            "teacher",
            "income",
            "instructor",
            "paid",
            "reader",
        ]);
        !bought && (sold || !self.view.scope.concept_columns("customer").is_empty())
    }
}
