"""Files that say they hold more than they do: refused at once, before memory is taken. Each is read in a process with two gigabytes and little time."""
import os
import struct
import subprocess
import sys
import zipfile
import zlib

import pytest

import thalweg as tf

SECONDS = 60
HUGE = 1000000000
PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
import thalweg as tf
from peak import kilobytes
before = kilobytes()
try:
    %s
    print("accepted")
except (ValueError, OSError, TypeError, KeyError, tf.errors.OpError) as error:
    print("refused", type(error).__name__, error)
print("took", (kilobytes() - before) >> 10, "MB")
"""


def read(statement, folder):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__))), os.path.dirname(os.path.abspath(__file__))]))
    program = PROGRAM.replace("resource.setrlimit(", "0 and resource.setrlimit(") if "asan" in os.environ.get("LD_PRELOAD", "") else PROGRAM
    done = subprocess.run([sys.executable, "-c", program % statement], cwd=str(folder), env=environment, capture_output=True, text=True, timeout=SECONDS,
                          errors="replace")
    assert done.returncode == 0, "%d: %s" % (done.returncode, done.stderr[-2000:])
    assert done.stdout.startswith("refused"), done.stdout
    assert int(done.stdout.split()[-2]) < 200, done.stdout
    return done.stdout


# ---- models ----

LAYERS = {
    "units": (lambda k: k.layers.Dense(3), "units", 3),
    "filters": (lambda k: k.layers.Conv1D(3, 2), "filters", 3),
    "lstm": (lambda k: k.layers.LSTM(3), "units", 3),
    "gru": (lambda k: k.layers.GRU(3), "units", 3),
    "transpose": (lambda k: k.layers.Conv1DTranspose(3, 2), "filters", 3),
}


def model(layer):
    keras = tf.keras
    return keras.Sequential([keras.layers.InputLayer((4, 5)), LAYERS[layer][0](keras), keras.layers.Flatten(), keras.layers.Dense(1)])


def change_member(source, target, member, old, new):
    with zipfile.ZipFile(source) as a, zipfile.ZipFile(target, "w") as b:
        for name in a.namelist():
            data = a.read(name)
            if name == member:
                assert old in data, (old, data)
                data = data.replace(old, new)
            b.writestr(name, data)


def change_text(path):
    """More units, in as many bytes."""
    old, new = b'"units": 3, "activation": "linear"', b'"units":3000000,"activation":null'
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new.ljust(len(old))))


@pytest.mark.parametrize("layer", LAYERS)
def test_keras_files(layer, tmp_path):
    model(layer).save(str(tmp_path / "good.keras"))
    name, value = LAYERS[layer][1:]
    change_member(tmp_path / "good.keras", tmp_path / "bad.keras", "config.json", ('"%s": %d' % (name, value)).encode(), ('"%s": %d' % (name, HUGE)).encode())
    assert "room for" in read("tf.keras.models.load_model('bad.keras')", tmp_path)
    assert tf.keras.models.load_model(str(tmp_path / "good.keras")).count_params() == model(layer).count_params()


def test_keras_files_for_large_inputs(tmp_path):
    model("units").save(str(tmp_path / "good.keras"))
    change_member(tmp_path / "good.keras", tmp_path / "bad.keras", "config.json", b"[null, 4, 5]", ("[null, 4, %d]" % HUGE).encode())
    assert "room for" in read("tf.keras.models.load_model('bad.keras')", tmp_path)


def test_h5_files(tmp_path):
    model("units").save(str(tmp_path / "bad.h5"))
    change_text(tmp_path / "bad.h5")
    assert "room for" in read("tf.keras.models.load_model('bad.h5')", tmp_path)


def test_saved_models(tmp_path):
    model("units").save(str(tmp_path / "bad"), save_format="tf")
    change_text(tmp_path / "bad" / "keras_metadata.pb")
    assert "room for" in read("tf.keras.models.load_model('bad')", tmp_path)


# ---- files of arrays, records and pictures ----

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82f63b78 * (crc & 1)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def png(width, height):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) +
            chunk(b"IEND", b""))


def bmp(width, height):
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def gif(width, height):
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff" + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00;"


def npy(text):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % text).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * 64


def tensor_message(dims):
    shape = b"".join(b"\x12" + bytes([len(d)]) + d for d in [b"\x08" + varint(n) for n in dims])
    return b"\x08\x01\x12" + bytes([len(shape)]) + shape + b"\x2a\x04\0\0\x80\x3f"


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


FILES = {
    "record": (struct.pack("<Q", 1 << 40) + struct.pack("<I", crc32c(struct.pack("<Q", 1 << 40))) + b"abc", "list(tf.data.TFRecordDataset('file'))"),
    "png": (png(1 << 27, 1 << 27), "tf.io.decode_image(tf.io.read_file('file'))"),
    "bmp": (bmp(1 << 20, 1 << 20), "tf.io.decode_image(tf.io.read_file('file'))"),
    "gif": (gif(65535, 65535), "tf.io.decode_image(tf.io.read_file('file'))"),
    "tensor": (tensor_message([HUGE, HUGE]), "tf.io.parse_tensor(tf.io.read_file('file'), tf.float32)"),
    "one number as many": (tensor_message([HUGE]), "tf.io.parse_tensor(tf.io.read_file('file'), tf.float32)"),
}


@pytest.mark.parametrize("what", FILES)
def test_files(what, tmp_path):
    (tmp_path / "file").write_bytes(FILES[what][0])
    read(FILES[what][1], tmp_path)


def test_archives_of_arrays(tmp_path):
    for shape in ("(1000000000, 1000)", "(4611686018427387904, 4)", "(-1, 3)"):
        with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
            for name in ("x_train", "y_train", "x_test", "y_test"):
                archive.writestr(name + ".npy", npy(shape))
        read("tf.keras.datasets.mnist.load_data(__import__('os').path.abspath('data.npz'))", tmp_path)
