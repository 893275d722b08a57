"""The public headers that follow from the rows (see collect_rows.py): <thalweg/*.h> by area, and <thalweg/api.hpp>."""
import re
import textwrap

OWNERSHIP = {"HANDLE": "for tw_release; NULL: an error", "TENSOR": "for tw_release; NULL: an error",
             "TENSORS": "for tw_tensors_free; items is NULL after an error", "HANDLES": "for tw_objects_free; items is NULL after an error",
             "VALUE": "for tw_value_free; NONE after an error", "STR": "for free(); NULL: an error, or None"}
# Words that cannot be members' names in C++; those of C are among them.
KEYWORDS = set("""alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete do double
else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or
private protected public register restrict return short signed sizeof static struct switch template this throw true try typedef typeid
typename union unsigned using virtual void volatile while xor""".split())


def handles(rows):
    words = {f.word for r in rows for f in r.fields if f.kind == "HANDLE"} | {r.result_word for r in rows if r.result == "HANDLE"}
    return sorted(words - {"tensor"})


# The headers of <thalweg/api.h>, and which rows stand in each: by the path in Python. The first that fits has the row.
AREAS = [
    ("layers", "Keras's layers", r"keras\.layers\."),
    ("training", "optimizers, schedules, losses, metrics, initializers, regularizers, constraints, activations",
     r"keras\.(optimizers|losses|metrics|initializers|regularizers|constraints|activations)\b"),
    ("models", "Keras's models, callbacks, data sets and tools", r"keras\."),
    ("data", "datasets and iterators", r"data\.|compat\.v1\.data\."),
    ("nn", "neural networks: convolutions, activations, normalization, losses", r"nn\."),
    ("image", "pictures and sound", r"(image|audio)\."),
    ("io", "files, records and encodings", r"(io|compat\.v1\.io)\."),
    ("text", "strings", r"strings\."),
    ("summary", "summaries, traces and profiles", r"(summary|profiler|compat\.v1\.summary)\."),
    ("linalg", "linear algebra", r"linalg\."),
    ("random", "random numbers", r"random\."),
    ("ragged", "sparse and ragged tensors", r"(sparse|ragged|RaggedTensor|SparseTensor|IndexedSlices)"),
    ("v1", "graphs, operations and sessions; TensorFlow 1's variables and training", r"(compat\.v1|Graph|Operation)\b"),
    ("checkpoint", "checkpoints and SavedModels", r"(train|saved_model|python\.checkpoint)\."),
    ("devices", "devices, settings and strategies", r"(distribute|config)\.|_(current|enter|exit)_device|_DeviceSpec|_device_spec"),
    ("debugging", "checks", r"debugging\."),
    ("lite", "TFLite's models", r"lite\."),
    ("core", "variables, tapes, arrays of tensors, specs, modules",
     r"(Variable|GradientTape|TensorArray|TensorSpec|TypeSpec|Module|autodiff|name_scope|_VariableSpec)\b|_tape_start|_gradients"),
    ("math", "arrays and arithmetic", r""),
]
# What only the Python package needs: <thalweg/python.h>, which <thalweg.h> does not include.
PLUMBING = re.compile(r"""(
    .*_(hash|repr|equal|truth|type_spec|begins|ends|component_specs|from_components|to_components|parts|colocation|origin|mirror_kind) |
    graph_values.* | structure_(bytes|read) | (thread|trace)_(begin|end) | (group|inside)_(effects|function) |
    model_(compile_values|forget_steps|set_inputs|set_stop|train_graph|training_state|update_metrics|load_optimizer) | training_arrays |
    layer_(set_built|set_name|set_supports_masking|build_shape) | call_keras_op | callback_(event|state) |
    saved_(concrete_(keywords|set_keywords|name|inputs|outputs)|function_\w+|constant\w*|object_(directory|graph|identifier|names|session)|model_(bytes|objects|write)) |
    v1_(pop_controls|push_controls|wrap_slices|saver_(forget|read|record|remember|scope|write)) | graph_(variable_adopt|variable_collections|unfinalize) |
    variable_(allow_any_shape|components|handle_op|snapshot|graph) | partial_run.* | wrapper_(add|match) | metric_note |
    mask_(of|set) | keras_(object_count|tensor_(history|text)) | load_model_training | (de)?serialize_(object|class) | set_safe_mode |
    random_(algorithm|any_state|create_rng_state|state_of_key_counter) | generator_(split_states|uniform) | io_tensor_message |
    tensor_consumers | (pop|push)_colocation | summary_(profile_\w+|write_graph) | dataset_(shapes|types|saved_spec) |
    per_replica.* | replica_now | debugging_is_numeric_tensor | get_static_value | config_session_threads | operation_bytes | ragged_tensor_(get|operate) | constraints_get |
    element_\w+ | dataset_(class_name|generator) | nothing_spec\w* | iterator_resource | optional_variant_tensor | callback_restore | history_set |
    enable_eager_execution_ | graph_(clear_collection|collect_variable|collection_names) | session_(variables|function) |
    tensor_array_(in_graph|infer_shape) | variable_(aggregation|synchronization|constraint|initial_value) | variable_scope_(reuse|set_initializer|set_regularizer) |
    (losses|metrics)_function | counting_metric\w* | model_compute_loss | optimizer_set_iterations | get_logical_device_count
    )$""", re.X)


