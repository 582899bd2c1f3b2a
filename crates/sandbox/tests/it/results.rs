//! The details of what comes back: order, caps, tracebacks, imports, warnings, tables, charts. SPEC T1.

use ba_sandbox::{JobErrorKind, JobEvent, Stream, Work};
use serde_json::json;

use crate::support::{Desk, block, repr, stdout, text};

#[test]
fn stdout_and_stderr_keep_their_order() {
    let desk = Desk::new();
    let outcome = desk.py(
        "import warnings, logging\nprint('a', end='')\nwarnings.warn('w1')\nprint('b')\nlogging.warning('l')\nprint('c')",
    );
    let order: Vec<_> = outcome.output.iter().map(|c| (c.stream, c.text.trim().to_owned())).collect();
    let expected = [
        (Stream::Stdout, "a"),
        (Stream::Stderr, "UserWarning: w1 (line 3)"),
        (Stream::Stdout, "b"),
        (Stream::Stderr, "WARNING: l"),
        (Stream::Stdout, "c"),
    ];
    assert_eq!(order, expected.map(|(stream, text)| (stream, text.to_owned())));
}

#[test]
fn output_streams_while_the_job_runs() {
    let desk = Desk::new();
    let job = desk.job(Work::UserCode {
        code: "import time\nfor i in range(3):\n    print(i)\n    time.sleep(0.05)".into(),
    });
    let seen = parking_lot_free::Log::default();
    block(desk.sandbox.run(job, &|event| seen.add(event))).unwrap();
    let texts = seen.take();
    assert_eq!(texts, ["0\n", "1\n", "2\n"]);
}

mod parking_lot_free {
    //! A tiny log, so that the test needs no further dependency.
    use std::sync::Mutex;

    use super::JobEvent;

    #[derive(Default)]
    pub struct Log(Mutex<Vec<String>>);

    impl Log {
        pub fn add(&self, event: JobEvent) {
            if let JobEvent::Output(chunk) = event {
                self.0.lock().unwrap().push(chunk.text);
            }
        }

        pub fn take(&self) -> Vec<String> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }
}

#[test]
fn a_warning_is_told_once() {
    let desk = Desk::new().session("warnings");
    let code = "import warnings\nfor _ in range(5): warnings.warn('careful')";
    assert_eq!(text(&desk.py(code), Stream::Stderr).matches("careful").count(), 1);
    assert_eq!(text(&desk.py(code), Stream::Stderr).matches("careful").count(), 0, "nor in the next call");
}

#[test]
fn tracebacks_show_only_the_users_lines() {
    let desk = Desk::new();
    let outcome =
        desk.py("import pandas as pd\ndef load():\n    return pd.DataFrame({'a': [1]})['missing']\nload()");
    let error = outcome.error.unwrap();
    assert_eq!(
        (error.kind, error.type_name.as_str(), error.line),
        (JobErrorKind::Exception, "KeyError", Some(3))
    );
    assert_eq!(
        error.traceback,
        "Traceback (your lines only):\n  <cell 1> line 4\n    load()\n  <cell 1> line 3, in load\n    return pd.DataFrame({'a': [1]})['missing']\nKeyError: 'missing'; columns: a"
    );
    let syntax = desk.py("x = 1\nif x\n  print(x)").error.unwrap();
    assert_eq!((syntax.type_name.as_str(), syntax.line), ("SyntaxError", Some(2)));
    assert!(syntax.traceback.contains("if x"));
}

#[test]
fn imports_outside_the_list_are_refused_by_name() {
    let desk = Desk::new();
    for (code, name) in [
        ("import os", "os"),
        ("import os.path", "os.path"),
        ("from subprocess import run", "subprocess"),
        ("import requests", "requests"),
        ("__import__('socket')", "socket"),
        ("exec('import ctypes')", "ctypes"),
        ("eval(\"__import__('sys')\")", "sys"),
        ("import importlib", "importlib"),
    ] {
        let error = desk.py(code).error.unwrap();
        assert_eq!(error.kind, JobErrorKind::ImportRefused, "{code}");
        assert!(error.message.contains(&format!("'{name}'")), "{}", error.message);
        assert!(
            error.message.contains("pandas") && error.message.contains("re, collections"),
            "{}",
            error.message
        );
    }
}

#[test]
fn the_allowed_libraries_load() {
    let desk = Desk::new();
    let code = "
import json, csv, datetime, math, statistics, random, pandas, numpy, scipy.stats, statsmodels.api, openpyxl, xlrd, xlsxwriter
import matplotlib.pyplot, seaborn, plotly.express, re, collections, itertools, functools, decimal, io, time, calendar, string
import textwrap, typing, dataclasses, pathlib, duckdb
@dataclasses.dataclass
class Point:
    x: int
print(Point(1), collections.namedtuple('N', 'a')(2))";
    assert_eq!(stdout(&desk.py(code)), "Point(x=1) N(a=2)\n");
}

