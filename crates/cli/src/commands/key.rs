//! `ba-agent key`: API keys, shown once and stored hashed.

use std::process::ExitCode;

use ba_config::Config;
use ba_server::auth::secret::Secret;

use crate::args::KeyCommand;
use crate::{output, wire};

pub async fn run(config: &Config, command: KeyCommand) -> anyhow::Result<ExitCode> {
    let store = wire::open_store(config).await?;
    match command {
        KeyCommand::Create { user, label } => {
            let user = store.user_by_name(&user).await?;
            let secret = Secret::new_key();
            let key = store.create_key(&user.id, &secret.hash, &label).await?;
            output::note(&format!("{} for {}; it is shown only now:", key.id, user.name));
            output::say(&secret.token);
        }
        KeyCommand::List { user } => {
            let user = store.user_by_name(&user).await?;
            for key in store.keys(&user.id).await? {
                let state = if key.revoked { "revoked" } else { "active" };
                output::say(&format!("{:<18} {state:<8} {} {}", key.id, key.created_at, key.label));
            }
        }
        KeyCommand::Revoke { id } => {
            store.revoke_key(&id).await?;
            output::say(&format!("{id} is revoked"));
        }
    }
    Ok(ExitCode::SUCCESS)
}
