"""The tree keeps its own laws: folders include only folders below them, files stay short, no marks are left over."""
import os
import re
import shutil
import subprocess

import pytest

import thalweg as tf

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SRC = os.path.join(ROOT, "src")


def layers():
    with open(os.path.join(SRC, "LAYERS")) as f:
        return [l.strip() for l in f if l.strip() and not l.startswith(("#", "^"))]


def dispatch():
    """The symbols that may be used below the folder that defines them, each with its reason."""
    with open(os.path.join(SRC, "LAYERS")) as f:
        return dict(l[1:].strip().split(": ", 1) for l in f if l.startswith("^"))


def sources(top, endings):
    for folder, _, names in os.walk(os.path.join(ROOT, top)):
        for name in sorted(names):
            if name.endswith(endings):
                yield os.path.join(folder, name)


def test_every_folder_has_a_place():
    assert sorted(d for d in os.listdir(SRC) if os.path.isdir(os.path.join(SRC, d))) == sorted(layers())


def test_hot_files_are_there():
    with open(os.path.join(SRC, "HOT")) as f:
        names = [l.strip() for l in f if l.strip() and not l.startswith("#")]
    assert [n for n in names if not (os.path.isdir if n.endswith("/") else os.path.isfile)(os.path.join(SRC, n))] == []


def test_includes_go_down():
    order = {name: i for i, name in enumerate(layers())}
    bad = []
    for path in sources("src", (".c", ".h", ".inc")):
        own = os.path.relpath(path, SRC).split(os.sep)[0]
        if own not in order:
            continue
        with open(path) as f:
            for number, line in enumerate(f, 1):
                m = re.match(r'\s*#\s*include\s+"([\w/.]+)"', line)
                if m and "/" in m.group(1):
                    other = m.group(1).split("/")[0]
                    if other not in order or order[other] > order[own]:
                        bad.append("%s:%d includes %s" % (os.path.relpath(path, ROOT), number, m.group(1)))
    assert not bad, "\n".join(bad)


NAMES_OPS = {  # files outside of src/op that compare with ops by name, and why no column of the op's row is read instead
    "src/exec/pass_adam.c": "a pattern of several ops",
    "src/exec/pass_entropy.c": "a pattern of several ops",
    "src/exec/pass_epilogue.c": "a pattern of several ops",
    "src/exec/pass_pool.c": "a pattern of several ops",
    "src/exec/pass_tidy.c": "a pattern of several ops",
    "src/function/cond.c": "the ops stand in this file",
    "src/function/while_gradient.c": "the pattern of a counter",
    "src/api/image/image_color.c": "chooses among three ops that it calls itself",
    "src/api/static_value.c": "the ops that TensorFlow's constant_value knows",
    "src/lookup/graph.c": "the ops that fill tables",
    "src/keras/activation.c": "the one activation whose rank Keras checks",
}


def test_rows_are_asked_instead_of_names_compared():
    found = set()
    for top in ("src", "python", "programs"):
        for path in sources(top, (".c", ".h")):
            name = os.path.relpath(path, ROOT)
            with open(path) as f:
                if not name.startswith("src/op/") and re.search("[!=]= &tw__op_", f.read()):
                    found.add(name)
    assert found == set(NAMES_OPS)


def test_messages_are_composed_in_one_place():
    """No text says which op failed: the door does."""
    bad = [os.path.relpath(path, ROOT) for top in ("src", "python") for path in sources(top, (".c", ".h", ".py")) if "[Op:" in open(path).read()]
    assert bad == ["src/base/error.c"]


WALKS_FIELDS = {  # files outside of src/codec that walk over a message's fields one by one, and why
    "src/format/record/example.c": "lists of features are read as TensorFlow's parser reads them",
    "python/extension/message_wire.c": "messages of Python keep the fields that no table has",
}