def area(row):
    if PLUMBING.match(row.id) and all(any(part.startswith("_") for part in path.split(".")) for path in row.path.split("|")):
        return "python"
    return next(name for name, _, paths in AREAS if re.match(paths, row.path))


def c_error(name):
    """InvalidArgumentError as C's status: TW_INVALID_ARGUMENT."""
    word = name.rsplit(".", 1)[-1]
    word = word if word in ("ValueError", "TypeError", "RuntimeError") else word.removesuffix("Error")
    return "TW_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).upper()


def about(row, texts):
    """What a row does, what its result is, when it fails, and its name in Python; its arguments stand beside the members of the struct."""
    text = texts.texts[row.id]
    lines = ["tw_%s: %s" % (row.id, text.summary.replace("\n", " "))]
    if text.returns:
        lines.append("Returns: " + text.returns)
    if OWNERSHIP.get(row.result):
        lines.append("The result is the caller's, %s." % OWNERSHIP[row.result])
    lines += ["%s: %s" % (c_error(error), when) for error, when in text.raises]
    paths = texts.paths(row)
    required = [f for f in row.fields if f.default is None and not f.rest]
    later = [g.member() for f, g in zip(required, required[1:]) if f.kind == "NUMBER"]
    if later:  # the object that may stand for a number lies between it and the next member
        lines.append("Of the required arguments %s is given by name: .%s = …" % (" and ".join(later), later[0]))
    if paths:
        lines.append("In Python: tf.%s" % ", tf.".join(paths))
    lines = [part for line in lines for part in textwrap.wrap(line, 128, break_long_words=False, break_on_hyphens=False)]
    return ["/* " + "\n * ".join(line.replace("*/", "* /") for line in lines) + " */"]


def declaration(row, texts=None):
    """A row as C sees it, without its texts or with them."""
    return [""] + (about(row, texts) if texts else []) + [row.struct(texts), "TW_API_FUNCTION %stw_%s_(const tw_%s_args *args);" % (row.c_result(), row.id, row.id),
            row.defaults(), "#define tw_%s(...) %s" % (row.id, row.made("TW_WITH_DEFAULTS(%s, __VA_ARGS__)" % row.id))]


def guarded(name, head, lines, include):
    guard = "THALWEG_%s_H" % name.upper()
    return "\n".join(["/* " + head + " */", "#ifndef " + guard, "#define " + guard, ""] + ["#include <thalweg/%s.h>" % i for i in include] + [
        "", "#ifdef __cplusplus", 'extern "C" {', "#endif"] + lines + ["", "#ifdef __cplusplus", "}", "#endif", "#endif", ""])


MADE = "\n * Made from the definition rows by tools/collect_rows.py."


def api_headers(rows, texts):
    """Name and text of every public header that is made."""
    known = ["typedef struct tw_%s tw_%s;" % (h, h) if h != "model" else "typedef struct tw_layer tw_model; /* a model is a layer */"
             for h in handles(rows)]
    yield "handles", guarded("handles", "The classes of handles." + MADE, [""] + known, ["describe"])
    for name, title, _ in AREAS + [("python", "what the Python package alone needs; it may change in every release", None)]:
        lines = [line for row in rows if area(row) == name for line in declaration(row, texts)]
        yield name, guarded(name, "%s: required arguments first, then options by name; see <thalweg/base.h>.%s" % (
            title[0].upper() + title[1:], MADE), lines, ["handles"])
    yield "api", guarded("api", "Every function and class as C calls: required arguments first, then options by name.\n"
                         " *     tw_auto tw_tensor *p = tw_nn_softmax(logits, .axis = 1);" + MADE, [], [name for name, _, _ in AREAS])


CPP_RESULT = {"TENSORS": "tensors", "HANDLES": "objects", "VALUE": "value"}


def cpp_function(row):
    """The row as a C++ function: required arguments, then a function that sets options."""
    required = [f for f in row.fields if f.required]
    call = "tw_%s_(&args)" % row.id
    if row.result in ("HANDLE", "TENSOR"):
        call = "tw::made(%s)" % call
    elif row.result in CPP_RESULT:
        call = "tw::%s(%s)" % (CPP_RESULT[row.result], call)
    elif row.result == "STR":
        call = "tw::text(%s)" % call
    arguments = ["%s%s" % (f.c_type(), f.member()) for f in required]
    lines = ["template <class... Options> auto %s(%s)" % (row.id + "_" if row.id in KEYWORDS else row.id, ", ".join(arguments + ["Options... options"])), "{",
             "    tw_%s_args args{};" % row.id, "    args.tw_size = sizeof args;"]
    for f in row.fields:
        given = f.c_default()
        if given:
            lines.append("    args%s;" % given.replace("{ .rank = -1 }", "tw_shape{ -1, {} }").replace("= { ", "= tw_shape{ "))
    lines += ["    args.%s = %s;" % (f.member(), f.member()) for f in required]
    return lines + ["    (options(args), ...);", "    return %s;" % call, "}", ""]


def cpp_header(rows):
    out = ["/* Every C call as a C++ function; <thalweg.hpp> includes it.%s */" % MADE, "#ifndef THALWEG_API_HPP", "#define THALWEG_API_HPP", "", "namespace tw {", ""]
    for row in rows:
        if area(row) != "python":
            out += cpp_function(row)
    return "\n".join(out + ["} // namespace tw", "", "#endif", ""])
