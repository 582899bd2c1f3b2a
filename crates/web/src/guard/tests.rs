//! The guard against every disguise of a private address we know.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::*;

fn refusal(url: &str) -> FetchError {
    match Guard::default().parse(url) {
        Ok(_) => panic!("{url} was let through"),
        Err(error) => error,
    }
}

#[test]
fn private_addresses_in_every_spelling_are_refused() {
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.1.",
        "１２７.0.0.1",
        "127。0。0。1",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "100.127.255.255",
        "100.100.100.200",
        "169.254.169.254",
        "0xa9fea9fe",
        "168.63.129.16",
        "192.0.0.192",
        "198.18.0.1",
        "198.19.255.255",
        "192.0.2.1",
        "198.51.100.1",
        "203.0.113.1",
        "192.88.99.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[::ffff:7f00:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:8.8.8.8]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::1]",
        "[2001::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "[100::1]",
        "[5f00::1]",
    ] {
        let error = refusal(&format!("http://{host}/"));
        assert!(matches!(error, FetchError::Refused { .. }), "{host}: {error}");
    }
}

#[test]
fn names_that_are_never_public_are_refused() {
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "intranet",
        "router.lan",
        "x.home.arpa",
    ] {
        let error = refusal(&format!("https://{host}/"));
        assert!(matches!(error, FetchError::Refused { .. }), "{host}: {error}");
    }
}

#[test]
fn other_schemes_user_names_and_ports_are_refused() {
    for url in [
        "file:///etc/passwd",
        "gopher://example.org/",
        "data:text/html,hello",
        "ftp://example.org/",
        "javascript:alert(1)",
        "unix:/run/docker.sock",
        "http://user@example.org/",
        "http://user:secret@example.org/",
        "http://example.org@127.0.0.1/",
        "http://:secret@example.org/",
        "example.org",
        "",
        "http://",
        "http://[fe80::1%25eth0]/",
    ] {
        let error = refusal(url);
        assert!(matches!(error, FetchError::Address { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("secret"));
    }
    for url in ["http://example.org:22/", "https://example.org:8443/", "http://example.org:6379/"] {
        assert!(matches!(refusal(url), FetchError::Refused { .. }), "{url}");
    }
    let long = format!("https://example.org/{}", "a".repeat(MAX_URL));
    assert!(matches!(refusal(&long), FetchError::Address { .. }));
}

#[test]
fn the_public_web_is_let_through() {
    for url in [
        "https://example.org/a?b=c#d",
        "http://EXAMPLE.org.:80/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://例子.中国/新闻",
        "http://172.32.0.1/",
        "http://100.128.0.1/",
        "http://localhost.example.org/",
    ] {
        let read = Guard::default().parse(url);
        assert!(read.is_ok(), "{url}: {read:?}");
    }
    assert_eq!(Guard::default().parse("https://example.org/a#d").unwrap().as_str(), "https://example.org/a");
}

#[test]
fn the_operator_s_lists_hold_for_a_domain_and_what_is_below_it() {
    let guard = Guard {
        allow_domains: vec!["example.org".into(), "gov.cn".into()],
        deny_domains: vec!["ads.example.org".into()],
        ..Guard::default()
    };
    assert!(guard.parse("https://example.org/").is_ok());
    assert!(guard.parse("https://www.example.org./").is_ok());
    assert!(guard.parse("https://stats.gov.cn/").is_ok());
    for url in [
        "https://ads.example.org/",
        "https://x.ads.example.org./",
        "https://badexample.org/",
        "https://example.org.evil.net/",
        "https://8.8.8.8/",
    ] {
        assert!(guard.parse(url).is_err(), "{url}");
    }
}

#[test]
fn an_opened_address_opens_nothing_else() {
    let guard = Guard { private_addresses: vec!["10.1.2.3".parse().unwrap()], ..Guard::default() };
    assert!(guard.parse("http://10.1.2.3/").is_ok());
    for url in ["http://10.1.2.4/", "http://[::ffff:10.1.2.3]/", "http://10.1.2.3:8080/"] {
        assert!(guard.parse(url).is_err(), "{url}");
    }
}

proptest! {
    /// However an address is spelled, it is judged as the address it is.
    #[test]
    fn every_spelling_of_an_address_is_judged_alike(bits: u32, style in 0..8) {
        let [a, b, c, d] = bits.to_be_bytes();
        let host = match style {
            0 => format!("{a}.{b}.{c}.{d}"),
            1 => format!("{bits}"),
            2 => format!("{bits:#x}"),
            3 => format!("0{bits:o}"),
            4 => format!("0{a:o}.{b:#x}.{c}.{d}"),
            5 => format!("{a}.{}", bits & 0x00ff_ffff),
            6 => format!("{a}.{b}.{}", bits & 0xffff),
            _ => format!("{a}.{b}.{c}.{d}."),
        };
        let public = address::not_public(IpAddr::V4(Ipv4Addr::from(bits))).is_none();
        prop_assert_eq!(Guard::default().parse(&format!("http://{}/", host)).is_ok(), public, "{}", host);
        for wrapped in [format!("::ffff:{a}.{b}.{c}.{d}"), format!("64:ff9b::{a}.{b}.{c}.{d}"), format!("::{a}.{b}.{c}.{d}")] {
            prop_assert!(Guard::default().parse(&format!("http://[{}]/", wrapped)).is_err(), "{}", wrapped);
        }
    }

    /// Nothing a model can write makes the guard panic or lets another scheme through.
    #[test]
    fn any_text_is_judged(text in "\\PC{0,60}", scheme in "(https?|file|ftp|HTTP)?:?/{0,3}") {
        if let Ok(url) = Guard::default().parse(&format!("{scheme}{text}")) {
            prop_assert!(matches!(url.scheme(), "http" | "https") && url.username().is_empty());
        }
    }
}
