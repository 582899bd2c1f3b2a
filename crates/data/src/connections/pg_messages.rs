//! Reads the messages of a PostgreSQL server before the driver does. The driver takes as much memory as the head of a message
//! says, before a byte of it has come: a message longer than a row may be is refused at its head, and the fields of a long
//! error or notice are cut. Understands no other message and changes none.

use super::rows::MAX_ROW_BYTES;

/// An error or a notice up to this goes on as it is.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Of each field of a longer one; the text that people see is shorter still.
const MAX_FIELD_BYTES: usize = 16 << 10;
/// Kind and length.
const HEAD: usize = 5;

/// A message was longer than a row may be, or shorter than its own head: a driver trusts both.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unfit;

#[derive(Debug, Default)]
pub(super) struct Messages {
    head: Vec<u8>,
    /// Bytes to come of the message that has begun.
    left: usize,
    /// The message that has begun is being cut.
    cut: Option<Cut>,
}

impl Messages {
    /// Takes what has come, in pieces of any length, and adds to `on` what the driver may have of it.
    pub(super) fn read(&mut self, mut piece: &[u8], on: &mut Vec<u8>) -> Result<(), Unfit> {
        while !piece.is_empty() {
            if self.left == 0 {
                let take = piece.len().min(HEAD - self.head.len());
                self.head.extend_from_slice(&piece[..take]);
                piece = &piece[take..];
                if self.head.len() == HEAD {
                    self.begin(on)?;
                }
                continue;
            }
            let (body, rest) = piece.split_at(piece.len().min(self.left));
            match &mut self.cut {
                None => on.extend_from_slice(body),
                Some(cut) => cut.read(body),
            }
            self.left -= body.len();
            piece = rest;
            if let Some(cut) = self.cut.take_if(|_| self.left == 0) {
                cut.end(on);
            }
        }
        Ok(())
    }

    fn begin(&mut self, on: &mut Vec<u8>) -> Result<(), Unfit> {
        let &[kind, a, b, c, d] = self.head.as_slice() else { return Ok(()) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        // The length counts itself.
        if !(4..=MAX_ROW_BYTES).contains(&length) {
            return Err(Unfit);
        }
        self.left = length - 4;
        if matches!(kind, b'E' | b'N') && self.left > MAX_ERROR_BYTES {
            self.cut = Some(Cut { kind, kept: Vec::new(), field: 0 });
        } else {
            on.extend_from_slice(&self.head);
        }
        self.head.clear();
        Ok(())
    }
}

/// An error or a notice on its way to a bearable length: fields, each a letter and a text that ends with a zero.
#[derive(Debug)]
struct Cut {
    kind: u8,
    kept: Vec<u8>,
    /// Bytes seen of the field that has begun, its letter included.
    field: usize,
}

impl Cut {
    fn read(&mut self, body: &[u8]) {
        for &byte in body {
            if byte == 0 && self.field > 0 {
                if self.field > MAX_FIELD_BYTES {
                    let whole = whole_characters(&self.kept);
                    self.kept.truncate(whole);
                }
                if self.kept.last() != Some(&0) {
                    self.kept.push(0);
                }
                self.field = 0;
            } else if byte != 0 {
                // A server that sends more fields than there are gets no more room for them.
                if self.field < MAX_FIELD_BYTES && self.kept.len() < MAX_ERROR_BYTES {
                    self.kept.push(byte);
                }
                self.field += 1;
            }
        }
    }

    fn end(mut self, on: &mut Vec<u8>) {
        if self.kept.last().is_some_and(|last| *last != 0) {
            self.kept.push(0);
        }
        self.kept.push(0);
        let length = u32::try_from(self.kept.len() + 4).unwrap_or(u32::MAX);
        on.push(self.kind);
        on.extend_from_slice(&length.to_be_bytes());
        on.append(&mut self.kept);
    }
}

/// Where the last whole character of a text ends that was cut anywhere.
fn whole_characters(text: &[u8]) -> usize {
    let start = text.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
    if std::str::from_utf8(&text[start..]).is_ok() { text.len() } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    }

    fn through(sent: &[u8], step: usize) -> Result<Vec<u8>, Unfit> {
        let mut messages = Messages::default();
        let mut on = Vec::new();
        for piece in sent.chunks(step) {
            messages.read(piece, &mut on)?;
        }
        Ok(on)
    }

    fn error(text: &str) -> Vec<u8> {
        message(b'E', format!("SERROR\0C22P02\0M{text}\0Rpg_strtoint\0\0").as_bytes())
    }

    #[test]
    fn what_is_short_goes_on_byte_by_byte_the_same() {
        let sent = [message(b'S', b"TimeZone\0UTC\0"), message(b'1', b""), error("no"), message(b'Z', b"I")]
            .concat();
        for step in [1, 2, 5, 7, 1000] {
            assert_eq!(through(&sent, step).unwrap(), sent, "{step}");
        }
    }

    #[test]
    fn a_long_error_keeps_its_fields_and_whole_characters() {
        let sent = [error(&"长".repeat(1_000_000)), message(b'Z', b"I")].concat();
        for step in [3, 4096, 100_000] {
            let on = through(&sent, step).unwrap();
            assert!(on.len() < 20_000 && on.ends_with(&message(b'Z', b"I")), "{}", on.len());
            let length = u32::from_be_bytes(on[1..5].try_into().unwrap()) as usize;
            assert_eq!(on[1 + length], b'Z', "the length is that of what is left");
            let text = std::str::from_utf8(&on[5..=length]).unwrap();
            let fields: Vec<&str> = text.split('\0').filter(|f| !f.is_empty()).collect();
            assert_eq!((fields[0], fields[1], fields[3]), ("SERROR", "C22P02", "Rpg_strtoint"));
            assert!(fields[2].starts_with("M长长") && fields[2].len() <= MAX_FIELD_BYTES);
        }
    }

    #[test]
    fn an_error_of_endless_fields_takes_no_more_room() {
        let body = "Mx\0".repeat(1_000_000);
        let on = through(&message(b'N', body.as_bytes()), 10_000).unwrap();
        assert!(on.len() <= MAX_ERROR_BYTES + 10, "{}", on.len());
    }

    #[test]
    fn a_head_that_says_too_much_or_too_little_goes_nowhere() {
        for length in [0, 3, MAX_ROW_BYTES + 1, u32::MAX as usize] {
            let length = u32::try_from(length).unwrap().to_be_bytes();
            for kind in *b"DETN" {
                let mut on = Vec::new();
                let told = Messages::default().read(&[&[kind], &length[..]].concat(), &mut on);
                assert_eq!((told, on.len()), (Err(Unfit), 0));
            }
        }
    }
}
