# Two commands matter: `make run` and `make test`. `make help` lists the rest.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/ba-agent/target

.PHONY: help run test fmt lint build page page-test

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

page: web/dist/index.html ## build the page

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund

web/dist/index.html: web/node_modules/.package-lock.json web/index.html web/vite.config.ts $(shell find web/src web/public -type f)
	cd web && npm run build
	@touch $@

page-test: page ## types, unit tests and browser tests of the page
	cd web && npm run check && npm test && npm run test:browser

build: page ## build the page and the binary
	cargo build --release -p ba-cli

run: build ## build everything and serve on loopback
	$(CARGO_TARGET_DIR)/release/ba-agent serve

lint: ## format check and clippy
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings

test: lint page-test ## everything the tests need, then all tests
	cargo test --workspace
