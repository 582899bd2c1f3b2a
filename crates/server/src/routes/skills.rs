//! Skills: what the model may activate, and, for administrators, what there is, installing, approving and removing it
//! (SPEC A7, S1). An archive or a git address is hostile input; `ba-skills` is its boundary. Folders of the server's own
//! disk are installed at the command line only.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use ba_skills::import::{GitAllow, GitUrl};
use ba_skills::library::Replace;
use ba_skills::{Entry, ManageError, Origin, Skill, SkillLibrary, Status};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::admin::Done;
use super::oversight::write_down;
use crate::auth::Caller;
use crate::envelope::{Body, Data, Path, Query};
use crate::error::{ApiError, Result};
use crate::service::SkillInfo;
use crate::state::AppState;

#[derive(Debug, Serialize, ToSchema)]
pub struct SkillList {
    pub skills: Vec<SkillInfo>,
}

/// A skill as an administrator sees it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ManagedSkill {
    #[schema(example = "rfm-customer-value")]
    pub name: String,
    pub description: String,
    /// `shipped`, `installed` or `configured`.
    #[schema(example = "installed")]
    pub source: &'static str,
    /// `active`, `disabled`, `needs_approval`, `changed` or `shadowed`.
    #[schema(example = "needs_approval")]
    pub status: &'static str,
    /// Of every file; what an approval pins.
    pub hash: String,
    pub files: Vec<String>,
    pub warnings: Vec<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ManagedSkills {
    pub skills: Vec<ManagedSkill>,
    /// Skills that could not be loaded, with file and line.
    pub problems: Vec<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
pub struct InstallQuery {
    /// Take the place of an installed skill of the same name.
    #[serde(default)]
    replace: bool,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InstallFromGit {
    /// `https://…`, with an optional `#folder/in/it`.
    #[schema(example = "https://example.com/team/skills.git#skills/margin")]
    url: String,
    #[serde(default)]
    replace: bool,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InstallFromFolder {
    /// A folder on the server's own machine, from its root.
    #[schema(example = "/srv/skills/margin")]
    path: String,
    #[serde(default)]
    replace: bool,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Approve {
    /// The hash that was reviewed.
    #[schema(example = "blake3:…")]
    hash: String,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    #[schema(example = false)]
    enabled: bool,
}

/// The skills the model may activate.
#[utoipa::path(get, path = "/skills", tag = "agent", operation_id = "listSkills", responses((status = 200, body = Data<SkillList>)))]
pub async fn list(State(state): State<AppState>, _: Caller) -> Data<SkillList> {
    let catalog = state.deps.skills.as_ref().map(|l| l.catalog()).unwrap_or_default();
    let info = |s: &Arc<Skill>| SkillInfo {
        name: s.name.to_string(),
        description: s.front.description.clone(),
        source: Some(s.source.as_str().to_owned()),
    };
    Data::of(SkillList { skills: catalog.active_skills().map(info).collect() })
}

/// Every skill there is, used or not, and what could not be loaded.
#[utoipa::path(get, path = "/admin/skills", tag = "agent", operation_id = "listManagedSkills",
    responses((status = 200, body = Data<ManagedSkills>)))]
pub async fn managed(State(state): State<AppState>, caller: Caller) -> Result<Data<ManagedSkills>> {
    let library = managed_library(&state, &caller)?;
    blocking(move || {
        library.refresh();
        let catalog = library.catalog();
        let problems = catalog.problems.iter().map(ToString::to_string).collect();
        Data::of(ManagedSkills { skills: catalog.entries.iter().map(shown).collect(), problems })
    })
    .await
}

/// Install the skills of a zip archive; they wait for approval. The body is the archive itself.
#[utoipa::path(post, path = "/admin/skills/zip", tag = "agent", operation_id = "installSkillZip", params(InstallQuery),
    request_body(content = Vec<u8>, content_type = "application/zip"),
    responses((status = 200, body = Data<ManagedSkills>)))]
pub async fn install_zip(
    State(state): State<AppState>,
    caller: Caller,
    Query(query): Query<InstallQuery>,
    body: Bytes,
) -> Result<Data<ManagedSkills>> {
    let origin = Origin::Zip { name: format!("uploaded by {}", caller.user), bytes: body.to_vec() };
    install(&state, &caller, origin, query.replace).await
}

/// Install the skills of a git repository; they wait for approval.
#[utoipa::path(post, path = "/admin/skills/git", tag = "agent", operation_id = "installSkillGit", request_body = InstallFromGit,
    responses((status = 200, body = Data<ManagedSkills>)))]
pub async fn install_git(
    State(state): State<AppState>,
    caller: Caller,
    Body(new): Body<InstallFromGit>,
) -> Result<Data<ManagedSkills>> {
    let origin = Origin::Git(GitUrl { url: new.url, allow: GitAllow::HttpsOnly });
    install(&state, &caller, origin, new.replace).await
}

/// Install the skills of a folder on the server's machine; they are copied, and wait for approval.
#[utoipa::path(post, path = "/admin/skills/folder", tag = "agent", operation_id = "installSkillFolder", request_body = InstallFromFolder,
    responses((status = 200, body = Data<ManagedSkills>)))]
