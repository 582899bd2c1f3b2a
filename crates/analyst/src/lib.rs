//! The offline analyst: a rule-based model that answers questions about uploaded tables.
