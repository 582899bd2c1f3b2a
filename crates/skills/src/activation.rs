//! Activation chains (SPEC S3, S5): which skills are active inside which. A value that is saved with the run, so a
//! crash inside a skill resumes inside it. Each change happens whole or not at all; a request made for another
//! state than the present one is refused, so two writers cannot interleave. Skills that one turn activates together
//! stand beside each other; one that a later turn activates stands inside the newest.

use std::collections::BTreeSet;

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
    /// How many skills it stands inside of.
    #[serde(default)]
    pub depth: u32,
}

/// The active skills of a run, outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillState {
    frames: Vec<Frame>,
    /// While a turn's calls are followed: the skills all of them stand inside of.
    #[serde(skip)]
    turn_inside: Option<Vec<SkillName>>,
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

    /// The newest skill and those it stands inside of, outermost first.
    fn path(&self) -> Vec<SkillName> {
        self.path_of(self.frames.len().wrapping_sub(1)).map(|f| f.skill_name.clone()).collect()
    }

    fn path_of(&self, at: usize) -> impl Iterator<Item = &Frame> {
        let mut path = Vec::new();
        let mut below = u32::MAX;
        for frame in self.frames.iter().take(at.saturating_add(1)).rev() {
            if path.is_empty() || frame.depth < below {
                below = frame.depth;
                path.push(frame);
            }
        }
        path.into_iter().rev()
    }

    /// From here on, until `end_turn`, activations are those of one turn: beside each other, not inside.
    pub fn begin_turn(&mut self) {
        self.turn_inside = Some(self.path());
    }

    pub fn end_turn(&mut self) {
        self.turn_inside = None;
    }

    /// The skills a new one would stand inside of.
    fn inside(&self) -> Vec<SkillName> {
        self.turn_inside.clone().unwrap_or_else(|| self.path())
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
        let activation_chain = self.inside();
        ActivationRequest {
            skill_name,
            activation_id: activation_id.into(),
            load_level,
            activation_depth: activation_chain.len() as u32,
            max_depth: MAX_DEPTH,
            activation_chain,
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
        self.check_not_active(&request.skill_name)?;
        if request.activation_chain != self.inside() {
            let requested = spell(request.activation_chain.iter());
            return Err(ActivationError::Stale { requested, present: self.spelled() });
        }
        let depth = request.activation_chain.len() as u32;
        let ActivationRequest { activation_id, skill_name, .. } = request;
        self.frames.push(Frame { activation_id, skill_name, hash, modifiers, depth });
        Ok(())
    }

    /// A skill is active once, wherever it stands.
    pub fn check_not_active(&self, name: &SkillName) -> Result<(), ActivationError> {
        if self.frames.iter().any(|f| f.skill_name == *name) {
            let chain = spell(self.frames.iter().map(|f| &f.skill_name).chain([name]));
            return Err(ActivationError::Cycle { name: name.clone(), chain });
        }
        Ok(())
    }

    /// Ends the innermost skill.
    pub fn pop(&mut self) -> Result<Frame, ActivationError> {
        let ended = self.frames.pop().ok_or(ActivationError::NothingActive)?;
        if self.turn_inside.as_ref().is_some_and(|inside| inside.contains(&ended.skill_name)) {
            self.turn_inside = Some(self.path());
        }
        Ok(ended)
    }

    /// Ends all of them: the run is over, failed or cancelled. Innermost first.
    pub fn unwind(&mut self) -> Vec<Frame> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.reverse();
        frames
    }

    /// What holds while these skills are active: along a path tools narrow, beside each other skills share theirs, and
    /// the newest wish wins for the rest.
    pub fn effective(&self, base: &Base) -> Effective {
        let innermost =
            |i: &usize| self.frames.get(i + 1).is_none_or(|next| next.depth <= self.frames[*i].depth);
        let mut paths = (0..self.frames.len())
            .filter(innermost)
            .map(|i| modifiers::effective(base, self.path_of(i).map(|f| &f.modifiers)));
        let Some(mut now) = paths.next() else { return modifiers::effective(base, []) };
        for other in paths {
            let tools: BTreeSet<String> = now.tools.union(&other.tools).cloned().collect();
            let narrowed = now.narrowed.intersection(&other.narrowed).cloned().collect();
            let ignored_models = [now.ignored_models, other.ignored_models].concat();
            now = Effective { tools, narrowed, ignored_models, ..other };
        }
        now
    }
}

fn spell<'a>(names: impl Iterator<Item = &'a SkillName>) -> String {
    names.map(SkillName::as_str).collect::<Vec<_>>().join(" → ")
}

#[cfg(test)]
mod tests;
