//! What can be typed. `--help` is written for someone who has never seen the program.

use std::path::PathBuf;

use ba_config::{Config, ConfigError, Sources};
use clap::{Args, Parser, Subcommand};

/// Ask questions about spreadsheets and databases, in Chinese or English; get a report with figures, charts and files.
///
/// Start with `ba-agent serve` and open the address it prints, or ask right here:
/// `ba-agent ask "各地区销售额？" --file sales.xlsx`.
/// Without a model it answers with the built-in offline analyst; set one with BA_MODEL, for example
/// BA_MODEL=deepseek:deepseek-chat and DEEPSEEK_API_KEY.
#[derive(Parser)]
#[command(name = "ba-agent", version, propagate_version = true)]
pub struct Arguments {
    /// Configuration file (default: ba-agent.toml in this folder, when there is one)
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where conversations and files are kept (default: ./ba-data)
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Say more about what is going on
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Serve the page and the API; prints one line with the address when ready
    Serve(ServeArgs),
    /// Ask one question and print the report
    Ask(AskArgs),
    /// Run a set of questions with known answers and report accuracy, cost and failures
    Eval(EvalArgs),
    /// Check everything and say how to fix what is wrong
    Doctor,
    /// Print the log of a conversation readably
    Logs(LogsArgs),
    /// Draw a conversation's runs as a timeline
    Trace(TraceArgs),
    /// Show what goes to the model, and what was shortened or replaced
    Context(ContextArgs),
    /// Run a conversation's calls again and say which figures of its answers still hold
    Verify(VerifyArgs),
    /// Add, list and disable people who may sign in
    #[command(subcommand)]
    User(UserCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Install, list, approve, enable, disable and remove skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Write a conversation with its files into one archive
    Export(ExportArgs),
    /// Read a conversation from an archive
    Import(ImportArgs),
}

#[derive(Args)]
pub struct ServeArgs {
    /// Address and port (default: 127.0.0.1:8000); other addresses than loopback need a user
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
}

#[derive(Args)]
pub struct AskArgs {
    /// The question
    pub question: String,
    /// A file the question is about; may be given several times
    #[arg(long = "file", short = 'f', value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// Print the whole answer as JSON
    #[arg(long)]
    pub json: bool,
    /// Copy the files the answer offers into this folder
    #[arg(long, value_name = "FOLDER")]
    pub save: Option<PathBuf>,
    /// Keep a recording of the model's turns, to be replayed with BA_MODEL=replay:<file>
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

#[derive(Args)]
pub struct EvalArgs {
    /// Folder with questions.jsonl and the files it names, or an archive of one (.tar.zst)
    pub folder: PathBuf,
    /// Only these splits; may be given several times
    #[arg(long, value_name = "NAME")]
    pub split: Vec<String>,
    /// At most so many questions
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Where report.json and report.md are written (default: the current folder)
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
    /// Fail (exit code 1) below this accuracy, between 0 and 1
    #[arg(long, value_name = "SHARE")]
    pub at_least: Option<f64>,
}

#[derive(Args)]
pub struct LogsArgs {
    /// Conversation id
    pub conversation: String,
    /// Print the lines as they are
    #[arg(long)]
    pub raw: bool,
}

#[derive(Args)]
pub struct TraceArgs {
    /// Conversation id
    pub conversation: String,
    /// As a Mermaid diagram instead of text
    #[arg(long)]
    pub mermaid: bool,
}

#[derive(Args)]
pub struct ContextArgs {
    /// Conversation id
    pub conversation: String,
    /// Which turn, from 1 (default: the one that would come next)
    #[arg(long, value_name = "N")]
    pub turn: Option<usize>,
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Conversation id
    pub conversation: String,
    /// Also ask the configured databases again; else only the stored files are read
    #[arg(long)]
    pub live: bool,
    /// Whose conversation (default: the local user's)
    #[arg(long)]
    pub user: Option<String>,
}

#[derive(Subcommand)]
pub enum UserCommand {
    /// Add a person; asks for the password, or reads it from standard input
    Add {
        name: String,
        /// May manage users, keys and skills
        #[arg(long)]
        admin: bool,
    },
    List,
    /// No sign-in from now on; nothing is deleted
    Disable {
        name: String,
    },
}

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Create a key for a user; it is shown once
    Create {
        user: String,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
    },
    List {
        user: String,
    },
    Revoke {
        /// `key_…`, as `key list` shows it
        id: String,
    },
}

#[derive(Subcommand)]
pub enum SkillCommand {
    List,
    /// From a folder, a zip file or a git address
    Install {
        source: String,
        /// Take the place of an installed skill of the same name
        #[arg(long)]
        replace: bool,
    },
    /// Allow a skill as it now is, by the hash `skill list` shows
    Approve {
        name: String,
        hash: String,
    },
    Enable {
        name: String,
    },
    Disable {
        name: String,
    },
    Remove {
        name: String,
    },
}

#[derive(Args)]
pub struct ExportArgs {
    /// Conversation id
    pub conversation: String,
    /// File to write (default: <conversation>.tar)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Whose conversation (default: the local user's)
    #[arg(long)]
    pub user: Option<String>,
}

#[derive(Args)]
pub struct ImportArgs {
    pub archive: PathBuf,
    #[arg(long)]
    pub user: Option<String>,
}

/// File, environment and flags together.
pub fn configuration(arguments: &Arguments) -> Result<Config, ConfigError> {
    let listen = match &arguments.command {
        Command::Serve(serve) => serve.listen.clone(),
        _ => None,
    };
    let sources = Sources {
        file: arguments.config.clone(),
        listen,
        data_dir: arguments.data_dir.clone(),
        ..Sources::from_process()
    };
    ba_config::load(&sources)
}
