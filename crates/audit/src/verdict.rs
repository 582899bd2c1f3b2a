//! The words of the verdict, which are the API's.

pub use ba_protocol::audit::{Audit, FigureProof, FigureState as State, NotAudited, Operand, Proof};
