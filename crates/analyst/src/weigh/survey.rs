//! Questions about a table as a whole: what is in it, what is missing, what comes up twice.

use crate::question::Intent;
use crate::weigh::options::Part;
use crate::weigh::view::View;
use crate::word::Word;

/// What is asked about the whole table, and how far-fetched that is.
pub fn survey(view: &View<'_>, parts: &[(usize, Part)]) -> Option<(Intent, f32)> {
    let any = |of: fn(&Part) -> bool| parts.iter().any(|(_, p)| of(p));
    let measured = any(|p| {
        matches!(p, Part::Figure(_) | Part::Group(_) | Part::Kinds(_) | Part::Ratio(_) | Part::Grain(_))
    });
    let limited = any(|p| matches!(p, Part::Is(..) | Part::Yes(..) | Part::When(_)));
    let lacks = any(|p| matches!(p, Part::Empty(_) | Part::Zero(_) | Part::Yes(_, false)));
    if view.says(Word::Missing) {
        // Rows without a value are counted, where the value can be told.
        return (!lacks).then_some((Intent::Missing, if measured || limited { 1.5 } else { 1.0 }));
    }
    let intent = if view.says(Word::Columns) && !view.says(Word::Sum) {
        Intent::Columns
    } else if view.says(Word::Preview) && !measured {
        Intent::Preview
    } else if view.says(Word::Describe) && !measured && !limited {
        Intent::Describe
    } else {
        return None;
    };
    Some((intent, 0.0))
}
