//! Cuts the Chinese between meaningful phrases anew where the longest word first leaves a character over: `帮我排个` and `序`
//! for `帮我` and `排个序`. Only words that mean nothing are cut otherwise; what has a meaning stays where it is.

use super::{Meaning, Mention};
use crate::norm::is_cjk;

/// Replaces idle words by others that leave fewer characters uncovered.
pub(super) fn cover(text: &[char], mentions: &mut Vec<Mention>, idle: &[(usize, usize)]) {
    let stop = |m: &Mention| m.meanings.iter().all(|m| *m == Meaning::Stop);
    let mut fixed = vec![false; text.len()];
    let mut covered = vec![false; text.len()];
    for mention in mentions.iter() {
        for at in mention.start..mention.end {
            fixed[at] = !stop(mention);
            covered[at] = true;
        }
    }
    let mut from = 0;
    while from < text.len() {
        let free = |at: usize| is_cjk(text[at]) && !fixed[at];
        if !free(from) {
            from += 1;
            continue;
        }
        let to = (from..text.len()).find(|at| !free(*at)).unwrap_or(text.len());
        let left = (from..to).filter(|at| !covered[*at]).count();
        if left > 0
            && let Some(words) = fewest_left(from, to, idle, left)
        {
            mentions.retain(|m| m.end <= from || m.start >= to);
            mentions.extend(words.into_iter().map(|(start, end)| Mention {
                start,
                end,
                text: text[start..end].iter().collect(),
                meanings: vec![Meaning::Stop],
            }));
        }
        from = to;
    }
    mentions.sort_by_key(|m| m.start);
}

/// How far a stretch was cut: characters left over, words used, the last of them.
type Reached = (usize, usize, Option<(usize, usize)>);

/// The idle words that leave the fewest characters of a stretch over, if fewer than now; of equal ones the fewest words.
fn fewest_left(from: usize, to: usize, idle: &[(usize, usize)], now: usize) -> Option<Vec<(usize, usize)>> {
    let mut best: Vec<Reached> = vec![(usize::MAX, 0, None); to - from + 1];
    best[0] = (0, 0, None);
    for at in from..to {
        let (left, words, _) = best[at - from];
        let skipped = (left + 1, words, None);
        if (skipped.0, skipped.1) < (best[at + 1 - from].0, best[at + 1 - from].1) {
            best[at + 1 - from] = skipped;
        }
        for (start, end) in idle.iter().filter(|(s, e)| *s == at && *e <= to) {
            let reached = &mut best[end - from];
            if (left, words + 1) < (reached.0, reached.1) {
                *reached = (left, words + 1, Some((*start, *end)));
            }
        }
    }
    if best[to - from].0 >= now {
        return None;
    }
    let (mut out, mut at) = (Vec::new(), to);
    while at > from {
        match best[at - from].2 {
            Some((start, end)) => {
                out.push((start, end));
                at = start;
            }
            None => at -= 1,
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_left_over_where_words_fit() {
        let text: Vec<char> = "帮我排个序".chars().collect();
        let idle = [(0, 4), (0, 2), (2, 5)];
        let long = Mention { start: 0, end: 4, text: "帮我排个".into(), meanings: vec![Meaning::Stop] };
        let mut mentions = vec![long];
        cover(&text, &mut mentions, &idle);
        let cut: Vec<&str> = mentions.iter().map(|m| m.text.as_str()).collect();
        assert_eq!(cut, ["帮我", "排个序"]);
    }
}
