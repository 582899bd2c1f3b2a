//! Every messy file of the corpus is read as `expected.json` says (SPEC F1).

use ba_data::{DataError, IngestRequest};
use ba_protocol::file::{FileProfile, TableProfile};
use serde_json::Value;

use crate::support::{block, corpus, tables};

fn ingest(file: &str) -> Result<FileProfile, DataError> {
    let out = tempfile::tempdir().unwrap();
    let request = IngestRequest {
        path: corpus().join("files").join(file),
        filename: file.to_owned(),
        owner: "tester".into(),
        out_dir: out.path().join("out"),
        options: Default::default(),
    };
    let profile = block(tables().ingest(request, &|_, _| {}))?;
    for table in &profile.tables {
        assert!(out.path().join("out").join(&table.parquet).is_file(), "{file}: no {}", table.parquet);
    }
    Ok(profile)
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn difference(table: &TableProfile, want: &Value) -> Option<String> {
    let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
    if names != strings(&want["columns"]) {
        return Some(format!("columns {names:?}"));
    }
    let kinds: Vec<&str> = table.columns.iter().map(|c| c.kind.as_str()).collect();
    if kinds != strings(&want["types"]) {
        return Some(format!("types {kinds:?}"));
    }
    if Some(table.rows) != want["count"].as_u64() {
        return Some(format!("{} rows", table.rows));
    }
    let shown: Vec<Value> = table.preview.iter().map(|r| Value::from(r.clone())).collect();
    if shown != *want["rows"].as_array()? {
        return Some(format!("rows {shown:?}"));
    }
    let unsaid = |text: &&str| !table.notes.iter().any(|n| n.text.contains(*text));
    let missing = strings(&want["notes"]).into_iter().find(unsaid);
    missing.map(|n| format!("note `{n}` not in {:?}", table.notes))
}

#[test]
fn every_file_is_read_as_expected() {
    let text = std::fs::read_to_string(corpus().join("expected.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        match (ingest(file), case["error"].as_str()) {
            (Err(DataError::File { code, message, .. }), Some(wanted))
                if code == wanted && message.contains(case["says"].as_str().unwrap_or_default()) => {}
            (Ok(profile), None) => {
                let wanted = case["tables"].as_array().unwrap();
                if profile.tables.len() != wanted.len() {
                    wrong.push(format!("{file}: {} tables", profile.tables.len()));
                }
                if let Some(encoding) = case["encoding"].as_str()
                    && profile.encoding.as_deref() != Some(encoding)
                {
                    wrong.push(format!("{file}: encoding {:?}", profile.encoding));
                }
                let found = profile.tables.iter().zip(wanted).filter_map(|(t, w)| difference(t, w));
                wrong.extend(found.map(|d| format!("{file}: {d}")));
            }
            (got, wanted) => wrong.push(format!("{file}: {got:?} instead of error {wanted:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

// SPEC F1, bad input: refused before it is unpacked.
#[test]
fn a_zip_bomb_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.xlsx");
    let script = "import zipfile,sys\nz=zipfile.ZipFile(sys.argv[1],'w',zipfile.ZIP_DEFLATED)\nz.writestr('[Content_Types].xml','')\n\
                  f=z.open('xl/worksheets/sheet1.xml','w')\nfor _ in range(512): f.write(b'\\0'*(1<<20))\nf.close()\nz.close()";
    let made = std::process::Command::new("python3").args(["-c", script]).arg(&path).status().unwrap();
    assert!(made.success());
    assert!(path.metadata().unwrap().len() < 1 << 20);
    let request = IngestRequest {
        path,
        filename: "bomb.xlsx".into(),
        owner: "tester".into(),
        out_dir: dir.path().join("out"),
        options: Default::default(),
    };
    let got = block(tables().ingest(request, &|_, _| {}));
    assert!(matches!(&got, Err(DataError::File { code, .. }) if code == "ZIP_BOMB"), "{got:?}");
}

// Bad input: more columns than anyone needs are still a table; rows after the sample may be of another kind.
#[test]
fn wide_and_late_surprises_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let read = |name: &str, text: String| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let out_dir = dir.path().join(format!("{name}-out"));
        block(tables().ingest(
            IngestRequest {
                path,
                filename: name.into(),
                owner: "tester".into(),
                out_dir,
                options: Default::default(),
            },
            &|_, _| {},
        ))
    };
    let header: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    let row = vec!["7"; 10_000].join(",");
    let wide = read("wide.csv", format!("{}\n{row}\n{row}\n", header.join(","))).unwrap();
    assert_eq!(
        (wide.tables[0].columns.len(), wide.tables[0].columns[9999].kind.as_str()),
        (10_000, "BIGINT")
    );
    // 200,000 whole numbers and one fraction at the end: no sample sees it, and it must not be rounded.
    let mut text = "id,v\n".to_owned();
    for i in 0..200_000 {
        text.push_str(&format!("{i},{i}\n"));
    }
    let middle = text.len() / 2 + text[text.len() / 2..].find('\n').unwrap() + 1 + 40_000;
    let middle = middle + text[middle..].find('\n').unwrap() + 1;
    text.insert_str(middle, "1,0.5\n");
    let late = read("late.csv", text).unwrap();
    assert_eq!((late.tables[0].columns[1].kind.as_str(), late.tables[0].rows), ("DOUBLE", 200_001));
}
