//! A server that speaks SQL Server's protocol as far as a reader hears it: signs anybody in, and answers from a few written
//! packets. It understands no SQL: what it is asked is kept for the tests to look at.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub type Heard = Arc<Mutex<Vec<String>>>;

const BATCH: u8 = 0x01;
const RPC: u8 = 0x03;
const ATTENTION: u8 = 0x06;
const LOGIN: u8 = 0x10;
const PRELOGIN: u8 = 0x12;

/// What a statement gets.
pub enum Answer {
    /// Columns and rows, as tokens of the protocol.
    Tokens(Vec<u8>),
    /// Nothing until it is cancelled.
    Silence,
    /// A text that does not end.
    Endless,
}

/// Serves until the tests end; every statement that came, and `ATTENTION` for each cancelling, is in the list.
pub fn serve(answer: fn(&str) -> Answer) -> (u16, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, heard) = (listener.local_addr().unwrap().port(), Heard::default());
    let list = heard.clone();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let list = list.clone();
            std::thread::spawn(move || converse(socket, answer, &list));
        }
    });
    (port, heard)
}

fn converse(mut socket: TcpStream, answer: fn(&str) -> Answer, heard: &Heard) -> Option<()> {
    loop {
        let (kind, asked) = message(&mut socket)?;
        let reply = match kind {
            // Its version, and that it knows no encryption.
            PRELOGIN => vec![0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 16, 0, 0, 0, 0, 0, 2],
            LOGIN => [login_ack(), done(0)].concat(),
            ATTENTION => {
                heard.lock().unwrap().push("ATTENTION".into());
                done(0x20)
            }
            BATCH | RPC => {
                // Sixteen bits a character, at an even place or an odd one.
                let text = |from: usize| {
                    let units = asked[from..].chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]]));
                    String::from_utf16_lossy(&units.collect::<Vec<_>>())
                };
                let both = format!("{}\n{}", text(0), text(1));
                heard.lock().unwrap().push(both.clone());
                match answer(&both) {
                    Answer::Tokens(tokens) => [tokens, done(0)].concat(),
                    Answer::Silence => continue,
                    Answer::Endless => return endless(&mut socket),
                }
            }
            _ => return None,
        };
        send(&mut socket, &reply, true)?;
    }
}

fn message(socket: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut whole = Vec::new();
    loop {
        let mut head = [0; 8];
        socket.read_exact(&mut head).ok()?;
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])).checked_sub(8)?];
        socket.read_exact(&mut body).ok()?;
        whole.extend(body);
        if head[1] & 1 == 1 {
            return Some((head[0], whole));
        }
    }
}

fn send(socket: &mut TcpStream, body: &[u8], last: bool) -> Option<()> {
    let length = u16::try_from(body.len() + 8).unwrap().to_be_bytes();
    let head = [4, u8::from(last), length[0], length[1], 0, 0, 1, 0];
    socket.write_all(&[&head, body].concat()).ok()
}

fn endless(socket: &mut TcpStream) -> Option<()> {
    let mut start = columns(&[("s", vec![0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 52])]);
    start.push(0xD1);
    start.extend(0xFFFF_FFFF_FFFF_FFFE_u64.to_le_bytes());
    send(socket, &start, false)?;
    let piece = [&30_000_u32.to_le_bytes()[..], &b"x\0".repeat(15_000)].concat();
    loop {
        send(socket, &piece, false)?;
    }
}

fn login_ack() -> Vec<u8> {
    let name = utf16("test");
    let body = [&[1, 0x74, 0, 0, 4, 4][..], &name, &[16, 0, 0, 0]].concat();
    [&[0xAD][..], &u16::try_from(body.len()).unwrap().to_le_bytes(), &body].concat()
}

fn done(status: u16) -> Vec<u8> {
    [&[0xFD][..], &status.to_le_bytes(), &[0; 10]].concat()
}

pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The head of an answer: names, and types as the protocol writes them.
pub fn columns(all: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0x81];
    out.extend(u16::try_from(all.len()).unwrap().to_le_bytes());
    for (name, kind) in all {
        out.extend([0, 0, 0, 0, 9, 0]);
        out.extend(kind);
        out.push(u8::try_from(name.encode_utf16().count()).unwrap());
        out.extend(utf16(name));
    }
    out
}

/// A column of short texts.
pub fn nvarchar() -> Vec<u8> {
    vec![0xE7, 0x40, 0x1F, 9, 4, 0xD0, 0, 52]
}

pub fn text(value: &str) -> Vec<u8> {
    let raw = utf16(value);
    [&u16::try_from(raw.len()).unwrap().to_le_bytes()[..], &raw].concat()
}

/// Rows of texts under columns of any names.
pub fn texts(rows: &[&[&str]]) -> Answer {
    let heads: Vec<(&str, Vec<u8>)> = rows[0].iter().map(|_| ("c", nvarchar())).collect();
    let mut tokens = columns(&heads);
    for row in rows {
        tokens.push(0xD1);
        tokens.extend(row.iter().flat_map(|value| text(value)));
    }
    Answer::Tokens(tokens)
}
