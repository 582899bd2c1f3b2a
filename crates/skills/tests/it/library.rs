//! Install, approve, change, shadow, disable, remove, reload: as an administrator meets them.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;

use ba_skills::catalog::{Status, Trust};
use ba_skills::import::{GitAllow, GitUrl, Origin};
use ba_skills::library::Replace;
use ba_skills::{LibraryConfig, Limits, ManageError, SkillLibrary, Source};
use tempfile::TempDir;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn skill(&self, at: &str, name: &str, body: &str) {
        write(
            &self.dir.path().join(at).join("SKILL.md"),
            &format!("---\nname: {name}\ndescription: About {name}\n---\n{body}\n"),
        );
    }

    fn open(&self) -> SkillLibrary {
        self.open_with(Trust::Pinned)
    }

    fn open_with(&self, trust: Trust) -> SkillLibrary {
        let path = self.dir.path();
        SkillLibrary::open(LibraryConfig {
            shipped: Some(path.join("shipped")).filter(|p| p.exists()),
            data_dir: path.join("data"),
            folders: vec![(path.join("team"), trust)].into_iter().filter(|(p, _)| p.exists()).collect(),
            limits: Limits::default(),
        })
        .unwrap()
    }

    fn folder(&self, at: &str) -> Origin {
        Origin::Folder(self.dir.path().join(at))
    }
}

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn status(library: &SkillLibrary, name: &str) -> Status {
    library.catalog().entry(name).unwrap().status.clone()
}

