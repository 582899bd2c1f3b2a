# Two commands matter: `make run` and `make test`. `make help` lists the rest.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/ba-agent/target

.PHONY: help run test fmt lint build

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

build: ## build the binary
	cargo build --release -p ba-cli

run: build ## build everything and serve on loopback
	$(CARGO_TARGET_DIR)/release/ba-agent serve

lint: ## format check and clippy
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings

test: lint ## everything the tests need, then all tests
	cargo test --workspace
