"""What tf.strings and tf.io expressions give in TensorFlow: makes tests/golden/strings/strings.json for tests/python/test_strings.py.

Usage: strings.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions
import golden

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
tf.strings.to_hash_bucket(['a', 'b'], 10)
tf.strings.to_hash_bucket_strong(['a', 'b'], 10, [1, 2])
tf.strings.to_hash_bucket_strong(['a', 'b'], 10, key=[1])
tf.strings.unsorted_segment_join(['a', 'b', 'c'], [0, 1, 0], 2, ':')
tf.strings.unsorted_segment_join([['a', 'b'], ['c', 'd']], segment_ids=[1, 1], num_segments=2)
tf.strings.unicode_script([0x431, 97])
tf.strings.unicode_transcode(['a'], 'UTF-8', 'UTF-16-BE')
tf.strings.unicode_transcode(b'a\xff', 'UTF-8', 'UTF-8', errors='ignore')
tf.strings.unicode_transcode(b'a\xff', 'UTF-8', 'UTF-8', errors='strict')
tf.strings.unicode_transcode('a\n', 'UTF-8', 'UTF-8', replacement_char=63, replace_control_characters=True)
tf.strings.unicode_decode('h\u00e9y', 'UTF-8')
tf.strings.unicode_decode([['h\u00e9y', 'a'], ['', 'b']], 'UTF-8')
tf.strings.unicode_decode(tf.ragged.constant([['ab'], ['c', 'd']]), 'UTF-8')
tf.strings.unicode_decode_with_offsets(['h\u00e9y'], 'UTF-8')[1]
tf.strings.unicode_decode_with_offsets('h\u00e9y', input_encoding='UTF-8')[0]
tf.strings.unicode_split(['h\u00e9y', 'x'], 'UTF-8')
tf.strings.unicode_split_with_offsets('h\u00e9y', 'UTF-8')[0]
tf.strings.unicode_split_with_offsets('h\u00e9y', 'UTF-8')[1]
tf.strings.unicode_encode([97, 98], 'UTF-8')
tf.strings.unicode_encode([[97, 98], [99, 100]], 'UTF-16-BE')
tf.strings.unicode_encode([[[97, 98], [99, 100]]], 'UTF-8')
tf.strings.unicode_encode(97, 'UTF-8')
tf.strings.unicode_encode(tf.ragged.constant([[97], [98, 99]]), 'UTF-8')
tf.strings.unicode_encode(tf.ragged.constant([[[97], [98, 99]], []]), 'UTF-8')
tf.strings.ngrams(['a', 'b', 'c'], 2)
tf.strings.ngrams([['a', 'b', 'c'], ['d', 'e', 'f']], (2, 3), separator='-')
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d', 'e'], []]), 2, pad_values=('<', '>'))
tf.strings.ngrams(tf.ragged.constant([['a', 'b', 'c'], ['d', 'e'], []]), 2, pad_values='p', padding_width=1, preserve_short_sequences=True)
tf.strings.ngrams(tf.ragged.constant([[['a', 'b', 'c'], ['d', 'e'], []]]), 2)
tf.strings.ngrams('a', 2)
tf.strings.ngrams(['a'], 0)
tf.strings.ngrams(['a'], 2, padding_width=1)
tf.strings.ngrams(['a'], 2, pad_values=3)
tf.strings.ngrams(['a'], 2, pad_values='x', padding_width=0)
tf.strings.unicode_decode([1], 'UTF-8')
tf.strings.unicode_decode([], 'UTF-8')
tf.strings.unicode_decode('a', 'UTF-8', errors=None)
tf.strings.unicode_split([['ab', 'c']], 'UTF-8')
tf.strings.unicode_split_with_offsets([['h\u00e9', ''], ['c', 'd']], 'UTF-8')[1]
tf.strings.unicode_encode([1.5], 'UTF-8')
tf.strings.unicode_encode([], 'UTF-8')
tf.strings.unicode_encode(tf.ragged.constant([[72], [66]], dtype=tf.int64), 'UTF-8')
tf.strings.ngrams([1], 2)
tf.strings.ngrams(tf.constant([1]), 2)
tf.strings.ngrams(['a', 'b'], [1, 0])
tf.strings.ngrams(['a', 'b'], 2, pad_values=('x',))
tf.strings.ngrams(['a', 'b'], 2, pad_values=['x', b'y'])
tf.strings.ngrams(tf.zeros([0, 2], tf.string), 2)
tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=1, separator='-')
tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=0, separator='-')
tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]), axis=-1, keepdims=True)
tf.strings.reduce_join(tf.ragged.constant([['a', 'b'], ['c']]))
tf.strings.join([tf.ragged.constant([['a', 'b'], ['c']]), 'z'])
tf.io.encode_base64('hello')
tf.io.decode_base64('aGVsbG8')
tf.io.decode_base64('a')
tf.io.matching_files('/nonexistent/*')
tf.io.read_file(['a'])
"""


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf) for e in EXPRESSIONS.strip().split("\n")]
    with open(golden.path(__file__, "strings.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
