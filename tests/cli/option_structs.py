"""The option structs of the headers that <thalweg.h> includes, as text: a line for each struct, with its members in order.

At a release their list is committed, and test_c_headers.py compares it with all later headers:

    python3 tests/cli/option_structs.py build > tests/cli/released/0.1.txt"""
import os
import re
import sys


def option_structs(build):
    """The members of each struct, "type name" in order."""
    folder, found = os.path.join(build, "generated", "include", "thalweg"), {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".h") and name != "python.h":
            with open(os.path.join(folder, name)) as file:
                text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
            for members, struct in re.findall(r"^typedef struct \w+_args \{\n(.*?)^\} (\w+_args);", text, re.S | re.M):
                found[struct] = [" ".join(member.split()) for member in members.split(";") if member.strip()]
    return found


def as_text(structs):
    return "".join("%s: %s\n" % (name, "; ".join(members)) for name, members in sorted(structs.items()))


def from_text(text):
    lines = (line.split(": ", 1) for line in text.splitlines())
    return {name: members.split("; ") for name, members in lines}


def broken(released, now):
    """What programs compiled for the released structs would find changed: gone, renamed, moved or of another type."""
    for name, members in sorted(released.items()):
        if name not in now:
            yield "%s is gone" % name
        elif now[name][:len(members)] != members:
            at = next(i for i, member in enumerate(members) if i >= len(now[name]) or now[name][i] != member)
            yield "%s: '%s' was member %d, now '%s' is; new members stand behind those of the release (since …)" % (
                name, members[at], at, now[name][at] if at < len(now[name]) else "none")


if __name__ == "__main__":
    sys.stdout.write(as_text(option_structs(sys.argv[1])))
