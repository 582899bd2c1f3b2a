//! Sample data that people can load with one click (`examples/samples.json` lists it).

use std::path::Path;

use ba_server::{Sample, SampleInfo};
use serde::Deserialize;

use super::embedded::{Examples, unpack};

#[derive(Deserialize)]
struct Listed {
    #[serde(flatten)]
    info: SampleInfo,
    files: Vec<String>,
}

/// Every sample whose files are there. A broken list is a warning, not a failed start.
pub fn samples(data_dir: &Path) -> Vec<Sample> {
    let folder = match unpack::<Examples>(&data_dir.join("shipped/examples")) {
        Ok(folder) => folder,
        Err(error) => {
            tracing::warn!(%error, "the sample data could not be unpacked");
            return Vec::new();
        }
    };
    let Ok(text) = std::fs::read_to_string(folder.join("samples.json")) else { return Vec::new() };
    let listed: Vec<Listed> = serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "examples/samples.json");
        Vec::new()
    });
    listed
        .into_iter()
        .map(|l| Sample { info: l.info, files: l.files.iter().map(|f| folder.join(f)).collect() })
        .filter(|s| s.files.iter().all(|f| f.is_file()))
        .collect()
}
