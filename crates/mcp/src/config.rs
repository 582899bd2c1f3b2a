//! A server of the configuration, and what may be called of it.

use std::time::Duration;

use ba_protocol::Secret;

#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// The first half of its tools' names; letters, digits, `_` and `-`.
    pub name: String,
    pub reach: Reach,
    /// Tools that only read.
    pub reads: Vec<String>,
    /// Tools that change something: a person allows each in a conversation first.
    pub writes: Vec<String>,
    pub timeout: Duration,
}

#[derive(Debug, Clone)]
pub enum Reach {
    /// A program that is started when it is needed, with this environment and nothing else of ours.
    Command {
        program: String,
        arguments: Vec<String>,
        environment: Vec<(String, Secret)>,
    },
    Http {
        url: String,
        key: Option<Secret>,
    },
}

impl ServerConfig {
    pub fn is_write(&self, tool: &str) -> bool {
        self.writes.iter().any(|name| name == tool)
    }

    pub fn allows(&self, tool: &str) -> bool {
        self.is_write(tool) || self.reads.iter().any(|name| name == tool)
    }
}
