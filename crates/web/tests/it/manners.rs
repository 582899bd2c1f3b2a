//! Manners: robots.txt, the user agent, and asking only for what may have changed.

use std::time::Duration;

use ba_web::fetch::{FetchError, Robots, Web, WebConfig};

use crate::site::{Reply, Site, config, web};

fn respectful(sites: &[&Site]) -> Web {
    Web::new(WebConfig { robots: Robots::Respect, ..config(sites) }).unwrap()
}

#[tokio::test]
async fn robots_are_asked_once_and_obeyed() {
    let site = Site::start(|asked| match asked.path() {
        "/robots.txt" => {
            Reply::new(200, &[], "User-agent: *\nDisallow: /\n\nUser-agent: BA-Agent\nDisallow: /private\n")
        }
        "/away" => Reply::to("/private/by-redirect"),
        _ => Reply::html("page"),
    })
    .await;
    let web = respectful(&[&site]);
    web.fetch(&site.url("/one")).await.unwrap();
    web.fetch(&site.url("/two?x=1")).await.unwrap();
    for path in ["/private/x", "/away"] {
        let error = web.fetch(&site.url(path)).await.unwrap_err();
        assert!(matches!(error, FetchError::Robots { .. }), "{path}: {error}");
    }
    assert_eq!(site.paths(), ["/robots.txt", "/one", "/two?x=1", "/away"]);
    let agent = &site.asked()[1].headers["user-agent"];
    assert!(agent.starts_with(concat!("BA-Agent/", env!("CARGO_PKG_VERSION"), " (+")), "{agent}");
}

#[tokio::test]
async fn no_robots_file_allows_and_a_failing_one_does_not() {
    for (status, allowed) in [(404, true), (403, true), (410, true), (500, false), (503, false)] {
        let site = Site::start(move |asked| match asked.path() {
            "/robots.txt" => Reply::new(status, &[], "User-agent: *\nDisallow: /"),
            _ => Reply::html("page"),
        })
        .await;
        let read = respectful(&[&site]).fetch(&site.url("/page")).await;
        match read {
            Ok(_) => assert!(allowed, "{status}"),
            Err(error) => {
                let expected = FetchError::NoRobots { host: "127.0.0.1".into(), status };
                assert!(!allowed && error == expected, "{status}: {error}");
            }
        }
        let expected: &[&str] = if allowed { &["/robots.txt", "/page"] } else { &["/robots.txt"] };
        assert_eq!(site.paths(), expected);
    }
}

#[tokio::test]
async fn a_robots_file_may_move_but_not_to_a_private_place() {
    let site = Site::start(|asked| match asked.path() {
        "/robots.txt" => Reply::to("/rules"),
        "/rules" => Reply::new(200, &[], "User-agent: *\nDisallow: /closed"),
        _ => Reply::html("page"),
    })
    .await;
    let web = respectful(&[&site]);
    assert!(web.fetch(&site.url("/open")).await.is_ok());
    assert!(matches!(web.fetch(&site.url("/closed")).await, Err(FetchError::Robots { .. })));

    let port = site.address.port();
    let trap = Site::start_at(format!("127.0.0.2:{port}").parse().unwrap(), |_| Reply::html("secret")).await;
    let sly = Site::start(move |_| Reply::to(&format!("http://127.0.0.2:{port}/robots.txt"))).await;
    let error = respectful(&[&sly, &site]).fetch(&sly.url("/")).await.unwrap_err();
    assert!(matches!(error, FetchError::Refused { .. }), "{error}");
    assert_eq!(trap.connections(), 0);
}

#[tokio::test]
async fn an_endless_robots_file_is_read_as_far_as_it_must_be() {
    let site = Site::start(|asked| match asked.path() {
        "/robots.txt" => {
            let mut reply = Reply::endless(&[], vec![b'#'; 64 * 1024], Duration::ZERO);
            if let Reply::Endless { head, .. } = &mut reply {
                head.extend(b"User-agent: *\nDisallow: /closed\n");
            }
            reply
        }
        _ => Reply::html("page"),
    })
    .await;
    let web = respectful(&[&site]);
    assert!(web.fetch(&site.url("/open")).await.is_ok());
    assert!(matches!(web.fetch(&site.url("/closed")).await, Err(FetchError::Robots { .. })));
}

#[tokio::test]
async fn a_fresh_page_is_not_asked_for_again() {
    let site = Site::start(|asked| match asked.path() {
        "/kept" => Reply::html("kept"),
        _ => Reply::new(200, &[("cache-control", "no-store"), ("etag", "\"1\"")], "not kept"),
    })
    .await;
    let web = web(&[&site]);
    let (first, second) =
        (web.fetch(&site.url("/kept")).await.unwrap(), web.fetch(&site.url("/kept#b")).await.unwrap());
    assert_eq!((first.cached, second.cached, second.body), (false, true, "kept".into()));
    for _ in 0..2 {
        web.fetch(&site.url("/never")).await.unwrap();
    }
    assert_eq!(site.paths(), ["/kept", "/never", "/never"]);
    assert!(!site.asked()[2].headers.contains_key("if-none-match"));
}

#[tokio::test]
async fn a_stale_page_is_asked_for_with_its_validators() {
    let site = Site::start(|asked| {
        let known = asked.headers.get("if-none-match").map(String::as_str) == Some("\"v1\"")
            || asked.headers.contains_key("if-modified-since");
        let status = if known { 304 } else { 200 };
        let body = if known { "" } else { "the page" };
        let validator = match asked.path() {
            "/tag" => ("etag", "\"v1\""),
            _ => ("last-modified", "Mon, 01 Jan 2024 00:00:00 GMT"),
        };
        Reply::new(status, &[("cache-control", "max-age=0"), ("content-type", "text/plain"), validator], body)
    })
    .await;
    let web = web(&[&site]);
    for path in ["/tag", "/dated"] {
        let first = web.fetch(&site.url(path)).await.unwrap();
        let second = web.fetch(&site.url(path)).await.unwrap();
        assert_eq!((first.cached, second.cached), (false, true), "{path}");
        assert_eq!((second.body, second.content_type.as_deref()), (first.body, Some("text/plain")));
    }
    assert_eq!(site.asked().len(), 4);
}
