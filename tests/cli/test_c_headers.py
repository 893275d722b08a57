"""The headers as C programs meet them: what compiles without a warning and what does not, and programs of older headers."""
import os
import re
import shutil
import subprocess

import pytest

import option_structs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("THALWEG_BUILD", os.path.join(ROOT, "build")))
HEADERS = ["-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(BUILD, "generated", "include")]
STRICT = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
STRICT_CPP = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
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


def headers():
    folders = [os.path.join(ROOT, "include", "thalweg"), os.path.join(BUILD, "generated", "include", "thalweg")]
    return sorted(name for folder in folders for name in os.listdir(folder) if name.endswith(".h"))


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_every_header_compiles_alone(compiler):
    names = headers()
    assert {"nn.h", "data.h", "layers.h", "io.h", "summary.h", "python.h"} <= set(names)
    also = ["thalweg.h", "thalweg.hpp"] if "++" in compiler else ["thalweg.h"]
    for name in also + ["thalweg/" + name for name in names]:
        done = compiled(compiler, "#include <%s>\n" % name, *(STRICT_CPP if "++" in compiler else STRICT))
        assert done.returncode == 0, name + "\n" + done.stderr


def released(version):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "released", version)) as file:
        return option_structs.from_text(file.read())


@pytest.mark.parametrize("version", sorted(os.listdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "released"))))
def test_released_structs_only_grow(version):
    now = option_structs.option_structs(BUILD)
    assert len(now) > 1000
    assert list(option_structs.broken(released(version), now)) == []


@pytest.mark.parametrize("members, harmless", [
    ("size_t tw_size; int64_t axis; bool last", True), ("size_t tw_size; int64_t axis; bool last; double new", True),
    ("size_t tw_size; int32_t axis; bool last", False), ("size_t tw_size; bool last; int64_t axis", False),
    ("size_t tw_size; double new; int64_t axis; bool last", False), ("size_t tw_size; int64_t axis", False),
    ("size_t tw_size; int64_t axes; bool last", False)])
def test_changed_structs_are_seen(members, harmless):
    older = option_structs.from_text("tw_some_args: size_t tw_size; int64_t axis; bool last\n")
    assert (list(option_structs.broken(older, option_structs.from_text("tw_some_args: %s\n" % members))) == []) == harmless
    assert list(option_structs.broken(older, {})) == ["tw_some_args is gone"]


def test_the_plumbing_is_apart():
    done = compiled("gcc", "#include <thalweg.h>\n#ifdef THALWEG_PYTHON_H\n#error\n#endif\n#ifdef tw_model_update_metrics\n#error\n#endif\n")
    assert done.returncode == 0, done.stderr


