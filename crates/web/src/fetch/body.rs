//! Reads a body: unpacked as it arrives, within limits on size, on the unpacker's memory and on silence.

use std::io;
use std::time::Duration;

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use futures::TryStreamExt as _;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};
use tokio_util::io::StreamReader;

use super::FetchError;

/// What the requests say they accept.
pub(super) const ACCEPTED: &str = "gzip, br, zstd, deflate";
/// RFC 9659: a window of 8 MB is all a server may use on the web.
const ZSTD_WINDOW_LOG: u32 = 23;
const CHUNK: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    Refuse,
    /// Read what fits, and no more (RFC 9309 2.5).
    Cut,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) bytes: usize,
    pub(super) overflow: Overflow,
    pub(super) idle: Duration,
}

pub(super) async fn read(response: Response, limits: Limits) -> Result<Vec<u8>, FetchError> {
    let too_large = || FetchError::TooLarge { limit: limits.bytes };
    let announced = response.content_length().unwrap_or_default();
    if limits.overflow == Overflow::Refuse && announced > limits.bytes as u64 {
        return Err(too_large());
    }
    let mut unpacked = unpack(response, limits.bytes)?;
    let mut body = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match tokio::time::timeout(limits.idle, unpacked.read(&mut chunk)).await {
            Ok(Ok(0)) => return Ok(body),
            Ok(Ok(read)) => read,
            Ok(Err(error)) if error.kind() == io::ErrorKind::FileTooLarge => return Err(too_large()),
            Ok(Err(error)) => return Err(FetchError::Garbled { detail: broken(&error) }),
            Err(_) => {
                return Err(FetchError::Timeout {
                    phase: "more of the body",
                    seconds: limits.idle.as_secs(),
                });
            }
        };
        let room = limits.bytes - body.len();
        body.extend_from_slice(&chunk[..read.min(room)]);
        if read > room {
            return if limits.overflow == Overflow::Cut { Ok(body) } else { Err(too_large()) };
        }
    }
}

type Unpacked = Box<dyn AsyncRead + Send + Unpin>;

fn unpack(response: Response, limit: usize) -> Result<Unpacked, FetchError> {
    let encoding = encoding(&response)?;
    let mut arrived = 0usize;
    let packed = response.bytes_stream().map_err(io::Error::other).and_then(move |piece| {
        arrived += piece.len();
        // Packed bytes may come without end and without giving any content.
        let fits = arrived <= limit.saturating_add(CHUNK);
        futures::future::ready(if fits { Ok(piece) } else { Err(io::ErrorKind::FileTooLarge.into()) })
    });
    let packed = BufReader::new(StreamReader::new(Box::pin(packed)));
    Ok(match encoding.as_str() {
        "" | "identity" => Box::new(packed),
        "gzip" | "x-gzip" => Box::new(GzipDecoder::new(packed)),
        "br" => Box::new(BrotliDecoder::new(packed)),
        "deflate" => Box::new(ZlibDecoder::new(packed)),
        "zstd" => {
            let mut decoder =
                ZstdDecoder::with_params(packed, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
            decoder.multiple_members(true);
            Box::new(decoder)
        }
        _ => {
            let detail = "it is packed in a way that was not asked for".to_owned();
            return Err(FetchError::Garbled { detail });
        }
    })
}

fn encoding(response: &Response) -> Result<String, FetchError> {
    let mut values = response.headers().get_all(CONTENT_ENCODING).iter();
    let first = values.next().map_or(Ok(""), |v| v.to_str());
    match (first, values.next()) {
        (Ok(one), None) => Ok(one.trim().to_ascii_lowercase()),
        _ => Err(FetchError::Garbled { detail: "it is packed more than once".to_owned() }),
    }
}

fn broken(error: &io::Error) -> String {
    let words = error.get_ref().map_or_else(|| error.to_string(), ToString::to_string);
    format!("the body broke off or is not packed as announced ({words})")
}
