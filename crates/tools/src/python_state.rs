//! Python's variables of a conversation live in a process of one server (SPEC N4). Before a call they are made to stand:
//! where they are lost or elsewhere, the files that tools left are put back and the successful calls are run again, within
//! bounds; what cannot be had again is named to the model. Never shows what a repeated call prints.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ba_agent::ToolError;
use ba_agent::tool::ToolContext;
use ba_protocol::text::shorten;
use ba_store::{PythonCall, PythonState};

use crate::run_python::{Place, RunPython};

/// What is run again at most: calls, the time they took the first time, and the time they may take now.
const MAX_CALLS: usize = 50;
const MAX_TOOK: Duration = Duration::from_secs(30);
const MAX_NOW: Duration = Duration::from_secs(45);
/// Seconds for one of them.
const ONE_CALL: u64 = 40;
/// Names that a note tells.
const MAX_NAMES: usize = 40;

impl RunPython {
    /// Makes the variables stand for the next call. Gives what the model must know.
    pub(crate) async fn make_stand(
        &self,
        ctx: &ToolContext,
        place: &Place,
        stale: bool,
    ) -> Result<Option<String>, ToolError> {
        let (sandbox, conversation) = (self.python.get()?, &ctx.conversation_id);
        if stale {
            // What they were made from has changed: nobody wants them again. The sandbox says so itself.
            self.store.python_lost(conversation).await?;
            return Ok(None);
        }
        let state = self.store.python_state(conversation).await?;
        let here = sandbox.standing(&place.session).await;
        if state.epoch == 0 || here == Some(state.epoch) {
            return Ok(None);
        }
        self.put_files_back(ctx, &place.folder).await?;
        if here.is_some() {
            sandbox.lose(&place.session, "another server has run Python in this conversation since").await;
        }
        if state.variables.is_empty() {
            return Ok(None);
        }
        let journal = self.store.python_journal(conversation, &state).await?;
        let outcome = self.run_again(ctx, place, &journal).await;
        // What they wrote is older than what is kept.
        self.put_files_back(ctx, &place.folder).await?;
        let gone = match &outcome {
            Ok(()) => self.missing(place, &state),
            Err(_) => state.variables.clone(),
        };
        if gone.is_empty() {
            sandbox.stamp(&place.session, state.epoch).await;
            let count = journal.len();
            return Ok(Some(format!(
                "Python ran anew here; the variables were rebuilt by running the {count} earlier successful calls again."
            )));
        }
        if outcome.is_err() {
            sandbox.forget(&place.session).await;
            self.store.python_lost(conversation).await?;
        }
        let why = outcome.err().unwrap_or_else(|| "they were made outside these calls".to_owned());
        Ok(Some(lost_note(&gone, &why)))
    }

    async fn run_again(
        &self,
        ctx: &ToolContext,
        place: &Place,
        journal: &[PythonCall],
    ) -> Result<(), String> {
        let took: Duration = journal.iter().map(|call| call.took).sum();
        if journal.is_empty() {
            return Err("the calls that made them are not known here".to_owned());
        }
        if journal.len() > MAX_CALLS || took > MAX_TOOK {
            return Err(format!(
                "running {} calls of {} s again would take too long",
                journal.len(),
                took.as_secs()
            ));
        }
        let all = async {
            for (number, call) in (1..).zip(journal) {
                let ran = self.job(ctx, call.code.clone(), ONE_CALL, place.clone()).await;
                let outcome = ran.map_err(|failure| failure.message)?;
                if let Some(error) = outcome.error {
                    let message = shorten(&error.message, 120);
                    return Err(format!(
                        "call {number} of {} failed now: {}: {message}",
                        journal.len(),
                        error.type_name
                    ));
                }
            }
            Ok(())
        };
        let late = |_| "running the earlier calls again took too long".to_owned();
        tokio::time::timeout(MAX_NOW, all).await.map_err(late)?
    }

