//! The run: a pure machine and its driver, tools, context, skills, response building, telemetry.
