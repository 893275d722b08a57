"""Makes tests/golden/checkpoint/: bundles written by TensorFlow 2.15.1 (and three made by hand that it can read), and for each a
listing NAME.txt with a line `key dtype shape hex` for every tensor, in the order of keys. Strings are listed as size:bytes, one
behind the other. Also the state files of a CheckpointManager.

    python checkpoint.py [directory]
"""
import os
import random
import shutil
import struct
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "checkpoint")
os.makedirs(out, exist_ok=True)


def at(name):
    return os.path.join(out, name)


def listing(name, keys=None):
    reader = tf.train.load_checkpoint(at(name))
    dtypes, shapes = reader.get_variable_to_dtype_map(), reader.get_variable_to_shape_map()
    with open(at(name) + ".txt", "w") as file:
        for key in sorted(keys or dtypes, key=lambda k: k.encode()):
            value = reader.get_tensor(key)
            if dtypes[key] == tf.string:
                flat = [value] if isinstance(value, bytes) else list(np.asarray(value, dtype=object).ravel())
                data = b"".join(b"%d:%s" % (len(v), v) for v in flat)
            else:
                data = np.ascontiguousarray(value).tobytes()
            shape = ",".join(str(d) for d in shapes[key])
            print(key.replace(" ", "\\040"), dtypes[key].name, "[%s]" % shape, data.hex() or "-", file=file)


def save(name, tensors, slices=None):
    names = [k for k, _ in tensors]
    tf.raw_ops.SaveV2(prefix=at(name), tensor_names=names, shape_and_slices=slices or [""] * len(names), tensors=[v for _, v in tensors])


# Every dtype that a checkpoint of ours can hold; scalars, empty tensors, eight dimensions, odd names.
everything = []
for dtype in (tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.complex64, tf.int64, tf.bool, tf.bfloat16, tf.uint16,
              tf.complex128, tf.float16, tf.uint32, tf.uint64):
    base = np.arange(6).reshape(2, 3) * 19 % 100
    everything.append(("d/" + dtype.name, tf.cast(tf.constant(base % 2 if dtype == tf.bool else base), dtype)))
for dtype in (tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32):
    everything.append(("q/" + dtype.name, tf.bitcast(tf.constant([1, 2, 3], {1: tf.uint8, 2: tf.uint16, 4: tf.uint32}[dtype.size]), dtype)))
everything += [("s/four", tf.constant(["hello", "", "w\u00f6rld", 300 * "x"])), ("s/scalar", tf.constant("abc")),
               ("s/none", tf.constant([], tf.string)), ("s/matrix", tf.constant([["a", "bc"], ["def", "\0\xff"]])),
               ("e/empty", tf.zeros([0, 3])), ("e/scalar", tf.constant(7.5)), ("e/eight", tf.ones([1, 2, 1, 2, 1, 2, 1, 2], tf.int8)),
               ("name with space", tf.constant([1])), ("\u6a21\u578b/\u00e9", tf.constant([2, 3], tf.int64))]
save("everything", everything)
listing("everything")

tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.ones([2, 3])) ** 2)
optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
tf.train.Checkpoint(model=model, optimizer=optimizer).write(at("mlp"))
listing("mlp")

save("part0", [("a", tf.constant([1.0, 2.0])), ("c", tf.constant(["x", "yy"]))])
save("part1", [("b", tf.constant([[3, 4]], tf.int64)), ("d", tf.constant(True))])
tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[at("part0"), at("part1")], destination_prefix=at("shards"), delete_old_dirs=False)
for name in os.listdir(out):
    if name.startswith("part"):
        os.remove(at(name))
listing("shards")

rng = random.Random(3)
keys = ["%0*x" % (180, rng.getrandbits(720)) for _ in range(1400)]
save("many", [(k, tf.constant(i % 100, tf.int8)) for i, k in enumerate(keys)])
listing("many", sorted(keys)[::140])

whole = np.arange(12 * 5, dtype=np.int32).reshape(12, 5)
save("sliced", [("p", tf.constant(whole[:7])), ("other", tf.constant(1.0)), ("p", tf.constant(whole[7:, :2])), ("p", tf.constant(whole[7:, 2:])),
                ("wide", tf.constant(np.arange(70000) % 100, tf.int8)), ("wide", tf.constant(np.arange(3000) % 7, tf.int8))],
     ["12 5 0,7:-", "", "12 5 7,5:0,2", "12 5 7,5:2,3", "73000 0,70000", "73000 70000,3000"])
listing("sliced", ["p", "other"])


# ---- by hand ----
def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        table.append(n)
    return table


TABLE = crc_table()


def crc(data, start=0):
    value = start ^ 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def mask(value):
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    result = b""
    while n >= 128:
        result += bytes([n & 127 | 128])
        n >>= 7
    return result + bytes([n])


def entry(dtype, shape, offset, size, masked, shard=0):
    dims = b"".join(b"\x12" + varint(len(d)) + d for d in ((b"\x08" + varint(n)) for n in shape))
    result = b"\x08" + varint(dtype) + b"\x12" + varint(len(dims)) + dims
    if shard:
        result += b"\x18" + varint(shard)
    if offset:
        result += b"\x20" + varint(offset)
    return result + b"\x28" + varint(size) + b"\x35" + struct.pack("<I", masked)