// SPEC T1: imported when asked for, and without threads or processes of its own.
#[test]
fn a_model_is_fitted_with_scikit_learn() {
    let desk = Desk::new().session("sklearn");
    let fit = "from sklearn.linear_model import LinearRegression\nfrom sklearn.cluster import KMeans\n\
        m = LinearRegression().fit([[1], [2], [3]], [3, 5, 7])\n\
        k = KMeans(2, n_init=1, random_state=0).fit([[0.0], [0.1], [9.0], [9.1]])\nprint(round(m.coef_[0], 6), len(set(k.labels_)))";
    assert_eq!(stdout(&desk.py(fit)), "2.0 2\n");
    assert_eq!(stdout(&desk.py("print(round(m.predict([[10]])[0], 6))")), "21.0\n");
}

#[test]
fn tables_are_compact_and_typed() {
    let desk = Desk::new();
    let outcome = desk.py(
        "import pandas as pd, numpy as np\npd.DataFrame({'d': pd.to_datetime(['2024-01-02', None]), 'x': [1.5, np.inf], 'n': [None, '长' * 300]}, index=['a', 'b'])",
    );
    let table = &outcome.value.as_ref().unwrap()["table"];
    assert_eq!(table["columns"], json!(["", "d", "x", "n"]));
    assert_eq!(table["rows"][0], json!(["a", "2024-01-02T00:00:00", 1.5, null]));
    assert_eq!(table["rows"][1][2], json!("inf"));
    assert_eq!(table["rows"][1][3].as_str().unwrap().chars().count(), 201);
    let big = desk.py("import pandas as pd\npd.DataFrame({'a': range(100_000)})");
    let table = &big.value.as_ref().unwrap()["table"];
    assert_eq!(table["shape"], json!([100_000, 1]));
    assert_eq!(table["rows"].as_array().unwrap().len(), 50);
    let text = repr(&desk.py("'x' * 10_000_000"));
    assert!(text.len() < 21_000 && text.contains("more characters"));
    assert!(repr(&desk.py("10 ** 4000")).len() < 5000);
}

#[test]
fn hostile_values_and_messages_do_no_harm() {
    let desk = Desk::new();
    let outcome = desk.py("class E(Exception):\n    def __str__(self): raise ValueError\nraise E()");
    assert!(outcome.error.unwrap().message.contains("could not be shown"));
    let outcome = desk.py("class R:\n    def __repr__(self): raise ValueError('boo')\nR()");
    assert_eq!(outcome.error.unwrap().type_name, "ValueError");
    let outcome = desk.py("'\\ud800 lone'");
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let outcome = desk.py("print('\\ud800', '\\x00', '\\x1b[31m')");
    assert!(stdout(&outcome).starts_with("\\ud800"));
    let outcome = desk.py("import statistics\nexit()");
    assert!(outcome.error.is_none());
    assert_eq!(desk.py("input()").error.unwrap().type_name, "EOFError");
}

#[test]
fn chinese_text_in_charts_misses_no_glyph() {
    let desk = Desk::new();
    for code in [
        "import matplotlib.pyplot as plt\nplt.plot([-1, 2])\nplt.title('销售额趋势：华东 −5%')\nplt.xlabel('月份')",
        "import matplotlib.pyplot as plt\nplt.rcParams['font.sans-serif'] = ['SimHei']\nplt.rcParams['font.family'] = 'Microsoft YaHei'\nplt.bar(['一月', '二月'], [1, 2])",
        "import seaborn as sns, pandas as pd\nsns.set_theme(style='whitegrid', font='Arial')\nsns.barplot(pd.DataFrame({'地区': ['华东', '华北'], '金额': [1, 2]}), x='地区', y='金额')",
        "import matplotlib.pyplot as plt\nplt.style.use('ggplot')\nplt.pie([1, 2], labels=['产品甲', '产品乙'])\nplt.suptitle('饼图', fontfamily='serif', fontweight='bold')",
    ] {
        let outcome = desk.py(code);
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(text(&outcome, Stream::Stderr), "", "{code}");
        assert_eq!(outcome.files.len(), 1, "{code}");
        let png = std::fs::read(desk.folder().join(&outcome.files[0].name)).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 3000);
    }
    // The test sees a missing glyph when there is one.
    let missing = desk.py("import matplotlib.pyplot as plt\nplt.title('\\U00013000')\nplt.plot([1])");
    assert!(text(&missing, Stream::Stderr).contains("Glyph"), "{missing:?}");
}

