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
    /// Be a tool of an agent in an editor: the Model Context Protocol over standard input and output
    Mcp(McpArgs),
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
    /// Write an answer or a whole conversation as PDF, Word, slides, workbook, notebook, page or Markdown
    Report(ReportArgs),
    /// Add, list and disable people who may sign in
    #[command(subcommand)]
    User(UserCommand),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Install, list, approve, enable, disable and remove skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Print what people thought of answers, one JSON object a line
    Feedback(FeedbackArgs),
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
pub struct McpArgs {
    /// A folder whose files may be read, and where reports may be saved; may be given several times (default: this folder)
    #[arg(long = "folder", value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
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
    /// Another of the configured models, by its name in [models] or as provider:model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
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
    /// Ask this model; may be given several times, to see them beside each other (default: the configured one)
    #[arg(long, value_name = "NAME")]
    pub model: Vec<String>,
    /// Questions asked at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub jobs: usize,
    /// Go on with an evaluation that was stopped: what outcomes.jsonl in the folder of the report holds is not asked again
    #[arg(long)]
    pub resume: bool,
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
    /// Whose conversation (default: the local user's)
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
}

#[derive(Args)]
pub struct ContextArgs {
    /// Conversation id
    pub conversation: String,
    /// Which turn, from 1 (default: the one that would come next)
    #[arg(long, value_name = "N")]
    pub turn: Option<usize>,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
    /// Whose conversation (default: the local user's)
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
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

#[derive(Args)]
pub struct ReportArgs {
    /// Conversation id
    pub conversation: String,
    /// pdf, docx, pptx, xlsx, ipynb, html or md
    #[arg(long, value_name = "FORMAT", default_value = "pdf")]
    pub format: String,
    /// Only this answer (run id); else the whole conversation
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// File to write (default: named after the conversation, in this folder)
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Language of the document's own words, zh or en (default: that of the questions)
    #[arg(long)]
    pub lang: Option<String>,
    /// Whose conversation (default: the local user's)
    #[arg(long)]
    pub user: Option<String>,
}

#[derive(Subcommand)]
pub enum UserCommand {
    /// Add a person; asks for the password, or reads it from standard input
    Add {
        /// What they sign in with
        name: String,
        /// May manage users, keys and skills
        #[arg(long)]
        admin: bool,
    },
    /// Everyone who may sign in or could before
    List,
    /// No sign-in from now on; nothing is deleted
    Disable {
        /// As `user list` shows it
        name: String,
    },
}

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Create a key for a user; it is shown once
    Create {
        /// Whose key it is
        user: String,
        /// What it is for
        #[arg(long, default_value = "")]
        label: String,
    },
    /// The keys of a user, without their secrets
    List {
        /// Whose keys
        user: String,
    },
    /// A key stops working at once
    Revoke {
        /// `key_…`, as `key list` shows it
        id: String,
    },
}

#[derive(Subcommand)]
pub enum SkillCommand {
    /// Every skill, where it comes from and whether it may be used
    List,
    /// From a folder, a zip file or a git address
    Install {
        /// The folder, the file or the address
        source: String,
        /// Take the place of an installed skill of the same name
        #[arg(long)]
        replace: bool,
    },
    /// Allow a skill as it now is, by the hash `skill list` shows
    Approve {
        /// As `skill list` shows it
        name: String,
        /// Of the skill as you have read it
        hash: String,
    },
    /// Let an approved skill be used again
    Enable {
        /// As `skill list` shows it
        name: String,
    },
    /// Keep a skill but do not use it
    Disable {
        /// As `skill list` shows it
        name: String,
    },
    /// Delete an installed skill
    Remove {
        /// As `skill list` shows it
        name: String,
    },
}

#[derive(Args)]
pub struct FeedbackArgs {
    /// Only answers that somebody found bad
    #[arg(long)]
    pub down: bool,
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
    /// File that `export` wrote
    pub archive: PathBuf,
    /// Who gets the conversation (default: the local user)
    #[arg(long, value_name = "NAME")]
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn undocumented(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        if command.get_about().is_none() {
            found.push(path.to_owned());
        }
        for argument in command.get_arguments().filter(|a| a.get_help().is_none() && !a.is_hide_set()) {
            found.push(format!("{path} {}", argument.get_id()));
        }
        for inner in command.get_subcommands() {
            undocumented(inner, &format!("{path} {}", inner.get_name()), found);
        }
    }

    #[test]
    fn every_command_and_argument_has_help() {
        let mut found = Vec::new();
        undocumented(&Arguments::command(), "ba-agent", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
