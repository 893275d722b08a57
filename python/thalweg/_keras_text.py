"""keras.preprocessing.text and .sequence: words by number, sequences of one length. Arrays are made by C (src/keras/sequences.c); words are
found with Python's text, dicts and random numbers, which programs seed and look into."""
import collections
import hashlib
import json
import random
import warnings

import numpy as np

import thalweg as tf

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def _joined(sequences, dtype):
    """The elements of sequences one behind the other, and how many each has."""
    parts = [np.asarray(s, dtype=dtype) for s in sequences]
    lengths = np.array([len(part) for part in parts], np.int64)
    parts = [part for part in parts if len(part)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype), lengths


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences of different lengths as the rows of one array, filled up or cut off."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for s in sequences:
        if not hasattr(s, "__len__"):
            raise ValueError("`sequences` must be a list of iterables. Found non-iterable: %s" % (s,))
    kind = np.dtype(dtype)
    if isinstance(value, str) and kind.kind not in "OU":
        raise ValueError("`dtype` %s is not compatible with `value`'s type: %s\nYou should set `dtype=object` for variable length strings."
                         % (dtype, type(value)))
    if len(sequences) == 0 and maxlen is None:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    shapes = {}
    parts = [np.asarray(s, dtype=kind) for s in sequences]
    for i, part in enumerate(parts):
        if len(part) and part.shape[1:] != shapes.setdefault(0, part.shape[1:]):
            raise ValueError("Shape of sample %s of sequence at position %d is different from expected shape %s" % (part.shape[1:], i, shapes[0]))
    if any(len(part) for part in parts):
        if truncating not in ("pre", "post"):
            raise ValueError('Truncating type "%s" not understood' % truncating)
        if padding not in ("pre", "post"):
            raise ValueError('Padding type "%s" not understood' % padding)
    else:
        padding = truncating = "pre"
    values, lengths = _joined(parts, kind)
    maxlen = None if maxlen is None else int(maxlen)
    pad = tf.keras.preprocessing.sequence._pad
    if kind.kind in "biufc":
        return pad(values, lengths, maxlen, padding, truncating, np.asarray(value).astype(kind))
    places = pad(np.arange(len(values)), lengths, maxlen, padding, truncating, np.int64(-1))  # texts and objects, by their numbers
    made = np.full(places.shape + values.shape[1:], value, dtype=kind)
    made[places >= 0] = values[places[places >= 0]]
    return made


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False, sampling_table=None, seed=None):
    """Pairs of words that stand near each other, and of words drawn by chance, with labels that say which is which."""
    couples = []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
    labels = [[0, 1] if categorical else 1 for _ in couples]
    if negative_samples > 0:
        count, words = int(len(labels) * negative_samples), [first for first, _ in couples]
        random.shuffle(words)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [[1, 0]] * count if categorical else [0] * count
    if shuffle:
        seed = random.randint(0, 10000000) if seed is None else seed
        for each in (couples, labels):
            random.seed(seed)
            random.shuffle(each)
    return couples, labels


def _listed(data, name):
    try:
        return json.dumps(data.tolist() if type(data).__module__ == "numpy" else data)
    except TypeError as error:
        raise TypeError("%s not JSON Serializable:" % name, data) from error


class TimeseriesGenerator(tf.keras.utils.Sequence):
    """Batches of the parts of a series, each with the target behind it."""

    def __init__(self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False, reverse=False,
                 batch_size=128):
        if len(data) != len(targets):
            raise ValueError("Data and targets have to be of same length. Data length is %d while target length is %d" % (len(data), len(targets)))
        self.data, self.targets, self.length, self.sampling_rate, self.stride = data, targets, length, sampling_rate, stride
        self.start_index, self.end_index = start_index + length, len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError("`start_index+length=%i > end_index=%i` is disallowed, as no part of the sequence would be left to be used as "
                             "current step." % (self.start_index, self.end_index))

    def __len__(self):
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index):
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            step = self.batch_size * self.stride
            first = self.start_index + step * index
            rows = np.arange(first, min(first + step, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length:row:self.sampling_rate] for row in rows])
        targets = np.array([self.targets[row] for row in rows])
        return samples[:, ::-1, ...] if self.reverse else samples, targets

    def get_config(self):
        """The arguments it was made with; start_index is where the first target stands, as in Keras."""
        return {"data": _listed(self.data, "Data"), "targets": _listed(self.targets, "Targets"), "length": self.length,
                "sampling_rate": self.sampling_rate, "stride": self.stride, "start_index": self.start_index, "end_index": self.end_index,
                "shuffle": self.shuffle, "reverse": self.reverse, "batch_size": self.batch_size}

    def to_json(self, **kwargs):
        """The config as JSON."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def text_to_word_sequence(input_text, filters=_FILTERS, lower=True, split=" "):
    """The words of a text."""
    text = (input_text.lower() if lower else input_text).translate(str.maketrans(dict.fromkeys(filters, split)))
    return [word for word in text.split(split) if word]


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """The words of a text as numbers from 1 to n - 1, by a hash."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)
    words = analyzer(text) if analyzer else text_to_word_sequence(text, filters, lower, split)
    return [hash_function(word) % (n - 1) + 1 for word in words]


