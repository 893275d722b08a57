"""Makes tests/golden/op_cases/text.json: strings, regular expressions, files. Usage: ops_text.py (needs tensorflow)"""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("text")
words = np.array([["Hello", " b c "], ["", "x,y"]], object)
long = ["", "a", "abc", "abcdefgh", "abcdefghijklmnopqrstuvwxyz", "x" * 40, "y" * 64, "z" * 65, "w" * 200]
none = np.zeros([0, 2], "S")

c.add("StringJoin", inputs=["a", ["b", "c"]], separator="-")
c.add("StringJoin", inputs=[["a", "x"], ["b", "c"], "z"])
c.add("StringJoin", inputs=[words, words], separator=", ")
c.add("StringJoin", inputs=["a"])
c.add("StringJoin", inputs=[none, "a"])
c.error("StringJoin", inputs=[["a", "x"], ["b", "c", "d"]], code="InvalidArgumentError", text="Input shapes do not match: [2] vs. [3]")
c.add("StringLength", input=words)
c.add("StringLength", input="h\u00e9llo")
c.add("StringLength", input=["h\u00e9llo", "", b"\xff\xfe"], unit="UTF8_CHAR")
c.add("StringLength", input=none)
c.add("Substr", input=["hello", "ab"], pos=[1, -1], len=[2, 5])
c.add("Substr", input="hello", pos=5, len=2)
c.add("Substr", input=["hello"], pos=np.int64(1), len=np.int64(-3))
c.add("Substr", input=["hello"], pos=[1, 2], len=[1, 1])
c.add("Substr", input=[["hello"], ["world"]], pos=[1, 2], len=[1, 2])
c.add("Substr", input=none, pos=1, len=1)
for pos, size in ((1, 2), (-4, 2), (5, 2), (1, -2), (0, 100)):
    c.add("Substr", input=["h\u00e9llo"], pos=pos, len=size, unit="UTF8_CHAR")
c.error("Substr", input="hello", pos=10, len=2, code="InvalidArgumentError", text="pos 10 out of range for string b'hello' at index 0")
c.error("Substr", input=["hello"], pos=-6, len=2, code="InvalidArgumentError", text="pos -6 out of range")
c.error("Substr", input=["h\u00e9llo"], pos=9, len=2, unit="UTF8_CHAR", code="InvalidArgumentError", text="pos 9 out of range for string at index 0")
c.error("Substr", input=["hello"], pos=[1], len=[[1]], code="InvalidArgumentError", text="pos and len should have the same shape, got: [1] vs. [1,1]")
for text, sep, most in ((["a b  c", "", "  "], "", -1), (["a,b,,c", ",", ""], ",", -1), (["a,b,,c", ",", ""], ",", 1), ([" a b  c "], "", 1),
                        (["a<>b><c"], "<>", -1), ([" a"], "", 0), (["a,b"], ",", 0), ([], ",", -1), ([" a b "], " ", -1)):
    c.add("StringSplitV2", input=np.array(text, object).astype("S") if not text else text, sep=sep, maxsplit=most)
c.error("StringSplitV2", input="a", sep="", code="InvalidArgumentError", text="input must be a vector, got shape: []")
for text, delimiter, skip in ((["a b  c", "", " "], " ", True), (["a b  c", "", " "], " ", False), (["a,b;c"], ",;", True), (["abc", ""], "", False), (["abc"], "", True)):
    c.add("StringSplit", input=text, delimiter=delimiter, skip_empty=skip)
for op in ("StringLower", "StringUpper"):
    c.add(op, input=words)
    c.add(op, input=["H\u00c9llo \u00c0\u015e \u03a9\u03c9", b"a\xc3\xa9Z"], encoding="utf-8")
    c.add(op, input="H\u00c9\u00e9")
    c.error(op, input="a", encoding="latin", code="InvalidArgumentError", text="only utf-8 or '' (no encoding) is supported, received latin")
