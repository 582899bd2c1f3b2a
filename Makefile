# Two commands matter: `make run` and `make test`. `make help` lists the rest.
# Build output is shared by all checkouts of a person; set CARGO_TARGET_DIR to keep it elsewhere.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/ba-agent/target
# Cargo's own messages are enough; npm's advertisements are not.
export NPM_CONFIG_FUND = false
export NPM_CONFIG_AUDIT = false
export NPM_CONFIG_UPDATE_NOTIFIER = false

.PHONY: help run deps build page test dist deny attack corpus lint fmt bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

run: deps ## build the page and the binary, prepare Python, and serve on loopback
	@scripts/first-start
	@$(CARGO_TARGET_DIR)/release/ba-agent serve

deps: ## look for what is needed beside Rust, Node and Python; install it when root
	@scripts/deps run

build: page ## build the page, then the binary with the page inside
	@scripts/own-target
	cargo build --release --locked -p ba-cli

page: web/dist/index.html ## build the page

web/node_modules/.ready: web/package.json web/package-lock.json
	cd web && npm ci --no-progress
	@touch $@

web/dist/index.html: web/node_modules/.ready web/index.html web/vite.config.ts $(shell find web/src web/public -type f 2>/dev/null)
	cd web && npm run build
	@touch $@

test: ## everything the tests need, then format, lints, all tests and the page's tests
	@scripts/test

dist: ## one tar with everything inside that installs without a network; docs/install.md
	@scripts/dist

deny: ## licences, bans and sources of all crates (needs cargo-deny)
	cargo deny --locked check licenses bans sources

attack: ## ten times every byte budget with memory watched; figures go to docs/security.md
	@scripts/long-run

corpus: ## read the corpora of messy files and write docs/corpus.md
	@scripts/test-tables docs

lint: ## format check and clippy, warnings denied
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

fmt: ## format the code
	cargo fmt

bench: ## the benchmarks; figures go to docs/benchmarks.md
	cargo bench --workspace

clean: ## remove what the page's build made
	rm -rf web/dist web/node_modules
