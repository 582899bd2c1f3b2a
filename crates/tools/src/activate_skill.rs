//! `activate_skill` (SPEC T6, S2–S3): gives the model a skill's instructions, or one of its files. Checks the chain;
//! the run itself moves it, together with this tool's answer. Never runs anything of a skill.

use std::sync::Arc;

use async_trait::async_trait;
use ba_agent::pipeline::Counter;
use ba_agent::{Effects, ToolContext, ToolError, ToolOutput, TypedTool};
use ba_protocol::{OutputLevel, Said, ToolErrorType, ToolFailure};
use ba_skills::levels::{self, LoadLevel};
use ba_skills::{ActivationError, DONE, Skill, SkillLibrary};
use schemars::JsonSchema;
use serde::Deserialize;

/// Tokens of instructions or of one file: an observation holds a little more.
const BUDGET: usize = 3_500;

pub struct ActivateSkill {
    library: Arc<SkillLibrary>,
    count: Counter,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivateSkillArgs {
    /// 技能名称（见“可用技能”）；用 "done" 结束当前最内层的技能。
    skill_name: String,
    /// 只读取该技能的一个资源文件，如 references/method.md；省略则激活技能并返回全部说明。
    #[serde(default)]
    resource: Option<String>,
}

impl ActivateSkill {
    pub fn new(library: Arc<SkillLibrary>, count: Counter) -> Self {
        Self { library, count }
    }

    fn find(&self, name: &str) -> Result<Arc<Skill>, ToolFailure> {
        let catalog = self.library.catalog();
        let found = catalog.active(name).filter(|s| !s.front.disable_model_invocation);
        found.cloned().ok_or_else(|| ToolFailure::not_found("SKILL_NOT_FOUND", catalog.why_not(name)))
    }

    fn activate(&self, ctx: &ToolContext, skill: &Skill) -> Result<ToolOutput, ToolFailure> {
        if ctx.level == OutputLevel::Brief {
            let message = "instructions do not fit a brief result, or the context window is nearly full";
            return Err(ToolFailure::new(ToolErrorType::ResourceError, "SKILL_NO_ROOM", message)
                .with_hint("go on without the skill, or ask again without response_format brief"));
        }
        let chain = &ctx.skills;
        let request = chain.request(skill.name.clone(), &ctx.tool_call_id, LoadLevel::Instructions);
        request.check().and_then(|()| chain.check_not_active(&skill.name)).map_err(|e| refused(&e))?;
        let text = levels::instructions(skill, BUDGET, &*self.count);
        let outer: Vec<&str> = request.activation_chain.iter().map(|name| name.as_str()).collect();
        let inside =
            if outer.is_empty() { String::new() } else { format!(" inside {}", outer.join(" → ")) };
        let code = if outer.is_empty() { "skill_activated" } else { "skill_activated_inside" };
        let said = Said::new(code).with("skill", skill.name.as_str()).with("outer", outer.join(" → "));
        let mut output =
            ToolOutput::text(format!("skill `{}` activated{inside}", skill.name), text).saying(said);
        output.is_skill = true;
        if let Some(tools) = &skill.front.allowed_tools {
            let tools = if tools.is_empty() { "（无）".to_owned() } else { tools.join(", ") };
            output = output.with_note(format!("激活期间只可使用：{tools}, activate_skill"));
        }
        Ok(output)
    }

    fn end(ctx: &ToolContext) -> Result<ToolOutput, ToolFailure> {
        let mut chain = ctx.skills.clone();
        let frame = chain.pop().map_err(|e| refused(&e))?;
        let left = chain.spelled();
        let left =
            if left.is_empty() { "没有激活的技能".to_owned() } else { format!("仍在：{left}") };
        let said = Said::new("skill_ended").with("skill", frame.skill_name.as_str());
        Ok(ToolOutput::text(format!("skill `{}` ended", frame.skill_name), left).saying(said))
    }
}

fn refused(error: &ActivationError) -> ToolFailure {
    ToolFailure::validation(error.code(), error.to_string())
}

#[async_trait]
impl TypedTool for ActivateSkill {
    type Args = ActivateSkillArgs;

    const NAME: &'static str = "activate_skill";

    fn description(&self) -> String {
        "激活一个技能，取得它的分析方法、示例、常见错误与脚本；或读取它的一个资源文件。遇到“可用技能”所列的任务时，先激活再分析。\
         技能可以嵌套（最多 3 层，不能循环）；做完后以 skill_name \"done\" 结束。"
            .to_owned()
    }

    // Never answered from cache: a skill may have been changed, disabled or ended since.
    fn effects(&self, _args: &Self::Args) -> Effects {
        Effects::Changes
    }

    fn default_level(&self) -> Option<OutputLevel> {
        Some(OutputLevel::Standard)
    }

    async fn run(&self, ctx: &ToolContext, args: Self::Args) -> Result<ToolOutput, ToolError> {
        let name = args.skill_name.trim();
        let resource = args.resource.as_deref().map(str::trim).filter(|r| !r.is_empty());
        match resource {
            None if name == DONE => Ok(Self::end(ctx)?),
            None => Ok(self.activate(ctx, self.find(name)?.as_ref())?),
            Some(path) => {
                let skill = self.find(name)?;
                let text = levels::resource(&skill, path, BUDGET, self.library.limits(), &*self.count)
                    .map_err(|e| ToolFailure::not_found("SKILL_RESOURCE_NOT_FOUND", e.to_string()))?;
                let said = Said::new("skill_resource").with("path", path).with("skill", name);
                let mut output = ToolOutput::text(format!("{path} of skill `{name}`"), text).saying(said);
                output.is_skill = true;
                Ok(output)
            }
        }
    }
}

#[cfg(test)]
mod tests;
