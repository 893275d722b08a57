# The usual ways in. `make demo` and `make test` need nothing but Debian 12: they, and `make setup`, install what is missing. The others install
# nothing on the system but what `make install` says.
PYTHON ?= /usr/bin/python3
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build

.PHONY: all demo test test-browser test-pjrt test-workers sanitize tsan check-long bench golden docs format install uninstall cross-aarch64 wheel sdist clean check setup

all: check
	@cmake -S . -B $(BUILD) -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > $(BUILD).log 2>&1 \
	  || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@ninja -C $(BUILD) --quiet

check:
	@PYTHON=$(PYTHON) tools/setup --check

# PACKAGES="chromium chromium-driver" are more that shall be there.
setup:
	@tools/setup $(PACKAGES)

demo: setup
	@$(MAKE) --no-print-directory all
	@PYTHONPATH=$(BUILD)/python $(PYTHON) examples/python/demo.py

# Without the last packages some checks are skipped.
test: setup
	@$(MAKE) --no-print-directory all
	@tools/setup clang clang-format valgrind python3-venv python3-ipython mypy meson chromium chromium-driver python3-selenium || echo "without them their checks are skipped"
	@ninja -C $(BUILD) --quiet checks
	@$(PYTHON) tools/run_tests.py $(BUILD)

# The dashboard in Debian's Chromium; a part of `make test`.
test-browser: setup
	@$(MAKE) --no-print-directory all
	@tools/setup chromium chromium-driver python3-selenium
	@PYTHONPATH=$(BUILD)/python THALWEG_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -p no:cacheprovider tests/browser

# On a PJRT plug-in: the one of THALWEG_PJRT_PLUGIN, else that of PyPI's package xla-cpu-pjrt, in a scratch environment.
test-pjrt: all
	@$(PYTHON) tools/test_pjrt.py $(BUILD)

# Several processes that train together: quick ones, a part of `make test`, and those of the long run.
test-workers: all
	@ninja -C $(BUILD) --quiet cluster_test_cluster && $(BUILD)/tests/cluster_test_cluster
	@PYTHONPATH=$(BUILD)/python THALWEG_BUILD=$(abspath $(BUILD)) $(PYTHON) -m pytest -q -p no:cacheprovider tests/python/test_workers.py tests/long/test_all_workers.py

sanitize: check
	@cmake -S . -B $(BUILD)-sanitize -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DTW_SANITIZE=ON > /dev/null
	@ninja -C $(BUILD)-sanitize --quiet all checks
	@$(PYTHON) tools/run_tests.py $(BUILD)-sanitize --sanitize

# Races: the C tests under ThreadSanitizer.
tsan: check
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DTW_SANITIZE_THREADS=ON -DTW_PYTHON=OFF > /dev/null
	@ninja -C $(BUILD)-tsan --quiet all checks
	@$(PYTHON) tools/run_tests.py $(BUILD)-tsan --threads

# About an hour: both sanitizers, the fuzzers for minutes, tests/long. PARTS="fuzz test_memory" runs some of it.
check-long: all
	@ninja -C $(BUILD) --quiet checks
	@$(PYTHON) tools/run_long.py $(BUILD) $(PARTS)

bench: all
	@PYTHONPATH=$(BUILD)/python $(PYTHON) bench/run.py

# Asks TensorFlow 2.15.1 for the tests' data again: TENSORFLOW is a Python that has it. SCRIPTS="ops_math modes" runs some of tests/golden.
golden:
	@$(PYTHON) tools/run_golden.py $(or $(TENSORFLOW),$(error TENSORFLOW=/path/to/python is needed)) $(SCRIPTS)

# The reference and the guides as HTML: build/docs/index.html.
docs: all
	@$(PYTHON) tools/make_docs.py . $(BUILD)/python $(BUILD)/docs

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --strip --prefix $(PREFIX)

uninstall: all
	@DESTDIR=$(DESTDIR) tools/uninstall $(BUILD) $(PREFIX)

# For 64-bit ARM, without Python; the quick C tests run under qemu. docs/building.md says what it needs.
# base/test_pool is not among them: it does not end within minutes there.
QUICK ?= ^(base/test_(base|error|file|temps)|codec/.*|tensor/.*)$$
cross-aarch64:
	@cmake -S . -B $(BUILD)-aarch64 -G Ninja -DCMAKE_TOOLCHAIN_FILE=tools/aarch64.cmake -DTW_PYTHON=OFF -DTW_PYTHON_EXECUTABLE=$(PYTHON) > /dev/null
	@ninja -C $(BUILD)-aarch64 --quiet all checks
	@ctest --test-dir $(BUILD)-aarch64 -R '$(QUICK)' --output-on-failure

# For pip, in dist/: one wheel for every Python from 3.11 on.
wheel: all
	@$(PYTHON) tools/build_backend.py wheel dist build=$(BUILD)

sdist:
	@$(PYTHON) tools/build_backend.py sdist dist

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-tsan $(BUILD)-wheel $(BUILD)-aarch64 dist
