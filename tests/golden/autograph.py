"""Makes tests/golden/autograph/autograph_code.json: what tf.autograph.to_code gives for each function of tests/golden/autograph/,
"text" by default and "all" with every optional feature.

The order of names after `nonlocal`, and of the lines that make variables undefined, changes from run to run in TensorFlow;
the test compares those sorted."""
import importlib.util
import inspect
import json
import os
import re
import sys

ALL_FEATURES = ("assertion", "comparisons", "for_pairs", "displays", "builtin_calls", "attributes", "subscripts",
                "local_function", "calls")
HERE = os.path.dirname(os.path.abspath(__file__))


def load_cases(tf):
    """The functions of the two files by name, in order; `tf` is what they know under that name."""
    cases = {}
    for file in ("cases", "corners"):
        spec = importlib.util.spec_from_file_location("autograph_" + file, os.path.join(HERE, "autograph", file + ".py"))
        module = importlib.util.module_from_spec(spec)
        module.tf = tf
        sys.modules[spec.name] = module  # converting a lambda looks for its module there
        spec.loader.exec_module(module)
        cases.update((name, value) for name, value in vars(module).items() if inspect.isfunction(value))
    return cases


def main():
    import tensorflow as tf
    answers = {}
    for name, function in load_cases(tf).items():
        for kind, features in (("text", None), ("all", tf.autograph.experimental.Feature.ALL)):
            if kind == "all" and name not in ALL_FEATURES:
                continue
            answer = answers.setdefault(name, {})
            try:
                answer[kind] = tf.autograph.to_code(function, experimental_optional_features=features)
            except Exception as e:
                answer[kind + "_error"] = [type(e).__name__, re.sub(r"__autograph_generated_file\w*", "FILE", str(e))]
    import golden
    with open(golden.path(__file__, "autograph_code.json"), "w") as f:
        json.dump(answers, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    main()
