# spark-tui: make run, make test. Both set up what is missing; after the first time neither needs the network.
# Without compiled modules every process of every test would compile the whole program and Textual again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help run test check bench soak lock clean set-up

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

run: set-up ## open spark-tui; ARGS="memory list" passes arguments
	@.venv/bin/spark-tui $(ARGS)

test: check ## everything CI runs

check: set-up ## lint, format, types, layers, tests; ARGS passes arguments to pytest
	@.ci/check $(ARGS)

bench: set-up ## benchmarks, as ratios against references of the same run
	@.venv/bin/python -m benchmarks $(ARGS)

soak: set-up ## tests that are too long for make test
	@.venv/bin/python -m pytest -m soak $(ARGS) </dev/null || [ $$? -eq 5 ] # 5: there is none yet

lock: ## choose the pinned versions of .ci/constraints.txt anew (needs uv)
	@.ci/lock

clean: ## remove what the other targets made, the virtual environment too
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache snapshot_report.html
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

set-up:
	@.ci/setup
