# Two commands for a newcomer: `make demo` and `make test`. Both make the venv they need.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo docs kernels test lint types unit engines browser extension test-engines test-lowest lowest test-engines-lowest clean

demo: $(STAMP)
	$(BIN)/beam-reuse demo -o demo-result --overwrite

test: lint types engines browser unit

# Pages of docs that follow from the code.
docs: $(STAMP)
	$(BIN)/python docs/make.py

# The list of kernels that are compiled before a first run: what the demo calls.
kernels: $(STAMP)
	$(BIN)/python -m tests.record_kernels beam_reuse/kernels/signatures.txt

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy
	@if cd extension && npm ci --silent >/dev/null 2>&1; then npm run --silent types; \
	else echo "npm has not installed TypeScript: types of the extension are not checked."; fi

# What tests on Flink need; without it they are skipped, and say what is missing.
engines: $(STAMP)
	@if command -v java >/dev/null && command -v mvn >/dev/null; then \
	    $(BIN)/beam-reuse engines flink || echo "Tests on Flink will be skipped."; \
	else echo "Java or Maven is not installed: tests on Flink will be skipped."; fi

# What tests in a browser need: Chromium, from Debian's packages where that is quick, and axe-core,
# of whose package the script alone is used. Without them they are skipped, and say so.
browser: $(STAMP)
	@$(BIN)/pip install -q --no-deps 'axe-playwright-python>=0.1.7,<0.2' \
	    || echo "axe-core is not installed: tests of accessibility will be skipped."
	@if command -v "$${CHROMIUM:-chromium}" >/dev/null || command -v chromium-browser >/dev/null \
	    || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && (timeout 60 apt-get update -q && DEBIAN_FRONTEND=noninteractive timeout 300 \
	        apt-get install -q -y --no-install-recommends chromium) >/dev/null 2>&1; then \
	    echo "Chromium is installed."; \
	else echo "Chromium is not installed: tests in a browser will be skipped."; fi

# The browser extension: a folder and a zip for each browser, the same bytes from the same sources.
extension: $(STAMP)
	$(BIN)/python extension/build.py dist/extension

unit: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadgroup

# Whole runs on real clusters on this machine, which are fetched first.
test-engines: $(STAMP)
	$(BIN)/beam-reuse engines $(ENGINES)
	$(PRISM)
	$(BIN)/pytest -m engines -x tests/engines

ENGINES = flink flink-cluster flink-1.20 flink-1.20-cluster spark spark-cluster

# Prism is built where Go is; without it its test is skipped, and says what is missing.
PRISM = @if command -v go >/dev/null; then \
    $(BIN)/beam-reuse engines prism || echo "The test on Prism will be skipped."; \
else echo "Go is not installed: the test on Prism will be skipped."; fi

# The same tests with the lowest versions that pyproject.toml allows.
test-lowest: lowest
	$(VENV)-lowest/bin/pytest -n 2 --dist loadgroup

test-engines-lowest: lowest
	$(VENV)-lowest/bin/beam-reuse engines $(ENGINES)
	$(VENV)-lowest/bin/pytest -m "engines or not engines" -x tests/engines

lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/pip install -q uv
	$(VENV)-lowest/bin/uv pip install -q --python $(VENV)-lowest/bin/python \
	    --resolution lowest-direct -e '.[test]'

$(STAMP): pyproject.toml
	@echo "Installing beam_reuse and what it needs into $(VENV): two or three minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	PYTHONWARNINGS=ignore $(BIN)/pip install -q -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-lowest demo-result
