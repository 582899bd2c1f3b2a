//! Activation chains (SPEC S3, S5): which skills are active inside which. A value that is saved with the run, so a
//! crash inside a skill resumes inside it. Each change happens whole or not at all; a request made for another
//! state than the present one is refused, so two writers cannot interleave.

use serde::{Deserialize, Serialize};

use crate::levels::LoadLevel;
use crate::modifiers::{self, Base, Effective, Modifiers};
use crate::name::SkillName;
use crate::skill::Skill;

/// Skills inside skills, at most (SPEC S3).
pub const MAX_DEPTH: u32 = 3;

/// A wish to activate a skill, with the state it was made in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivationRequest {
    pub skill_name: SkillName,
    /// The tool call's id: the same request twice is one activation.
    pub activation_id: String,
    pub load_level: LoadLevel,
    pub activation_depth: u32,
    pub max_depth: u32,
    pub activation_chain: Vec<SkillName>,
}

/// Why an activation was refused. The chain is spelled out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActivationError {
    #[error("skill cycle refused: {chain}; `{name}` is already active")]
    Cycle { name: SkillName, chain: String },
    #[error("skills nested too deep (at most {max_depth}): {chain}; end one first with skill_name \"done\"")]
    TooDeep { max_depth: u32, chain: String },
    #[error("the request was made inside `{requested}` but `{present}` is active now; ask again")]
    Stale { requested: String, present: String },
    #[error("no skill is active, so none can end")]
    NothingActive,
}

impl ActivationError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cycle { .. } => "SKILL_CYCLE",
            Self::TooDeep { .. } => "SKILL_TOO_DEEP",
            Self::Stale { .. } => "SKILL_STALE",
            Self::NothingActive => "SKILL_NOT_ACTIVE",
        }
    }
}

/// One active skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub activation_id: String,
    pub skill_name: SkillName,
    /// The content it was activated with.
    pub hash: String,
    #[serde(default)]
    pub modifiers: Modifiers,
}

/// The active skills of a run, outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillState {
    frames: Vec<Frame>,
}

impl ActivationRequest {
    /// Whether the skill may be activated inside the chain (SPEC S3).
    pub fn check(&self) -> Result<(), ActivationError> {
        let spelled = || spell(self.activation_chain.iter().chain([&self.skill_name]));
        if self.activation_chain.contains(&self.skill_name) {
            return Err(ActivationError::Cycle { name: self.skill_name.clone(), chain: spelled() });
        }
        if self.activation_depth >= self.max_depth || self.activation_chain.len() >= self.max_depth as usize {
            return Err(ActivationError::TooDeep { max_depth: self.max_depth, chain: spelled() });
        }
        Ok(())
    }
}

impl SkillState {
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub fn chain(&self) -> Vec<SkillName> {
        self.frames.iter().map(|f| f.skill_name.clone()).collect()
    }

    /// `a → b`, or nothing.
    pub fn spelled(&self) -> String {
        spell(self.frames.iter().map(|f| &f.skill_name))
    }

    /// A request made in this state.
    pub fn request(
        &self,
        skill_name: SkillName,
        activation_id: impl Into<String>,
        load_level: LoadLevel,
    ) -> ActivationRequest {
        ActivationRequest {
            skill_name,
            activation_id: activation_id.into(),
            load_level,
            activation_depth: self.frames.len() as u32,
            max_depth: MAX_DEPTH,
            activation_chain: self.chain(),
        }
    }

    /// Pushes the skill, or changes nothing. The same request again is the same activation, as after a crash.
    pub fn activate(&mut self, request: &ActivationRequest, skill: &Skill) -> Result<(), ActivationError> {
        self.push(request, skill.hash.clone(), Modifiers::from(&skill.front))
    }

    /// Pushes a skill nobody has looked at yet: what the chain would be, with nothing changed by it.
    pub fn assume(&mut self, request: &ActivationRequest) -> Result<(), ActivationError> {
        self.push(request, String::new(), Modifiers::default())
    }

    fn push(
        &mut self,
        request: &ActivationRequest,
        hash: String,
        modifiers: Modifiers,
    ) -> Result<(), ActivationError> {
        let again =
            |f: &Frame| f.activation_id == request.activation_id && f.skill_name == request.skill_name;
        if self.frames.iter().any(again) {
            return Ok(());
        }
        // The depth limit is ours, whatever the request claims.
        let request = ActivationRequest { max_depth: request.max_depth.min(MAX_DEPTH), ..request.clone() };
        request.check()?;
        if request.activation_chain != self.chain() {
            let requested = spell(request.activation_chain.iter());
            return Err(ActivationError::Stale { requested, present: self.spelled() });
        }
        let ActivationRequest { activation_id, skill_name, .. } = request;
        self.frames.push(Frame { activation_id, skill_name, hash, modifiers });
        Ok(())
    }

    /// Ends the innermost skill.
    pub fn pop(&mut self) -> Result<Frame, ActivationError> {
        self.frames.pop().ok_or(ActivationError::NothingActive)
    }

    /// Ends all of them: the run is over, failed or cancelled. Innermost first.
    pub fn unwind(&mut self) -> Vec<Frame> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.reverse();
        frames
    }

    /// What holds while these skills are active.
    pub fn effective(&self, base: &Base) -> Effective {
        modifiers::effective(base, self.frames.iter().map(|f| &f.modifiers))
    }
}

fn spell<'a>(names: impl Iterator<Item = &'a SkillName>) -> String {
    names.map(SkillName::as_str).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests;
