"""Programs in pages of documentation: the blocks of a page, and how its programs are run."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
GUIDE = os.path.join(ROOT, "docs", "guide")
STRICT = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]


def subjects():
    """The pages of docs/guide that have programs."""
    return sorted(name[:-3] for name in os.listdir(GUIDE) if name.endswith(".md") and name != "README.md")


def blocks(*path):
    """(language, text) of every block of code in a page, in order."""
    with open(os.path.join(ROOT, *path)) as file:
        return re.findall(r"^```(\w*)\n(.*?)^```$", file.read(), re.M | re.S)


def block(subject, language):
    (text,) = [text for kind, text in blocks("docs", "guide", subject + ".md") if kind == language]
    return text


def run(command, folder, timeout=600, **more):
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILD, "python"), PYTHONDONTWRITEBYTECODE="1",
                       PATH=os.path.join(BUILD, "bin") + os.pathsep + os.environ["PATH"], **more)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def run_python(text, folder):
    (folder / "program.py").write_text(text)
    return run([sys.executable, "-u", "program.py"], folder)


def compile_c(text, folder, compiler="gcc"):
    """The program, compiled without a warning against the build tree; its path."""
    (folder / "program.c").write_text(text)
    run([compiler, *STRICT, "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(BUILD, "generated", "include"), "program.c", "-o", "program",
         os.path.join(BUILD, "lib", "libthalweg.so"), "-Wl,-rpath," + os.path.join(BUILD, "lib"), "-lm"], folder)
    return str(folder / "program")


def check_memory(text, folder):
    """A C program under valgrind: nothing is used wrongly, and after tw_shutdown nothing is lost. What glibc keeps of libraries that were loaded, and
    settings of devices, may still be reached."""
    program = compile_c("#include <stdlib.h>\n" + text + "\n__attribute__((constructor)) static void end_all(void)\n{\n    atexit(tw_shutdown);\n}\n", folder)
    return run(["valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect,possible", "--error-exitcode=9", program], folder,
               timeout=1500)