    fn missing(&self, place: &Place, state: &PythonState) -> Vec<String> {
        let Ok(sandbox) = self.python.get() else { return state.variables.clone() };
        let found = sandbox.variables(&place.session);
        let is_there = |name: &String| found.iter().any(|v| &v.name == name);
        state.variables.iter().filter(|name| !is_there(name)).cloned().collect()
    }

    /// The working folder as the last server left it: every file that was kept, with its bytes.
    async fn put_files_back(&self, ctx: &ToolContext, folder: &Path) -> Result<(), ToolError> {
        for artifact in self.store.artifacts(&ctx.conversation_id).await? {
            let kept = self.store.artifact_path(&ctx.conversation_id, &artifact.name).await?;
            let (folder, name) = (folder.to_owned(), artifact.name.clone());
            let done = tokio::task::spawn_blocking(move || put_back(&kept, &folder, &name)).await;
            if let Ok(Err(error)) = done {
                tracing::warn!(file = %artifact.name, %error, "a kept file was not put into the working folder");
            }
        }
        Ok(())
    }
}

fn lost_note(gone: &[String], why: &str) -> String {
    let more = gone.len().saturating_sub(MAX_NAMES);
    let names = gone.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "Python state was lost; these variables are gone: {names}{more} ({why}). Make them again before use."
    )
}

/// The folder is a job's own and hostile: a link or folder in the way is replaced or refused, never followed.
fn put_back(kept: &Path, folder: &Path, name: &str) -> std::io::Result<()> {
    let target: PathBuf = folder.join(name);
    let plain = std::fs::symlink_metadata(&target).ok().filter(std::fs::Metadata::is_file);
    let mut source = std::fs::File::open(kept)?;
    if plain.is_some_and(|meta| Some(meta.len()) == source.metadata().ok().map(|m| m.len()))
        && same_bytes(&mut source, &target)?
    {
        return Ok(());
    }
    let mut copy = tempfile::Builder::new().prefix(".kept-").tempfile_in(folder)?;
    std::io::copy(&mut std::fs::File::open(kept)?, &mut copy)?;
    let owner = std::fs::metadata(folder)?;
    let held = copy.as_file();
    rustix::fs::fchmod(held, rustix::fs::Mode::from_raw_mode(0o600))?;
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::fchown(held, Some(owner.uid()), Some(owner.gid()))?;
    }
    copy.persist(&target).map(|_| ()).map_err(|error| error.error)
}

fn same_bytes(kept: &mut std::fs::File, target: &Path) -> std::io::Result<bool> {
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    let mut other = std::fs::File::from(rustix::fs::open(target, flags, rustix::fs::Mode::empty())?);
    let (mut one, mut two) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = kept.read(&mut one)?;
        if read == 0 {
            return Ok(other.read(&mut two)? == 0);
        }
        if other.read_exact(&mut two[..read]).is_err() || one[..read] != two[..read] {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_files_replace_what_is_in_the_way_and_follow_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let (kept, folder) = (dir.path().join("kept"), dir.path().join("work"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&kept, "right").unwrap();
        let outside = dir.path().join("outside");
        std::fs::write(&outside, "mine").unwrap();
        std::fs::write(folder.join("same"), "right").unwrap();
        std::fs::write(folder.join("other"), "wrong").unwrap();
        std::os::unix::fs::symlink(&outside, folder.join("link")).unwrap();
        std::fs::create_dir(folder.join("folder")).unwrap();
        for name in ["same", "other", "link", "new"] {
            put_back(&kept, &folder, name).unwrap();
            assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), "right", "{name}");
        }
        assert!(put_back(&kept, &folder, "folder").is_err());
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine");
    }

    #[test]
    fn the_names_that_are_gone_are_told() {
        let names: Vec<String> = (0..45).map(|n| format!("v{n}")).collect();
        let note = lost_note(&names, "call 2 of 3 failed now");
        assert!(note.contains("v0, v1,") && note.contains("and 5 more (call 2 of 3"), "{note}");
    }
}
