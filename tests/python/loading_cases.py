"""Cases of keras.preprocessing and of the functions for pictures and sequences in keras.utils."""
import io
import json
import os
import random

import numpy as np

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "pictures")
FILES = ("cats/a.png", "cats/b.jpg", "cats/more/c.bmp", "dogs/d.PNG", "dogs/e.png")
TEXTS = ["The cat sat on the mat.", "The dog, the cat & the mouse!", "Überall  liegt SCHNEE\tund Eis", "", "cat\ncat"]
SEQUENCES = [[1, 2, 3, 4], [5], [], [6, 7]]


def told(picture):
    return [picture.mode, list(picture.size), np.asarray(picture)]


def pictures(tf, case):
    u, image = tf.keras.utils, tf.keras.preprocessing.image
    for name in FILES:
        for mode in ("rgb", "rgba", "grayscale"):
            case("load_img %s %s" % (name, mode), lambda n=name, m=mode: told(u.load_img(PICTURES + "/" + n, color_mode=m)))
    for method in ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"):
        for keep in (False, True):
            case("load_img %s %s" % (method, keep), lambda m=method, k=keep: told(image.load_img(
                PICTURES + "/cats/a.png", target_size=(4, 9), interpolation=m, keep_aspect_ratio=k)))
            case("load_img alpha %s %s" % (method, keep), lambda m=method, k=keep: told(image.load_img(
                PICTURES + "/dogs/e.png", color_mode="rgba", target_size=(5, 2), interpolation=m, keep_aspect_ratio=k)))
    case("load_img bytes", lambda: told(u.load_img(io.BytesIO(open(PICTURES + "/cats/a.png", "rb").read()), target_size=(5, 7))))
    case("load_img grayscale", lambda: told(u.load_img(PICTURES + "/cats/a.png", grayscale=True)))
    case("load_img bad method", lambda: u.load_img(PICTURES + "/cats/a.png", target_size=(3, 3), interpolation="odd"))
    case("load_img bad mode", lambda: u.load_img(PICTURES + "/cats/a.png", color_mode="odd"))
    case("load_img bad path", lambda: u.load_img(3))
    case("load_img no file", lambda: u.load_img(PICTURES + "/none.png"))
    x = (np.arange(4 * 5 * 4).reshape(4, 5, 4) * 37 % 101).astype(np.float64) - 20
    for channels in (1, 2, 3, 4):
        for scale in (True, False):
            case("array_to_img %d %s" % (channels, scale), lambda c=channels, s=scale: told(u.array_to_img(abs(x[..., :c]), scale=s)))
    case("array_to_img first", lambda: told(u.array_to_img(x[:3], "channels_first")))
    case("array_to_img float64", lambda: told(u.array_to_img(x[..., :3], dtype="float64")))
    case("array_to_img uint8", lambda: told(u.array_to_img((x[..., :3] + 20).astype(np.uint8))))
    case("array_to_img large", lambda: told(u.array_to_img(abs(x[..., :1]) * 10, scale=False)))
    case("array_to_img flat", lambda: told(u.array_to_img(np.ones((2, 2, 3)))))
    case("array_to_img tensor", lambda: told(u.array_to_img(tf.constant(x[..., :3]))))
    case("array_to_img rank", lambda: u.array_to_img(x[0]))
    case("array_to_img format", lambda: u.array_to_img(x, "odd"))
    picture = np.arange(24).reshape(2, 4, 3)
    case("img_to_array", lambda: [u.img_to_array(picture), u.img_to_array(picture).dtype.name])
    case("img_to_array first", lambda: image.img_to_array(picture, "channels_first", "int16"))
    case("img_to_array gray", lambda: [image.img_to_array(picture[..., 0], f).shape for f in ("channels_first", "channels_last")])
    case("img_to_array bad", lambda: image.img_to_array(picture[0, 0]))
    case("img_to_array format", lambda: image.img_to_array(picture, "odd"))

    def saved(channels, kind, **arguments):
        file = io.BytesIO()
        u.save_img(file, abs(x[..., :channels]), file_format=kind, **arguments)
        file.seek(0)
        return told(u.load_img(file, color_mode={1: "grayscale", 3: "rgb", 4: "rgba"}[channels]))
    for channels, kind in ((1, "png"), (3, "png"), (4, "png"), (3, "jpeg"), (1, "jpeg")):
        case("save_img %d %s" % (channels, kind), lambda c=channels, k=kind: saved(c, k))
    case("save_img quality", lambda: saved(3, "jpeg", quality=20))
    for shape, size in (((8, 6, 3), (4, 4)), ((5, 9, 1), (7, 2)), ((2, 6, 8, 3), (3, 5)), ((4, 4, 3), (4, 4))):
        for method in ("bilinear", "nearest", "area"):
            case("smart_resize %s %s %s" % (shape, size, method), lambda s=shape, z=size, m=method: image.smart_resize(
                np.sin(np.arange(np.prod(s), dtype=np.float32)).reshape(s), z, m))
    case("smart_resize traced", lambda: tf.function(lambda v: image.smart_resize(v, (3, 2)), input_signature=[
        tf.TensorSpec([None, None, 3])])(tf.reshape(tf.range(60.), (4, 5, 3))))
    case("smart_resize size", lambda: image.smart_resize(picture, (3, 3, 3)))
    case("smart_resize rank", lambda: image.smart_resize(picture[0], (3, 3)))