def test_field_numbers_stand_in_one_table():
    """Numbers of fields are in src/codec/messages.txt alone: nobody else reads fields, or writes one by a number."""
    walks, bad = set(), []
    writes = re.compile(r"(tw__proto_add_\w+|tw__open|tw__put_(?:text|message|entry)|tw__structured_write|tw__(?:shape|tensor|attr)_message_write\w*"
                        r"|tw__graph_write_nodes)\([^,;]*, *\d|\bnumber [!=]= \d+ && \w+[.>-]+wire|\d << 3 \|")
    for top in ("src", "python"):
        for path in sources(top, (".c", ".h", ".inc")):
            name = os.path.relpath(path, ROOT)
            with open(path) as f:
                text = f.read()
            if name.startswith("src/codec/"):
                continue
            if "tw__proto_next(" in text:
                walks.add(name)
            bad += ["%s: %s" % (name, m.group()) for m in writes.finditer(text)]
    assert not bad, "\n".join(bad)
    assert walks == set(WALKS_FIELDS)


def symbols():
    """Of every object of src/: its source, whether it defines the symbol or needs it, and the symbol."""
    top = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))), "CMakeFiles/thalweg_objects.dir/src")
    objects = []
    for folder, _, names in os.walk(top):
        for name in names:
            source = os.path.relpath(os.path.join(folder, name), top)[:-2]
            if name.endswith(".o") and os.path.exists(os.path.join(SRC, source)):
                objects.append(source + ".o")
    if not objects:
        pytest.skip("the build has no objects")
    listing = subprocess.run(["nm", "-A", "-g", *objects], cwd=top, capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        source, rest = line.split(":", 1)
        *_, kind, symbol = rest.split()
        yield source[:-2], "defines" if kind not in "Uwv" else "needs", symbol


@pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed")
def test_symbols_go_down():
    order = {name: i for i, name in enumerate(layers())}
    found = list(symbols())
    home = {symbol: source for source, kind, symbol in found if kind == "defines"}
    up = {(source, symbol) for source, kind, symbol in found if kind == "needs" and symbol in home
          and order[home[symbol].split("/")[0]] > order[source.split("/")[0]]}
    allowed = dispatch()
    bad = ["%s uses %s of %s" % (source, symbol, home[symbol]) for source, symbol in sorted(up) if symbol not in allowed]
    assert not bad, "\n".join(bad)
    assert set(allowed) == {symbol for _, symbol in up}, "LAYERS lists what nobody uses"


def test_the_extension_includes_one_inner_header():
    found = set()
    for path in sources("python", (".c", ".h")):
        with open(path) as f:
            found.update(re.findall(r'^\s*#\s*include\s+"([\w/.]+)"', f.read(), re.M))
    own = {os.path.basename(path) for top in ("python", "programs") for path in sources(top, (".h",))}
    assert found - own == {"embed.h"}


def test_programs_use_public_headers_only():
    bad = []
    for path in list(sources("programs", (".c", ".h"))) + list(sources("examples", (".c",))):
        with open(path) as f:
            for line in f:
                m = re.match(r'\s*#\s*include\s+"([\w/.]+)"', line)
                if m and "/" in m.group(1):
                    bad.append("%s includes %s" % (os.path.relpath(path, ROOT), m.group(1)))
    assert not bad, "\n".join(bad)


def test_files_are_short():
    long = []
    for top in ("src", "include", "python", "programs", "tests", "tools", "bench", "examples"):
        for path in sources(top, (".c", ".h", ".py", ".inc")):
            with open(path) as f:
                count = sum(1 for _ in f)
            if count > (650 if top == "tests" else 600):
                long.append("%s: %d lines" % (os.path.relpath(path, ROOT), count))
    assert not long, "\n".join(long)


LONG_FUNCTIONS = {  # one function each with more than 60 lines, and why it is not cut
    "python/extension/arguments.c": "a case for each kind of argument",
    "python/extension/values.c": "a case for each kind of value",
    "src/api/args_values.c": "a case for each kind of argument",
    "src/spec/args.c": "a case for each kind of argument",
    "src/op/signature.c": "a case for each kind of attribute",
    "src/kernel/gemm/gemm.c": "the ways to multiply, from the smallest product to the largest",
}


def test_functions_are_short():
    long = []
    for top in ("src", "python", "programs"):
        for path in sources(top, (".c", ".h")):
            with open(path) as f:
                begin = 0
                for number, line in enumerate(f, 1):
                    if line == "{\n":
                        begin = number
                    elif line == "}\n" and begin:
                        if number - begin > 61:
                            long.append("%s" % os.path.relpath(path, ROOT))
                        begin = 0
    assert sorted(long) == sorted(LONG_FUNCTIONS)


def test_golden_data_is_with_its_script():
    """tests/golden/NAME.py makes the files of tests/golden/NAME/; other data there are only of released headers (option_structs.py)."""
    golden = os.path.join(ROOT, "tests", "golden")
    folders = sorted(name for name in os.listdir(golden) if os.path.isdir(os.path.join(golden, name)) and name != "__pycache__")
    assert [name for name in folders if not os.path.isfile(os.path.join(golden, name + ".py"))] == []
    inside = tuple(os.path.join(golden, name) + os.sep for name in folders) + (os.path.join(ROOT, "tests", "cli", "released") + os.sep,)
    code = (".py", ".pyc", ".c", ".h", "CMakeLists.txt")
    assert [os.path.relpath(path, ROOT) for path in sources("tests", "") if not path.startswith(inside) and not path.endswith(code)] == []


@pytest.mark.skipif(not shutil.which("clang-format"), reason="clang-format is not installed")
def test_c_is_formatted():
    files = [path for top in ("src", "include", "python", "programs", "tests", "examples") for path in sources(top, (".c", ".h", ".hpp"))]
    done = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, "run `make format`:\n" + done.stderr[-3000:]


def test_sources_say_what_they_are():
    bare = []
    for path in sources("src", (".c", ".h")):
        with open(path) as f:
            if not f.read(2).startswith("/*"):
                bare.append(os.path.relpath(path, ROOT))
    assert not bare, "no comment at the head: " + ", ".join(bare)


def run_collector(tmp_path, text):
    source = tmp_path / "src"
    source.mkdir()
    (source / "row.c").write_text(text)
    tool = os.path.join(ROOT, "tools", "collect_rows.py")
    return subprocess.run(["/usr/bin/python3", tool, str(source), str(tmp_path / "out")], capture_output=True, text=True)


@pytest.mark.parametrize("text,complaint", [
    ('    TW_OP(Indented,\n', "must begin at the line's start"),
    ('TW_OP(Twice, .doc = "")\nTW_OP(Twice, .doc = "")\n', "a second row for the op Twice"),
    ('TW_API(f, "f(x tensor)", "doc")\n{\n}\n', "is not 'name: type = default'"),
    ('TW_API(f, "f(x: tensor)")\n{\n}\n', "needs a signature and a doc"),
    ('TW_API(f, "f(x: tensor since 0.2)", "doc")\n{\n}\n', "came later and has no default"),
    ('TW_API(f, "f(x: tensor|dense)", "doc")\n{\n}\n', "is not 'tensor|ragged' or"),
    ('TW_OP(F, .function = "f(x: tensor) -> int", .doc = "doc");\n', "a function of an op takes tensors"),
    ('TW_OP(F, .function = "f(x: tensor) -> tensor", .doc = "doc");\nTW_API(f, "g(x: tensor) -> tensor", "doc")\n{\n}\n', "a second row f"),
    ('TW_METHOD(m, "C.m(x: tensor)", "doc")\n{\n}\n', "first argument of a method is self"),
    ('TW_CLASS(c, "C(**nobody)",\n    .doc = "doc");\n', "names no class"),
])
def test_bad_rows_are_refused(tmp_path, text, complaint):
    done = run_collector(tmp_path, text)
    assert done.returncode != 0 and complaint in done.stderr


def test_a_good_row_gives_a_c_call(tmp_path):
    done = run_collector(tmp_path, 'TW_API(nn_f, "nn.f(x: tensor, axis: int = -1, use_bias: bool = True) -> tensor", "doc")\n{\n}\n')
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out/include/thalweg/nn.h").read_text()
    assert "#define tw_nn_f(...)" in header and "tw_flag use_bias;" in header and "int64_t axis;" in header
    assert "#define tw_nn_f_defaults .axis = -1, .use_bias = true, .tw_size = sizeof(tw_nn_f_args)" in header


def test_arguments_may_be_a_macro_that_is_a_text(tmp_path):
    done = run_collector(tmp_path, '#define AXES "axis: int = -1, " \\\n    "keep: bool = True"\n#define ALL AXES ", name: str = None"\n'
                                   'TW_API(nn_f, "nn.f(x: tensor, " ALL ") -> tensor", "doc")\n{\n}\n')
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out/include/thalweg/nn.h").read_text()
    assert "#define tw_nn_f_defaults .axis = -1, .keep = true, .tw_size = sizeof(tw_nn_f_args)" in header and "const char *name;" in header


def test_options_that_came_later_stand_last(tmp_path):
    done = run_collector(tmp_path, 'TW_API(f, "f(x: tensor, scale: float = 2.0 since 0.2, axis: int = 0) -> tensor", "doc")\n{\n}\n')
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out/include/thalweg/math.h").read_text()
    assert re.search(r"int64_t axis;.*\n +double scale;.*\n}", header) and "since" not in header
    assert "since" not in (tmp_path / "out/rows.c").read_text()


def test_an_op_with_a_function_gives_a_call_and_declares_its_loop(tmp_path):
    done = run_collector(tmp_path, 'TW_OP(Zeta, .binary = &tw__binary_zeta,\n      .function = "math.zeta(x: tensor<T>|ragged, q: tensor<T>|ragged, up: bool = False, "\n'
                                   '      "name: str = None) -> tensor",\n      .doc = "doc");\n')
    assert done.returncode == 0, done.stderr
    source, calls, rows = ((tmp_path / "out" / name).read_text() for name in ("rows.c", "functions.c", "rows.h"))
    assert 'return tw__call(&tw__op_Zeta, TW_IN(args->x, args->q), 2, TW_WITH(TW_A_BOOL("up", args->up)), 1);' in calls
    assert source.count(".ragged = true") == 2 and '"math.zeta"' in source
    assert "extern const struct tw__binary tw__binary_zeta;" in rows


def literal_end(text, at):
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def test_filled_options_have_their_defaults():
    """Zero is zero in an option struct: a literal in src/ names every option whose default is something else."""
    headers = os.path.join(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")), "generated", "include", "thalweg")
    defaults = {}
    for name in os.listdir(headers):
        with open(os.path.join(headers, name)) as f:
            for row, text in re.findall(r"#define tw_(\w+)_defaults ([^\n]*)", f.read()):
                defaults[row] = set(re.findall(r"\.(\w+) =", re.sub(r"\{[^{}]*\}", "", text))) - {"tw_size"}
    assert len(defaults) > 1000
    bad = []
    for path in sources("src", (".c", ".h")):
        with open(path) as f:
            text = f.read()
        for m in re.finditer(r"\(tw_(\w+)_args\)\{", text):
            body = text[m.end():literal_end(text, m.end())]
            missing = [name for name in sorted(defaults.get(m.group(1), ())) if not re.search(r"\.%s\b" % name, body)]
            if missing:
                bad.append("%s:%d: tw_%s_args without %s" % (os.path.relpath(path, ROOT), text.count("\n", 0, m.start()) + 1, m.group(1), ", ".join(missing)))
    assert not bad, "\n".join(bad)
