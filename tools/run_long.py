#!/usr/bin/env python3
"""The long run: sanitizers, fuzzers for minutes, and every module of tests/long; closes with one line per promise and how often it was tried.

usage: run_long.py BUILD [PART...]

PART is `sanitize`, `tsan`, `fuzz`, `pjrt` or a piece of the name of a module of tests/long; without one everything runs. BUILD is built already; the
builds with sanitizers are made beside it. A module gets TIMEOUT seconds, or as many as it says itself by a line `TIMEOUT = ...`; one that takes longer
is ended with all its processes, and the test that hung is named. What a module wrote stands in BUILD/long/MODULE.log.
"""
import concurrent.futures
import glob
import os
import re
import signal
import subprocess
import sys
import time

from run_tests import ROOT, count

TIMEOUT = 900
FUZZ_SECONDS = 60
SIDE_BY_SIDE = 2
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
PROMISE = re.compile(r"PROMISE: (.+): (\d+) tried")
TEST = re.compile(r"^(tests/long/\S+::\S+)", re.M)


class Part:
    """What became of one part: counts, promises as {sentence: count}, and what is to be said of it."""
    def __init__(self, name, counts, promises, words=()):
        self.name, self.counts, self.promises, self.words = name, counts, promises, list(words)


def run(command, log, seconds, environment):
    """The exit code, None if it had to be ended. All its processes end with it."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=ROOT, env=environment, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
            process.send_signal(signal.SIGABRT)  # pytest writes where it stands
            time.sleep(2)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return code


def text_of(log):
    with open(log, errors="replace") as f:
        return f.read()


def summed(text):
    promises = {}
    for sentence, tried in PROMISE.findall(text):
        promises[sentence] = promises.get(sentence, 0) + int(tried)
    return promises


def make(target, build, folder, sentence):
    """A target of the Makefile that ends with the usual line of counts."""
    log = os.path.join(folder, target + ".log")
    code = run(["make", "BUILD=" + os.path.relpath(build, ROOT), target], log, 3 * 3600, dict(os.environ, PYTHONUNBUFFERED="1"))
    found = SUMMARY.findall(text_of(log))
    counts = tuple(int(n) for n in found[-1]) if found else (0, 1, 0)
    words = [] if code == 0 and found else ["exit code %s, see %s" % (code, log)]
    if words and not counts[1]:
        counts = (counts[0], 1, counts[2])
    return Part(target, counts, {sentence: sum(counts[:2])}, words)


def fuzz(program, folder):
    name = os.path.basename(program)
    log = os.path.join(folder, name + ".log")
    code = run([program, str(FUZZ_SECONDS), "2"], log, FUZZ_SECONDS * 5, dict(os.environ))
    tried = re.search(r"(\d+) seeds, (\d+) mutations", text_of(log))
    words = [] if code == 0 else ["exit code %s, see %s, which names the input" % (code, log)]
    sentence = "damaged input never harms the reader of %s" % name[len("fuzz_"):].replace("_", " ")
    return Part(name, (1, 0, 0) if code == 0 else (0, 1, 0), {sentence: int(tried[2]) if tried else 0}, words)


def module(path, build, folder):
    name = os.path.basename(path)[:-3]
    log, results = os.path.join(folder, name + ".log"), os.path.join(folder, name + ".xml")
    if os.path.exists(results):
        os.remove(results)
    own = re.search(r"^TIMEOUT = (\d+)", text_of(path), re.M)
    seconds = int(own[1]) if own else TIMEOUT
    environment = dict(os.environ, PYTHONPATH=os.path.join(build, "python"), THALWEG_BUILD=build, PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1")
    code = run([sys.executable, "-m", "pytest", "-v", "-s", "-rs", "--tb=short", "-p", "no:cacheprovider", os.path.relpath(path, ROOT), "--junitxml", results],
               log, seconds, environment)
    text, words = text_of(log), []
    tests = TEST.findall(text)
    last = tests[-1] if tests else "its beginning"
    if code is None:
        words = ["hung: ended after %d s at %s, see %s" % (seconds, last, log)]
    elif code not in (0, 1):
        words = ["exit code %d at %s, see %s" % (code, last, log)]
    elif code:
        words = re.findall(r"^(?:FAILED|ERROR) .*$", text, re.M)[-20:] + ["see " + log]
    for line in re.findall(r"^SKIPPED .*$", text, re.M):
        print(line, flush=True)
    counts = count(results)
    if code != 0 and not counts[1]:
        counts = (counts[0], 1, counts[2])
    promises = summed(text)
    if not promises:
        words.append("states no promise")
    return Part(name, counts, promises, words)


def pjrt(build, folder):
    """tests/pjrt, on the plug-in for processors; skipped where that can't be had."""
    log, results = os.path.join(folder, "pjrt.log"), os.path.join(folder, "pjrt.xml")
    if os.path.exists(results):
        os.remove(results)
    code = run([sys.executable, os.path.join(ROOT, "tools", "test_pjrt.py"), build, "--junitxml", results], log, TIMEOUT, dict(os.environ))
    words = [] if code == 0 else ["exit code %s, see %s" % (code, log)]
    if code == 0 and not os.path.exists(results):
        return Part("pjrt", (0, 0, 1), {}, [text_of(log).strip().splitlines()[-1]])
    counts = count(results)
    return Part("pjrt", counts, {"ops and programs on a PJRT plug-in give the processor's numbers": sum(counts[:2])}, words)


def jobs(build, folder, wanted):
    """(name, work, alone?) of the parts that are wanted."""
    def chosen(name):
        return not wanted or any(w in name for w in wanted)

    work = []
    if chosen("sanitize"):
        work.append(("sanitize", lambda: make("sanitize", build, folder, "no test does what AddressSanitizer or UBSan forbid"), True))
    if chosen("tsan"):
        work.append(("tsan", lambda: make("tsan", build, folder, "no C test has a race that ThreadSanitizer sees"), True))
    programs = sorted(glob.glob(build + "-sanitize/tests/fuzz_*")) or sorted(glob.glob(build + "/tests/fuzz_*"))
    for program in programs:
        if chosen(os.path.basename(program)) and not program.endswith(".input"):
            work.append((os.path.basename(program), lambda p=program: fuzz(p, folder), False))
    if chosen("pjrt"):
        work.append(("pjrt", lambda: pjrt(build, folder), False))
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "long", "test_*.py"))):
        name = os.path.basename(path)[:-3]
        if chosen(name):
            work.append((name, lambda p=path: module(p, build, folder), False))
    return work


def told(name, work):
    start = time.monotonic()
    part = work()
    print("%s: %d passed, %d failed, %d skipped in %d s" % (name, *part.counts, time.monotonic() - start), flush=True)
    return part


def main():
    build, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    folder = os.path.join(build, "long")
    os.makedirs(folder, exist_ok=True)
    parts = [told(name, work) for name, work, alone in jobs(build, folder, wanted) if alone]
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:  # the sanitizers' build has its fuzzers by now
        futures = [pool.submit(told, name, work) for name, work, alone in jobs(build, folder, wanted) if not alone]
        parts += [f.result() for f in futures]
    print()
    for part in parts:
        for sentence, tried in part.promises.items():
            print("%s %s: %d tried" % ("broken:" if part.counts[1] else "holds: ", sentence, tried))
    for part in parts:
        for words in part.words:
            print("%s: %s" % (part.name, words))
    passed, failed, skipped = (sum(p.counts[i] for p in parts) for i in range(3))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
