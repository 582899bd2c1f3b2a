//! Figures and bounds the question makes of two columns: `准点班次除以发车班次`, `sales minus cost`, `实际工时超过计划工时`.
//! A definition says all: other figures named beside it are its name.

use crate::glossary::ConceptRole;
use crate::lex::ColRef;
use crate::question::{Agg, Cmp, Measure, Op, PART, PER};
use crate::table::Role;
use crate::weigh::bounds::compares;
use crate::weigh::items::{Item, Sense};
use crate::weigh::options::Part;
use crate::weigh::view::View;
use crate::word::Word;

/// What may stand between two columns, and what it does with them.
const SIGNS: [(&str, Sign); 18] = [
    ("除以", Sign::Over),
    ("÷", Sign::Over),
    ("/", Sign::Over),
    ("divided by", Sign::Over),
    ("over", Sign::Over),
    ("减去", Sign::With(Op::Minus)),
    ("减掉", Sign::With(Op::Minus)),
    ("减", Sign::With(Op::Minus)),
    ("minus", Sign::With(Op::Minus)),
    ("less", Sign::With(Op::Minus)),
    ("-", Sign::With(Op::Minus)),
    ("乘以", Sign::With(Op::Times)),
    ("乘", Sign::With(Op::Times)),
    ("×", Sign::With(Op::Times)),
    ("*", Sign::With(Op::Times)),
    ("x", Sign::With(Op::Times)),
    ("times", Sign::With(Op::Times)),
    ("multiplied by", Sign::With(Op::Times)),
];

#[derive(Clone, Copy)]
enum Sign {
    Over,
    With(Op),
}

/// Two items that name figures, and what is done with them.
pub struct Defined {
    left: usize,
    right: usize,
    sign: Sign,
    /// The one is a part of the other.
    part: bool,
}

impl Defined {
    pub fn measure(&self, parts: &[(usize, Part)]) -> Option<Measure> {
        let figure = |at: usize| {
            parts.iter().find_map(|(i, p)| match p {
                Part::Figure(c) if *i == at => Some(*c),
                _ => None,
            })
        };
        let (left, right) = (figure(self.left)?, figure(self.right)?);
        let sum = |c: ColRef| Box::new(Measure::Of(Agg::Sum, c));
        Some(match self.sign {
            Sign::Over => Measure::Ratio {
                concept: if self.part { PART } else { PER },
                numerator: sum(left),
                denominator: sum(right),
            },
            Sign::With(op) => Measure::Formula { op, left, right },
        })
    }
}

pub fn read(view: &mut View<'_>) {
    formula(view);
    against(view);
}

/// Two figures with a sign between them. The words of the sign and the name of what is defined mean nothing more.
fn formula(view: &mut View<'_>) {
    let figures: Vec<usize> = (0..view.items.len()).filter(|i| is_figure(view, *i)).collect();
    let found = figures.windows(2).find_map(|w| {
        let between = view.text.get(view.items[w[0]].end..view.items[w[1]].start)?;
        Some((w[0], w[1], sign(between)?))
    });
    let Some((left, right, sign)) = found else { return };
    let part = ["率", "占", "百分", "rate", "share", "percent", "%"].iter().any(|w| view.whole.contains(w));
    let counts = view.says(Word::HowMany);
    for i in 0..view.items.len() {
        let inside = left < i && i < right;
        if inside && let Some(word) = view.word(i) {
            view.words.remove(&word);
        }
        if inside || i != left && i != right && names_definition(view, &view.items[i]) {
            view.spent[i] = true;
        }
    }
    for word in [Word::Divided, Word::Share, Word::Rate] {
        view.words.remove(&word);
    }
    if !counts {
        view.words.remove(&Word::Count);
    }
    view.defined = Some(Defined { left, right, sign, part });
}

fn is_figure(view: &View<'_>, i: usize) -> bool {
    view.items[i].word().is_none() && view.names_figure(&view.items[i])
}

fn names_definition(view: &View<'_>, item: &Item) -> bool {
    let written = item.text.ends_with(['率', '值', '利']) || item.text.ends_with("rate");
    let figure =
        |c: usize| matches!(view.scope.glossary.concepts[c].role, ConceptRole::Measure | ConceptRole::Ratio);
    item.senses.iter().any(|(s, _)| match s {
        Sense::Ratio(_) => true,
        Sense::Lacking(c) => figure(*c),
        Sense::Unknown | Sense::Passed | Sense::Word(Word::Rate | Word::Share) => written,
        _ => false,
    })
}

fn sign(between: &[char]) -> Option<Sign> {
    let between: String = between.iter().collect();
    let words: Vec<&str> = between
        .split_whitespace()
        .map(|w| w.trim_matches(['的', '总', '(', ')', '"']))
        .filter(|w| !matches!(*w, "" | "the" | "total" | "its" | "our"))
        .collect();
    let said = words.join(" ");
    SIGNS.iter().find(|(s, _)| *s == said).map(|(_, sign)| *sign)
}

/// `items below their reorder point`: one column against another, row by row.
fn against(view: &mut View<'_>) {
    for i in 1..view.items.len() {
        let Some(cmp) = compares(view.word(i)).filter(|_| !view.spent[i]) else { continue };
        let figure = |k: usize| nearest_figure(view, k).map(|c| (k, c));
        let lead = view.before(i);
        let lead =
            lead.and_then(|k| if view.word(k) == Some(Word::Equal) { view.before(k) } else { Some(k) });
        let left = lead.and_then(figure);
        let right = view.after(i).filter(|k| view.items[*k].start <= view.items[i].end + 8).and_then(figure);
        let Some((k, right)) = right else { continue };
        let stock = || view.scope.concept_columns("stock").first().map(|(c, _)| *c);
        let Some(column) = left.map(|(_, c)| c).or_else(stock).filter(|c| *c != right) else { continue };
        push(view, column, cmp, right);
        for k in [Some(i), Some(k), left.map(|(k, _)| k)].into_iter().flatten() {
            view.spent[k] = true;
        }
    }
}

fn push(view: &mut View<'_>, left: ColRef, cmp: Cmp, right: ColRef) {
    view.against.push((left, cmp, right));
}

fn nearest_figure(view: &View<'_>, i: usize) -> Option<ColRef> {
    let figures = view.items[i].senses.iter().filter_map(|(s, far)| match s {
        Sense::Column(c) if view.role(*c) == Role::Measure && !view.spent[i] => Some((*c, *far)),
        _ => None,
    });
    figures.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(c, _)| c)
}
