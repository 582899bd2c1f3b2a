//! What the figures of one line may be made of: a column, or a few columns of the same row put together. Knows arithmetic
//! only, no table and no word.

/// How columns are put together. Letters of `name` stand for the columns in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    One,
    /// A part of the column's whole.
    Share,
    Over,
    Less,
    Plus,
    /// What is left of one: `1 - a / b`.
    Rest,
    Growth,
    Times,
    /// `a / (a + b)`
    Part,
    LessOver,
    PlusOver,
    LessLess,
    PlusLess,
    PlusPlus,
    PlusPlusOver,
    /// Against the line before: over it, as growth, as difference.
    Step,
    StepGrowth,
    StepLess,
    StepLost,
    /// Over the first line.
    OfFirst,
    /// All lines up to this one, alone and as a part of the whole.
    Running,
    RunningShare,
}

impl Shape {
    pub fn columns(self) -> usize {
        match self {
            Self::Over | Self::Less | Self::Plus | Self::Rest | Self::Growth | Self::Times | Self::Part => 2,
            Self::LessOver | Self::PlusOver | Self::LessLess | Self::PlusLess | Self::PlusPlus => 3,
            Self::PlusPlusOver => 4,
            _ => 1,
        }
    }

    /// How many of its columns are added up or taken from each other.
    pub fn terms(self) -> usize {
        match self {
            Self::Less | Self::Plus | Self::Part | Self::LessOver | Self::PlusOver => 2,
            Self::LessLess | Self::PlusLess | Self::PlusPlus | Self::PlusPlusOver => 3,
            _ => 0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::One => "a",
            Self::Share => "a / sum(a)",
            Self::Over => "a / b",
            Self::Less => "a - b",
            Self::Plus => "a + b",
            Self::Rest => "1 - a / b",
            Self::Growth => "a / b - 1",
            Self::Times => "a * b",
            Self::Part => "a / (a + b)",
            Self::LessOver => "(a - b) / c",
            Self::PlusOver => "(a + b) / c",
            Self::LessLess => "a - b - c",
            Self::PlusLess => "a + b - c",
            Self::PlusPlus => "a + b + c",
            Self::PlusPlusOver => "(a + b + c) / d",
            Self::Step => "a / previous(a)",
            Self::StepGrowth => "a / previous(a) - 1",
            Self::StepLess => "a - previous(a)",
            Self::StepLost => "previous(a) - a",
            Self::OfFirst => "a / first(a)",
            Self::Running => "sum(a up to here)",
            Self::RunningShare => "sum(a up to here) / sum(a)",
        }
    }

    /// Whether it is a quotient, which has no unit of its own.
    pub fn is_ratio(self) -> bool {
        !matches!(
            self,
            Self::One
                | Self::Less
                | Self::Plus
                | Self::Times
                | Self::LessLess
                | Self::PlusLess
                | Self::PlusPlus
                | Self::StepLess
                | Self::StepLost
                | Self::Running
        )
    }

    /// Digits that must agree before chance is ruled out: the more such formulas there are, the more.
    pub fn needs(self) -> usize {
        match self {
            Self::One => 4,
            Self::Share => 5,
            _ => match self.columns() {
                1 | 2 => 6,
                3 => 8,
                _ => 10,
            },
        }
    }

    /// The shape's value; `v` are the columns' values, all of them present.
    pub fn of(self, v: [f64; 4], around: &Around) -> Option<f64> {
        let [a, b, c, d] = v;
        let value = match self {
            Self::One => a,
            Self::Share => a / around.whole?,
            Self::Over => a / b,
            Self::Less => a - b,
            Self::Plus => a + b,
            Self::Rest => 1.0 - a / b,
            Self::Growth => a / b - 1.0,
            Self::Times => a * b,
            Self::Part => a / (a + b),
            Self::LessOver => (a - b) / c,
            Self::PlusOver => (a + b) / c,
            Self::LessLess => a - b - c,
            Self::PlusLess => a + b - c,
            Self::PlusPlus => a + b + c,
            Self::PlusPlusOver => (a + b + c) / d,
            Self::Step => a / around.before?,
            Self::StepGrowth => a / around.before? - 1.0,
            Self::StepLess => a - around.before?,
            Self::StepLost => around.before? - a,
            Self::OfFirst => a / around.first?,
            Self::Running => around.upto?,
            Self::RunningShare => around.upto? / around.whole?,
        };
        value.is_finite().then_some(value)
    }
}

