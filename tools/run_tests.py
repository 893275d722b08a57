#!/usr/bin/env python3
"""Run all tests of a build tree, C (ctest) and Python (pytest), and close with how many passed and failed.

usage: run_tests.py BUILD [--sanitize | --threads]

--sanitize: a build with AddressSanitizer and UBSan. --threads: one with ThreadSanitizer, which has no Python; its fuzzers have one thread and are left out.
"""
import os
import subprocess
import sys
import xml.etree.ElementTree as tree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def count(path):
    """(passed, failed, skipped) of a JUnit file; a missing one is a failure."""
    try:
        suites = tree.parse(path).getroot()
    except (OSError, tree.ParseError):
        return 0, 1, 0
    total = failed = skipped = 0
    for suite in suites.iter("testsuite"):
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0) or 0) + int(suite.get("disabled", 0) or 0)
    return total - failed - skipped, failed, skipped


def main():
    build, sanitize, threads = os.path.abspath(sys.argv[1]), "--sanitize" in sys.argv, "--threads" in sys.argv
    environment = dict(os.environ, PYTHONPATH=os.path.join(build, "python"), THALWEG_BUILD=build, PYTHONDONTWRITEBYTECODE="1")
    results = []

    for name in ("ctest", "python", "cli", "fault", "browser"):  # what an earlier run left is no result of this one
        if os.path.exists(os.path.join(build, name + ".xml")):
            os.remove(os.path.join(build, name + ".xml"))
    c_results = os.path.join(build, "ctest.xml")
    if threads:
        environment["TSAN_OPTIONS"] = "halt_on_error=1 die_after_fork=0"  # a test forks, and its child has threads
    subprocess.run(["ctest", "--test-dir", build, "-j2", "--output-on-failure", "--no-tests=error", "--output-junit", c_results]
                   + (["-E", "^fuzz/"] if threads else []), env=environment)
    results.append(count(c_results))

    if sanitize:
        library = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
        ubsan = subprocess.check_output(["gcc", "-print-file-name=libubsan.so"], text=True).strip()
        environment["LD_PRELOAD"] = library + " " + ubsan
        environment["ASAN_OPTIONS"] = "detect_leaks=0:allocator_may_return_null=1"
    for folder in () if threads else ("python", "cli", "fault", "browser"):
        if not os.path.isdir(os.path.join(ROOT, "tests", folder)):
            continue
        if sanitize and folder != "python":
            continue
        python_results = os.path.join(build, folder + ".xml")
        subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(ROOT, "tests", folder),
                        "--junitxml", python_results], env=environment, cwd=ROOT)
        results.append(count(python_results))

    passed, failed, skipped = (sum(r[i] for r in results) for i in range(3))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
