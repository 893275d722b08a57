"""What test cases of tf.test assert about texts, lists, files, errors and processes."""
import contextlib
import difflib
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.parse


class General(unittest.TestCase):
    """Asserts about texts, lists, files and processes."""

    maxDiff = 640
    longMessage = True

    # ---- lists ----

    def _fails(self, standard, msg):
        self.fail(self._formatMessage(msg, standard))

    def _size(self, container, msg):
        if not hasattr(container, "__len__"):
            self._fails("Expected a Sized object, got: %r" % type(container).__name__, msg)
        return len(container)

    def assertEmpty(self, container, msg=None):
        """It holds nothing."""
        if self._size(container, msg):
            self._fails("%r has length of %d." % (container, len(container)), msg)

    def assertNotEmpty(self, container, msg=None):
        """It holds something."""
        if not self._size(container, msg):
            self._fails("%r has length of 0." % (container,), msg)

    def assertLen(self, container, expected_len, msg=None):
        """It holds that many."""
        if len(container) != expected_len:
            self._fails("%r has length of %d, expected %d." % (container, len(container), expected_len), msg)

    def assertContainsSubset(self, expected_subset, actual_set, msg=None):
        """All of the one are in the other."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self._fails("Missing elements %s\nExpected: %s\nActual: %s" % (missing, expected_subset, actual_set), msg)

    def assertNoCommonElements(self, expected_seq, actual_seq, msg=None):
        """None of the one is in the other."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self._fails("Common elements %s\nExpected: %s\nActual: %s" % (common, expected_seq, actual_seq), msg)

    def assertSameElements(self, expected_seq, actual_seq, msg=None):
        """The same elements, however often."""
        if isinstance(expected_seq, str) or isinstance(actual_seq, str):
            self.fail("Passing string/bytes to assertSameElements is usually a bug. Did you mean to use assertEqual?")
        for a, b in ((expected_seq, actual_seq), (actual_seq, expected_seq)):
            if any(x not in list(b) for x in a):
                self._fails("Expected: %s\nActual: %s" % (expected_seq, actual_seq), msg)

    assertItemsEqual = unittest.TestCase.assertCountEqual

    def assertContainsSubsequence(self, container, subsequence, msg=None):
        """One after the other, others may stand between."""
        rest = iter(container)
        for item in subsequence:
            if item not in rest:
                self._fails("%r not a subsequence of %r. First non-matching element: %r" % (subsequence, container, item), msg)

    def assertContainsExactSubsequence(self, container, subsequence, msg=None):
        """One after the other, nothing between."""
        container, part = list(container), list(subsequence)
        if not any(container[i:i + len(part)] == part for i in range(len(container) - len(part) + 1)):
            self._fails("%r not a subsequence of %r." % (subsequence, container), msg)

    def assertContainsInOrder(self, strings, target, msg=None):
        """The texts stand in the target, one after the other."""
        at = 0
        for text in (strings,) if isinstance(strings, str) else strings:
            found = target.find(text, at)
            if found < 0:
                self._fails('Did not find "%s" after position %d in "%s"' % (text, at, target), msg)
            at = found + len(text)

    def assertSequenceStartsWith(self, prefix, whole, msg=None):
        """It begins with these."""
        count = len(prefix) if isinstance(prefix, (list, tuple)) else 1
        if not count:
            self._fails("Prefix length is 0.", msg)
        if list(whole[:count]) != (list(prefix) if isinstance(prefix, (list, tuple)) else [prefix]):
            self._fails("prefix: %s not found at start of whole: %s." % (prefix, whole), msg)

    def assertSequenceAlmostEqual(self, expected_seq, actual_seq, places=None, msg=None, delta=None):
        """Numbers that are nearly the same."""
        if len(expected_seq) != len(actual_seq):
            self._fails("Sequence size mismatch: %d vs %d" % (len(expected_seq), len(actual_seq)), msg)
        for a, b in zip(expected_seq, actual_seq):
            self.assertAlmostEqual(a, b, places=places, msg=msg, delta=delta)

    def assertDictAlmostEqual(self, d1, d2, places=None, msg=None, delta=None):
        """The same keys, numbers that are nearly the same."""
        if set(d1) != set(d2):
            self._fails("keys differ: %s vs %s" % (sorted(d1), sorted(d2)), msg)
        for key in d1:
            self.assertAlmostEqual(d1[key], d2[key], places=places, msg=msg, delta=delta)

    def assertMappingEqual(self, a, b, msg=None):
        """Mappings of the same contents."""
        if dict(a) != dict(b):
            self._fails("%r != %r" % (a, b), msg)

    def assertDataclassEqual(self, first, second, msg=None):
        """Objects of one data class with equal fields."""
        self.assertIs(type(first), type(second), msg)
        self.assertEqual(vars(first), vars(second), msg)

    def assertTotallyOrdered(self, *groups, **kwargs):
        """Members of a group are equal, and less than those of later ones."""
        msg = kwargs.get("msg")
        flat = [(i, x) for i, group in enumerate(groups) for x in group]
        for i, a in flat:
            for j, b in flat:
                self.assertEqual(a == b, i == j, msg)
                self.assertEqual(a < b, i < j, msg)
                self.assertEqual(a > b, i > j, msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        """Not less than the one, not greater than the other."""
        if not minv <= value <= maxv:
            self._fails('"%r" unexpectedly not between "%r" and "%r"' % (value, minv, maxv), msg)

    # ---- texts ----

    def assertStartsWith(self, actual, expected_start, msg=None):
        """The text begins so."""
        if not actual.startswith(expected_start):
            self._fails("%r does not start with %r" % (actual, expected_start), msg)

    def assertNotStartsWith(self, actual, unexpected_start, msg=None):
        """The text does not begin so."""
        if actual.startswith(unexpected_start):
            self._fails("%r does start with %r" % (actual, unexpected_start), msg)

    def assertEndsWith(self, actual, expected_end, msg=None):
        """The text ends so."""
        if not actual.endswith(expected_end):
            self._fails("%r does not end with %r" % (actual, expected_end), msg)

    def assertNotEndsWith(self, actual, unexpected_end, msg=None):
        """The text does not end so."""
        if actual.endswith(unexpected_end):
            self._fails("%r does end with %r" % (actual, unexpected_end), msg)

    def assertRegexMatch(self, actual_str, regexes, message=None):
        """One of the expressions is found in the text."""
        if isinstance(regexes, str):
            self.fail("regexes is string or bytes; use assertRegex instead.")
        if not re.search("(?:%s)" % ")|(?:".join(regexes), actual_str, re.MULTILINE):
            self._fails("%r does not contain any of %s" % (actual_str, regexes), message)

    def assertJsonEqual(self, first, second, msg=None):
        """Texts of JSON with the same value."""
        self.assertEqual(json.loads(first), json.loads(second), msg)

    def assertUrlEqual(self, a, b, msg=None):
        """Addresses with the same parts, in whichever order the arguments stand."""
        left, right = urllib.parse.urlparse(a), urllib.parse.urlparse(b)
        for part in ("scheme", "netloc", "path", "fragment"):
            self.assertEqual(getattr(left, part), getattr(right, part), msg)
        self.assertEqual(sorted(left.params.split(";")), sorted(right.params.split(";")), msg)
        self.assertDictEqual(urllib.parse.parse_qs(left.query, True), urllib.parse.parse_qs(right.query, True), msg)

    def assertMultiLineEqual(self, first, second, msg=None, **kwargs):
        """Texts that are the same."""
        if first != second:
            self._fails("\n" + "".join(difflib.ndiff(first.splitlines(True), second.splitlines(True))), msg)

    # ---- errors, classes, processes ----

    def assertIsSubclass(self, cls, expected_super, msg=None):
        """A class below another one."""
        if not issubclass(cls, expected_super):
            self._fails("%r is not a subclass of %r" % (cls, expected_super), msg)

    def assertNotIsSubclass(self, cls, unexpected_super, msg=None):
        """A class not below another one."""
        if issubclass(cls, unexpected_super):
            self._fails("%r is a subclass of %r" % (cls, unexpected_super), msg)

    @contextlib.contextmanager
    def _raising(self, expected_exception, good, expected):
        try:
            yield
        except expected_exception as error:
            self.assertTrue(good(error), "%s: %r, expected %s" % (type(error).__name__, str(error), expected))
        else:
            self.fail("%s not raised" % getattr(expected_exception, "__name__", expected_exception))

    def _call(self, context, function, args, kwargs):
        if function is None:
            return context
        with context:
            function(*args, **kwargs)
        return None

    def assertRaisesWithLiteralMatch(self, expected_exception, expected_exception_message, callable_obj=None, *args, **kwargs):
        """An error of exactly that text."""
        return self._call(self._raising(expected_exception, lambda e: str(e) == expected_exception_message, expected_exception_message),
                          callable_obj, args, kwargs)

    def assertCommandSucceeds(self, command, regexes=(b"",), env=None, close_fds=True, msg=None):
        """A program ends well, and writes what one of the expressions matches."""
        self._command(command, regexes, env, close_fds, msg, True)

    def assertCommandFails(self, command, regexes, env=None, close_fds=True, msg=None):
        """A program ends with an error, and writes what one of the expressions matches."""
        self._command(command, regexes, env, close_fds, msg, False)

    def _command(self, command, regexes, env, close_fds, msg, succeeds):
        done = subprocess.run(command, shell=isinstance(command, str), env=env, close_fds=close_fds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if (done.returncode == 0) != succeeds:
            self._fails("%r ended with %d: %r" % (command, done.returncode, done.stdout), msg)
        patterns = [r.encode() if isinstance(r, str) else r for r in regexes]
        if not any(re.search(p, done.stdout, re.MULTILINE) for p in patterns):
            self._fails("the output of %r, %r, matches none of %s" % (command, done.stdout, regexes), msg)

    # ---- files, properties ----

    tempfile_cleanup = "always"

    def create_tempdir(self, name=None, cleanup=None):
        """A folder of the test's own; `full_path` says where."""
        del cleanup
        path = os.path.join(self._folder(), name) if name else tempfile.mkdtemp(dir=self._folder())
        os.makedirs(path, exist_ok=True)
        return _Place(path)

    def create_tempfile(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict", cleanup=None):
        """A file of the test's own; `full_path` says where."""
        del cleanup
        path = os.path.join(self._folder(), file_path) if file_path else tempfile.mkstemp(dir=self._folder())[1]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if content is None:
            open(path, "a").close()
        elif isinstance(content, bytes):
            with open(path, mode.rstrip("b") + "b") as file:
                file.write(content)
        else:
            with open(path, mode, encoding=encoding, errors=errors) as file:
                file.write(content if isinstance(content, str) else "".join(content))
        return _Place(path)

    def _folder(self):
        if not getattr(self, "_own_folder", None):
            self._own_folder = tempfile.TemporaryDirectory()
            self.addCleanup(self._own_folder.cleanup)
        return self._own_folder.name

    def enter_context(self, manager):
        """Enters a context that ends with the test."""
        return self.enterContext(manager)

    def record_property(self, property_name, property_value):
        """Keeps a value under a name."""
        self.__dict__.setdefault("_properties", {})[property_name] = property_value

    def get_recorded_properties(self):
        """What was kept."""
        return self.__dict__.get("_properties", {})


class _Place:
    """The path of a file or folder."""

    def __init__(self, path):
        self.full_path = path

    def __fspath__(self):
        return self.full_path

    def read_text(self, encoding="utf8", errors="strict"):
        """What stands in the file."""
        with open(self.full_path, encoding=encoding, errors=errors) as file:
            return file.read()

    def create_file(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict"):
        """A file in the folder."""
        path = os.path.join(self.full_path, file_path or "file")
        with open(path, mode, **({} if "b" in mode else {"encoding": encoding, "errors": errors})) as file:
            file.write(content if content is not None else "")
        return _Place(path)

    def mkdir(self, dir_name=None):
        """A folder in the folder."""
        path = os.path.join(self.full_path, dir_name or "folder")
        os.makedirs(path, exist_ok=True)
        return _Place(path)


for _alias, _name in (("assertNotRegexpMatches", "assertNotRegex"), ("failIf", "assertFalse"), ("failIfAlmostEqual", "assertNotAlmostEqual"),
                      ("failIfEqual", "assertNotEqual"), ("failUnless", "assertTrue"), ("failUnlessAlmostEqual", "assertAlmostEqual"),
                      ("failUnlessEqual", "assertEqual"), ("failUnlessRaises", "assertRaises")):
    setattr(General, _alias, getattr(unittest.TestCase, _name))