def sequences(tf, case):
    s = tf.keras.preprocessing.sequence
    for maxlen in (None, 1, 3, 6):
        for padding in ("pre", "post"):
            for truncating in ("pre", "post"):
                case("pad %s %s %s" % (maxlen, padding, truncating), lambda m=maxlen, p=padding, t=truncating: s.pad_sequences(
                    SEQUENCES, m, padding=p, truncating=t, value=9))
    case("pad dtype", lambda: [s.pad_sequences(SEQUENCES, dtype=d).dtype.name for d in ("int32", "float32", "int64", "uint8", "float64", "bool")])
    case("pad value", lambda: s.pad_sequences([[.5, 1.5], [2.5]], dtype="float32", value=-1.5))
    case("pad fraction", lambda: s.pad_sequences([[1, 2], [2]], value=3.7))
    case("pad samples", lambda: s.pad_sequences([[[1, 2], [3, 4]], [], [[5, 6]]], maxlen=3, value=7))
    case("pad texts", lambda: s.pad_sequences([["a", "bc"], ["d"]], dtype=object, value="pad").tolist())
    case("pad texts str", lambda: s.pad_sequences([["a", "bc"], ["d"]], dtype="<U3", value="pad").tolist())
    case("pad arrays", lambda: s.pad_sequences([np.arange(3), np.arange(5)], 4))
    case("pad utils", lambda: tf.keras.utils.pad_sequences(SEQUENCES))
    case("pad all empty", lambda: s.pad_sequences([[], []]).shape)
    case("pad nothing", lambda: s.pad_sequences([]))
    case("pad no list", lambda: s.pad_sequences(3))
    case("pad numbers", lambda: s.pad_sequences([1, 2]))
    case("pad text value", lambda: s.pad_sequences([[1], [2]], value="x"))
    case("pad shapes", lambda: s.pad_sequences([[[1, 2]], [[1, 2, 3]]]))
    case("pad truncating", lambda: s.pad_sequences(SEQUENCES, truncating="odd"))
    case("pad padding", lambda: s.pad_sequences(SEQUENCES, padding="odd"))
    for size in (1, 2, 7, 50):
        case("sampling table %d" % size, lambda n=size: s.make_sampling_table(n))
    case("sampling table factor", lambda: s.make_sampling_table(9, sampling_factor=.1))

    def grams(**arguments):
        random.seed(11)
        return s.skipgrams([1, 2, 0, 3, 4, 5, 1], 6, **arguments)
    for name, arguments in {"plain": {}, "window": dict(window_size=1), "no negatives": dict(negative_samples=0), "in order": dict(shuffle=False),
                            "categorical": dict(categorical=True), "seed": dict(seed=5), "table": dict(sampling_table=np.linspace(.2, 1, 6)),
                            "more": dict(negative_samples=1.7, shuffle=False)}.items():
        case("skipgrams " + name, lambda a=arguments: grams(**a))
    data = np.arange(20).reshape(20, 1)

    def series(index, **arguments):
        made = s.TimeseriesGenerator(data, data[:, 0] * 2, **arguments)
        return [len(made), *made[index]]
    for name, arguments in {"plain": dict(length=4, batch_size=3), "rate": dict(length=6, sampling_rate=2, batch_size=4),
                            "stride": dict(length=3, stride=3, batch_size=2), "part": dict(length=3, start_index=4, end_index=15, batch_size=5),
                            "reverse": dict(length=4, reverse=True, batch_size=2)}.items():
        for index in (0, 2):
            case("TimeseriesGenerator %s %d" % (name, index), lambda a=arguments, i=index: series(i, **a))

    def shuffled():
        np.random.seed(4)
        return series(0, length=3, shuffle=True, batch_size=6)
    case("TimeseriesGenerator shuffle", shuffled)
    case("TimeseriesGenerator json", lambda: json.loads(s.TimeseriesGenerator(data, data, 5).to_json()))
    case("TimeseriesGenerator lengths", lambda: s.TimeseriesGenerator(data, data[:-1], 5))
    case("TimeseriesGenerator too long", lambda: s.TimeseriesGenerator(data, data, 20))


