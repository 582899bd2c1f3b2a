//! What is packaged, as far as it can be told without making it: the image's instructions, the unit, the installer (SPEC O5).

use super::root;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// Instructions with their continued lines joined, comments left out.
fn instructions(dockerfile: &str) -> Vec<(String, String)> {
    let plain: Vec<&str> = dockerfile.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let joined = plain.join("\n").replace("\\\n", " ");
    let split =
        |line: &str| line.split_once(' ').map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()));
    joined.lines().filter(|line| !line.trim().is_empty()).map(|line| split(line).expect(line)).collect()
}

// SPEC O5
#[test]
fn the_image_is_small_and_not_root() {
    let all = instructions(&read("Dockerfile"));
    let known = ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"];
    let mut stages: Vec<String> = Vec::new();
    for (word, rest) in &all {
        assert!(known.contains(&word.as_str()), "{word} {rest}");
        if word == "FROM" {
            let image = rest.split(' ').next().unwrap();
            assert!(image.contains(':') && !image.ends_with(":latest"), "{image} has no version");
            stages.push(rest.split(" AS ").nth(1).unwrap_or("last").to_owned());
        }
        if let Some(from) = rest.strip_prefix("--from=") {
            let stage = from.split(' ').next().unwrap();
            assert!(stages.iter().any(|s| s == stage), "{stage} is no earlier stage");
        } else if word == "COPY" {
            for path in rest.split(' ').filter(|p| !p.starts_with("--")).take(rest.split(' ').count() - 1) {
                assert!(
                    root().join(path).exists()
                        || stages[0] == "page" && root().join("web").join(path).exists(),
                    "{path}"
                );
            }
        }
        assert!(!rest.contains("apt-get install") || rest.contains("rm -rf /var/lib/apt/lists"), "{rest}");
    }
    let last = all.iter().rposition(|(word, _)| word == "FROM").unwrap();
    let user = all[last..].iter().find(|(word, _)| word == "USER").map(|(_, who)| who.as_str());
    assert_eq!(user, Some("ba-agent"), "the image must not run as root");
    let heavy = all[last..].iter().any(|(_, rest)| rest.contains("g++") || rest.contains("cargo"));
    assert!(!heavy, "no compiler in what is shipped");
}

/// Options of systemd that would keep the sandbox from confining anything.
#[test]
fn the_unit_leaves_the_sandbox_its_means() {
    let unit = read("scripts/package/ba-agent.service");
    for line in unit.lines().filter(|line| !line.starts_with('#')) {
        for option in [
            "RestrictNamespaces",
            "SystemCallFilter",
            "PrivateUsers",
            "ProtectProc",
            "MountFlags",
            "SystemCallArchitectures",
        ] {
            assert!(!line.starts_with(option), "{line}");
        }
    }
    for wanted in ["User=ba-agent", "Delegate=yes", "NoNewPrivileges=yes", "Restart=on-failure"] {
        assert!(unit.lines().any(|line| line == wanted), "{wanted}");
    }
}

/// The installer takes nothing that `make dist` does not put beside it, and nothing from a network.
#[test]
fn the_package_holds_what_its_installer_needs() {
    let (dist, install) = (read("scripts/dist"), read("scripts/package/install"));
    for name in [
        "machine",
        "python-version",
        "files.sha256",
        "README.md",
        "RELEASE-NOTES.md",
        "sbom.cdx.json",
        "wheels",
    ] {
        assert!(
            install.contains(name) && dist.contains(&format!("$name/{name}"))
                || dist.contains(&format!(">{name}")),
            "{name}"
        );
    }
    assert!(install.contains("--wheels wheels") && read("scripts/python-env").contains("--no-index"));
    for word in ["curl", "wget", "pip install", "apt-get"] {
        assert!(!install.contains(word), "{word}");
    }
}