c.add("StringUpper", input="stra\u00dfe", encoding="utf-8")
c.add("StringStrip", input=["  a b \t\n\v\f\r", "", " ", "a"])
c.add("StringToNumber", string_tensor=[" 1.5 ", "inf", "nan", "-INF", "1e400", "0x10", "1e-50", "+1.5", ".5", "5.", "1e5", "-0"])
c.add("StringToNumber", string_tensor=["0.1", "1e-300", "123456789.123"], out_type=tf.float64)
c.add("StringToNumber", string_tensor=[" 12 ", "-5", "1\n", "007"], out_type=tf.int32)
c.add("StringToNumber", string_tensor="9223372036854775807", out_type=tf.int64)
for text, kind in (("abc", tf.float32), ("", tf.float32), ("1_0", tf.float32), ("infinity", tf.float32), ("0x1p3", tf.float32), ("nan(1)", tf.float32),
                   ("1.5x", tf.float64), ("+7", tf.int32), ("99999999999", tf.int32), ("0x10", tf.int32), ("", tf.int64), ("- 5", tf.int64), ("-", tf.int64)):
    c.error("StringToNumber", string_tensor=[text], out_type=kind, code="InvalidArgumentError",
            text="StringToNumberOp could not correctly convert string: " + text)
c.add("AsString", input=np.float32([1.5, 2.25, 1e20, float("nan"), float("inf"), -0.0]))
c.add("AsString", input=np.float64([1.5, 2.25, 1e20]), shortest=True)
c.add("AsString", input=np.float64([1.5, 2.25, 1e20]), scientific=True, precision=2, width=12, fill="0")
c.add("AsString", input=np.float32([1.5, 1 / 3]), shortest=True, precision=3)
for fill in ("#", " ", "+", "-", "0"):
    c.add("AsString", input=np.float32([1.5]), width=10, fill=fill)
for kind in (np.int8, np.int16, np.int32, np.int64):
    c.add("AsString", input=kind([1, -2]), width=4, fill="0")
for kind in (np.uint8, np.uint16, np.uint32, np.uint64):
    c.add("AsString", input=kind([1, 200]))
c.add("AsString", input=np.uint64(2**63 + 5))
c.add("AsString", input=[True, False], width=7)
c.add("AsString", input=np.complex64([1 + 2j]), precision=2)
c.add("AsString", input=np.complex128([1 + 2j]))
c.add("AsString", input=words, width=7)
c.add("AsString", input=["a"], width=3, fill="-")
c.add("AsString", input=np.float16([1.5, 1 / 3]))
c.add("AsString", input=tf.constant([1.5, 1 / 3], tf.bfloat16))
c.add("AsString", input=np.zeros([0, 2], np.float32))
c.error("AsString", input=[1, 2], precision=4, code="InvalidArgumentError", text="precision not supported for datatype int32")
c.error("AsString", input=[1, 2], scientific=True, code="InvalidArgumentError", text="scientific and shortest format not supported for datatype int32")
c.error("AsString", input=[1, 2], fill="x", code="InvalidArgumentError", text='Fill argument not supported: "x"')
c.error("AsString", input=[1, 2], fill="ab", code="InvalidArgumentError", text="Fill string must be one or fewer characters")
c.error("AsString", input=[1.5], shortest=True, scientific=True, code="InvalidArgumentError", text="Cannot select both scientific and shortest")
letters = np.array([[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]], object)
for axes in (0, [1], [-1], [0, 1], [1, 0], [2, 0], [0, 1, 2], [2, 1, 0], np.zeros([0], np.int32)):
    c.add("ReduceJoin", inputs=letters, reduction_indices=np.int32(axes), separator="-")