pub async fn install_folder(
    State(state): State<AppState>,
    caller: Caller,
    Body(new): Body<InstallFromFolder>,
) -> Result<Data<ManagedSkills>> {
    caller.require_admin()?;
    let path = std::path::PathBuf::from(&new.path);
    if !path.is_absolute() {
        return Err(ApiError::bad_request(
            "relative_path",
            "`path` must begin at the root, such as /srv/skills",
        ));
    }
    install(&state, &caller, Origin::Folder(path), new.replace).await
}

/// Allow a skill as it was reviewed. When it changes, it is off until approved again.
#[utoipa::path(post, path = "/admin/skills/{name}/approve", tag = "agent", operation_id = "approveSkill",
    params(("name" = String, Path, example = "margin")), request_body = Approve, responses((status = 200, body = Data<Done>)))]
pub async fn approve(
    State(state): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
    Body(approve): Body<Approve>,
) -> Result<Data<Done>> {
    let by = caller.user.to_string();
    let shown = name.clone();
    change(&state, &caller, ("skill.approve", shown), move |library| {
        library.approve(&name, &approve.hash, &by)
    })
    .await
}

/// Turn a skill on or off.
#[utoipa::path(patch, path = "/admin/skills/{name}", tag = "agent", operation_id = "switchSkill",
    params(("name" = String, Path, example = "margin")), request_body = Switch, responses((status = 200, body = Data<Done>)))]
pub async fn switch(
    State(state): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
    Body(switch): Body<Switch>,
) -> Result<Data<Done>> {
    let what = if switch.enabled { "skill.enable" } else { "skill.disable" };
    change(&state, &caller, (what, name.clone()), move |library| library.set_enabled(&name, switch.enabled))
        .await
}

/// Remove an installed skill.
#[utoipa::path(delete, path = "/admin/skills/{name}", tag = "agent", operation_id = "removeSkill",
    params(("name" = String, Path, example = "margin")), responses((status = 200, body = Data<Done>)))]
pub async fn remove(
    State(state): State<AppState>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Data<Done>> {
    change(&state, &caller, ("skill.remove", name.clone()), move |library| library.remove(&name)).await
}

fn managed_library(state: &AppState, caller: &Caller) -> Result<Arc<SkillLibrary>> {
    caller.require_admin()?;
    let library = state.deps.skills.clone();
    library
        .ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, "skills_off", "this server runs without skills"))
}

async fn install(
    state: &AppState,
    caller: &Caller,
    origin: Origin,
    replace: bool,
) -> Result<Data<ManagedSkills>> {
    let library = managed_library(state, caller)?;
    let replace = if replace { Replace::Yes } else { Replace::Refuse };
    let installed = blocking(move || {
        let installed = library.install(&origin, replace)?;
        let names: Vec<_> = installed.iter().map(|s| s.name.clone()).collect();
        let catalog = library.catalog();
        let skills = catalog.entries.iter().filter(|e| names.contains(&e.skill.name)).map(shown).collect();
        Ok(ManagedSkills { skills, problems: Vec::new() })
    })
    .await?;
    let installed = installed.map_err(refused)?;
    for skill in &installed.skills {
        write_down(state, caller, "skill.install", &skill.name).await?;
    }
    Ok(Data::of(installed))
}

async fn change(
    state: &AppState,
    caller: &Caller,
    (what, name): (&str, String),
    act: impl FnOnce(&SkillLibrary) -> Result<(), ManageError> + Send + 'static,
) -> Result<Data<Done>> {
    let library = managed_library(state, caller)?;
    blocking(move || act(&library)).await?.map_err(refused)?;
    write_down(state, caller, what, &name).await?;
    Ok(Data::of(Done { done: true }))
}

/// Disk and git take their time; not on the threads that answer others.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}

fn shown(entry: &Entry) -> ManagedSkill {
    let skill = &entry.skill;
    ManagedSkill {
        name: skill.name.to_string(),
        description: skill.front.description.clone(),
        source: skill.source.as_str(),
        status: match entry.status {
            Status::Active => "active",
            Status::Disabled => "disabled",
            Status::NeedsApproval => "needs_approval",
            Status::Changed => "changed",
            Status::Shadowed { .. } => "shadowed",
        },
        hash: skill.hash.clone(),
        files: skill.files.iter().map(|f| f.path.clone()).collect(),
        warnings: skill.warnings.clone(),
    }
}

fn refused(error: ManageError) -> ApiError {
    let status = match &error {
        ManageError::Io { .. } => return ApiError::internal(error),
        ManageError::Unknown { .. } => StatusCode::NOT_FOUND,
        ManageError::Exists(_) | ManageError::Changed { .. } => StatusCode::CONFLICT,
        ManageError::Shipped { .. } | ManageError::Configured { .. } => StatusCode::FORBIDDEN,
        ManageError::Load(_) | ManageError::Archive(_) | ManageError::Git(_) => StatusCode::BAD_REQUEST,
    };
    ApiError::new(status, error.code(), error.to_string())
}
