"""What tf.strings and tf.io expressions give in TensorFlow: makes tests/python/strings.json for tests/python/test_strings.py.

Usage: strings.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions

EXPRESSIONS = r"""
tf.strings.join(['a', ['b', 'c']], '-')
tf.strings.join(['a', 'b'])
tf.strings.join(['a', 'b'], separator=' ', name='x')
tf.strings.length('h\u00e9llo')
tf.strings.length(['h\u00e9llo', ''], unit='UTF8_CHAR')
tf.strings.substr('hello', 1, 2)
tf.strings.substr(['hello', 'ab'], [1, -1], [2, 5])
tf.strings.substr('hello', 9, 2)
tf.strings.split('a b c')
tf.strings.split('a,b', ',')
tf.strings.split('a,b,c', sep=',', maxsplit=1)
tf.strings.format('a {} b {}', [tf.range(3), 'x'])
tf.strings.format('a {} b', tf.range(3))
tf.strings.format('a {} b {}', tf.range(3))
tf.strings.format('a {}', (tf.range(10),), summarize=1)
tf.strings.regex_replace(['abc', 'b'], 'b', 'x')
tf.strings.regex_replace('aaa', 'a', 'x', replace_global=False)
tf.strings.regex_full_match(['abc', 'x'], 'a.*')
tf.strings.regex_full_match('a', tf.constant('('))
tf.as_string([1.5, 2])
tf.as_string(3)
tf.as_string([True, False])
tf.strings.as_string([1.23456], precision=2)
tf.strings.to_number('1.5')
tf.strings.to_number(['15'], tf.int32)
tf.strings.to_number('x')
tf.strings.reduce_join([['a', 'x'], ['b', 'c']])
tf.strings.reduce_join([['a', 'x'], ['b', 'c']], axis=0, keepdims=True)
tf.strings.reduce_join([['a', 'x'], ['b', 'c']], axis=-1, separator='+')
tf.strings.lower('ABC')
tf.strings.upper(['abc', 'D'])
tf.strings.strip(' a ')
tf.strings.to_hash_bucket_fast(['a', 'b'], 10)
tf.io.encode_base64('hello')
tf.io.decode_base64('aGVsbG8')
tf.io.decode_base64('a')
tf.io.matching_files('/nonexistent/*')
tf.io.read_file(['a'])
"""


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf) for e in EXPRESSIONS.strip().split("\n")]
    with open(os.path.join(HERE, "..", "python", "strings.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
