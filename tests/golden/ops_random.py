"""Op cases of random numbers: writes tests/golden/op_cases/random.json. Values must be TensorFlow's own bits (tolerance 0). Stateful ops continue their
stream from call to call, so each case has seeds of its own. See op_cases.py."""
import numpy as np
import tensorflow as tf

from op_cases import Cases

c = Cases("random")
f32 = np.float32
FLOATS = [tf.half, tf.bfloat16, tf.float32, tf.float64]
seed = 100


def i32(*v):
    return np.array(v, np.int32)


def seeds():
    global seed
    seed += 1
    return {"seed": seed, "seed2": seed * 7 - 500}


for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    for t in FLOATS:
        c.add(op, shape=i32(11), dtype=t, tolerance=0, **seeds())
    for shape in (i32(), i32(0), i32(2, 3), i32(2, 0, 3), np.int64([3, 1, 2]), i32(129)):
        c.add(op, shape=shape, dtype=tf.float32, tolerance=0, **seeds())
    c.add(op, shape=i32(9), dtype=tf.float64, tolerance=0, seed=-5, seed2=2**40 + 3)
    c.add(op, shape=i32(3), dtype=tf.float32, values=False)
    c.error(op, shape=i32(-1), dtype=tf.float32, code="InvalidArgumentError", text="Dimension -1 must be >= 0")
    c.error(op, shape=np.int32(2), dtype=tf.float32, code="InvalidArgumentError", text="shape must be a vector of {int32,int64}, got shape []")
for t in (np.int32, np.int64):
    for low, high in ((0, 10), (-5, 100), (np.iinfo(t).min, np.iinfo(t).max)):
        c.add("RandomUniformInt", shape=i32(2, 5), minval=t(low), maxval=t(high), **seeds())
c.add("RandomUniformInt", shape=i32(0), minval=np.int32(3), maxval=np.int32(1), **seeds())
c.error("RandomUniformInt", shape=i32(2), minval=np.int32(3), maxval=np.int32(3), code="InvalidArgumentError", text="Need minval < maxval, got 3 >= 3")
c.error("RandomUniformInt", shape=i32(2), minval=i32(3), maxval=np.int32(5), code="InvalidArgumentError", text="minval must be 0-D, got shape [1]")

for v in (np.arange(10), np.arange(12, dtype=f32).reshape(6, 2), np.array([b"a", b"bc", b"", b"def"], object), np.float16([1, 2, 3]), f32(5), np.zeros((0, 3)),
          f32([[1, 2]]), np.array([1j, 2, 3]), np.array([True, False, True, False])):
    c.add("RandomShuffle", value=v, **seeds())

logits = f32([[1, 2, 3, 0], [0, 0, 0, 0], [-np.inf, 5, 1, np.nan]])
for t in (tf.half, tf.bfloat16, tf.float32, tf.float64):
    for samples in (1, 5, 8):
        c.add("Multinomial", logits=tf.cast(logits[:2], t), num_samples=np.int32(samples), **seeds())
c.add("Multinomial", logits=f32([[1, 2, 0]]), num_samples=np.int32(6), output_dtype=tf.int32, **seeds())
c.add("Multinomial", logits=logits, num_samples=np.int32(7), output_dtype=tf.int32, **seeds())
c.add("Multinomial", logits=np.zeros((0, 3), f32), num_samples=np.int32(2), **seeds())
c.add("Multinomial", logits=logits, num_samples=np.int32(0), **seeds())
c.error("Multinomial", logits=f32([1, 2]), num_samples=np.int32(3), code="InvalidArgumentError", text="logits should be a matrix, got shape [2]")
c.error("Multinomial", logits=f32([[1, 2]]), num_samples=np.int32(-3), code="InvalidArgumentError", text="num_samples should be nonnegative, got -3")
c.error("Multinomial", logits=f32([[1, 2]]), num_samples=i32(3), code="InvalidArgumentError", text="num_samples should be a scalar, got shape [1]")
c.error("Multinomial", logits=np.zeros((2, 0), f32), num_samples=np.int32(3), code="InvalidArgumentError", text="num_classes should be positive, got 0")

SEEDS = (i32(1, 2), np.int64([-3, 2**40]))
for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
    for t in FLOATS:
        c.add(op, shape=i32(3, 3), seed=SEEDS[0], dtype=t, tolerance=0)
    c.add(op, shape=np.int64([130]), seed=SEEDS[1], dtype=tf.float32, tolerance=0)
    c.add(op, shape=i32(), seed=SEEDS[1], dtype=tf.float64, tolerance=0)
    c.error(op, shape=i32(2), seed=i32(1), code="InvalidArgumentError", text="seed must have shape [2], not [1]")
    c.error(op, shape=i32(-2), seed=i32(1, 2), code="InvalidArgumentError", text="Dimension -2 must be >= 0")
for t in (np.int32, np.int64):
    c.add("StatelessRandomUniformInt", shape=i32(7), seed=SEEDS[1], minval=t(-3), maxval=t(1000))
c.error("StatelessRandomUniformInt", shape=i32(2), seed=i32(1, 2), minval=np.int32(3), maxval=np.int32(3), code="InvalidArgumentError", text="Need minval < maxval, got 3 >= 3")
for t in (tf.int32, tf.int64, tf.uint32, tf.uint64):
    c.add("StatelessRandomUniformFullInt", shape=i32(7), seed=SEEDS[0], dtype=t)
for s in (np.int64([7, -1]),):
    c.add("StatelessRandomUniformFullInt", shape=i32(3), seed=s, dtype=tf.uint64)

for s in SEEDS:
    c.add("StatelessRandomGetKeyCounter", seed=s)
    c.add("StatelessRandomGetKeyCounterAlg", seed=s)
