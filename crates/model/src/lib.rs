//! Talks to language models: two wire dialects, scripted, recorded and replayed models, token counts.
