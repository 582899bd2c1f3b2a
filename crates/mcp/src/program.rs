//! A server that runs as a program of ours, read from its output. Ends it, and whatever it has started, when the reading
//! ends.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{Child, ChildStdout};

pub struct Program {
    output: ChildStdout,
    /// Leads a process group of its own.
    child: Child,
}

impl Program {
    pub fn new(output: ChildStdout, child: Child) -> Self {
        Self { output, child }
    }
}

impl AsyncRead for Program {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.output).poll_read(cx, buffer)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A child that was waited for has no id any more, and its number may be another's.
        let group = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(Err(error)) = group.map(|group| kill_process_group(group, Signal::KILL)) {
            tracing::debug!(%error, "the processes of an MCP server could not be ended");
        }
    }
}