#[test]
fn an_installed_skill_is_used_only_as_it_was_approved() {
    let place = Place::new();
    place.skill("src/rfm", "rfm", "v1");
    let library = place.open();
    let installed = library.install(&place.folder("src"), Replace::Refuse).unwrap();
    assert_eq!(installed.len(), 1);
    assert_eq!(status(&library, "rfm"), Status::NeedsApproval);
    assert!(library.catalog().active("rfm").is_none());
    assert!(library.catalog().why_not("rfm").contains("approval"));

    let wrong = library.approve("rfm", "blake3:00", "admin").unwrap_err();
    assert!(matches!(wrong, ManageError::Changed { .. }), "{wrong}");
    library.approve("rfm", &installed[0].hash, "admin").unwrap();
    assert_eq!(library.catalog().active("rfm").unwrap().body, "v1");

    // Somebody changes a file behind our back: disabled until approved again.
    place.skill("data/skills/rfm", "rfm", "v2: send everything away");
    assert!(library.refresh());
    assert_eq!(status(&library, "rfm"), Status::Changed);
    assert!(library.catalog().active("rfm").is_none());
    let now = library.catalog().entry("rfm").unwrap().skill.hash.clone();
    library.approve("rfm", &now, "admin").unwrap();
    assert_eq!(status(&library, "rfm"), Status::Active);

    // Decisions outlive the process.
    drop(library);
    let library = place.open();
    assert_eq!(status(&library, "rfm"), Status::Active);
    let decision = library.decision(&now_name(&library, "rfm")).unwrap();
    assert_eq!(decision.approved_by.as_deref(), Some("admin"));
    library.set_enabled("rfm", false).unwrap();
    assert_eq!(status(&library, "rfm"), Status::Disabled);
    library.set_enabled("rfm", true).unwrap();
    assert_eq!(status(&library, "rfm"), Status::Active);

    assert!(matches!(library.install(&place.folder("src"), Replace::Refuse), Err(ManageError::Exists(_))));
    library.install(&place.folder("src"), Replace::Yes).unwrap();
    assert_eq!(status(&library, "rfm"), Status::Changed, "a replaced skill is approved anew");
    library.remove("rfm").unwrap();
    assert!(library.catalog().entry("rfm").is_none());
    assert!(matches!(library.remove("rfm"), Err(ManageError::Unknown { .. })));
    let left: Vec<_> = fs::read_dir(place.dir.path().join("data/skills")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

fn now_name(library: &SkillLibrary, name: &str) -> ba_skills::SkillName {
    library.catalog().entry(name).unwrap().skill.name.clone()
}

#[test]
fn later_roots_shadow_earlier_ones_and_it_shows() {
    let place = Place::new();
    place.skill("shipped/rfm", "rfm", "shipped");
    place.skill("team/group/rfm-ours", "rfm", "ours");
    let library = place.open();
    // Not approved yet: what worked keeps working.
    assert_eq!(library.catalog().active("rfm").unwrap().body, "shipped");
    let hash = library.catalog().entry("rfm").unwrap().skill.hash.clone();
    library.approve("rfm", &hash, "admin").unwrap();
    let catalog = library.catalog();
    assert_eq!(catalog.active("rfm").unwrap().body, "ours");
    let shipped = catalog.entries.iter().find(|e| e.skill.source == Source::Shipped).unwrap();
    assert_eq!(shipped.status, Status::Shadowed { by: place.dir.path().join("team/group/rfm-ours") });
    // Disabling a name turns it off wherever it comes from.
    library.set_enabled("rfm", false).unwrap();
    assert!(library.catalog().active("rfm").is_none());

    let trusting = Place::new();
    trusting.skill("team/x", "x", "one");
    let library = trusting.open_with(Trust::Always);
    assert_eq!(status(&library, "x"), Status::Active);
    trusting.skill("team/x", "x", "two");
    assert!(library.refresh());
    assert_eq!(library.catalog().active("x").unwrap().body, "two");
    assert!(matches!(library.remove("x"), Err(ManageError::Configured { .. })));
}

#[test]
fn one_bad_skill_never_stops_the_others() {
    let place = Place::new();
    place.skill("shipped/good", "good", "body");
    write(&place.dir.path().join("shipped/bad/SKILL.md"), "---\nname: bad\ndescription: [1,\n---\nx");
    write(&place.dir.path().join("shipped/worse/SKILL.md"), "no front matter");
    place.skill("shipped/twin-a", "twin", "a");
    place.skill("shipped/twin-b", "twin", "b");
    std::os::unix::fs::symlink("/etc", place.dir.path().join("shipped/link")).unwrap();
    let library = place.open();
    let catalog = library.catalog();
    assert_eq!(catalog.active_skills().count(), 2);
    assert_eq!(catalog.active("twin").unwrap().body, "a");
    let problems: Vec<String> = catalog.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("bad/SKILL.md:")), "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("worse/SKILL.md:1")), "{problems:?}");
    assert!(problems.iter().any(|p| p.contains("came first")), "{problems:?}");
}

#[test]
fn skills_come_and_go_without_a_restart() {
    let place = Place::new();
    fs::create_dir_all(place.dir.path().join("shipped")).unwrap();
    let library = place.open();
    let before = library.catalog();
    assert!(!library.refresh());
    place.skill("shipped/new", "new", "body");
    assert!(library.refresh());
    assert!(library.catalog().active("new").is_some());
    assert!(before.active("new").is_none(), "a snapshot in use does not change");
    assert!(!library.refresh());
    fs::remove_dir_all(place.dir.path().join("shipped/new")).unwrap();
    assert!(library.refresh());
    assert!(library.catalog().active("new").is_none());
}

#[test]
fn an_unreadable_ledger_approves_nothing_and_is_shown() {
    let place = Place::new();
    place.skill("src/rfm", "rfm", "v1");
    let library = place.open();
    let hash = library.install(&place.folder("src/rfm"), Replace::Refuse).unwrap()[0].hash.clone();
    library.approve("rfm", &hash, "admin").unwrap();
    fs::write(place.dir.path().join("data/skills.json"), "{broken").unwrap();
    assert!(library.refresh());
    assert_eq!(status(&library, "rfm"), Status::NeedsApproval);
    assert!(library.catalog().problems.iter().any(|p| p.to_string().contains("skills.json:1")));
    assert!(library.approve("rfm", &hash, "admin").is_err(), "a broken ledger is not overwritten");
}

#[test]
fn a_hostile_folder_is_refused_and_leaves_nothing() {
    let place = Place::new();
    place.skill("src/evil", "evil", "body");
    std::os::unix::fs::symlink("/etc/passwd", place.dir.path().join("src/evil/notes.md")).unwrap();
    let library = place.open();
    let error = library.install(&place.folder("src"), Replace::Refuse).unwrap_err();
    assert!(error.to_string().contains("links"), "{error}");
    assert_eq!(fs::read_dir(place.dir.path().join("data/skills")).unwrap().count(), 0);
    let empty = Place::new();
    fs::create_dir_all(empty.dir.path().join("src")).unwrap();
    assert!(
        empty
            .open()
            .install(&empty.folder("src"), Replace::Refuse)
            .unwrap_err()
            .to_string()
            .contains("no folder with a SKILL.md")
    );
}

#[test]
fn a_zip_with_several_layouts_installs() {
    let place = Place::new();
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in [
        ("repo-main/README.md", "read me"),
        ("repo-main/.claude/skills/one/SKILL.md", "---\nname: one\ndescription: d\n---\nbody"),
        ("repo-main/skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\nbody"),
        ("repo-main/skills/two/scripts/a.py", "x = 1"),
    ] {
        zip.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let library = place.open();
    let origin = Origin::Zip { name: "skills.zip".into(), bytes };
    let names: Vec<String> =
        library.install(&origin, Replace::Refuse).unwrap().iter().map(|s| s.name.to_string()).collect();
    assert_eq!(names, ["one", "two"]);
    assert!(place.dir.path().join("data/skills/two/scripts/a.py").exists());
    assert_eq!(
        library.decision(&now_name(&library, "one")).unwrap().origin.as_deref(),
        Some("zip skills.zip")
    );
}

fn git(dir: &Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").current_dir(dir).args(who).args(args).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_git_address_installs_without_running_anything() {
    let place = Place::new();
    let repo = place.dir.path().join("repo");
    place.skill("repo/skills/rfm", "rfm", "from git");
    git(&repo, &["init", "-q"]);
    // A hook and a filter that would run on a checkout.
    let witness = place.dir.path().join("ran");
    write(&repo.join(".git/hooks/post-checkout"), &format!("#!/bin/sh\ntouch {}\n", witness.display()));
    write(&repo.join(".gitattributes"), "* filter=evil\n");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "one"]);
    let library = place.open();
    let url = |suffix: &str, allow| {
        Origin::Git(GitUrl { url: format!("file://{}{suffix}", repo.display()), allow })
    };
    let refused = library.install(&url("", GitAllow::HttpsOnly), Replace::Refuse).unwrap_err();
    assert!(refused.to_string().contains("https"), "{refused}");
    let installed = library.install(&url("#skills", GitAllow::LocalToo), Replace::Refuse).unwrap();
    assert_eq!(installed[0].body, "from git");
    assert!(!witness.exists());
    let missing = library.install(&url("#nowhere", GitAllow::LocalToo), Replace::Yes).unwrap_err();
    assert!(matches!(missing, ManageError::Git(_)), "{missing}");
    // A link anywhere in what is asked for is refused.
    std::os::unix::fs::symlink("/etc/passwd", repo.join("skills/rfm/link")).unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "two"]);
    let linked = library.install(&url("", GitAllow::LocalToo), Replace::Yes).unwrap_err();
    assert!(linked.to_string().contains("link"), "{linked}");
    assert_eq!(fs::read_dir(place.dir.path().join("data/skills")).unwrap().count(), 1);
}
