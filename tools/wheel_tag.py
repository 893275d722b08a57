#!/usr/bin/env python3
"""The platform tag of a shared object, by what it really needs: the libraries and the glibc versions in its dynamic section (readelf).

usage: wheel_tag.py FILE.so

A manylinux tag names the oldest glibc with which the file works (PEP 600). Without a tag of that kind it says why, and the tag is linux_MACHINE."""
import os
import re
import subprocess
import sys

# What every Linux with that glibc has (PEP 600): parts of glibc itself, and zlib.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libmvec.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libz.so.1", "libgcc_s.so.1",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
ZLIB = (1, 2, 9)  # of 2016: older than any glibc that counts here
MARKS = {"GLIBC_ABI_DT_RELR": (2, 36)}  # packed relocations
MACHINES = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout


def numbers(text):
    return tuple(int(part) for part in text.split("."))


def needs(path):
    """(machine, libraries, versions): what a file asks of the system; versions as `GLIBC_2.17`."""
    machine = re.search(r"Machine:\s*(.*)", readelf("-h", path)).group(1).strip()
    libraries = set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)))
    asked = readelf("-V", path).partition("Version needs section")[2]
    return MACHINES.get(machine, machine), libraries, set(re.findall(r"Name: (\S+)", asked))


def tag(path):
    """(tag, complaints)."""
    machine, libraries, versions = needs(path)
    complaints = ["it needs " + name for name in sorted(libraries - EVERYWHERE)]
    oldest = (2, 17)
    for name in sorted(versions):
        kind, _, number = name.partition("_")
        if name in MARKS:
            oldest = max(oldest, MARKS[name])
        elif kind == "GLIBC" and re.fullmatch(r"[\d.]+", number):
            oldest = max(oldest, numbers(number)[:2])
        elif not (kind == "ZLIB" and numbers(number) <= ZLIB):
            complaints.append("it needs the symbols " + name)
    if "libc.so.6" not in libraries:
        complaints.append("it is not linked with glibc")
    return "linux_" + machine if complaints else "manylinux_%d_%d_%s" % (*oldest, machine), complaints


def main():
    found, complaints = tag(sys.argv[1])
    print(found)
    for line in complaints:
        print("not manylinux: " + line, file=sys.stderr)


if __name__ == "__main__":
    main()
