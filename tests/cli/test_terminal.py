"""thalweg at a terminal: colours, NO_COLOR, progress, lines that are typed; and names that are nearly right."""
import os
import pty
import select
import sys
import time

import pytest

from test_command import GOLDEN, PROGRAM, ROOT, thalweg

HALF = os.path.join(ROOT, "tests", "golden", "serve", "half", "1")


def at_terminal(*arguments, lines=(), **variables):
    """What a terminal shows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(GOLDEN)
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        os.execve(PROGRAM, [PROGRAM, *arguments], {**environment, "TERM": "xterm", **variables})
    shown, rest, end = b"", list(lines), time.monotonic() + 120
    while time.monotonic() < end:
        if rest and shown.endswith(b">>> "):
            os.write(terminal, rest.pop(0).encode() + b"\n")
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")


def test_colours():
    assert at_terminal("bogus").startswith("\033[1;31mthalweg:\033[0m there is no command 'bogus'\n")
    assert "\033[1mvariables:\n\033[0m" in at_terminal("model", "show", HALF)
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert at_terminal("bogus", **plain).startswith("thalweg: there is no command")
        assert "\033" not in at_terminal("model", "show", HALF, **plain)
    assert at_terminal("bogus", NO_COLOR="").startswith("\033[1;31m")  # set, but empty: as if it were not
    assert "\033" not in thalweg("model", "show", HALF)[1] and "\033" not in thalweg("bogus")[2]


def test_lines_that_are_typed():
    shown = at_terminal("run", THALWEG_PYTHON=sys.executable, lines=["(tf.constant([1, 2]) + 1).numpy().tolist()", "import tensorflow; tensorflow is tf", "1/0", "exit()"])
    assert "`tf` is there" in shown and "[2, 3]\n" in shown and "True\n" in shown and "ZeroDivisionError" in shown


@pytest.mark.parametrize("arguments,words", [
    (["help", "tf.nn.sofmax"], "there is no command or function 'tf.nn.sofmax'; did you mean 'tf.nn.softmax'?"),
    (["help", "nn.sofmax"], "did you mean 'nn.softmax'?"),
    (["help", "chekpoint"], "did you mean 'checkpoint'?"),
    (["tensorboard", "--logdri", "x"], "there is no option '--logdri'; did you mean '--logdir'?"),
    (["checkpoint", "cat", "plain", "inner/xx"], "there is no tensor 'inner/xx'; did you mean 'inner/x/.ATTRIBUTES/VARIABLE_VALUE'?"),
    (["checkpoint", "cat", "names", "weigth"], "did you mean 'weight'?"),
    (["model", "run", HALF, "xx=[1]", "--signature", "serving_default"], ""),
    (["serv"], "did you mean 'serve'?"),
])
def test_near_misses(arguments, words):
    code, out, err = thalweg(*arguments)
    assert code in (1, 2) and out == "" and words in err
