//! Bodies that are packed, too large, endless, slow, broken or mislabelled.

use std::time::Duration;

use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use async_compression::zstd::CParameter;
use ba_testkit::{Edge, budget};
use ba_web::content::decode;
use ba_web::fetch::{FetchError, Web, WebConfig};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::site::{Reply, Site, config, web};

const MIB: usize = 1024 * 1024;

async fn packed(encoding: &str, plain: &[u8]) -> Vec<u8> {
    async fn through<W: AsyncWrite + Unpin>(mut encoder: W, plain: &[u8]) -> W {
        encoder.write_all(plain).await.unwrap();
        encoder.shutdown().await.unwrap();
        encoder
    }
    let fast = async_compression::Level::Fastest;
    match encoding {
        "gzip" => through(GzipEncoder::with_quality(Vec::new(), fast), plain).await.into_inner(),
        "br" => through(BrotliEncoder::with_quality(Vec::new(), fast), plain).await.into_inner(),
        "zstd" => through(ZstdEncoder::with_quality(Vec::new(), fast), plain).await.into_inner(),
        "deflate" => through(ZlibEncoder::with_quality(Vec::new(), fast), plain).await.into_inner(),
        other => panic!("{other}"),
    }
}

async fn answering(reply: impl Fn() -> Reply + Send + Sync + 'static) -> (Site, Web) {
    let site = Site::start(move |_| reply()).await;
    let web = Web::new(WebConfig { max_body: MIB, ..config(&[&site]) }).unwrap();
    (site, web)
}

async fn error_for(reply: impl Fn() -> Reply + Send + Sync + 'static) -> FetchError {
    let (site, web) = answering(reply).await;
    web.fetch(&site.url("/")).await.unwrap_err()
}

#[tokio::test]
async fn every_announced_packing_is_unpacked() {
    for encoding in ["gzip", "br", "zstd", "deflate"] {
        let body = packed(encoding, "打包的正文".as_bytes()).await;
        let (site, web) = answering(move || Reply::new(200, &[("content-encoding", encoding)], &body)).await;
        assert_eq!(web.fetch(&site.url("/")).await.unwrap().body, "打包的正文", "{encoding}");
        assert_eq!(site.asked()[0].headers["accept-encoding"], "gzip, br, zstd, deflate");
    }
}

#[tokio::test]
async fn bombs_are_refused_while_they_unpack() {
    let zeros = vec![0; 24 * MIB];
    for encoding in ["gzip", "br", "zstd", "deflate"] {
        let bomb = packed(encoding, &zeros).await;
        assert!(bomb.len() < MIB, "{encoding}: {}", bomb.len());
        let error = error_for(move || Reply::new(200, &[("content-encoding", encoding)], &bomb)).await;
        assert_eq!(error, FetchError::TooLarge { limit: MIB }, "{encoding}");
    }
}

/// An unpacker must not allocate what a stranger asks for.
#[tokio::test]
async fn a_zstd_window_beyond_the_web_s_limit_is_refused() {
    let wide = [CParameter::window_log(26), CParameter::enable_long_distance_matching(true)];
    let level = async_compression::Level::Fastest;
    let mut encoder = ZstdEncoder::with_quality_and_params(Vec::new(), level, &wide);
    encoder.write_all(b"small").await.unwrap();
    // Ending the frame after a flush keeps its size, and so the small window, unknown.
    encoder.flush().await.unwrap();
    encoder.shutdown().await.unwrap();
    let body = encoder.into_inner();
    let error = error_for(move || Reply::new(200, &[("content-encoding", "zstd")], &body)).await;
    assert!(matches!(error, FetchError::Garbled { .. }), "{error}");
}

#[tokio::test]
async fn packings_that_were_not_asked_for_or_lie_are_refused() {
    let twice = packed("gzip", &packed("gzip", b"x").await).await;
    for (encoding, body) in [
        ("gzip, gzip", twice),
        ("compress", b"x".to_vec()),
        ("gzip", b"not packed at all".to_vec()),
        ("gzip", packed("gzip", &[b'x'; 5000]).await[..20].to_vec()),
    ] {
        let error = error_for(move || Reply::new(200, &[("content-encoding", encoding)], &body)).await;
        assert!(matches!(error, FetchError::Garbled { .. }), "{encoding}: {error}");
    }
}

#[tokio::test]
async fn endless_bodies_end_at_the_limit() {
    let plain = error_for(|| Reply::endless(&[], vec![b'x'; 64 * 1024], Duration::ZERO)).await;
    assert_eq!(plain, FetchError::TooLarge { limit: MIB });
    // Empty stored blocks: bytes without end that unpack to nothing.
    let mut empty = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    empty.extend([0, 0, 0, 0xff, 0xff].repeat(10_000));
    let blocks = [0, 0, 0, 0xff, 0xff].repeat(10_000);
    let error = error_for(move || {
        let mut reply = Reply::endless(&[("content-encoding", "gzip")], blocks.clone(), Duration::ZERO);
        if let Reply::Endless { head, .. } = &mut reply {
            head.extend(&empty);
        }
        reply
    })
    .await;
    assert_eq!(error, FetchError::TooLarge { limit: MIB });
}

