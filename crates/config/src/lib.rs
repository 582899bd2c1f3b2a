//! TOML file and BA_* environment become one validated Config. Nothing else reads the environment.
