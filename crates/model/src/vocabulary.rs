//! A byte-pair encoding: the dictionary, packed in the program and opened on first use, and how a text is cut into its
//! tokens. Gives the tokens of the published encodings; knows no model and keeps no text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

/// GPT-4 and GPT-3.5.
pub static CL100K: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::open(
        include_bytes!("../data/cl100k_base.zst"),
        100_256,
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$",
    )
});

/// Later models of OpenAI.
pub static O200K: LazyLock<Vocabulary> = LazyLock::new(|| {
    Vocabulary::open(
        include_bytes!("../data/o200k_base.zst"),
        199_998,
        concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+$",
        ),
    )
});

/// The longest token of either dictionary, in bytes.
const LONGEST: usize = 128;

pub struct Vocabulary {
    /// All tokens, one after the other, by rank.
    bytes: Vec<u8>,
    /// Where each begins; one more for the end of the last.
    starts: Vec<u32>,
    /// Open addressing: a rank plus one, or 0 where there is none.
    slots: Vec<u32>,
    /// Cuts a text into pieces that are encoded by themselves.
    pieces: Option<Regex>,
}

impl Vocabulary {
    /// A dictionary that cannot be read leaves single bytes as tokens: a count that is too high, never a stop.
    fn open(packed: &[u8], tokens: usize, pattern: &str) -> Self {
        let data = zstd::decode_all(packed).unwrap_or_default();
        let (lengths, bytes) = data.split_at_checked(tokens).unwrap_or_default();
        let mut starts = Vec::with_capacity(lengths.len() + 1);
        let mut end = 0u32;
        starts.push(end);
        for length in lengths {
            end += u32::from(*length);
            starts.push(end);
        }
        let mut slots = vec![0; (lengths.len() * 2).next_power_of_two()];
        let mut whole = Self { bytes: bytes.to_vec(), starts, slots: Vec::new(), pieces: None };
        for rank in 0..lengths.len() as u32 {
            let mut at = hash(whole.token(rank)) & (slots.len() - 1);
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = rank + 1;
        }
        whole.slots = slots;
        // White space before a word belongs to the word but for its first characters. The published pattern says so with a look
        // ahead; here a second pattern takes one character too many, which `pieces` gives back.
        whole.pieces = Regex::new_many(&[pattern, r"\s+\s", r"\s+"]).ok();
        whole
    }

    pub fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.each_token(text, |_| count += 1);
        count
    }

    fn each_token(&self, text: &str, mut told: impl FnMut(&[u8])) {
        let mut scratch = Scratch::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.piece(rest));
            self.merge(piece.as_bytes(), &mut scratch, &mut told);
            rest = after;
        }
    }

    /// How many bytes the first piece of `text` has; at least one.
    fn piece(&self, text: &str) -> usize {
        let input = Input::new(text).anchored(Anchored::Yes);
        let found =
            self.pieces.as_ref().and_then(|pieces| pieces.find(input)).filter(|found| !found.is_empty());
        let Some(found) = found else { return text.len() };
        let too_many = text[..found.end()].chars().next_back().filter(|_| found.pattern().as_usize() == 1);
        found.end() - too_many.map_or(0, char::len_utf8)
    }

    /// The pair of the lowest rank is joined, the leftmost first, until no two neighbours make a token.
    fn merge(&self, piece: &[u8], scratch: &mut Scratch, told: &mut impl FnMut(&[u8])) {
        if piece.len() == 1 || self.rank(piece).is_some() {
            return told(piece);
        }
        let Scratch { next, before, heap } = scratch;
        next.clear();
        next.extend(1..=piece.len() as u32);
        before.clear();
        before.extend((0..piece.len() as u32).map(|at| at.saturating_sub(1)));
        heap.clear();
        let pair = |at: usize, next: &[u32]| {
            let end = *next.get(next[at] as usize)?;
            let rank = self.rank(&piece[at..end as usize])?;
            Some(Reverse((u64::from(rank) << 32) | at as u64))
        };
        heap.extend((0..piece.len()).filter_map(|at| pair(at, next)));
        while let Some(Reverse(entry)) = heap.pop() {
            let (rank, at) = ((entry >> 32) as u32, (entry & 0xffff_ffff) as usize);
            let middle = next[at] as usize;
            // An entry is old when one of its halves has been joined to something else since.
            let Some(&end) = next.get(middle).filter(|_| middle != GONE) else { continue };
            if end as usize - at != self.token(rank).len() {
                continue;
            }
            next[at] = end;
            next[middle] = GONE as u32;
            if let Some(following) = before.get_mut(end as usize) {
                *following = at as u32;
            }
            heap.extend(pair(at, next));
            if at > 0 {
                heap.extend(pair(before[at] as usize, next));
            }
        }
        let mut at = 0;
        while at < piece.len() {
            let end = next[at] as usize;
            told(&piece[at..end]);
            at = end;
        }
    }

    fn token(&self, rank: u32) -> &[u8] {
        let bounds = self.starts.get(rank as usize).zip(self.starts.get(rank as usize + 1));
        bounds.and_then(|(start, end)| self.bytes.get(*start as usize..*end as usize)).unwrap_or_default()
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > LONGEST {
            return None;
        }
        let last = self.slots.len() - 1;
        let mut at = hash(bytes) & last;
        loop {
            let rank = self.slots[at].checked_sub(1)?;
            if self.token(rank) == bytes {
                return Some(rank);
            }
            at = (at + 1) & last;
        }
    }
}

/// No part begins at a piece's first byte after another, so 0 says that a part is no more.
const GONE: usize = 0;

/// Room that the pieces of a text share.
#[derive(Default)]
struct Scratch {
    /// By a part's first byte: where the next part begins.
    next: Vec<u32>,
    /// By a part's first byte: where the part before begins.
    before: Vec<u32>,
    /// Pairs that make a token: rank, then place.
    heap: BinaryHeap<Reverse<u64>>,
}

/// Quick, and good enough for a table whose keys are known: a text cannot add any.
fn hash(bytes: &[u8]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(ODD);
    }
    (state ^ (state >> 32)) as usize
}

#[cfg(test)]
mod tests;
