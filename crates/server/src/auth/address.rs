//! Whose address a request counts for. Forwarded headers are believed only from configured proxies.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};

use crate::config::Network;

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    pub address: IpAddr,
    /// The browser spoke TLS to the proxy before us.
    pub tls: bool,
}

pub fn origin_of(extensions: &Extensions, headers: &HeaderMap, proxies: &[Network]) -> Origin {
    let peer = extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(peer)| peer.ip().to_canonical());
    let trusted = |address: IpAddr| proxies.iter().any(|network| network.contains(address));
    if !trusted(peer) {
        return Origin { address: peer, tls: false };
    }
    let hops = headers.get_all("x-forwarded-for").iter().filter_map(|v| v.to_str().ok());
    let hops: Vec<&str> = hops.flat_map(|v| v.split(',')).map(str::trim).collect();
    let mut address = peer;
    // From the nearest hop outwards: the first that is not one of our proxies is the client.
    for hop in hops.iter().rev() {
        match hop.parse::<IpAddr>() {
            Ok(hop) => address = hop.to_canonical(),
            Err(_) => break,
        }
        if !trusted(address) {
            break;
        }
    }
    let tls = headers.get("x-forwarded-proto").is_some_and(|v| v.as_bytes().eq_ignore_ascii_case(b"https"));
    Origin { address, tls }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &[&str]) -> IpAddr {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        headers.insert("x-forwarded-proto", "https".parse().unwrap());
        let proxies = ["10.0.0.0/8".parse().unwrap()];
        origin_of(&extensions, &headers, &proxies).address
    }

    #[test]
    fn only_a_proxy_of_ours_may_speak_for_others() {
        let ip = |s: &str| s.parse::<IpAddr>().unwrap();
        assert_eq!(seen("203.0.113.9", &["1.2.3.4"]), ip("203.0.113.9"));
        assert_eq!(seen("10.0.0.1", &["1.2.3.4"]), ip("1.2.3.4"));
        assert_eq!(seen("10.0.0.1", &["9.9.9.9, 1.2.3.4, 10.0.0.2"]), ip("1.2.3.4"));
        assert_eq!(seen("10.0.0.1", &["9.9.9.9", "1.2.3.4"]), ip("1.2.3.4"));
        assert_eq!(seen("10.0.0.1", &["garbage"]), ip("10.0.0.1"));
        assert_eq!(seen("10.0.0.1", &[]), ip("10.0.0.1"));
    }
}