CPP = """#include <cstdio>
#include <thalweg.hpp>
int main()
{
    const float numbers[] = { 4, 3, 1, 2 };
    auto x = tw::made(tw_tensor_new(TW_FLOAT32, tw::shape({ 2, 2 }), numbers));
    auto columns = tw::sort(x, [](auto &o) { o.axis = 0; }), rows = tw::sort(x);
    std::printf("%g %g\\n", tw_tensor_double_at(columns, 0), tw_tensor_double_at(rows, 0));
    auto dense = tw::layers_dense(2, [](auto &o) { o.activation = "relu", o.use_bias = false; });
    tw::made(tw_layer_call(dense, x));
    std::printf("%d\\n", (int)tw::layer_variables(dense)->count);
    try {
        tw::matmul(x, tw::made(tw_tensor_float(1)));
        tw::check();
    } catch (const tw::error &e) {
        std::printf("%s\\n", tw_status_name(tw_status_kind(e.code)));
    }
    std::printf("%s\\n", tw::backend_floatx().c_str());
    tw_shutdown();
}
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cpp(compiler, tmp_path):
    source = tmp_path / "program.cpp"
    source.write_text(CPP)
    out = run_program(compiler, [str(source)], tmp_path, *STRICT_CPP)
    assert out == "1 3\n1\nINVALID_ARGUMENT\nfloat32\n"


def recipes():
    with open(os.path.join(ROOT, "docs", "c.md")) as f:
        return re.findall(r"^## (\d+)\..*?^```c\n(.*?)^```$", f.read(), re.M | re.S)


ANSWERS = {"1": r"tf\.Tensor\(\[\[3\.5 0\. \]\].*\n", "2": "1.000\n", "3": "loss fell\n64 rows\n", "4": r"save/ckpt-1: 3 variables\n",
           "5": r"tf\.Tensor\(\[0 1 4 9\].*\n.*\n.*\n9 pairs\n", "6": r"192 160, traced 1 times\n",
           "7": r"tf\.Tensor\(\[2\. 4\. 6\.\].*\n\{\n    \"predictions\": \[2\.0, 5\.0\n    \]\n\}\n.*serve.*serving_default.*\n", "8": "1 one\n2 two\n",
           "9": r"tf\.Tensor\(\[\[11\.\]\].*\nINVALID_ARGUMENT: .*\nINVALID_ARGUMENT: .*NULL\n", "10": ""}


def test_there_are_ten_recipes():
    assert [number for number, _ in recipes()] == list(ANSWERS)


@each_compiler
@pytest.mark.parametrize("number, source", recipes(), ids=[n for n, _ in recipes()])
def test_recipe(compiler, number, source, tmp_path):
    path = tmp_path / "recipe.c"
    path.write_text(source)
    out = run_program(compiler, [str(path)], tmp_path, *STRICT)
    assert re.fullmatch(ANSWERS[number], out), out


def check_memory(program, folder):
    """Under valgrind nothing is used wrongly, and after tw_shutdown nothing is left, not even what could still be reached."""
    done = subprocess.run(["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all", "--error-exitcode=9", program],
                          capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr


needs_valgrind = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not there")


@needs_valgrind
@pytest.mark.parametrize("number, source", recipes(), ids=[n for n, _ in recipes()])
def test_recipe_leaves_nothing(number, source, tmp_path):
    path = tmp_path / "recipe.c"
    path.write_text("#include <stdlib.h>\n" + source + "__attribute__((constructor)) static void end_all(void) { atexit(tw_shutdown); }\n")
    run_program("gcc", [str(path)], tmp_path, *STRICT)
    for name in ("save", "served", "logs"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
    check_memory(str(tmp_path / "program"), tmp_path)


OWNERSHIP = """#include <thalweg.h>
static void both(int order)
{
    tw_auto tw_dataset *numbers = tw_dataset_range(0, 6);
    tw_dataset *first = tw_dataset_batch(numbers, 2), *second = tw_dataset_shuffle(numbers, 3);
    tw_auto tw_iterator *each = tw_iterator(first);
    tw_auto tw_dataset *pair = tw_dataset_zip(TW_OBJECTS(numbers, numbers));
    tw_release(order ? first : second);
    tw_release(order ? second : first);
    tw_tensors batch = tw_iterator_next(each);
    printf("%d", (int)tw_tensor_count(batch.items[0]));
    tw_tensors_free(&batch);
}
static tw_tensors body(void *user, tw_tensors in)
{
    tw_auto tw_tensor *square = tw_multiply(in.items[0], in.items[0]);
    return tw_give(tw_add(square, user), square, in.items[0]);
}
static tw_tensor *kept(tw_tensor *x)
{
    tw_scoped();
    tw_auto tw_tensor *negative = tw_negative(x);
    tw_tensor *twice = tw_add(negative, negative), *again = tw_retain(twice);
    tw_release(again);
    return tw_retain(tw_negative(twice));
}
int main(void)
{
    both(0);
    both(1);
    {
        tw_scoped();
        both(0);
        tw_layer *dense = tw_layers_dense(2);
        tw_model *once = tw_model_sequential(dense), *model = tw_model_sequential(dense, tw_layers_dense(1));
        tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), NULL), *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 1), NULL);
        tw_optimizer *sgd = tw_optimizers_sgd(.learning_rate_object = tw_schedules_exponential_decay(0.1, 3, 0.5));
        tw_model_compile(model, .optimizer = sgd, .loss = tw_losses_mean_squared_error(), .metrics = TW_OBJECTS(tw_metrics_mean_absolute_error()));
        tw_callback *stop = tw_callbacks_early_stopping(.monitor = "loss");
        tw_model_fit(model, x, y, .epochs = 2, .callbacks = TW_OBJECTS(stop));
        tw_value logs = tw_model_evaluate(model, x, y);
        printf(" %d %d", (int)tw_layer_variables(tw_model_get_layer(once, .index = 0)).count, tw_log_value(&logs, "loss") == 0);
        tw_tensor *one = tw_tensor_float(1);
        tw_tensors out = tw_map(body, one, TW_TENSORS(x));
        printf(" %d", (int)out.count);
        tw_tensors_free(&out);
        printf(" %g", tw_tensor_double_at(tw_made(kept(one)), 0));
    }
    printf("\\n");
    int code = tw_report(stdout);
    tw_shutdown();
    return code;
}
"""


@needs_valgrind
def test_ownership(tmp_path):
    """Handles passed to several makers, released in any order, in scopes and in tw_auto: nothing is freed twice, nothing is left."""
    source = tmp_path / "program.c"
    source.write_text(OWNERSHIP)
    assert run_program("gcc", [str(source)], tmp_path, *STRICT) == "222 2 1 3 2\n"
    check_memory(str(tmp_path / "program"), tmp_path)


HANDY = """#include <thalweg.h>
static tw_tensors as_batch(void *user, tw_tensors in)
{
    tw_value elements = TW_OBJECT(tw_tensor_spec(TW_SCALAR, TW_INT64));
    return tw_give(tw_dataset_variant_tensor(tw_dataset_batch(user ? tw_dataset_variant(in.items[0]) : tw_dataset_variant(in.items[0], elements), 2)));
}
TW_BODY(both) { return tw_give(tw_add(in.items[0], in.items[0]), in.items[0]); }
TW_BODY(counted)
{
    tw_variable_assign_add(user, in.items[0]);
    return TW_GIVE_NOTHING;
}
int main(void)
{
    tw_scoped();
    tw_tensor *words = TW_SS("one", "", "three"), *read = tw_strings_substr(words, TW_I(0), TW_I(2));
    printf("%d %s|%s|%s\\n", (int)tw_tensor_dim(words, 0), tw_tensor_string_at(words, 0).data, tw_tensor_string_at(words, 1).data,
           tw_tensor_string_at(read, 2).data);
    tw_dataset *windows = tw_dataset_window(tw_dataset_range(0, 4), 2, .drop_remainder = true);
    tw_iterator *each = tw_iterator(tw_dataset_flat_map(windows, tw_function_new(as_batch, NULL)));
    for (tw_tensors e; (e = tw_iterator_next(each)).count;)
        tw_tensor_print(stdout, tw_tensors_at(e, 0));
    tw_dataset_flat_map(windows, tw_function_new(as_batch, windows));
    printf("%s\\n", tw_made_text(tw_take_error(NULL)));
    tw_tensors results = tw_function_call_all(tw_function_new(both, NULL), TW_TENSORS(TW_I(3)));
    printf("%d %d", (int)results.count, (int)tw_tensor_int_at(tw_tensors_at(results, 0), 0));
    tw_variable *count = tw_variable(TW_I(0));
    tw_function *counts = tw_function_new(counted, count);
    results = tw_function_call_all(counts, TW_TENSORS(TW_I(5)));
    int none = 0;
    tw_function_call(counts, TW_TENSORS(TW_I(2)), NULL, &none);
    printf(" %d %d\\n", (int)results.count, (int)tw_tensor_int_at(tw_variable_read(count), 0));
    tw_layer *dense = tw_layers_dense(2);
    tw_layer_call(dense, tw_ones(TW_IS(1, 3)));
    tw_layer_set_trainable(dense, false);
    printf("%d %d\\n", (int)tw_layer_trainable_variables(dense).count, tw_objects_at(tw_layer_variables(dense), 2) == NULL);
    tw_tensor_strings(NULL);
    tw_square(tw_tensors_at(tw_layer_get_weights(dense), 7));
    printf("%s\\n", tw_made_text(tw_take_error(NULL)));
    return tw_report(stdout);
}
"""


@each_compiler
def test_handy_words(compiler, tmp_path):
    """What <thalweg/literal.h> has for programs: texts, members of lists, objects as values; all results of a function, and none."""
    source = tmp_path / "handy.c"
    source.write_text(HANDY)
    lines = run_program(compiler, [str(source)], tmp_path, *STRICT).splitlines()
    assert lines[:3] == ["3 one||th", "tf.Tensor([0 1], shape=(2,), dtype=int64)", "tf.Tensor([2 3], shape=(2,), dtype=int64)"]
    assert "element_spec" in lines[3] and lines[4:6] == ["2 6 0 7", "0 1"] and "tw_tensor_strings" in lines[6] and len(lines) == 7, lines
