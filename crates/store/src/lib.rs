//! Keeps conversations, runs, events, code, uploads and artifacts. Knows nothing of the agent.