c.add("ReduceJoin", inputs=letters, reduction_indices=[0, 1], keep_dims=True)
c.add("ReduceJoin", inputs=none, reduction_indices=[0])
c.add("ReduceJoin", inputs="a", reduction_indices=np.zeros([0], np.int32))
c.error("ReduceJoin", inputs=words, reduction_indices=[2], code="OutOfRangeError", text="Invalid reduction dimension 2 for input with 2 dimension(s)")
c.error("ReduceJoin", inputs=words, reduction_indices=[0, -2], code="InvalidArgumentError", text="Duplicate reduction dimension -2")
c.add("StringFormat", inputs=[np.int32(range(10)), "a", np.float32([1.5])], template="x {} y {} z {}", placeholder="{}")
c.add("StringFormat", inputs=[np.int32(range(64)).reshape(8, 8)], template="%%", placeholder="%%", summarize=2)
c.add("StringFormat", inputs=[np.int32(range(64)).reshape(4, 4, 4)], template="<%s>", summarize=1)
c.add("StringFormat", inputs=[np.int32(range(27)).reshape(3, 3, 3)], template="<%s>", summarize=-1)
c.add("StringFormat", inputs=[np.float32([1 / 3, 1e-5, 123456.789, 1e7, float("nan"), float("inf"), -float("inf"), 0.1])], summarize=-1)
c.add("StringFormat", inputs=[np.float64([1 / 3, 1e-5, 123456.789, 1e17, 1e16])], summarize=-1)
c.add("StringFormat", inputs=[np.float16([1 / 3, 2]), np.array([True, False]), np.array(["a", "b\nc\"", "\u00e9"], object)], template="%s %s %s")
c.add("StringFormat", inputs=[np.uint8(5), np.int8(-5), np.uint64(2**63), np.zeros([0], np.float32)], template="%s %s %s %s")
c.add("StringFormat", inputs=[np.complex64(1)], template="%s")
c.error("StringFormat", inputs=["a"], template="x", code="InvalidArgumentError", text="num placeholders in template and num inputs must match: 0 vs. 1")
c.add("EncodeBase64", input=["abcd", b"\xff\xfe\xfd?", "", "a", "ab", "abc"], pad=True)
c.add("EncodeBase64", input=["abcd", b"\xff\xfe\xfd?", "", "a", "ab", "abc"])
c.add("DecodeBase64", input=["YWJjZA==", "YWJjZA", "__79Pw", ""])
c.error("DecodeBase64", input=["YWJjZA+"], code="InvalidArgumentError", text="Invalid character found in base64.")
c.error("DecodeBase64", input=["YWJjZ"], code="InvalidArgumentError", text="Base64 string length cannot be 1 modulo 4.")
c.add("StringToHashBucketFast", input=long, num_buckets=2**62)
c.add("StringToHashBucketFast", input=words, num_buckets=7)
subjects = ["ab", "a.b", "abc", "ABC", "a\nc", "", "a1 b2"]
for pattern in ("a.c", "(?i)a.c", "(?s)a.c", "\\Aab\\z", "\\pL+", "[[:alpha:]]+", "(?i:AB)c?", "\\w\\d\\s.*", "\\Qa.b\\E", "a|ab|abc", "(a(b)?)+", "",
                "[^a]*", "a{2}|ab{1,2}", "(?P<x>a)b", "[]a-b]+", "a{,2}", "\\x61b", "\\141b"):
    c.add("RegexFullMatch", input=subjects, pattern=pattern)
c.add("StaticRegexFullMatch", input=subjects, pattern="a.*")
for pattern, text in (("a**", "bad repetition operator: **"), ("a++", "bad repetition operator: ++"), ("*a", "no argument for repetition operator: *"),
                      ("(?P<n>a)\\k<n>", "invalid escape sequence: \\k"), ("a{2,1}", "invalid repetition size: {2,1}"), ("(a)(b", "missing ): (a)(b"),
                      ("x{1001}", "invalid repetition size: {1001}"), ("(?:", "missing ): (?:"), ("\\", "trailing \\"), ("a\\1", "invalid escape sequence: \\1"),
                      ("(?<n>a)", "invalid perl operator: (?<"), ("a(?=b)", "invalid perl operator: (?="), (")", "unexpected ): )"),
                      ("[", "missing ]: ["), ("\\Z", "invalid escape sequence: \\Z"), ("a(?#c)b", "invalid perl operator: (?#"), ("[z-a]", "Invalid pattern: [z-a]")):
    c.error("RegexFullMatch", input=["ab"], pattern=pattern, code="InvalidArgumentError", text=text)
c.error("RegexFullMatch", input=["ab"], pattern=["a"], code="InvalidArgumentError", text="Pattern must be scalar, but received [1]")
for text, pattern, rewrite, every in (("abc abc", "(a)(b)", r"\2\1\0\\", False), ("abc abc", "(a)(b)", r"\2-\1", True), ("abc", "x*", "-", True),
                                      ("abc abc", "(a)(b)", r"\3", True), ("h\u00e9b", "b*", "-", True), ("aaa bbb", "^a", "b", True), ("x\ny", "^y", "b", True),
                                      ("x\n", "x$", "b", True), (b"\xff\xfeab", ".", "b", True), ("abab", "(ab)*", r"<\0>", True), ("xaxx", "x|", "-", True),
                                      ("abcd", "(a|ab)(c|bcd)", r"<\1,\2>", True), ("", "a*", "b", True), ("aXbX", "X", "", False), ("abc", "(x)?b", r"[\1]", True)):
    c.add("RegexReplace", input=[text, "other"], pattern=pattern, rewrite=rewrite, replace_global=every)