/// Ten times the budget and more, packed small and sent without end.
#[test]
fn a_page_has_a_byte_budget() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let edge = Edge { name: "web: page", budget_mb: 10, sent_mb: 400, most_mb: 60 };
    let sites = || {
        let zeros = vec![b'a'; 200 * MIB];
        let bomb = runtime.block_on(packed("gzip", &zeros));
        let packed =
            runtime.block_on(Site::start(move |_| Reply::new(200, &[("content-encoding", "gzip")], &bomb)));
        let piece = vec![b'a'; MIB];
        let endless =
            runtime.block_on(Site::start(move |_| Reply::endless(&[], piece.clone(), Duration::ZERO)));
        [packed, endless]
    };
    budget("bodies::a_page_has_a_byte_budget", &edge, sites, |sites| {
        for site in &sites {
            let error = runtime.block_on(web(&[site]).fetch(&site.url("/"))).unwrap_err();
            assert_eq!(error, FetchError::TooLarge { limit: 10 * MIB });
        }
    });
}

#[tokio::test]
async fn a_body_announced_too_large_is_not_even_read() {
    let line = format!("<html><p>{}</p></html>", "a ".repeat(25 * MIB));
    let site = Site::start(move |_| Reply::html(&line)).await;
    let error = web(&[&site]).fetch(&site.url("/")).await.unwrap_err();
    assert_eq!(error, FetchError::TooLarge { limit: 10 * MIB });
}

#[tokio::test]
async fn slow_servers_run_out_of_time() {
    async fn error_for(idle: Duration, reply: impl Fn() -> Reply + Send + Sync + 'static) -> FetchError {
        let site = Site::start(move |_| reply()).await;
        let limits = WebConfig { timeout: Duration::from_secs(2), idle_timeout: idle, ..config(&[&site]) };
        Web::new(limits).unwrap().fetch(&site.url("/")).await.unwrap_err()
    }
    let short = Duration::from_millis(200);
    let silent = error_for(short, || Reply::endless(&[], b"x".to_vec(), Duration::from_secs(60))).await;
    assert_eq!(silent, FetchError::Timeout { phase: "more of the body", seconds: 0 });
    // A byte now and then is never silent, yet the whole must end.
    let long = Duration::from_secs(60);
    let dripping = error_for(long, || Reply::endless(&[], b"x".to_vec(), Duration::from_millis(20))).await;
    assert_eq!(dripping, FetchError::Timeout { phase: "complete answer", seconds: 2 });
    let header = error_for(long, || Reply::Endless {
        head: b"HTTP/1.1 200 OK\r\n".to_vec(),
        piece: b"x".to_vec(),
        pause: Duration::from_millis(50),
    })
    .await;
    assert_eq!(header, FetchError::Timeout { phase: "complete answer", seconds: 2 });
}

#[tokio::test]
async fn broken_answers_are_errors_not_halves() {
    let cut =
        error_for(|| Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec())).await;
    assert!(matches!(cut, FetchError::Garbled { .. }), "{cut}");
    let noise = error_for(|| Reply::Bytes(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())).await;
    assert!(matches!(noise, FetchError::Unreachable { .. }), "{noise}");
    let many: String = (0..5_000).map(|i| format!("x-{i}: {i}\r\n")).collect();
    let headers =
        error_for(move || Reply::Bytes(format!("HTTP/1.1 200 OK\r\n{many}\r\n").into_bytes())).await;
    assert!(matches!(headers, FetchError::Unreachable { .. }), "{headers}");
}

#[tokio::test]
async fn statuses_are_told() {
    for status in [400, 403, 404, 429, 500, 503] {
        let error =
            error_for(move || Reply::new(status, &[("retry-after", "7")], "words of the server")).await;
        let retry_after = Some(Duration::from_secs(7));
        assert_eq!(error, FetchError::Status { status, retry_after });
    }
}

#[tokio::test]
async fn the_charset_comes_from_header_meta_or_the_bytes() {
    // 中国经济增长 in GBK.
    let words = b"\xd6\xd0\xb9\xfa\xbe\xad\xbc\xc3\xd4\xf6\xb3\xa4\xa1\xa3\xcf\xfb\xb7\xd1\xbb\xd6\xb8\xb4";
    let mut meta = b"<html><head><meta charset=\"gb2312\"></head>".to_vec();
    meta.extend(words);
    for (header, body) in [
        ("text/html; charset=gbk", words.to_vec()),
        ("text/html", meta),
        ("text/html", words.to_vec()),
        ("text/html; charset=utf-8", words.to_vec()),
    ] {
        let (site, web) = answering(move || Reply::new(200, &[("content-type", header)], &body)).await;
        let page = web.fetch(&site.url("/")).await.unwrap();
        let decoded = decode(&page.body, page.content_type.as_deref());
        assert!(decoded.text.contains("中国经济增长。消费恢复"), "{header}: {}", decoded.text);
    }
}
