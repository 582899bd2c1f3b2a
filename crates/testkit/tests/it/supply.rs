//! What is taken from others: every declared dependency is used, every install is locked, and deny.toml names what may come in.

use std::collections::BTreeMap;
use std::path::Path;

use super::source::blank;
use super::{files, root};

/// Dependencies that no source names, with the reason they are there.
const UNNAMED: &[(&str, &str, &str)] = &[
    ("mcp", "reqwest", "switches TLS on for the transport of rmcp"),
    ("tools", "rcgen", "its tests take in data's `servers.rs`"),
];

/// `[section] → names` of one manifest.
fn sections(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
        } else if let Some(name) =
            line.split(['.', '=', ' ']).next().filter(|n| !n.is_empty() && !n.starts_with('#'))
        {
            all.entry(section.clone()).or_default().push(name.to_owned());
        }
    }
    all
}

fn text_below(folder: &Path) -> String {
    if !folder.exists() {
        return String::new();
    }
    files(folder, ".rs").iter().map(|path| blank(&std::fs::read_to_string(path).unwrap(), false)).collect()
}

fn names(text: &str, dependency: &str) -> bool {
    let word = dependency.replace('-', "_");
    text.match_indices(&word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !joins(before) && !joins(after)
    })
}

#[test]
fn every_dependency_is_used() {
    let workspace = sections(&std::fs::read_to_string(root().join("Cargo.toml")).unwrap());
    let mut declared = Vec::new();
    let mut unused = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let krate = folder.file_name().unwrap().to_string_lossy().into_owned();
        let manifest = sections(&std::fs::read_to_string(folder.join("Cargo.toml")).unwrap());
        let shipped = text_below(&folder.join("src"));
        let tests = ["tests", "benches", "examples"].map(|name| text_below(&folder.join(name))).concat();
        let build = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
        for (section, dependencies) in &manifest {
            let text = match section.as_str() {
                "dependencies" => shipped.clone(),
                "dev-dependencies" => format!("{shipped}{tests}"),
                "build-dependencies" => build.clone(),
                _ => continue,
            };
            declared.extend(dependencies.iter().cloned());
            let known = |d: &str| UNNAMED.iter().any(|(k, name, _)| *k == krate && *name == d);
            let idle = dependencies.iter().filter(|d| !names(&text, d) && !known(d));
            unused.extend(idle.map(|d| format!("{krate}: {d} in [{section}]")));
        }
    }
    let idle = workspace["workspace.dependencies"].iter().filter(|name| !declared.contains(name));
    unused.extend(idle.map(|name| format!("workspace: {name}")));
    assert!(unused.is_empty(), "no source names these: {unused:#?}");
}

/// Everything in the lock comes from the public registry, with its checksum.
#[test]
fn the_lock_knows_one_source() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    for block in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let start = format!("{name} = \"");
            block.lines().find_map(|line| line.strip_prefix(&start)?.split('"').next())
        };
        let name = field("name").unwrap();
        if let Some(source) = field("source") {
            assert_eq!(source, registry, "{name}");
            assert!(field("checksum").is_some(), "{name} has no checksum");
        } else {
            assert!(name.starts_with("ba-"), "{name} has no source");
        }
    }
}

/// SPEC O6: what deny.toml bans is not built, in the program or in tests. The lock also names what no chosen feature needs.
#[test]
fn nothing_that_is_banned_is_built() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let banned: Vec<&str> =
        deny.lines().filter_map(|line| line.trim().strip_prefix("{ crate = \"")?.split('"').next()).collect();
    assert!(banned.len() >= 5, "deny.toml bans something");
    let tree = std::process::Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--locked", "--offline", "--prefix", "none", "--format", "{p}"])
        .current_dir(root())
        .output()
        .unwrap();
    let built = String::from_utf8(tree.stdout).unwrap();
    assert!(built.lines().count() > 300, "{}", String::from_utf8_lossy(&tree.stderr));
    let found: Vec<&str> =
        built.lines().filter(|line| banned.contains(&line.split(' ').next().unwrap())).collect();
    assert!(found.is_empty(), "deny.toml bans these: {found:?}");
}

/// SPEC O6: Python packages are installed by hash, the page's by its lock.
#[test]
fn every_install_is_locked() {
    let lock = std::fs::read_to_string(root().join("python/requirements.lock")).unwrap();
    let mut hashes = usize::MAX;
    for line in lock.lines().map(str::trim) {
        if line.contains("==") {
            assert!(hashes > 0, "a package before `{line}` has no hash");
            hashes = 0;
        }
        hashes = hashes.saturating_add(line.matches("--hash=sha256:").count());
    }
    assert!(hashes > 0 && hashes < usize::MAX);
    for name in ["scripts/python-env", "scripts/dist", "crates/sandbox/src/prepare.rs"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        assert!(text.contains("--require-hashes"), "{name} installs without hashes");
    }
    for name in ["Makefile", "Dockerfile", "scripts/test-clients"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        assert!(text.contains("npm ") && text.contains(" ci ") && !text.contains("npm install"), "{name}");
    }
}
