//! Documents for the server and the command line, and the chart library they draw with, out of the page's own files.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use ba_config::Config;
use ba_server::{ReportFile, ReportRefusal, ReportWanted};
use ba_tools::{ReportError, ReportFormat, ReportRequest, Reports};

use super::App;

/// What makes documents. A library that cannot be unpacked costs the charts, not the document.
pub fn reports(config: &Config, app: &App) -> Reports {
    let echarts = unpack(&config.data_dir.join("shipped")).unwrap_or_else(|error| {
        tracing::warn!(%error, "the chart library could not be unpacked; documents have no charts");
        None
    });
    Reports {
        store: app.store.clone(),
        python: app.python.clone(),
        scratch: config.data_dir.join("sandbox/reports"),
        echarts,
    }
}

fn unpack(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    let Some(script) = ba_server::chart_library() else { return Ok(None) };
    let path = folder.join("echarts.js");
    if !std::fs::read(&path).is_ok_and(|found| found == script.as_ref()) {
        std::fs::create_dir_all(folder)?;
        let partial = tempfile::NamedTempFile::new_in(folder)?;
        std::fs::write(partial.path(), &script)?;
        partial.persist(&path)?;
    }
    Ok(Some(path))
}

pub struct ServedReports(pub Reports);

#[async_trait]
impl ba_server::Reports for ServedReports {
    async fn report(
        &self,
        wanted: ReportWanted,
        progress: &(dyn for<'m> Fn(f64, &'m str) + Send + Sync),
    ) -> Result<ReportFile, ReportRefusal> {
        let format = wanted.format.parse::<ReportFormat>().map_err(ReportRefusal::NotFound)?;
        let ReportWanted { owner, conversation, run, language, audience, .. } = wanted;
        let request = ReportRequest { owner, conversation, run, format, language, audience };
        let made = self.0.make(request, progress).await.map_err(|error| match error {
            ReportError::NotFound(what) => ReportRefusal::NotFound(what),
            ReportError::Empty(why) => ReportRefusal::Empty(why),
            ReportError::Unavailable(why) => ReportRefusal::Unavailable(why),
            ReportError::TooLarge(_) => ReportRefusal::TooLarge(error.to_string()),
            ReportError::Store(_) | ReportError::Internal(_) => ReportRefusal::Internal(error.to_string()),
        })?;
        Ok(ReportFile {
            path: made.path.clone(),
            name: made.name.clone(),
            bytes: made.bytes,
            keep: Box::new(made),
        })
    }
}
