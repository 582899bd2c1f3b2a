//! `web_reader` through the pipeline, against a real server: what each kind of body becomes at each level (SPEC T5, E1).

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use ba_agent::pipeline::{Executed, Executor, ExecutorConfig, IdempotencyCache, RetryPolicy};
use ba_agent::{Registry, Typed};
use ba_data::Tables;
use ba_tools::{Addresses, FileReader, WebReader};
use ba_web::fetch::{Robots, Web, WebConfig};
use ba_web::guard::Guard;
use serde_json::{Value, json};

use crate::tables::{Desk, run, tables};

/// A server and an executor that may read it, and it alone.
pub struct Bench {
    pub address: SocketAddr,
    executor: Executor,
    registry: Registry,
    pub desk: Desk,
}

impl Bench {
    pub async fn new(answer: impl Fn(&str) -> Response + Clone + Send + Sync + 'static) -> Self {
        Self::with(Some(tables()), answer).await
    }

    async fn with(
        sandbox: Option<Tables>,
        answer: impl Fn(&str) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = Router::new().fallback(move |request: Request| {
            let answer = answer.clone();
            async move { answer(request.uri().path()) }
        });
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let guard =
            Guard { ports: vec![address.port()], private_addresses: vec![address.ip()], ..Guard::default() };
        let config = WebConfig {
            guard,
            robots: Robots::Ignore,
            host_interval: Duration::ZERO,
            ..WebConfig::default()
        };
        let desk = Desk::new().await;
        let reader =
            WebReader::new(Web::new(config).unwrap(), sandbox, Addresses::new(desk.store.clone(), true));
        let files = FileReader { tables: Some(tables()), store: desk.store.clone() };
        let retry = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
        let executor = Executor {
            config: ExecutorConfig { retry, ..ExecutorConfig::default() },
            cache: IdempotencyCache::default(),
            data: Arc::new(desk.store.clone()),
        };
        let registry =
            Registry::new(vec![Arc::new(Typed::new(reader)), Arc::new(Typed::new(files))]).unwrap();
        Self { address, executor, registry, desk }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Executed {
        self.desk.execute(&self.executor, &self.registry, tool, arguments).await
    }

    pub async fn read(&self, path: &str, level: &str) -> Executed {
        let url = format!("http://{}{path}", self.address);
        self.call("web_reader", json!({"url": url, "response_format": level})).await
    }

    /// What the model sees, which must be a success.
    pub async fn seen(&self, path: &str, level: &str) -> String {
        let result = self.read(path, level).await.result;
        assert!(result.success, "{}", result.observation);
        result.observation
    }
}

pub fn typed(kind: &str, body: impl Into<axum::body::Body>) -> Response {
    ([(CONTENT_TYPE, kind)], body.into()).into_response()
}

pub fn html(body: impl Into<axum::body::Body>) -> Response {
    typed("text/html; charset=utf-8", body)
}

const ARTICLE: &str = r#"<!DOCTYPE html><html><head><title>三季度消费回升</title>
<meta name="author" content="王小明"><meta property="article:published_time" content="2024-10-18T08:00:00+08:00"></head>
<body><nav><a href="/a">首页</a><a href="/b">登录</a></nav><article><h1>三季度消费回升</h1>
<p>国家统计局公布的数据显示，三季度社会消费品零售总额同比增长百分之六点八，比二季度加快一点二个百分点，消费市场继续回升。</p>
<p>其中餐饮收入增长较快，线上零售占比继续提高，详见<a href="/report.html">完整报告</a>。专家认为促消费政策的效果正在显现，四季度有望保持增长。</p>
<table><tr><th>季度</th><th>增速</th></tr><tr><td>二季度</td><td>5.6%</td></tr><tr><td>三季度</td><td>6.8%</td></tr></table>
</article><footer>版权所有 京ICP备000号</footer></body></html>"#;

#[test]
fn a_page_becomes_its_main_text_at_every_level() {
    run(async {
        let bench = Bench::new(|_| html(ARTICLE)).await;
        let url = format!("http://{}/news/1", bench.address);
        let standard = bench.seen("/news/1", "standard").await;
        let (before, inside) = standard.split_once(&format!("<untrusted source=\"{url}\">\n")).unwrap();
        assert_eq!(
            before,
            format!(
                "<tool_result name=\"web_reader\">\n[call_1] Read a web page from 127.0.0.1 ({}; text of {} characters)\n",
                ba_protocol::text::human_size(ARTICLE.len() as u64),
                inside.split("\n</untrusted>").next().unwrap().chars().count()
            )
        );
        for words in ["# 三季度消费回升", "王小明", "2024-10-18", "百分之六点八", "| 三季度 | 6.8% |"]
        {
            assert!(inside.contains(words), "{words}: {inside}");
        }
        assert!(inside.contains(&format!("[完整报告](http://{}/report.html)", bench.address)), "{inside}");
        assert!(!inside.contains("ICP") && !inside.contains("登录"), "{inside}");

        for level in ["brief", "standard", "full"] {
            let done = bench.read("/news/1", level).await.result;
            let shown = done.observation.replace(&bench.address.to_string(), "HOST");
            let shown = done.data_file.map_or(shown.clone(), |file| shown.replace(&file, "tool_data/FILE"));
            insta::assert_snapshot!(format!("web_reader_ok_{level}"), shown);
            let refused =
                bench.call("web_reader", json!({"url": "http://10.0.0.1/", "response_format": level})).await;
            insta::assert_snapshot!(format!("web_reader_error_{level}"), refused.result.observation);
        }
        let brief = bench.seen("/news/1", "brief").await;
        assert!(brief.contains("三季度消费回升\n国家统计局公布"), "{brief}");
        assert!(brief.contains("<untrusted source=") && !brief.contains("| 三季度 |"), "{brief}");
        assert!(brief.len() < standard.len());

        let full = bench.read("/news/1", "full").await.result;
        let reference = full.data_file.unwrap();
        assert!(reference.ends_with(".webmd") && full.observation.contains(&reference));
        let again = bench.call("file_reader", json!({"path": reference})).await.result;
        assert!(
            again.success && again.observation.contains("<untrusted source=\"the web, stored as"),
            "{}",
            again.observation
        );
        assert!(
            again.observation.contains(&format!("Source: {url}"))
                && again.observation.contains("百分之六点八")
        );
    });
}

#[test]
fn other_kinds_are_read_as_what_they_are() {
    run(async {
        let bench = Bench::new(|path| match path {
            "/data.csv" => typed("text/csv", "月份,销售额\n1月,100\n2月,120\n"),
            "/api" => typed("application/json", r#"{"rate": 7.1, "unit": "CNY"}"#),
            "/list" => typed("application/json", "[1,2,3]"),
            "/broken" => typed("application/json", "{oops"),
            "/gbk.txt" => typed("text/plain", b"\xd6\xd0\xb9\xfa\xbe\xad\xbc\xc3\xd4\xf6\xb3\xa4".to_vec()),
            "/feed" => typed(
                "application/rss+xml",
                "<rss><channel><title>数据发布</title><item><title>CPI</title><link>https://e.example/1</link>\
                 <pubDate>2024-10-13</pubDate><description>&lt;b&gt;同比&lt;/b&gt; 0.4%</description></item></channel></rss>",
            ),
            "/xml" => typed("text/xml", "<rates><usd>7.1</usd></rates>"),
            "/empty" => html("<html><body><script>app()</script></body></html>"),
            _ => typed("image/png", vec![0x89, b'P', b'N', b'G']),
        })
        .await;
        for (path, what, words) in [
            ("/data.csv", "Read CSV", "1月,100"),
            ("/api", "Read JSON", "\"rate\": 7.1"),
            ("/broken", "Read JSON", "Note: it is announced as JSON but is not valid JSON"),
            ("/gbk.txt", "Read text", "中国经济增长"),
            ("/feed", "Read a feed", "## CPI\n2024-10-13\nhttps://e.example/1\n同比 0.4%"),
            ("/xml", "Read XML", "<usd>7.1</usd>"),
            ("/empty", "Read a web page", "Note: no readable text"),
        ] {
            let seen = bench.seen(path, "standard").await;
            assert!(seen.contains(what) && seen.contains(words), "{path}: {seen}");
        }
        assert!(bench.seen("/api", "brief").await.contains("keys: rate, unit"));
        assert!(bench.seen("/list", "brief").await.contains("3 items"));
        assert!(bench.seen("/feed", "brief").await.contains("数据发布: 1 entries: CPI"));
        let stored = bench.read("/data.csv", "full").await.result.data_file.unwrap();
        let table = bench.call("file_reader", json!({"path": stored})).await.result.observation;
        assert!(table.contains("2 rows × 2 columns") && table.contains("<untrusted"), "{table}");

        let picture = bench.read("/picture", "standard").await.result;
        assert_eq!(picture.error_code.as_deref(), Some("UNSUPPORTED_TYPE"));
    });
}

#[test]
fn a_pdf_is_read_in_the_sandbox() {
    run(async {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/corpus/files");
        let (good, fake) =
            (std::fs::read(folder.join("one.pdf")).unwrap(), std::fs::read(folder.join("fake.pdf")).unwrap());
        let bench = Bench::new(move |path| match path {
            "/good" => typed("application/pdf", good.clone()),
            "/cut" => typed("application/pdf", good[..good.len() / 2].to_vec()),
            _ => typed("application/pdf", fake.clone()),
        })
        .await;
        let seen = bench.seen("/good", "standard").await;
        assert!(seen.contains("Read PDF from 127.0.0.1") && seen.contains("Quarterly"), "{seen}");
        for path in ["/cut", "/fake"] {
            let result = bench.read(path, "standard").await.result;
            assert_eq!(result.error_code.as_deref(), Some("BAD_PDF"), "{}", result.observation);
            // The parser's own words may hold the file's.
            assert!(result.observation.contains("damaged or protected"), "{}", result.observation);
        }
    });
}

#[test]
fn without_the_sandbox_pages_are_read_and_pdfs_are_not() {
    run(async {
        let bench = Bench::with(None, |path| match path {
            "/page" => html("<p>Words of a page"),
            _ => typed("application/pdf", "%PDF-1.4 not parsed here"),
        })
        .await;
        assert!(bench.seen("/page", "standard").await.contains("Words of a page"));
        let result = bench.read("/pdf", "standard").await.result;
        assert_eq!(result.error_code.as_deref(), Some("SANDBOX_UNAVAILABLE"));
    });
}

#[test]
fn failures_say_what_to_do() {
    run(async {
        let bench = Bench::new(|path| match path {
            "/gone" => StatusCode::NOT_FOUND.into_response(),
            "/login" => StatusCode::FORBIDDEN.into_response(),
            "/inner" => {
                (StatusCode::FOUND, [(LOCATION, "http://169.254.169.254/latest/meta-data/")]).into_response()
            }
            _ => html("x".repeat(11 * 1024 * 1024)),
        })
        .await;
        for (path, kind, code) in [
            ("/gone", "not_found", "HTTP_NOT_FOUND"),
            ("/login", "permission_error", "HTTP_FORBIDDEN"),
            ("/inner", "permission_error", "ADDRESS_REFUSED"),
            ("/large", "execution_error", "TOO_LARGE"),
        ] {
            let result = bench.read(path, "standard").await.result;
            assert_eq!(result.error_type.unwrap().as_str(), kind, "{path}");
            assert_eq!(result.error_code.as_deref(), Some(code));
        }
        for url in ["http://127.0.0.2/", "http://localhost/", "http://metadata.google.internal/"] {
            let result = bench.call("web_reader", json!({"url": url})).await.result;
            assert_eq!(result.error_code.as_deref(), Some("ADDRESS_REFUSED"), "{url}");
            assert!(result.observation.contains("do not try other spellings"), "{}", result.observation);
        }
        let result = bench.call("web_reader", json!({"url": "file:///etc/passwd"})).await.result;
        assert_eq!(result.error_code.as_deref(), Some("BAD_URL"));
    });
}

/// SPEC E7: network errors are worth another try here; what was refused is not.
#[test]
fn trouble_on_the_way_is_tried_again() {
    run(async {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let bench = Bench::new(move |_| match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            2 => html("<p>back again"),
            _ => StatusCode::FORBIDDEN.into_response(),
        })
        .await;
        assert!(bench.seen("/a", "standard").await.contains("back again"));
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        assert!(!bench.read("/b", "standard").await.result.success);
        assert_eq!(asked.load(Ordering::SeqCst), 4);
    });
}
