//! Figures the question itself defines from two columns: `准点班次除以发车班次`, `sales minus cost`, `数量乘以单价`.
//! A definition says all: other figures named beside it are its name.

use crate::glossary::ConceptRole;
use crate::lex::{ColRef, Lexed, Meaning};
use crate::question::{Agg, Measure, Op, PART, PER};
use crate::read::draft::{Draft, Reader, Wanted};
use crate::read::tokens::Scope;
use crate::table::Role;
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

impl Reader<'_> {
    /// Two figures with a sign between them.
    pub(super) fn read_formula(&mut self) {
        let figures: Vec<(usize, ColRef)> = (0..self.tokens.len())
            .filter_map(|i| self.col(i).map(|c| (i, c)))
            .filter(|(_, c)| self.scope.role(*c) == Role::Measure)
            .collect();
        let found = figures.windows(2).find_map(|pair| {
            let [(i, left), (j, right)] = pair else { return None };
            let sign = sign(self.text.get(self.tokens[*i].end..self.tokens[*j].start)?)?;
            (left != right).then_some((*i, *left, sign, *j, *right))
        });
        let Some((i, left, sign, j, right)) = found else { return };
        let text: String = self.text.iter().collect();
        let part = ["率", "占", "百分", "rate", "share", "percent", "%"].iter().any(|w| text.contains(w));
        let sum = |c: ColRef| Box::new(Measure::Of(Agg::Sum, c));
        let measure = match sign {
            Sign::Over => Measure::Ratio {
                concept: if part { PART } else { PER },
                numerator: sum(left),
                denominator: sum(right),
            },
            Sign::With(op) => Measure::Formula { op, left, right },
        };
        self.used[i] = true;
        self.used[j] = true;
        self.draft.formula = Some(measure);
    }
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

/// The name that a question gives to its own definition says nothing more.
pub(super) fn names_a_figure(word: &str) -> bool {
    word.ends_with(['率', '值', '利']) || word.ends_with("rate")
}

/// Nothing but the definition is measured; a sign without two columns is not understood.
pub(super) fn settle(draft: &mut Draft, scope: &Scope<'_>, lexed: &Lexed) {
    const WORDS: [&str; 7] = ["减去", "减掉", "减", "乘以", "乘", "minus", "multiplied by"];
    let Some(measure) = draft.formula.clone() else {
        let lost = lexed.mentions.iter().find(|m| WORDS.contains(&m.text.as_str()));
        draft.dangling.extend(lost.map(|m| m.text.clone()));
        return;
    };
    draft.measures = vec![Wanted::Fixed(measure)];
    let defined =
        |c: usize| matches!(scope.glossary.concepts[c].role, ConceptRole::Measure | ConceptRole::Ratio);
    draft.lacking.retain(|(c, _)| !defined(*c));
    for word in [Word::Divided, Word::Share, Word::Rate] {
        draft.words.remove(&word);
    }
    // `times` is no count here.
    let counts = |m: &Meaning| *m == Meaning::Word(Word::HowMany);
    if !lexed.mentions.iter().any(|m| m.meanings.iter().any(counts)) {
        draft.words.remove(&Word::Count);
    }
    draft.dangling.retain(|w| !names_a_figure(w) && w != "÷");
    draft.per_unit = None;
    draft.part_of = false;
    draft.loose_agg = None;
    draft.against.clear();
}
