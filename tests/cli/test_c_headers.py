"""The headers as C programs meet them: what compiles without a warning and what does not, and programs of older headers."""
import os
import re
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
HEADERS = ["-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(BUILD, "generated", "include")]
STRICT = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
OLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "older")
each_compiler = pytest.mark.parametrize("compiler", ["gcc", "clang"])

pytestmark = pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "lib", "libthalweg.so")), reason="the library is not built")


def compiled(compiler, source, *more, headers=HEADERS):
    if not shutil.which(compiler):
        pytest.skip(compiler + " is not there")
    return subprocess.run([compiler, *headers, *more, "-x", "c++" if "++" in compiler else "c", "-", "-c", "-o", os.devnull],
                          input=source, capture_output=True, text=True)


def run_program(compiler, sources, tmp_path, *flags, headers=HEADERS):
    if not shutil.which(compiler):
        pytest.skip(compiler + " is not there")
    program = str(tmp_path / "program")
    done = subprocess.run([compiler, *headers, *flags, *sources, "-o", program, os.path.join(BUILD, "lib", "libthalweg.so"),
                           "-Wl,-rpath," + os.path.join(BUILD, "lib"), "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@each_compiler
def test_older_header(compiler, tmp_path):
    """A program compiled with a header that knows fewer options runs with the library of today."""
    flags = ["-Wno-override-init"] if compiler == "gcc" else ["-Wno-initializer-overrides"]
    assert run_program(compiler, [os.path.join(OLDER, "program.c")], tmp_path, *STRICT, *flags, headers=["-I" + OLDER]) == ""


OPTIONS = """#include <thalweg.h>
int main(void)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 4, 3, 1, 2 });
    tw_auto tw_tensor *columns = tw_sort(x, .axis = 0), *rows = tw_sort(x), *also = tw_sort(x, 0, .direction = "DESCENDING");
    printf("%g %g %g\\n", tw_tensor_double_at(columns, 0), tw_tensor_double_at(rows, 0), tw_tensor_double_at(also, 0));
    tw_auto tw_optimizer *still = tw_optimizers_sgd(.learning_rate = 0);
    tw_value config = tw_optimizer_get_config(still);
    char *text = tw_value_json(&config);
    printf("%.22s\\n", strstr(text, "\\"learning_rate\\""));
    free(text);
    tw_value_free(&config);
    tw_random_set_seed(1);
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int[]){ 1 });
    tw_auto tw_tensor *first = tw_random_uniform(shape, .seed = 0);
    printf("%.7f\\n", tw_tensor_double_at(first, 0));
    tw_auto tw_layer *dense = tw_layers_dense(2, .use_bias = false);
    tw_release(tw_layer_call(dense, x));
    tw_objects weights = tw_layer_variables(dense);
    printf("%d\\n", (int)weights.count);
    tw_objects_free(&weights);
    tw_auto tw_sparse_tensor_spec *spec = tw_sparse_tensor_spec(.shape = TW_SCALAR), *unknown = tw_sparse_tensor_spec();
    printf("%d %d\\n", tw_sparse_tensor_spec_shape(spec).rank, tw_sparse_tensor_spec_shape(unknown).rank);
    return tw_report(stdout);
}
"""


@each_compiler
@pytest.mark.parametrize("warnings", [STRICT, STRICT + ["-O2"]], ids=["plain", "optimised"])
def test_zero_is_zero(compiler, warnings, tmp_path):
    source = tmp_path / "options.c"
    source.write_text("#include <stdlib.h>\n#include <string.h>\n" + OPTIONS)
    lines = run_program(compiler, [str(source)], tmp_path, *warnings).splitlines()
    assert lines[0] == "1 3 4"  # the columns sorted, the rows sorted, the columns from the largest on
    assert re.match(r'"learning_rate": 0(\.0)?[,}]', lines[1])
    assert lines[3:] == ["1", "0 -1"]  # the kernel alone; a scalar, and any shape


@each_compiler
@pytest.mark.parametrize("line, complaint", [
    ('tw_sort(x, .axis = "0");', "axis|int"), ("tw_sort(x, .direction = 5);", "direction|pointer"), ("tw_sort(x, .axes = 0);", "axes"),
    ("tw_layers_dense(x);", "int|pointer"), ("tw_sort(5);", "pointer|int"), ("tw_sort_args a = { .axis = 1, .axis = 2 };", "overrid|overwrit")])
def test_mistakes_are_seen(compiler, line, complaint):
    """Wrong types and names are told, and initialisers that override others where it is not the header's own doing."""
    done = compiled(compiler, "#include <thalweg.h>\nvoid f(tw_tensor *x);\nvoid f(tw_tensor *x) { (void)x; %s }\n" % line, *STRICT)
    assert done.returncode != 0 and re.search(complaint, done.stderr), done.stderr
