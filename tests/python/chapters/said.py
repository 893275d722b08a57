"""What the programs of this folder print with: values, and errors by their class and first line."""
import re


def say(label, function):
    """Prints what a function gives, or its error."""
    try:
        print(label, "=", function())
    except Exception as error:
        text = re.sub(r"\{\{function_node [^}]*\}\} ?", "", str(error).strip())
        text = re.sub(r" \[Op:\w+\]( name: ?\w*)?", "", text)
        print(label, "!", type(error).__name__, text.splitlines()[0][:200] if text else "")


def elements(dataset):
    """The elements of a dataset, arrays as lists."""
    return [leaf.tolist() if hasattr(leaf, "tolist") else leaf for leaf in dataset.as_numpy_iterator()]
