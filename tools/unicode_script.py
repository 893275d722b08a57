"""Makes src/op/text/script_ranges.h: the script of every character, as ICU numbers them. Usage: unicode_script.py (needs tensorflow)"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """/* The scripts of Unicode's characters in order, for script.c: how many characters follow each other that have one (seven bits in a byte, the low
 * ones first, the top bit: more follow), and its number. Made by tools/unicode_script.py. */
"""


def main():
    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    ends = np.append(np.flatnonzero(np.diff(scripts)) + 1, len(scripts))
    numbers, last = [], 0
    for end in ends:
        count = int(end - last)
        while count > 127:
            numbers.append(count & 127 | 128)
            count >>= 7
        numbers += [count, int(scripts[last])]
        last = end
    lines, line = [], ""
    for n in numbers:
        if len(line) > 123:
            lines.append(line.rstrip())
            line = ""
        line += "%d, " % n
    lines.append(line.rstrip())
    with open(os.path.join(HERE, "..", "src", "op", "text", "script_ranges.h"), "w") as f:
        f.write(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