/// What the shape needs of the first column beside the line's own value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Around {
    pub whole: Option<f64>,
    pub before: Option<f64>,
    pub first: Option<f64>,
    pub upto: Option<f64>,
}

/// A shape with its columns, and what its value is multiplied by to be compared with figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Formula {
    pub shape: Shape,
    pub columns: [usize; 4],
    pub factor: f64,
}

const PAIRS: [Shape; 7] =
    [Shape::Over, Shape::Less, Shape::Plus, Shape::Rest, Shape::Growth, Shape::Times, Shape::Part];
const ALONE: [Shape; 9] = [
    Shape::One,
    Shape::Share,
    Shape::Step,
    Shape::StepGrowth,
    Shape::StepLess,
    Shape::StepLost,
    Shape::OfFirst,
    Shape::Running,
    Shape::RunningShare,
];
const TRIPLES: [Shape; 5] =
    [Shape::LessOver, Shape::PlusOver, Shape::LessLess, Shape::PlusLess, Shape::PlusPlus];
/// Columns up to which three at a time are tried.
const MAX_TRIPLED: usize = 9;

/// Every formula over some columns, simple ones first.
pub fn all(columns: &[usize], mut each: impl FnMut(Shape, [usize; 4])) {
    for shape in ALONE {
        columns.iter().for_each(|a| each(shape, [*a; 4]));
    }
    for shape in PAIRS {
        let symmetric = matches!(shape, Shape::Plus | Shape::Times);
        for a in columns {
            for b in columns.iter().filter(|b| *b != a && (!symmetric || *b > a)) {
                each(shape, [*a, *b, *b, *b]);
            }
        }
    }
    if columns.len() > MAX_TRIPLED {
        return;
    }
    for shape in TRIPLES {
        let sum = matches!(shape, Shape::PlusOver | Shape::PlusLess | Shape::PlusPlus);
        for a in columns {
            for b in columns.iter().filter(|b| *b != a && (!sum || *b > a)) {
                let third = |c: &&usize| match shape {
                    Shape::LessLess => *c > b && *c != a,
                    Shape::PlusPlus => *c > b,
                    Shape::PlusLess => *c != a && *c != b,
                    _ => *c != b || shape == Shape::PlusOver,
                };
                columns.iter().filter(third).for_each(|c| each(shape, [*a, *b, *c, *c]));
            }
        }
    }
    for (i, a) in columns.iter().enumerate() {
        for (j, b) in columns.iter().enumerate().skip(i + 1) {
            for c in &columns[j + 1..] {
                columns.iter().for_each(|d| each(Shape::PlusPlusOver, [*a, *b, *c, *d]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_say_what_they_compute() {
        let v = [8.0, 2.0, 4.0, 5.0];
        let around = Around { whole: Some(16.0), before: Some(4.0), first: Some(32.0), upto: Some(12.0) };
        let mut shown = Vec::new();
        all(&[0, 1, 2, 3], |shape, _| {
            let line = format!("{} = {:.3}", shape.name(), shape.of(v, &around).unwrap());
            if !shown.contains(&line) {
                shown.push(line);
            }
        });
        insta::assert_snapshot!(shown.join("\n"));
        assert_eq!(Shape::Step.of(v, &Around::default()), None);
        assert_eq!(Shape::Over.of([1.0, 0.0, 0.0, 0.0], &around), None);
    }
}
