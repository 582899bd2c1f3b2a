//! Front matters as published, and as attackers write them.

use super::*;

fn read(yaml: &str) -> Result<FrontMatter, LoadError> {
    parse(Path::new("x/SKILL.md"), yaml, &Limits::default())
}

#[test]
fn the_public_format_is_read() {
    let front = read(
        "name: pdf-forms\ndescription: |\n  Fills forms.\n  Use when asked.\nlicense: Apache-2.0\nallowed-tools:\n  [\"Read\",\n   \"Bash\"]\nmetadata:\n  author: example\n  version: \"1.0\"\n  output-level: full\n  max-tokens: 4000\n  keywords: 表单，填写, form\n",
    )
    .unwrap();
    assert_eq!(front.name.as_deref(), Some("pdf-forms"));
    assert_eq!(front.description, "Fills forms. Use when asked.");
    assert_eq!(front.allowed_tools.unwrap(), ["file_reader", "run_python"]);
    assert_eq!((front.output_level, front.max_tokens), (Some(OutputLevel::Full), Some(4000)));
    assert_eq!(front.keywords, ["表单", "填写", "form"]);
    assert_eq!(front.metadata["author"], "example");
    assert!(front.warnings.is_empty(), "{:?}", front.warnings);
}

#[test]
fn a_colon_in_a_plain_description_is_forgiven_and_told() {
    let front = read("name: a\ndescription: Use when: the user's file is a PDF # really\n").unwrap();
    assert_eq!(front.description, "Use when: the user's file is a PDF # really");
    assert_eq!(front.warnings.len(), 1);
}

#[test]
fn foreign_tools_alone_do_not_lock_everything() {
    let front = read("name: a\ndescription: b\nallowed-tools: TodoWrite AskUserQuestion\n").unwrap();
    assert_eq!(front.allowed_tools, None);
    assert_eq!(front.warnings.len(), 1);
    assert_eq!(read("name: a\ndescription: b\nallowed-tools: []\n").unwrap().allowed_tools, Some(vec![]));
}

#[test]
fn mistakes_name_their_line() {
    for (yaml, line, part) in [
        ("name: a\ndescription: [x]\n", 3, "must be text"),
        ("name: a\n", 1, "missing"),
        ("name: a\ndescription: b\nmetadata:\n  max-tokens: lots\n", 5, "max-tokens"),
        ("name: a\ndescription: b\ndisable-model-invocation: maybe\n", 4, "true or false"),
        ("name: a\ndescription: \"open\n", 3, "YAML"),
        ("- a\n- b\n", 2, "YAML"),
    ] {
        let error = read(yaml).unwrap_err();
        assert!(error.message.contains(part), "{yaml}: {error}");
        assert!(error.line.unwrap().abs_diff(line) <= 1, "{yaml}: {error}");
        assert!(error.to_string().starts_with("x/SKILL.md:"), "{error}");
    }
}

#[test]
fn bombs_are_refused() {
    let laughs = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\nname: a\ndescription: b\n";
    let deep = format!("name: a\ndescription: b\nx: {}{}\n", "[".repeat(2000), "]".repeat(2000));
    let wide = format!("name: a\ndescription: b\nx: [{}]\n", "1,".repeat(5000));
    let tagged = "name: a\ndescription: b\nx: !!binary |\n  ????\n";
    for bomb in [laughs, &deep, &wide] {
        assert!(read(bomb).is_err(), "{}", &bomb[..40]);
    }
    // A tag may be refused or read as text; it must not panic.
    let _ = read(tagged);
}

#[test]
fn the_file_is_split_at_its_fences() {
    let limits = Limits::default();
    let file = Path::new("SKILL.md");
    let parts = split(file, "\u{feff}---\r\nname: a\r\n---\r\n# Body\r\n---\r\nmore", &limits).unwrap();
    assert_eq!(parts.yaml, "name: a\r\n");
    assert_eq!(parts.body, "# Body\r\n---\r\nmore");
    assert_eq!(parts.body_line, 4);
    for (text, part) in [("# Title\n", "first line"), ("", "first line"), ("---\nname: a\n", "closing")] {
        assert!(split(file, text, &limits).err().unwrap().message.contains(part), "{text}");
    }
    let endless = format!("---\n{}", "a: b\n".repeat(10_000));
    assert!(split(file, &endless, &limits).err().unwrap().message.contains("longer than"));
}

proptest::proptest! {
    #[test]
    fn no_front_matter_panics(text in "(?s).{0,400}") {
        let _ = read(&text);
        let _ = split(Path::new("f"), &text, &Limits::default());
    }
}
