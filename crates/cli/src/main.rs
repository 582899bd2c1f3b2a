//! The `ba-agent` command. Wires everything together; the only place with `anyhow`.

fn main() {}