#[test]
fn saved_figures_hold_the_pixels_that_were_drawn() {
    let desk = Desk::new();
    let draw = "import matplotlib.pyplot as plt\nfig = plt.figure(figsize=(2, 1), facecolor=COLOUR)\nax = fig.add_axes([0.5, 0, 0.5, 1], facecolor='blue')\nax.set_axis_off()\nfig.patches.append(plt.Rectangle((0.5, 0), 0.5, 1, color='blue', transform=fig.transFigure))";
    // An opaque figure needs no alpha channel; a transparent one keeps it.
    for (colour, channels, left) in [("'red'", 3, "1.0, 0.0, 0.0"), ("(1, 0, 0, 0)", 4, "1.0, 1.0, 1.0, 0.0")]
    {
        let outcome = desk.py(&draw.replace("COLOUR", colour));
        let name = &outcome.files[0].name;
        let read = desk.py(&format!(
            "from matplotlib.image import imread\np = imread('{name}')\nprint(p.shape, p[55, 20].tolist(), p[55, 200].tolist()[:3])"
        ));
        assert_eq!(stdout(&read), format!("(110, 220, {channels}) [{left}] [0.0, 0.0, 1.0]\n"), "{read:?}");
    }
}

#[test]
fn a_child_has_its_pages_before_its_first_job() {
    let desk = Desk::new().open();
    let outcome = desk.py("from ba_worker import pages\nprint(len(pages._spans) > 100, pages.fetch())");
    assert_eq!(stdout(&outcome), "True True\n", "{outcome:?}");
}

#[test]
fn figures_saved_by_the_code_are_not_saved_twice() {
    let desk = Desk::new();
    let outcome = desk.py("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('mine.png')\nplt.show()\nplt.figure()\nplt.plot([2])");
    let names: Vec<_> = outcome.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["figure_1.png", "mine.png"]);
    assert_eq!(desk.py("import matplotlib.pyplot as plt\nplt.plot([1])").files[0].name, "figure_2.png");
}

#[test]
fn plotly_figures_become_files() {
    let desk = Desk::new();
    let shown =
        desk.py("import plotly.express as px\npx.bar(x=['一月', '二月'], y=[1, 2], title='销售').show()");
    assert_eq!(
        shown.files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        ["plotly_1.html", "plotly_1.json"]
    );
    let last = desk.py("import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 2]))");
    assert_eq!(last.files.len(), 2);
    let html = std::fs::read_to_string(desk.folder().join("plotly_1.html")).unwrap();
    assert!(!html.contains("<script src=\"http"), "it must work without a network");
}

#[test]
fn excel_and_parquet_files_come_back() {
    let desk = Desk::new();
    let outcome = desk.py(
        "import pandas as pd, duckdb\ndf = pd.DataFrame({'地区': ['华东'], 'v': [1]})\ndf.to_excel('表.xlsx', index=False)\ndf.to_excel('b.xlsx', engine='xlsxwriter')\ndf.to_parquet('t.parquet')\nprint(pd.read_excel('表.xlsx').shape)\nprint(duckdb.sql(\"select sum(v) from 't.parquet'\").fetchall())",
    );
    assert_eq!(stdout(&outcome), "(1, 2)\n[(1,)]\n");
    assert_eq!(outcome.files.len(), 3);
}

#[test]
fn usage_is_measured_from_outside() {
    let desk = Desk::new();
    let outcome = desk.py("import time\nx = bytearray(100 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nt = time.process_time()\nwhile time.process_time() - t < 0.2: pass");
    assert!(outcome.usage.peak_memory > 90 << 20, "{:?}", outcome.usage);
    assert!(outcome.usage.peak_memory < 400 << 20, "{:?}", outcome.usage);
    assert!(outcome.usage.cpu.as_millis() >= 180, "{:?}", outcome.usage);
}

#[test]
fn unknown_builtins_and_their_errors_are_outcomes() {
    let desk = Desk::new();
    for name in ["no.such", "os.system", "../x.y", "ba_worker.boot.main", ""] {
        let job = desk.job(Work::Builtin { function: name.into(), args: json!({}) });
        let outcome = block(desk.sandbox.run(job, &|_| {})).unwrap();
        assert!(outcome.error.unwrap().message.contains("no built-in"), "{name}");
    }
}

#[test]
fn the_self_test_saw_every_denial() {
    let sandbox = crate::support::sandbox();
    let witnesses = sandbox.self_test();
    assert!(witnesses.len() >= 15);
    assert!(witnesses.iter().all(|w| w.denied && !w.detail.is_empty()), "{witnesses:#?}");
}
