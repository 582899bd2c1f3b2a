//! Makes sure the page's folder exists, so that the binary builds before the page does.

fn main() -> std::io::Result<()> {
    let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    std::fs::create_dir_all(&dist)?;
    // Cargo reads build instructions from standard output.
    std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("cargo:rerun-if-changed={}\n", dist.display()).as_bytes(),
    )
}