def texts(tf, case):
    t = tf.keras.preprocessing.text
    for name, arguments in {"plain": {}, "case": dict(lower=False), "split": dict(split="c"), "filters": dict(filters="aeiou"),
                            "many": dict(filters="", split="  ")}.items():
        case("words " + name, lambda a=arguments: [t.text_to_word_sequence(text, **a) for text in TEXTS])
    case("hashing md5", lambda: t.hashing_trick(TEXTS[1], 50, "md5"))
    case("hashing own", lambda: t.hashing_trick(TEXTS[1], 7, hash_function=len, analyzer=lambda text: text.split(",")))
    case("one_hot", lambda: [len(t.one_hot(TEXTS[0], 9)), set(t.one_hot(TEXTS[0] * 5, 3)) <= {1, 2}])
    kinds = {"plain": {}, "oov": dict(oov_token="?"), "few": dict(num_words=4), "few oov": dict(num_words=4, oov_token="?"),
             "chars": dict(char_level=True), "case": dict(lower=False), "own": dict(analyzer=lambda text: text.split("t")), "filters": dict(filters="a")}

    def fitted(arguments):
        made = t.Tokenizer(**arguments)
        made.fit_on_texts(TEXTS[:3])
        made.fit_on_texts(TEXTS[3:])
        return made

    def all_of(made):
        numbers = made.texts_to_sequences(TEXTS + ["a new cat"])
        return [made.word_index, made.index_word, made.word_counts, sorted(made.word_docs.items()), sorted(made.index_docs.items()),
                made.document_count, numbers, made.sequences_to_texts(numbers + [[99, 1]])]
    for name, arguments in kinds.items():
        case("Tokenizer " + name, lambda a=arguments: all_of(fitted(a)))
        for mode in ("binary", "count", "freq", "tfidf"):
            case("Tokenizer %s %s" % (name, mode), lambda a=arguments, m=mode: fitted(a).texts_to_matrix(TEXTS + ["a new cat"], m))
    case("Tokenizer lists", lambda: all_of_lists())

    def all_of_lists():
        made = t.Tokenizer()
        made.fit_on_texts([["One", "two words"], ["one"]])
        return [made.word_index, made.texts_to_sequences([["two words", "x", "ONE"]])]

    def by_numbers():
        made = t.Tokenizer(num_words=6)
        made.fit_on_sequences([[1, 2, 2], [3, 1], [9]])
        return [sorted(made.index_docs.items()), made.sequences_to_matrix([[1, 2, 2], [], [9, 5]], "tfidf")]
    case("Tokenizer numbers", by_numbers)
    case("Tokenizer config", lambda: {k: v for k, v in fitted(dict(oov_token="?")).get_config().items() if k not in ("word_docs", "index_docs")})
    case("Tokenizer json", lambda: all_of(t.tokenizer_from_json(fitted(dict(num_words=5, oov_token="?")).to_json())))
    case("Tokenizer odd argument", lambda: t.Tokenizer(odd=1))
    case("Tokenizer not fitted", lambda: t.Tokenizer().texts_to_matrix(TEXTS))
    case("Tokenizer no documents", lambda: t.Tokenizer(num_words=3).texts_to_matrix(TEXTS, "tfidf"))
    case("Tokenizer odd mode", lambda: fitted({}).texts_to_matrix(TEXTS, "odd"))


def cases(tf):
    """Names to functions without arguments."""
    out = {}
    for family in (pictures, sequences, texts):
        family(tf, out.__setitem__)
    return out
