//! `ba-agent skill`: what skills there are, and which may be used.

use std::process::ExitCode;

use ba_config::Config;
use ba_protocol::text;
use ba_skills::library::Replace;
use ba_skills::{Origin, SkillLibrary, Status};

use super::{WrongUse, next_command};
use crate::args::SkillCommand;
use crate::{output, wire};

pub fn run(config: &Config, command: SkillCommand) -> anyhow::Result<ExitCode> {
    let library = wire::open_skills(config)?;
    match command {
        SkillCommand::List => list(&library),
        SkillCommand::Install { source, replace } => {
            let origin = Origin::from_argument(&source).map_err(|e| WrongUse(e.to_string()))?;
            let replace = if replace { Replace::Yes } else { Replace::Refuse };
            for skill in library.install(&origin, replace)? {
                output::say(&format!("installed {} ({})", skill.name, skill.hash));
                output::note(&format!(
                    "read {} first, then: {}",
                    skill.dir.display(),
                    next_command(config, &format!("skill approve {} {}", skill.name, skill.hash))
                ));
            }
        }
        SkillCommand::Approve { name, hash } => {
            library.approve(&name, &hash, "local")?;
            output::say(&format!("{name} may be used as it now is"));
        }
        SkillCommand::Enable { name } => library.set_enabled(&name, true)?,
        SkillCommand::Disable { name } => library.set_enabled(&name, false)?,
        SkillCommand::Remove { name } => {
            library.remove(&name)?;
            output::say(&format!("{name} is removed"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(library: &SkillLibrary) {
    let catalog = library.catalog();
    for entry in &catalog.entries {
        let status = match &entry.status {
            Status::Active => "active".to_owned(),
            Status::Disabled => "disabled".to_owned(),
            Status::NeedsApproval => format!("needs approval of {}", entry.skill.hash),
            Status::Changed => format!("changed; approve {}", entry.skill.hash),
            Status::Shadowed { by } => format!("shadowed by {}", by.display()),
        };
        output::say(&format!("{:<24} {:<10} {status}", entry.skill.name, entry.skill.source.as_str()));
        output::say(&format!("    {}", text::shorten(&text::one_line(&entry.skill.front.description), 110)));
    }
    for problem in &catalog.problems {
        output::note(&format!("! {problem}"));
    }
}
