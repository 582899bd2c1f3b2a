//! `ba-agent user`: people who may sign in.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use ba_config::Config;
use ba_server::auth::password;
use ba_store::UserRole;

use super::WrongUse;
use crate::args::UserCommand;
use crate::{output, wire};

pub async fn run(config: &Config, command: UserCommand) -> anyhow::Result<ExitCode> {
    let store = wire::open_store(config).await?;
    match command {
        UserCommand::Add { name, admin } => {
            let role = if admin { UserRole::Admin } else { UserRole::User };
            let given = read_password()?;
            let hash = password::hash(&given).map_err(|e| WrongUse(e.to_string()))?;
            let user = store.create_user(&name, &hash, role).await?;
            output::say(&format!("added {} ({}) as {}", user.name, user.id, role.as_str()));
        }
        UserCommand::List => {
            let users = store.users().await?;
            if users.is_empty() {
                output::note("nobody yet; `ba-agent user add NAME` adds a person");
            }
            for user in users {
                let state = if user.disabled { "disabled" } else { "active" };
                output::say(&format!(
                    "{:<20} {:<6} {state:<9} {}",
                    user.name,
                    user.role.as_str(),
                    user.created_at
                ));
            }
        }
        UserCommand::Disable { name } => {
            let user = store.user_by_name(&name).await?;
            store.disable_user(&user.id).await?;
            output::say(&format!("{name} can no longer sign in; conversations and files are kept"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One line of standard input. On a terminal the person is told what is asked for.
fn read_password() -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        output::note("password (it will be visible; pipe it in to avoid that):");
    }
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    let line = line.trim_end_matches(['\r', '\n']).to_owned();
    if line.is_empty() {
        return Err(WrongUse("the password is empty".to_owned()).into());
    }
    Ok(line)
}
