//! Server-sent events from bytes in pieces of any size. Knows nothing of what the events say.
//!
//! Lines end with LF, CR or CRLF, also when a piece ends between CR and LF; comments are dropped,
//! several `data` lines of one event are joined.

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    pub name: Option<String>,
    pub data: String,
}

/// A line longer than this is refused: no provider sends one, and memory is not endless.
const MAX_LINE: usize = 16 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a line of the stream is longer than 16 MB")]
pub struct LineTooLong;

#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    after_cr: bool,
    started: bool,
    name: Option<String>,
    data: Option<String>,
}

impl SseDecoder {
    /// Events completed by these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, LineTooLong> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        if !bytes.is_empty() {
            self.after_cr = false;
        }
        while let Some(end) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let is_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > MAX_LINE { Err(LineTooLong) } else { Ok(events) }
    }

    /// The last event of a stream that ended without its blank line. Servers do that after `[DONE]`.
    pub fn finish(&mut self) -> Option<SseEvent> {
        let complete = if self.line.is_empty() { None } else { self.end_line() };
        complete.or_else(|| self.dispatch())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let mut line = line.as_ref();
        if !self.started {
            self.started = true;
            line = line.trim_start_matches('\u{feff}');
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        self.data.take().map(|data| SseEvent { name, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = SseDecoder::default();
        let mut events: Vec<SseEvent> = pieces.iter().flat_map(|p| decoder.feed(p).unwrap()).collect();
        events.extend(decoder.finish());
        events.into_iter().map(|e| e.data).collect()
    }

    #[test]
    fn crlf_split_between_pieces_loses_nothing() {
        assert_eq!(decode(&[b"data: a\r", b"\n\r", b"\ndata: b\r\n", b"\r\n"]), ["a", "b"]);
        assert_eq!(decode(&[b"data: a\r\r", b"data: b\n\n"]), ["a", "b"]);
    }

    #[test]
    fn comments_names_and_several_data_lines() {
        let mut decoder = SseDecoder::default();
        let events = decoder
            .feed(b"\xef\xbb\xbf: ping\nevent: message\nid: 7\ndata: one\ndata:two\n\n:x\n\n")
            .unwrap();
        assert_eq!(events, [SseEvent { name: Some("message".into()), data: "one\ntwo".into() }]);
        assert_eq!(decoder.finish(), None);
    }

    #[test]
    fn an_end_without_blank_line_still_gives_the_last_event() {
        assert_eq!(decode(&[b"data: a\n\ndata: [DONE]"]), ["a", "[DONE]"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = SseDecoder::default();
        let piece = vec![b'x'; 1024 * 1024];
        let refused = (0..20).any(|_| decoder.feed(&piece).is_err());
        assert!(refused);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            text in "(data: [a-z销]{0,5}|: c|event: e|\r\n|\n|\r|\r\n\r\n){0,30}",
            cuts in prop::collection::vec(0usize..400, 0..12),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(bytes.len())).collect();
            cuts.sort_unstable();
            cuts.push(bytes.len());
            let mut start = 0;
            let mut pieces = Vec::new();
            for cut in cuts {
                pieces.push(&bytes[start..cut]);
                start = cut;
            }
            prop_assert_eq!(decode(&pieces), decode(&[bytes]));
        }
    }
}
