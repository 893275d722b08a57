# The usual ways in. `make demo` and `make test` need nothing but Debian 12: they install what is missing.
PYTHON ?= /usr/bin/python3
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build

.PHONY: all demo test sanitize tsan check-long bench golden format install wheel sdist clean setup

all: setup
	@cmake -S . -B $(BUILD) -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > $(BUILD).log 2>&1 \
	  || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@ninja -C $(BUILD) --quiet

setup:
	@tools/setup

demo: all
	@PYTHONPATH=$(BUILD)/python $(PYTHON) examples/python/demo.py

# Without the last packages some checks are skipped.
test: all
	@tools/setup clang clang-format valgrind python3-venv python3-ipython meson || echo "without them their checks are skipped"
	@ninja -C $(BUILD) --quiet checks
	@$(PYTHON) tools/run_tests.py $(BUILD)

sanitize: setup
	@cmake -S . -B $(BUILD)-sanitize -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DTW_SANITIZE=ON > /dev/null
	@ninja -C $(BUILD)-sanitize --quiet all checks
	@$(PYTHON) tools/run_tests.py $(BUILD)-sanitize --sanitize

# Races: the C tests under ThreadSanitizer.
tsan: setup
	@cmake -S . -B $(BUILD)-tsan -G Ninja -DTW_PYTHON_EXECUTABLE=$(PYTHON) -DTW_SANITIZE_THREADS=ON -DTW_PYTHON=OFF > /dev/null
	@ninja -C $(BUILD)-tsan --quiet all checks
	@$(PYTHON) tools/run_tests.py $(BUILD)-tsan --threads

# About an hour: both sanitizers, the fuzzers for minutes, tests/long. PARTS="fuzz test_memory" runs some of it.
check-long: all
	@tools/setup chromium chromium-driver || echo "without a browser the dashboard is not attacked in one"
	@ninja -C $(BUILD) --quiet checks
	@$(PYTHON) tools/run_long.py $(BUILD) $(PARTS)

bench: all
	@PYTHONPATH=$(BUILD)/python $(PYTHON) bench/run.py

# Asks TensorFlow 2.15.1 for the tests' data again: TENSORFLOW is a Python that has it. SCRIPTS="ops_math modes" runs some of tests/golden.
golden:
	@$(PYTHON) tools/run_golden.py $(or $(TENSORFLOW),$(error TENSORFLOW=/path/to/python is needed)) $(SCRIPTS)

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: all
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)

# For pip, in dist/: one wheel for every Python from 3.11 on.
wheel: all
	@$(PYTHON) tools/build_backend.py wheel dist build=$(BUILD)

sdist:
	@$(PYTHON) tools/build_backend.py sdist dist

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-tsan $(BUILD)-wheel dist
