//! Which output level a call gets (SPEC E2).

use ba_protocol::OutputLevel;

/// Above this share of the context window every result is brief.
const TIGHT_WINDOW: f64 = 0.8;

#[derive(Debug, Clone, Copy, Default)]
pub struct LevelInputs {
    /// Said in the call.
    pub explicit: Option<OutputLevel>,
    /// The tool's configured default.
    pub tool_default: Option<OutputLevel>,
    /// The query's, or the configuration's, default.
    pub global: OutputLevel,
    /// Share of the model's context window in use, 0 to 1.
    pub window_share: f64,
}

/// Explicit → tool default → global default; and brief when the window is nearly full.
pub fn decide(inputs: LevelInputs) -> OutputLevel {
    if inputs.window_share > TIGHT_WINDOW {
        return OutputLevel::Brief;
    }
    inputs.explicit.or(inputs.tool_default).unwrap_or(inputs.global)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_steps_in_order() {
        let all = LevelInputs {
            explicit: Some(OutputLevel::Full),
            tool_default: Some(OutputLevel::Brief),
            global: OutputLevel::Standard,
            window_share: 0.5,
        };
        assert_eq!(decide(all), OutputLevel::Full);
        assert_eq!(decide(LevelInputs { explicit: None, ..all }), OutputLevel::Brief);
        assert_eq!(decide(LevelInputs { explicit: None, tool_default: None, ..all }), OutputLevel::Standard);
        assert_eq!(decide(LevelInputs { window_share: 0.81, ..all }), OutputLevel::Brief);
        assert_eq!(decide(LevelInputs { window_share: 0.8, ..all }), OutputLevel::Full);
    }
}
