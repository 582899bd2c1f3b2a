//! Length-framed messages over Unix sockets, with descriptors. Frames from children are hostile: sizes are capped.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde_json::Value;
use tokio::io::Interest;
use tokio::net::UnixStream;

const HEADER: usize = 5;
/// The largest frame anybody may send who was given no other limit.
const MAX_FRAME: usize = 1 << 20;
const MAX_FDS: usize = 8;
/// What a parsed value takes beside its text: a frame of two-byte lists would take thirty times its size.
const VALUE_BYTES: usize = 72;
/// A parsed frame may take this many times the bytes it may have.
const MAX_GROWTH: usize = 16;

#[derive(Debug)]
pub(crate) enum Frame {
    Json(Value),
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

/// One end of a connection. Reading is cancel-safe: partial frames stay in the buffer.
pub(crate) struct Wire {
    stream: UnixStream,
    buffer: Vec<u8>,
    fds: Vec<OwnedFd>,
    max_frame: usize,
    /// Bytes of the frame that was taken last.
    pub(crate) last_frame: usize,
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl Wire {
    /// A connected pair: our end, and the end to hand to another process.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let stream = UnixStream::from_std(ours)?;
        Ok((
            Self { stream, buffer: Vec::new(), fds: Vec::new(), max_frame: MAX_FRAME, last_frame: 0 },
            theirs.into(),
        ))
    }

    /// Parsed JSON takes many times its size in memory, so the limit follows what is expected.
    pub(crate) fn limit_frames(&mut self, bytes: usize) {
        self.max_frame = bytes;
    }

    pub(crate) async fn send(&self, value: &Value, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let body = serde_json::to_vec(value)?;
        let mut data = Vec::with_capacity(HEADER + body.len());
        data.push(b'J');
        data.extend_from_slice(
            &u32::try_from(body.len()).map_err(|_| invalid("frame too long"))?.to_le_bytes(),
        );
        data.extend_from_slice(&body);
        let mut sent = 0;
        while sent < data.len() {
            self.stream.writable().await?;
            let rest = &data[sent..];
            let rights = if sent == 0 { fds } else { &[] };
            match self.stream.try_io(Interest::WRITABLE, || send_once(self.stream.as_fd(), rest, rights)) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next frame; `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take_frame()? {
                return Ok(Some(frame));
            }
            self.stream.readable().await?;
            if self.fill()? == Some(0) {
                return Ok(None);
            }
        }
    }

    /// The next frame as JSON, with the descriptors received so far.
    pub(crate) async fn next_json(&mut self) -> io::Result<Option<(Value, Vec<OwnedFd>)>> {
        match self.next().await? {
            Some(Frame::Json(value)) => Ok(Some((value, std::mem::take(&mut self.fds)))),
            Some(_) => Err(invalid("output where a message was due")),
            None => Ok(None),
        }
    }

    /// Whether anything arrived that nobody asked for, or the other side is gone.
    pub(crate) fn is_disturbed(&mut self) -> bool {
        !self.buffer.is_empty() || !matches!(self.fill(), Ok(None))
    }

    /// Reads what is there: `None` when that would block, `Some(0)` at the end.
    fn fill(&mut self) -> io::Result<Option<usize>> {
        let mut chunk = [0u8; 65536];
        let stream = &self.stream;
        let fds = &mut self.fds;
        match stream.try_io(Interest::READABLE, || receive_once(stream.as_fd(), &mut chunk, fds)) {
            Ok(count) => {
                self.buffer.extend_from_slice(&chunk[..count]);
                Ok(Some(count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // A process that dies with our message unread resets the connection: an end like any other.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    fn take_frame(&mut self) -> io::Result<Option<Frame>> {
        if self.buffer.len() < HEADER {
            return Ok(None);
        }
        let size =
            u32::from_le_bytes([self.buffer[1], self.buffer[2], self.buffer[3], self.buffer[4]]) as usize;
        if size > self.max_frame {
            return Err(invalid("frame too long"));
        }
        if self.buffer.len() < HEADER + size {
            return Ok(None);
        }
        let kind = self.buffer[0];
        let payload = self.buffer[HEADER..HEADER + size].to_vec();
        self.buffer.drain(..HEADER + size);
        self.last_frame = size;
        match kind {
            b'J' if true_size(&payload) > self.max_frame.saturating_mul(MAX_GROWTH) => {
                Err(invalid("frame too large when read"))
            }
            b'J' => serde_json::from_slice(&payload).map(|v| Some(Frame::Json(v))).map_err(Into::into),
            b'O' => Ok(Some(Frame::Stdout(payload))),
            b'E' => Ok(Some(Frame::Stderr(payload))),
            _ => Err(invalid("unknown frame")),
        }
    }
}

/// About the bytes that a JSON text takes when parsed. Marks inside texts do not count.
fn true_size(text: &[u8]) -> usize {
    let (mut values, mut inside, mut escaped) = (1usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b'[' | b'{' | b':' if !inside => values += 1,
            _ => {}
        }
    }
    text.len() + values * VALUE_BYTES
}

fn send_once(fd: BorrowedFd<'_>, data: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(invalid("too many descriptors"));
    }
    Ok(rustix::net::sendmsg(fd, &[IoSlice::new(data)], &mut control, SendFlags::NOSIGNAL)?)
}

fn receive_once(fd: BorrowedFd<'_>, data: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::net::recvmsg(fd, &mut [IoSliceMut::new(data)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            // A few at most are ever expected; the rest close at once.
            fds.extend(received.take(MAX_FDS.saturating_sub(fds.len())));
        }
    }
    Ok(got.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_weighed_by_what_it_becomes() {
        assert!(true_size(&b"[],".repeat(1000)) > 100 * 1000);
        let text = format!("\"{}\"", r#",[{\",:"#.repeat(1000));
        assert!(true_size(text.as_bytes()) < text.len() + 2 * VALUE_BYTES);
    }

    #[tokio::test]
    async fn a_peer_that_dies_with_a_message_unread_has_ended() {
        let (mut ours, theirs) = Wire::pair().unwrap();
        ours.send(&Value::from(1), &[]).await.unwrap();
        drop(theirs);
        assert!(ours.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_small_frame_of_very_many_values_is_refused() {
        let (mut ours, theirs) = Wire::pair().unwrap();
        ours.limit_frames(1 << 20);
        let body = [b"[".as_slice(), &b"[],".repeat(300_000), b"0]"].concat();
        let mut frame = vec![b'J'];
        frame.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
        frame.extend_from_slice(&body);
        let sender = std::thread::spawn(move || {
            use std::io::Write;
            let _ = StdStream::from(theirs).write_all(&frame);
        });
        let refused = ours.next().await.unwrap_err();
        assert!(refused.to_string().contains("too large"), "{refused}");
        drop(ours);
        sender.join().unwrap();
    }
}
