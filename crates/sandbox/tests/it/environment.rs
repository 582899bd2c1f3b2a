//! Preparing the Python environment: reuse, refusal of a wrong one, clear errors. Building one anew is slow and
//! happens whenever `make test` runs on a fresh machine.

use ba_sandbox::{PrepareOptions, Sandbox, SandboxError, prepare_python};

use crate::support::{block, cache, config, python};

#[test]
fn a_ready_environment_is_reused() {
    let first = python();
    let before = std::fs::metadata(first.prefix.join("pyvenv.cfg")).unwrap().modified().unwrap();
    let options = PrepareOptions { cache: cache(), env_override: Some(first.prefix.clone()), python: None };
    let again = block(prepare_python(&options, &|_| {})).unwrap();
    assert_eq!(again.prefix, first.prefix);
    assert_eq!(std::fs::metadata(first.prefix.join("pyvenv.cfg")).unwrap().modified().unwrap(), before);
}

#[test]
fn a_lent_environment_without_the_packages_is_refused_and_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let env = dir.path().join("bare");
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&env)
        .status()
        .unwrap();
    assert!(made.success());
    let options =
        PrepareOptions { cache: dir.path().join("cache"), env_override: Some(env.clone()), python: None };
    let error = block(prepare_python(&options, &|_| {})).unwrap_err();
    assert!(matches!(error, SandboxError::BrokenEnvironment { .. }), "{error}");
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(!dir.path().join("cache").exists());
}

#[test]
fn a_damaged_environment_is_seen() {
    // A copy of the real one by links, with one file of a package gone and one changed in size.
    let real = python();
    let dir = tempfile::tempdir().unwrap();
    let env = dir.path().join("env");
    let copied = std::process::Command::new("cp").arg("-rs").args([&real.prefix, &env]).status().unwrap();
    assert!(copied.success());
    std::fs::remove_file(env.join("pyvenv.cfg")).unwrap();
    std::fs::copy(real.prefix.join("pyvenv.cfg"), env.join("pyvenv.cfg")).unwrap();
    let options = PrepareOptions { cache: dir.path().into(), env_override: Some(env.clone()), python: None };
    block(prepare_python(&options, &|_| {})).unwrap();
    let site =
        env.join("lib").join(real.site_packages.parent().unwrap().file_name().unwrap()).join("site-packages");
    std::fs::remove_file(site.join("pandas/__init__.py")).unwrap();
    let error = block(prepare_python(&options, &|_| {})).unwrap_err();
    assert!(error.to_string().contains("pandas is damaged"), "{error}");
}

#[test]
fn an_interpreter_that_is_none_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let options = PrepareOptions {
        cache: dir.path().into(),
        env_override: None,
        python: Some("/nonexistent/python".into()),
    };
    let error = block(prepare_python(&options, &|_| {})).unwrap_err();
    assert!(error.to_string().contains("python3-venv"), "{error}");
}

#[test]
fn a_worker_without_its_packages_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let env = dir.path().join("bare");
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&env)
        .status()
        .unwrap();
    assert!(made.success());
    let mut settings = config(&dir.path().join("scratch"));
    settings.python.prefix = env.clone();
    settings.python.python = env.join("bin/python");
    let error = block(Sandbox::start(settings)).err().unwrap();
    assert!(matches!(error, SandboxError::BrokenEnvironment { .. }), "{error}");
}

#[test]
fn a_policy_that_lets_something_through_stops_the_start() {
    // A worker whose children skip seccomp and Landlock: the self-test must notice and refuse.
    let dir = tempfile::tempdir().unwrap();
    let sources = dir.path().join("sources");
    let python = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    assert!(std::process::Command::new("cp").arg("-r").args([&python, &sources]).status().unwrap().success());
    let file = sources.join("ba_worker/linux.py");
    let text = std::fs::read_to_string(&file).unwrap();
    let skipped = [
        ("seccomp", "    prctl(PR_SET_SECCOMP, 2, fprog)\n", "    pass\n"),
        ("landlock", "        call(\"landlock_restrict_self\", self.ruleset, 0)\n", ""),
    ];
    for (layer, step, instead) in skipped {
        assert!(text.contains(step), "{layer} is entered in another way");
        std::fs::write(&file, text.replace(step, instead)).unwrap();
        let scratch = dir.path().join(layer);
        let settings =
            ba_sandbox::SandboxConfig { worker_dir: Some(sources.clone()), pool: 1, ..config(&scratch) };
        let error = block(Sandbox::start(settings)).err();
        assert!(matches!(error, Some(SandboxError::Unconfined(_))), "{layer}: {error:?}");
    }
}