c.error("StatelessRandomGetKeyCounter", seed=i32(1, 2, 3), code="InvalidArgumentError", text="seed must have shape [2], not [3]")
c.add("StatelessRandomGetAlg")
key, counter = np.uint64([10413732777507651514]), np.uint64([2**64 - 2, 17830669156045600267])
for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"):
    for t in FLOATS:
        c.add(op, shape=i32(3, 3), key=key, counter=counter, alg=np.int32(1), dtype=t, tolerance=0)
    c.add(op, shape=np.int64([50]), key=key, counter=counter, alg=np.int32(3), tolerance=0)
    c.error(op, shape=i32(2), key=key, counter=counter, alg=np.int32(2), code="InvalidArgumentError", text="Unsupported algorithm id: 2")
    c.error(op, shape=i32(2), key=key[0], counter=counter, alg=np.int32(1), code="InvalidArgumentError", text="key must have shape [1], not []")
    c.error(op, shape=i32(2), key=key, counter=counter, alg=i32(1), code="InvalidArgumentError", text="must have shape [], not [1]")
for t in (np.int32, np.int64):
    c.add("StatelessRandomUniformIntV2", shape=i32(7), key=key, counter=counter, alg=np.int32(1), minval=t(3), maxval=t(2**31 - 1))
    c.add("StatelessRandomUniformFullIntV2", shape=i32(7), key=key, counter=counter, alg=np.int32(1), dtype=tf.as_dtype(t))
for s in SEEDS:
    c.add("StatelessMultinomial", logits=logits, num_samples=np.int32(5), seed=s)
c.error("StatelessMultinomial", logits=logits, num_samples=np.int32(5), seed=i32(1), code="InvalidArgumentError", text="seed must have shape [2], not [1]")
rates, whole = np.float32([0.5, 3, 10, 400]), (tf.int32, tf.int64)
for t in (np.float16, np.float32, np.float64):
    c.add("RandomGamma", shape=i32(5), alpha=t([0.5, 1, 4]), seed=7, seed2=5, tolerance=0)
    c.add("StatelessRandomGammaV2", shape=i32(5, 3), seed=SEEDS[0], alpha=t([0.5, 1, 4]), tolerance=0)
    c.add("StatelessRandomGammaV3", shape=np.int64([2, 3]), key=key, counter=counter, alg=np.int32(1), alpha=t([0.5, 1, 4]), tolerance=0)
    c.add("RandomPoissonV2", shape=i32(6), rate=rates.astype(t), seed=7, seed2=5, dtype=tf.float32)
    c.add("StatelessRandomPoisson", shape=i32(6, 4), seed=SEEDS[0], lam=rates.astype(t), dtype=tf.as_dtype(t))
for t in whole:
    c.add("RandomPoissonV2", shape=i32(6), rate=i32(1, 20), seed=7, seed2=5, dtype=t)
    c.add("StatelessRandomPoisson", shape=i32(6, 4), seed=SEEDS[1], lam=rates, dtype=t)
    c.add("StatelessRandomBinomial", shape=i32(6, 4), seed=SEEDS[1], counts=np.float32([10, 100, 3, 1000]), probs=np.float32([0.3, 0.8, 0.5, 0.02]), dtype=t)
c.add("StatelessRandomPoisson", shape=i32(3, 2), seed=SEEDS[1], lam=np.float32([float("inf"), -1]), dtype=tf.float32)
c.add("StatelessRandomBinomial", shape=i32(3, 2, 2), seed=SEEDS[0], counts=[[10.0], [1000.0]], probs=[0.3, 0.98], dtype=tf.float64)
c.add("StatelessRandomBinomial", shape=i32(4), seed=SEEDS[0], counts=np.float64([10, 0, 5, 6]), probs=np.float64([0, 0.8, 1, float("nan")]), dtype=tf.float32)
for bounds in ((-2, 2), (-10, 2), (1, 1.5), (2, 9), (-9, -4), (-float("inf"), -1), (0.5, float("inf"))):
    for t in (np.float32, np.float64):
        c.add("StatelessParameterizedTruncatedNormal", shape=i32(9), seed=SEEDS[0], means=t(0.25), stddevs=t(1.5), minvals=t(bounds[0]), maxvals=t(bounds[1]),
              tolerance=1e-6)
c.add("StatelessParameterizedTruncatedNormal", shape=i32(3, 2), seed=SEEDS[0], means=f32([0, 1]), stddevs=f32(1), minvals=f32(-1), maxvals=f32([3, 5]), tolerance=1e-6)
for op, more in (("StatelessRandomPoisson", {"lam": rates, "dtype": tf.int32}), ("StatelessRandomBinomial", {"counts": rates, "probs": rates}),
                 ("StatelessRandomGammaV2", {"alpha": rates})):
    c.error(op, shape=i32(3), seed=SEEDS[0], **more, code="InvalidArgumentError", text="Shape passed in must end with broadcasted shape.")
c.error("StatelessParameterizedTruncatedNormal", shape=i32(3), seed=SEEDS[0], means=f32(0), stddevs=f32(1), minvals=f32(3), maxvals=f32(2),
        code="InvalidArgumentError", text="Invalid parameters")
for value in (np.arange(10, dtype=np.int32), np.float32([[1, 2], [3, 4], [5, 6]]), np.array(["a", "b", "c", "d"], object), np.int32(3)):
    c.add("StatelessShuffle", value=value, key=key, counter=counter, alg=np.int32(1))
for d in (tf.int32, tf.int64, tf.uint32, tf.uint64):
    c.add("NonDeterministicInts", shape=[3], dtype=d, values=False)
c.write()
