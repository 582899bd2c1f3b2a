//! Years said once that hold for several times, and the same time in another year.

use super::{Piece, When, YearRef};

/// `July and August 2023`, `2023年7月和8月`, `March 2023 against April`: the year said once holds for its neighbours.
pub(super) fn share_years(text: &str, pieces: &mut [(usize, usize, Piece)]) {
    const LIST: [&str; 14] =
        ["and", "&", ",", ", and", "or", "vs", "vs.", "versus", "、", "和", "与", "及", "跟", "或"];
    let whole = |p: Piece| matches!(p, Piece::Year(_));
    for i in 1..pieces.len() {
        let before = pieces[i - 1].2;
        if !whole(before) && When::In(pieces[i].2).lacks_year() {
            pieces[i].2 = share_year(before, pieces[i].2).1;
        }
    }
    for i in (1..pieces.len()).rev() {
        let ((_, end, first), (start, _, second)) = (pieces[i - 1], pieces[i]);
        let alike = std::mem::discriminant(&first) == std::mem::discriminant(&second);
        if alike && When::In(first).lacks_year() && LIST.contains(&text[end..start].trim()) {
            pieces[i - 1].2 = share_year(first, second).0;
        }
    }
}

/// `from January to June 2024`, `2024年1月到6月`: the year said once holds for both.
pub(super) fn share_year(a: Piece, b: Piece) -> (Piece, Piece) {
    let year_of = |p: Piece| match p {
        Piece::Month(y, _) | Piece::Season(y, _) | Piece::Quarter(y, _) | Piece::Half(y, _) => y,
        Piece::Day(d) => Some(YearRef::Number(d.year())),
        Piece::Year(y) => Some(y),
        _ => None,
    };
    let with = |p: Piece, y: Option<YearRef>| match p {
        Piece::Month(None, m) => Piece::Month(y, m),
        Piece::Season(None, m) => Piece::Season(y, m),
        Piece::Quarter(None, q) => Piece::Quarter(y, q),
        Piece::Half(None, h) => Piece::Half(y, h),
        other => other,
    };
    (with(a, year_of(b)), with(b, year_of(a)))
}

impl Piece {
    /// The quarter or month before, where the year is said.
    pub fn previous(self) -> Option<Self> {
        match self {
            Piece::Quarter(Some(YearRef::Number(y)), 1) => {
                Some(Piece::Quarter(Some(YearRef::Number(y - 1)), 4))
            }
            Piece::Quarter(Some(y), q @ 2..) => Some(Piece::Quarter(Some(y), q - 1)),
            Piece::Month(Some(YearRef::Number(y)), 1) => Some(Piece::Month(Some(YearRef::Number(y - 1)), 12)),
            Piece::Month(Some(y), m @ 2..) => Some(Piece::Month(Some(y), m - 1)),
            _ => None,
        }
    }
}

impl When {
    /// The same time in a year said elsewhere in the question.
    pub fn in_year(self, year: YearRef) -> Self {
        let with = |p: Piece| share_year(p, Piece::Year(year)).0;
        match self {
            When::In(p) => When::In(with(p)),
            When::Between(a, b) => When::Between(with(a), with(b)),
            When::Since(p) => When::Since(with(p)),
            When::Before(p) => When::Before(with(p)),
            When::After(p) => When::After(with(p)),
        }
    }

    /// The same part of another year, whichever was said.
    pub fn moved_to(self, year: YearRef) -> Self {
        let moved = |p: Piece| match p {
            Piece::Month(_, m) => Piece::Month(Some(year), m),
            Piece::Season(_, m) => Piece::Season(Some(year), m),
            Piece::Quarter(_, q) => Piece::Quarter(Some(year), q),
            Piece::Half(_, h) => Piece::Half(Some(year), h),
            other => other,
        };
        match self {
            When::In(p) => When::In(moved(p)),
            When::Between(a, b) => When::Between(moved(a), moved(b)),
            other => other,
        }
    }

    /// A part of a year whose year was not said.
    pub fn lacks_year(self) -> bool {
        let lacks = |p: Piece| {
            matches!(
                p,
                Piece::Month(None, _)
                    | Piece::Season(None, _)
                    | Piece::Quarter(None, _)
                    | Piece::Half(None, _)
            )
        };
        match self {
            When::In(p) | When::Since(p) | When::Before(p) | When::After(p) => lacks(p),
            When::Between(a, b) => lacks(a) || lacks(b),
        }
    }

    pub fn year(self) -> Option<YearRef> {
        match self {
            When::In(Piece::Year(y)) => Some(y),
            _ => None,
        }
    }
}
