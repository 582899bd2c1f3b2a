//! The shipped skills, loaded as a server loads them.
