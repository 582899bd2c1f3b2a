//! Which IP addresses are not on the public web, by the IANA special-purpose registries. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Network, prefix length, and what it is.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this network"),
    ([10, 0, 0, 0], 8, "private"),
    ([100, 64, 0, 0], 10, "carrier-grade NAT"),
    ([127, 0, 0, 0], 8, "loopback"),
    ([168, 63, 129, 16], 32, "cloud metadata"),
    ([169, 254, 0, 0], 16, "link-local or cloud metadata"),
    ([172, 16, 0, 0], 12, "private"),
    ([192, 0, 0, 0], 24, "protocol assignments"),
    ([192, 0, 2, 0], 24, "documentation"),
    ([192, 88, 99, 0], 24, "6to4 relay"),
    ([192, 168, 0, 0], 16, "private"),
    ([198, 18, 0, 0], 15, "benchmarking"),
    ([198, 51, 100, 0], 24, "documentation"),
    ([203, 0, 113, 0], 24, "documentation"),
    ([224, 0, 0, 0], 4, "multicast"),
    ([240, 0, 0, 0], 4, "reserved or broadcast"),
];

/// Inside 2000::/3, which is all that is public: what is special nevertheless.
const V6_SPECIAL: &[([u16; 8], u32, &str)] = &[
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "Teredo and protocol assignments"),
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
];

/// What kind of address it is, unless it is a public one.
pub(super) fn not_public(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => v4(ip),
        IpAddr::V6(ip) => v6(ip),
    }
}

fn v4(ip: Ipv4Addr) -> Option<&'static str> {
    let inside = |net: [u8; 4], bits: u32| (ip.to_bits() ^ Ipv4Addr::from(net).to_bits()) >> (32 - bits) == 0;
    V4.iter().find(|(net, bits, _)| inside(*net, *bits)).map(|(_, _, kind)| *kind)
}

fn v6(ip: Ipv6Addr) -> Option<&'static str> {
    let inside =
        |net: [u16; 8], bits: u32| (ip.to_bits() ^ Ipv6Addr::from(net).to_bits()) >> (128 - bits) == 0;
    if let Some((_, _, kind)) = V6_SPECIAL.iter().find(|(net, bits, _)| inside(*net, *bits)) {
        return Some(kind);
    }
    if inside([0x2000, 0, 0, 0, 0, 0, 0, 0], 3) {
        return None;
    }
    // Everything else is refused; the words only help whoever reads the message.
    Some(match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0, 0, 0, 0, 0, 0xffff, ..] => "IPv4-mapped",
        [0, 0, 0, 0, 0, 0, ..] => "IPv4-compatible or unspecified",
        [0x64, 0xff9b, ..] => "NAT64",
        [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
        [first, ..] if first & 0xfe00 == 0xfc00 => "private",
        [first, ..] if first & 0xff00 == 0xff00 => "multicast",
        _ => "reserved",
    })
}