c.add("StaticRegexReplace", input=words, pattern="[a-z]", rewrite=r"(\0)")
c.error("RegexReplace", input=["a"], pattern="a", rewrite=["x"], code="InvalidArgumentError", text="Rewrite must be scalar, but received [1]")
for op in ("StringLower", "StringUpper"):
    c.add(op, input=["\u0391\u03a3", "\u0391\u03a3 \u0392", "\u03a3", "\u0391\u03a3.\u0391", "\u0130", "\u0149\ufb01\u0390", "\u1f80\u1fb3\u1ffc",
                     "\u1e9e\u01c5", b"\xe0\x80a\xff"], encoding="utf-8")
c.add("StringToHashBucket", string_tensor=long, num_buckets=2**62)
c.add("StringToHashBucket", string_tensor=words, num_buckets=7)
c.add("StringToHashBucketStrong", input=long, num_buckets=2**62, key=[1, 2])
c.add("StringToHashBucketStrong", input=words, num_buckets=7, key=[-1, 2**62])
c.error("StringToHashBucketStrong", input=["a"], num_buckets=7, key=[1], code="InvalidArgumentError", text="Key must have 2 elements")
encoded = {"UTF-8": [b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", b"\xe0\x80\x80x\xf0\x90\x80", b"\xed\xa0\x80\xc3", b"a\x00\x1f\n\xff", b"\xc3(",
                     b"\xf4\x90\x80\x80", b"\xe2\x82", b"", b"\xef\xbb\xbfa", b"\xef\xbf\xbe"],
           "UTF-16-BE": [b"\x00a\xd8\x3d\xde\x00\xd8\x00\x00b\x01", b"\xd8\x01", b"\xdc\x00\x00a"],
           "UTF-32-BE": [b"\x00\x00\x00a\x00\x11\x00\x00\x00\x00\xd8\x00\x00\x01"], "UTF-16-LE": [b"a\x00\x3d\xd8\x00\xde"], "UTF-16": [b"a\x01", b"\xff\xfea\x01", b"\xfe\xff\x00a"],
           "UTF-32": [b"\x00\x00\x00a"], "latin1": [b"\xe9a"], "US-ASCII": [b"\xe9a"], "windows-1252": [b"\x80a\x81"], "shift-jis": [b"\x82\xa0a\x82"],
           "gbk": [b"\xb0\xa1"]}
for encoding, texts in encoded.items():
    for errors in ("replace", "ignore"):
        c.add("UnicodeDecodeWithOffsets", input=texts, input_encoding=encoding, errors=errors)
    c.add("UnicodeDecode", input=texts, input_encoding=encoding, replace_control_characters=True, replacement_char=63, Tsplits=tf.int32)
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        c.add("UnicodeTranscode", input=texts, input_encoding=encoding, output_encoding=output)
    c.add("UnicodeTranscode", input=texts, input_encoding=encoding, output_encoding="UTF-8", errors="ignore", replace_control_characters=True)
for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
    c.error(op, input=[b"\xff"], input_encoding="UTF-8", errors="strict", code="InvalidArgumentError", text="Invalid formatting on input string")
    c.error(op, input=["a"], input_encoding="nope", code="InvalidArgumentError", text="Could not create converter for input encoding: nope")
c.error("UnicodeTranscode", input="a", input_encoding="nope", output_encoding="UTF-8", code="InvalidArgumentError", text="Could not create converter for input encoding: nope")
c.error("UnicodeTranscode", input=b"\xff", input_encoding="UTF-8", output_encoding="UTF-8", errors="strict", code="InvalidArgumentError", text="Invalid formatting on input string")
c.error("UnicodeTranscode", input="a", input_encoding="UTF-8", output_encoding="UTF-8", replacement_char=-5, code="InvalidArgumentError",
        text="replacement_char out of unicode codepoint range")
for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
    for errors in ("replace", "ignore"):
        c.add("UnicodeEncode", input_values=[97, 0x1F600, 0xfffe, 0xfdd0, 0], input_splits=np.int64([0, 2, 2, 5]), output_encoding=output, errors=errors)
    c.add("UnicodeEncode", input_values=[97, 0x110000, -1, 0xd800, 98], input_splits=np.int32([0, 5]), output_encoding=output, replacement_char=0x1F600)
for splits, text in (([0, 2, 2, 5], "Last value in input_splits must be equal to length of input_tensor."), ([1, 3], "First value in input_splits must be zero."),
                     ([0, 2, 1, 3], "Values in input_splits must be equal or in ascending order."), ([], "Input_splits should contain elements")):
    c.error("UnicodeEncode", input_values=[97, 98, 99], input_splits=np.int64(splits), output_encoding="UTF-8", code="InvalidArgumentError", text=text)
c.error("UnicodeEncode", input_values=[0xfffe], input_splits=np.int64([0, 1]), output_encoding="UTF-8", errors="strict", code="InvalidArgumentError",
        text="Code point is out of range for Unicode, or a noncharacter.")
c.add("UnicodeScript", input=np.int32([-1, 97, 0x431, 0x3b1, 0x4e00, 0x1F600, 0xe000, 0x10ffff, 0x110000, 0x5d0, 0x300]))
letters = ["a", "b", "c", "d", "e"]
for pad, widths, keep in ((0, [2], False), (-1, [2], False), (5, [3, 1], False), (1, [3, 1, 2], False), (0, [3], True), (1, [9], True), (-1, [4], True), (0, [9, 8], True),
                          (0, [2, 4], True)):
    for kind in (np.int32, np.int64):
        c.add("StringNGrams", data=letters, data_splits=kind([0, 3, 3, 4, 5]), separator=" ", ngram_widths=widths, left_pad="L", right_pad="R", pad_width=pad,
              preserve_short_sequences=keep)
for splits, text in (([0, 3, 2, 5], "Invalid split value 2, must be in [3, 5]"), ([0, 3, 6], "Invalid split value 6, must be in [3, 5]"),
                     ([1, 3, 5], "First split value must be 0, got 1"), ([0, 3], "Last split value must be data size. Expected 5, got 3")):
    c.error("StringNGrams", data=letters, data_splits=np.int64(splits), separator=" ", ngram_widths=[2], left_pad="L", right_pad="R", pad_width=0,
            preserve_short_sequences=False, code="InvalidArgumentError", text=text)
c.error("StringNGrams", data=letters, data_splits=np.int64([0, 5]), separator=" ", ngram_widths=[0], left_pad="L", right_pad="R", pad_width=0,
        preserve_short_sequences=False, code="InvalidArgumentError", text="ngram_widths must contain positive values")
for strings, ids, count in ((["a", "b", "c"], [0, 1, 0], 2), ([["a", "b"], ["c", "d"], ["e", "f"]], [0, 1, 0], 3), ([["a", "b"], ["c", "d"]], [[0, 1], [1, 0]], 2)):
    c.add("UnsortedSegmentJoin", inputs=strings, segment_ids=ids, num_segments=count, separator=",")
    c.add("UnsortedSegmentJoin", inputs=strings, segment_ids=np.int64(ids), num_segments=np.int64(count))
for strings, ids, count, code, text in ((["a"], [5], 2, "InvalidArgumentError", "segment_ids are not allowed to exceed num_segments or to have negative values."),
                                        (["a"], [0], -1, "InvalidArgumentError", "Number of segments must be non-negative but got -1"),
                                        ("a", 0, 2, "InvalidArgumentError", "Segment_id cannot have rank 0"),
                                        (["a", "b"], [[0]], 2, "OutOfRangeError", "Invalid segment_id rank 2 for input with 1 dimension(s)"),
                                        (["a"], [0], [2], "InvalidArgumentError", "Number of segments must be a scalar")):
    c.error("UnsortedSegmentJoin", inputs=strings, segment_ids=ids, num_segments=count, code=code, text=text)
c.error("ReadFile", filename="/nonexistent", code="NotFoundError", text="/nonexistent; No such file or directory")
c.error("ReadFile", filename="/", code="FailedPreconditionError", text="/; Is a directory")
c.error("ReadFile", filename=["a"], code="InvalidArgumentError", text="Input filename tensor must be scalar, but had shape: [1]")
c.error("WriteFile", filename="/", contents="a", code="FailedPreconditionError", text="/; Is a directory")
c.error("WriteFile", filename=["a"], contents="a", code="InvalidArgumentError", text="Input filename tensor must be scalar, but had shape: [1]")
c.error("WriteFile", filename="a", contents=["a"], code="InvalidArgumentError", text="Contents tensor must be scalar, but had shape: [1]")
c.add("MatchingFiles", pattern="/nonexistent/*")
c.add("MatchingFiles", pattern=["/et[c]", "/ro?t"])
c.write()