def one_hot(input_text, n, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """The words of a text as numbers from 1 to n - 1, by Python's hash."""
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


class Tokenizer:
    """Numbers the words of texts by how frequent they are."""

    def __init__(self, num_words=None, filters=_FILTERS, lower=True, split=" ", char_level=False, oov_token=None, analyzer=None, **kwargs):
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.")
            num_words = kwargs.pop("nb_words")
        self.document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.word_counts, self.word_docs, self.index_docs = collections.OrderedDict(), collections.defaultdict(int), collections.defaultdict(int)
        self.filters, self.split, self.lower, self.num_words, self.char_level = filters, split, lower, num_words, char_level
        self.oov_token, self.analyzer, self.word_index, self.index_word = oov_token, analyzer, {}, {}

    def _words(self, text):
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return text.lower() if self.lower else text
        return self.analyzer(text) if self.analyzer else text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Counts the words of texts, and numbers them anew."""
        counts = self.word_counts
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                counts[word] = counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        order = [] if self.oov_token is None else [self.oov_token]
        order += sorted(counts, key=counts.__getitem__, reverse=True)
        self.word_index = {word: i for i, word in enumerate(order, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        """Counts in how many sequences each number is."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for i in set(sequence):
                self.index_docs[i] += 1

    def _known(self, items, table, number_of):
        """What the table has for items; for unknown and rare ones what it has for the oov token, if there is one."""
        unknown, found = self.word_index.get(self.oov_token), []
        for item in items:
            other = table.get(item)
            if other is not None and not (self.num_words and number_of(item, other) >= self.num_words):
                found.append(other)
            elif unknown is not None if other is not None else self.oov_token is not None:
                found.append(self.index_word[unknown] if table is self.index_word else unknown)
        return found

    def texts_to_sequences_generator(self, texts):
        """The numbers of the words of each text."""
        for text in texts:
            yield self._known(self._words(text), self.word_index, lambda word, number: number)

    def texts_to_sequences(self, texts):
        """The numbers of the words of each text."""
        return list(self.texts_to_sequences_generator(texts))

    def sequences_to_texts_generator(self, sequences):
        """The words of each sequence of numbers."""
        for sequence in sequences:
            yield " ".join(self._known(sequence, self.index_word, lambda number, word: number))

    def sequences_to_texts(self, sequences):
        """The words of each sequence of numbers."""
        return list(self.sequences_to_texts_generator(sequences))

    def texts_to_matrix(self, texts, mode="binary"):
        """Texts as rows with a number for each word."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """Sequences as rows with a number for each word: binary, count, freq or tfidf."""
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        count = self.num_words or len(self.word_index) + 1
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        values, lengths = _joined(sequences, np.int64)
        documents = np.array([self.index_docs.get(i, 0) for i in range(count)], np.float64) if mode == "tfidf" else None
        return tf.keras.preprocessing.text._matrix(values, lengths, count, mode, documents, self.document_count)

    def get_config(self):
        """The arguments and what was counted, as JSON knows it."""
        return {"num_words": self.num_words, "filters": self.filters, "lower": self.lower, "split": self.split, "char_level": self.char_level,
                "oov_token": self.oov_token, "document_count": self.document_count, "word_counts": json.dumps(self.word_counts),
                "word_docs": json.dumps(self.word_docs), "index_docs": json.dumps(self.index_docs), "index_word": json.dumps(self.index_word),
                "word_index": json.dumps(self.word_index)}

    def to_json(self, **kwargs):
        """The config as JSON."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """The tokenizer of such JSON."""
    config = json.loads(json_string).get("config")
    tables = {name: json.loads(config.pop(name)) for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")}
    tokenizer = Tokenizer(**config)
    for name, table in tables.items():
        setattr(tokenizer, name, {int(key): value for key, value in table.items()} if name.startswith("index") else table)
    return tokenizer
