//! The guard on the wire: nothing private is connected to, however it is spelled, named, rebound or redirected to.

use std::net::IpAddr;

use ba_web::fetch::{FetchError, Web};
use ba_web::guard::Guard;

use crate::dns::{Responder, UdpResolver};
use crate::site::{Reply, Site, config, web, web_with};

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

async fn dns(zone: impl Fn(&str, usize) -> Vec<IpAddr> + Send + Sync + 'static) -> Responder {
    Responder::start("127.0.0.1:0".parse().unwrap(), zone).await
}

/// A private server on the address and port that the attacks aim at.
async fn victim(port: u16) -> Site {
    Site::start_at(format!("127.0.0.2:{port}").parse().unwrap(), |_| Reply::html("the secret")).await
}

fn is_refused(error: &FetchError) -> bool {
    matches!(error, FetchError::Refused { .. })
}

#[tokio::test]
async fn no_spelling_of_loopback_is_connected_to() {
    let site = Site::start(|_| Reply::html("the secret")).await;
    let port = site.address.port();
    let guard = Guard { ports: vec![port], ..Guard::default() };
    let web = Web::new(ba_web::fetch::WebConfig { guard, ..config(&[]) }).unwrap();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "localhost",
        "localhost.",
        "x.localhost",
    ] {
        let error = web.fetch(&format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(is_refused(&error), "{host}: {error}");
    }
    for url in ["file:///etc/passwd", "gopher://127.0.0.1/", "data:text/plain,x", "http://u:p@example.org/"] {
        let error = web.fetch(url).await.unwrap_err();
        assert!(matches!(error, FetchError::Address { .. }), "{url}: {error}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn names_that_resolve_to_private_addresses_are_refused() {
    let site = Site::start(|_| Reply::html("open")).await;
    let victim = victim(site.address.port()).await;
    let dns = dns(|name, _| match name {
        "open.test.example" => vec![ip("127.0.0.1")],
        "inner.test.example" => vec![ip("127.0.0.2")],
        "both.test.example" => vec![ip("127.0.0.1"), ip("127.0.0.2")],
        "metadata.test.example" => vec![ip("169.254.169.254")],
        "mapped.test.example" => vec![ip("::ffff:127.0.0.2")],
        "nat64.test.example" => vec![ip("64:ff9b::7f00:2")],
        "six.test.example" => vec![ip("127.0.0.1"), ip("::1")],
        _ => vec![],
    })
    .await;
    let web = web_with(config(&[&site]), UdpResolver(dns.address));
    let port = site.address.port();
    let page = web.fetch(&format!("http://open.test.example:{port}/")).await.unwrap();
    assert_eq!(page.body, "open");
    assert_eq!(site.asked()[0].headers["host"], format!("open.test.example:{port}"));
    for name in ["inner", "both", "metadata", "mapped", "nat64", "six"] {
        let error = web.fetch(&format!("http://{name}.test.example:{port}/")).await.unwrap_err();
        assert!(is_refused(&error), "{name}: {error}");
    }
    let error = web.fetch(&format!("http://nowhere.test.example:{port}/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Unresolved { .. }), "{error}");
    assert_eq!((site.connections(), victim.connections()), (1, 0));
}

#[tokio::test]
async fn an_address_is_resolved_once_and_that_one_is_connected_to() {
    let site = Site::start(|_| Reply::new(200, &[("cache-control", "no-store")], "open")).await;
    let victim = victim(site.address.port()).await;
    // Harmless when it is checked; private a moment later.
    let dns = dns(|_, asked| vec![if asked == 1 { ip("127.0.0.1") } else { ip("127.0.0.2") }]).await;
    let web = web_with(config(&[&site]), UdpResolver(dns.address));
    let url = format!("http://rebind.test.example:{}/", site.address.port());
    assert_eq!(web.fetch(&url).await.unwrap().body, "open");
    assert_eq!(dns.lookups("rebind.test.example"), 1, "a second lookup could have another answer");
    assert!(is_refused(&web.fetch(&url).await.unwrap_err()));
    assert_eq!(dns.lookups("rebind.test.example"), 2);
    assert_eq!((site.connections(), victim.connections()), (1, 0));
}

#[tokio::test]
async fn redirects_are_checked_hop_by_hop() {
    let site = Site::start(|asked| {
        let host = &asked.headers["host"];
        let port = host.rsplit(':').next().unwrap();
        match asked.path() {
            "/private" => Reply::to("/private2"),
            "/private2" => Reply::to(&format!("http://127.0.0.2:{port}/")),
            "/named" => Reply::to(&format!("http://inner.test.example:{port}/")),
            "/mapped" => Reply::to(&format!("//[::ffff:127.0.0.2]:{port}/")),
            "/port" => Reply::to("http://127.0.0.1:22/"),
            "/file" => Reply::to("file:///etc/passwd"),
            "/user" => Reply::to(&format!("http://a:b@127.0.0.1:{port}/")),
            "/loop" => Reply::to("/loop"),
            "/five" => Reply::to("/4"),
            "/4" => Reply::to("3"),
            "/3" => Reply::to("?2"),
            "/3?2" => Reply::to(&format!("http://{host}/1#part")),
            "/1" => Reply::to("/0"),
            _ => Reply::html("there"),
        }
    })
    .await;
    let victim = victim(site.address.port()).await;
    let dns = dns(|_, _| vec![ip("127.0.0.2")]).await;
    let web = web_with(config(&[&site]), UdpResolver(dns.address));
    for path in ["/private", "/named", "/mapped", "/port"] {
        let error = web.fetch(&site.url(path)).await.unwrap_err();
        assert!(is_refused(&error), "{path}: {error}");
    }
    for path in ["/file", "/user"] {
        let error = web.fetch(&site.url(path)).await.unwrap_err();
        assert!(matches!(error, FetchError::Address { .. }), "{path}: {error}");
    }
    let page = web.fetch(&site.url("/five")).await.unwrap();
    assert_eq!((page.redirects, page.url.as_str()), (5, site.url("/0").as_str()));
    assert_eq!(web.fetch(&site.url("/loop")).await.unwrap_err(), FetchError::Redirects { limit: 5 });
    assert_eq!(victim.connections(), 0);
}

#[tokio::test]
async fn the_operator_s_domain_lists_hold_for_redirects_too() {
    let site = Site::start(|asked| match asked.path() {
        "/out" => Reply::to(&format!("//{}", asked.headers["host"].replace("good", "bad"))),
        _ => Reply::html("fine"),
    })
    .await;
    let dns = dns(|_, _| vec![ip("127.0.0.1")]).await;
    let mut config = config(&[&site]);
    config.guard.allow_domains = vec!["good.example".into()];
    let web = web_with(config, UdpResolver(dns.address));
    let url = |path: &str| format!("http://www.good.example:{}{path}", site.address.port());
    assert_eq!(web.fetch(&url("/in")).await.unwrap().body, "fine");
    let error = web.fetch(&url("/out")).await.unwrap_err();
    assert!(error.to_string().contains("operator"), "{error}");
    let error = web.fetch(&site.url("/")).await.unwrap_err();
    assert!(error.to_string().contains("operator"), "{error}");
}

#[tokio::test]
async fn an_own_address_opened_by_the_operator_is_read() {
    let site = Site::start(|_| Reply::html("intranet")).await;
    assert_eq!(web(&[&site]).fetch(&site.url("/")).await.unwrap().body, "intranet");
}