def snappy(data):
    """All three kinds of copies where the last 4 bytes were seen before, literals else."""
    result, i, pending, kind = varint(len(data)), 0, b"", 0

    def literal(piece):
        n = len(piece) - 1
        return b"" if n < 0 else (bytes([n << 2]) if n < 60 else bytes([60 << 2, n]) if n < 256 else bytes([61 << 2]) + struct.pack("<H", n)) + piece

    while i < len(data):
        where = data.rfind(data[i:i + 4], 0, i + 3) if i + 4 <= len(data) else -1
        if where < 0 or where >= i:
            pending += data[i:i + 1]
            i += 1
            continue
        n = 4
        while n < 11 and i + n < len(data) and data[where + n] == data[i + n]:
            n += 1
        result += literal(pending)
        pending, back = b"", i - where
        kind = (kind + 1) % 3
        if kind == 0 and back < 2048:
            result += bytes([1 | (n - 4) << 2 | back >> 8 << 5, back & 255])
        elif kind == 1:
            result += bytes([2 | (n - 1) << 2]) + struct.pack("<H", back)
        else:
            result += bytes([3 | (n - 1) << 2]) + struct.pack("<I", back)
        i += n
    return result + literal(pending)


def table(path, pairs, compress=False):
    def stored(content):
        kind = b"\x01" if compress else b"\x00"
        content = snappy(content) if compress else content
        return content + kind + struct.pack("<I", mask(crc(content + kind))), len(content)

    content = b"".join(b"\x00" + varint(len(k)) + varint(len(v)) + k + v for k, v in pairs)
    starts, at_ = [], 0
    for k, v in pairs:
        starts.append(at_)
        at_ += len(b"\x00" + varint(len(k)) + varint(len(v)) + k + v)
    data, size = stored(content + b"".join(struct.pack("<I", s) for s in starts) + struct.pack("<I", len(starts)))
    meta, meta_size = stored(struct.pack("<II", 0, 1))
    handle = varint(0) + varint(size)
    last = pairs[-1][0]
    index, index_size = stored(b"\x00" + varint(len(last)) + varint(len(handle)) + last + handle + struct.pack("<II", 0, 1))
    footer = varint(len(data)) + varint(meta_size) + varint(len(data) + len(meta)) + varint(index_size)
    with open(path, "wb") as file:
        file.write(data + meta + index + footer.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))


values = {"layer_%02d/kernel/.ATTRIBUTES/VARIABLE_VALUE" % i: np.arange(i, i + 5, dtype="<f4") for i in range(12)}
blob, pairs = b"", [(b"", b"\x08\x01\x1a\x02\x08\x01")]
for key, value in sorted(values.items()):
    blob += b"junk" # gaps between tensors are legal
    pairs.append((key.encode(), entry(1, [5], len(blob), 20, mask(crc(value.tobytes())))))
    blob += value.tobytes()
with open(at("snappy.data-00000-of-00001"), "wb") as file:
    file.write(blob)
table(at("snappy.index"), pairs, compress=True)
listing("snappy")

number, wave = np.array([1, -2, 300000], ">i4").tobytes(), np.array([1 + 2j, -3.5j], ">c8").tobytes()
lengths, strings = [5, 0, 2], b"helloyo"
running = crc(b"".join(struct.pack(">I", n) for n in lengths))
check = struct.pack(">I", mask(running))
text = bytes(lengths) + check + strings
running = crc(strings, crc(check, running))
with open(at("big_endian.data-00000-of-00001"), "wb") as file:
    file.write(number + wave + text)
table(at("big_endian.index"), [(b"", b"\x08\x01\x10\x01\x1a\x02\x08\x01"), (b"number", entry(3, [3], 0, 12, mask(crc(number)))),
                               (b"text", entry(7, [3], 28, len(text), mask(running))), (b"wave", entry(8, [2], 12, 16, mask(crc(wave))))])
with open(at("big_endian.txt"), "w") as file:
    print("number int32 [3]", np.array([1, -2, 300000], "<i4").tobytes().hex(), file=file)
    print("text string [3]", b"5:hello0:2:yo".hex(), file=file)
    print("wave complex64 [2]", np.array([1 + 2j, -3.5j], "<c8").tobytes().hex(), file=file)

iterator = tf.train.Checkpoint(it=iter(tf.data.Dataset.range(3)), x=tf.Variable(1.0))
iterator.write(at("variant"))

# ---- state files ----
work = at("work")
manager = tf.train.CheckpointManager(tf.train.Checkpoint(x=tf.Variable(1.0)), work, max_to_keep=3)
for _ in range(4):
    manager.save()
shutil.copy(os.path.join(work, "checkpoint"), at("state_manager.txt"))
tf.train.Checkpoint(x=tf.Variable(1.0)).save(os.path.join(work, "\u6a21\u578b \"q\"\\t\t'"))
shutil.copy(os.path.join(work, "checkpoint"), at("state_escapes.txt"))
shutil.rmtree(work)
if os.path.exists(at("checkpoint")):
    os.remove(at("checkpoint"))
