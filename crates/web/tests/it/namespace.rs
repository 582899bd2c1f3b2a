//! The shipped configuration, unchanged, in a network of its own: the system's resolver, port 80, public and private
//! addresses, a DNS server that rebinds, and a proxy in the environment.

use std::net::IpAddr;
use std::process::Command;

use ba_web::fetch::{FetchError, Web, WebConfig};

use crate::dns::Responder;
use crate::site::{Reply, Site};

/// Addresses in the namespace, on its loopback device.
const PUBLIC: &str = "93.184.215.14";
const PRIVATE: &str = "10.77.0.1";
const PROXY: &str = "93.184.215.15";
/// What the child says once everything held.
const SEEN: &str = "seen from inside";

/// Brings the device up and gives it the addresses, by ioctl: no tool beside Python is needed.
const SET_UP: &str = r"
import fcntl, socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack('16sH14s', b'lo', 0x49, b''))
for i, ip in enumerate(sys.argv[1:]):
    address = struct.pack('HH4s8s', socket.AF_INET, 0, socket.inet_aton(ip), b'')
    fcntl.ioctl(s, 0x8916, struct.pack('16s', b'lo:%d' % i) + address)
";

#[test]
fn the_shipped_configuration_holds_against_real_names_and_addresses() {
    let folder = std::env::temp_dir().join(format!("ba-web-ns-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let resolv = folder.join("resolv.conf");
    std::fs::write(&resolv, "nameserver 127.0.0.1\noptions attempts:1 timeout:2\n").unwrap();
    let script = format!(
        "mount --bind {} /etc/resolv.conf && python3 -c \"$SET_UP\" {PUBLIC} {PRIVATE} {PROXY} && \
         exec \"$0\" --exact namespace::child_reads_from_inside --ignored --nocapture",
        resolv.display()
    );
    let proxy = format!("http://{PROXY}:3128");
    let output = Command::new("unshare")
        .args(["-Urnm", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .env("SET_UP", SET_UP)
        .env("BA_TEST_NAMESPACE", "1")
        .envs(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"].map(|n| (n, &proxy)))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    let _removed = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(SEEN), "{said}\n{complained}");
}

#[tokio::test]
#[ignore = "started by the test above, inside its namespace"]
async fn child_reads_from_inside() {
    // Elsewhere port 53 and these addresses are not ours.
    if std::env::var_os("BA_TEST_NAMESPACE").is_none() {
        return;
    }
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    let dns = Responder::start("127.0.0.1:53".parse().unwrap(), move |name, asked| match name {
        "news.example.com" => vec![ip(PUBLIC)],
        "inner.example.com" => vec![ip(PRIVATE)],
        "mixed.example.com" => vec![ip(PUBLIC), ip(PRIVATE)],
        "rebind.example.com" if asked == 1 => vec![ip(PUBLIC)],
        "rebind.example.com" => vec![ip(PRIVATE)],
        _ => vec![],
    })
    .await;
    let at = |ip: &str, port: u16| format!("{ip}:{port}").parse().unwrap();
    let _site = Site::start_at(at(PUBLIC, 80), |asked| match asked.path() {
        "/robots.txt" => Reply::new(404, &[], ""),
        "/first" => Reply::to("/second"),
        "/second" => Reply::to(&format!("http://{PRIVATE}/")),
        _ => Reply::new(200, &[("cache-control", "no-store")], "the news"),
    })
    .await;
    let victim = Site::start_at(at(PRIVATE, 80), |_| Reply::html("the secret")).await;
    let proxy = Site::start_at(at(PROXY, 3128), |_| Reply::html("through the proxy")).await;

    let web = Web::new(WebConfig::default()).unwrap();
    assert_eq!(web.fetch("http://news.example.com/").await.unwrap().body, "the news");
    assert_eq!(web.fetch(&format!("http://{PUBLIC}/")).await.unwrap().body, "the news");
    for url in ["http://inner.example.com/", "http://mixed.example.com/", "http://news.example.com/first"] {
        let error = web.fetch(url).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }), "{url}: {error}");
    }
    let missing = web.fetch("http://missing.example.com/").await.unwrap_err();
    assert!(matches!(missing, FetchError::Unresolved { .. }), "{missing}");

    // The first lookup is for robots.txt; the page's own connection finds the name rebound.
    let rebound = web.fetch("http://rebind.example.com/").await.unwrap_err();
    assert!(matches!(rebound, FetchError::Refused { .. }), "{rebound}");
    assert_eq!(dns.lookups("rebind.example.com"), 2);
    assert_eq!((victim.connections(), proxy.connections()), (0, 0));
    println!("{SEEN}");
}
