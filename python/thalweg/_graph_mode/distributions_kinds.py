"""The distributions of tf.compat.v1.distributions; see distributions.py for what they share."""
import functools
import math

import numpy as np
import thalweg as tf
from thalweg._graph_mode import distributions as _base

_v1 = tf.compat.v1
_FULL, _NOT = _base.FULLY_REPARAMETERIZED, _base.NOT_REPARAMETERIZED


class _Scalars(_base.Distribution):
    """Distributions of single numbers whose parameters spread over each other."""

    def _setup(self, given, names, reparameterization, positive=()):
        values = {name: _base._number(given[name], name) for name in names}
        dtype = values[names[0]].dtype
        for name, value in values.items():
            if value.dtype != dtype:
                raise TypeError("Tensor conversion requested dtype %s for Tensor with dtype %s: '%s'" % (dtype.name, value.dtype.name, name))
        values.update(zip(positive, _base._positive([values[name] for name in positive], given["validate_args"])))
        for name, value in values.items():
            setattr(self, "_" + name, value)
        self._spread = [values[name] for name in names]
        _base.Distribution.__init__(self, dtype, reparameterization, given["validate_args"], given["allow_nan_stats"], given, name=given["name"])

    def _batch_shape(self):
        return functools.reduce(tf.broadcast_static_shape, [value.shape for value in self._spread])

    def _batch_shape_tensor(self):
        return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(value) for value in self._spread])

    def _event_shape(self):
        return []

    def _event_shape_tensor(self):
        return tf.constant([], tf.int32)

    def _room(self, n):
        """The shape of n samples."""
        return tf.concat([[n], self.batch_shape_tensor()], 0)

    def _ones(self):
        return tf.ones(self.batch_shape_tensor(), self.dtype)


class Normal(_Scalars):
    """The normal distribution."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        self._setup(locals(), ("loc", "scale"), _FULL, ("scale",))

    loc, scale = property(lambda self: self._loc), property(lambda self: self._scale)

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _sample_n(self, n, seed=None):
        return _v1.random_normal(self._room(n), mean=0., stddev=1., dtype=self.dtype, seed=seed) * self._scale + self._loc

    def _log_prob(self, x):
        return -0.5 * tf.square(self._z(x)) - (0.5 * math.log(2. * math.pi) + tf.math.log(self._scale))

    def _cdf(self, x):
        z = self._z(x) * math.sqrt(0.5)
        return 0.5 * tf.where(tf.abs(z) < math.sqrt(0.5), 1. + tf.math.erf(z), tf.where(z > 0., 2. - tf.math.erfc(z), tf.math.erfc(tf.abs(z))))

    def _survival_function(self, x):
        return self._cdf(2 * self._loc - x)

    def _log_survival_function(self, x):
        return tf.math.log(self._survival_function(x))

    def _quantile(self, p):
        return tf.math.ndtri(p) * self._scale + self._loc

    def _entropy(self):
        return (0.5 + 0.5 * math.log(2. * math.pi) + tf.math.log(self._scale)) * tf.ones_like(self._loc)

    def _mean(self):
        return self._loc * tf.ones_like(self._scale)

    def _mode(self):
        return self._mean()

    def _stddev(self):
        return self._scale * tf.ones_like(self._loc)


class Uniform(_Scalars):
    """Numbers in [low, high), all equally likely."""

    def __init__(self, low=0., high=1., validate_args=False, allow_nan_stats=True, name="Uniform"):
        self._setup(locals(), ("low", "high"), _FULL)
        if validate_args:
            with tf.control_dependencies([c for c in [tf.debugging.assert_less(self._low, self._high, message="uniform not defined when low >= high.")] if c is not None]):
                self._low = tf.identity(self._low)

    low, high = property(lambda self: self._low), property(lambda self: self._high)

    def range(self, name="range"):
        """high - low."""
        return self._high - self._low

    def _sample_n(self, n, seed=None):
        return self._low + self.range() * _v1.random_uniform(self._room(n), dtype=self.dtype, seed=seed)

    def _prob(self, x):
        inside = tf.ones_like(x) / self.range()
        return tf.where(tf.math.is_nan(x + self._low * 0), x + tf.zeros_like(inside), tf.where(tf.logical_or(x < self._low, x >= self._high), tf.zeros_like(inside), inside))

    def _cdf(self, x):
        part = (x - self._low) / self.range()
        return tf.where(x < self._low, tf.zeros_like(part), tf.where(x >= self._high, tf.ones_like(part), part))

    def _entropy(self):
        return tf.math.log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2.

    def _variance(self):
        return tf.square(self.range()) / 12.

    def _stddev(self):
        return self.range() / math.sqrt(12.)


class Gamma(_Scalars):
    """The gamma distribution."""

    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        self._setup(locals(), ("concentration", "rate"), _FULL, ("concentration", "rate"))

    concentration, rate = property(lambda self: self._concentration), property(lambda self: self._rate)

    def _sample_n(self, n, seed=None):
        return _v1.random_gamma([n], alpha=self._concentration, beta=self._rate, dtype=self.dtype, seed=seed)

    def _log_prob(self, x):
        return tf.math.xlogy(self._concentration - 1., x) - self._rate * x - (tf.math.lgamma(self._concentration) -
                                                                              self._concentration * tf.math.log(self._rate))

    def _cdf(self, x):
        return tf.math.igamma(self._concentration, self._rate * x)

    def _entropy(self):
        return self._concentration - tf.math.log(self._rate) + tf.math.lgamma(self._concentration) + (1. - self._concentration) * tf.math.digamma(self._concentration)

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / tf.square(self._rate)

    def _stddev(self):
        return tf.sqrt(self._concentration) / self._rate

    def _mode(self):
        return self._nan_unless(self._concentration > 1., (self._concentration - 1.) / self._rate)


class Exponential(Gamma):
    """The exponential distribution."""

    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        given = dict(locals(), concentration=tf.ones((), tf.convert_to_tensor(rate).dtype))
        self._setup(given, ("rate", "concentration"), _FULL, ("rate",))
        self._parameters.pop("concentration")

    def _sample_n(self, n, seed=None):
        drawn = _v1.random_uniform(tf.concat([[n], tf.shape(self._rate)], 0), minval=_base.tiny(self.dtype), maxval=1., seed=seed, dtype=self.dtype)
        return -tf.math.log(drawn) / self._rate


class Beta(_Scalars):
    """The beta distribution."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"):
        self._setup(locals(), ("concentration1", "concentration0"), _FULL, ("concentration1", "concentration0"))

    concentration1, concentration0 = property(lambda self: self._concentration1), property(lambda self: self._concentration0)
    total_concentration = property(lambda self: self._concentration1 + self._concentration0)

    def _sample_n(self, n, seed=None):
        ones = tf.ones_like(self.total_concentration)
        one = _v1.random_gamma([n], alpha=ones * self._concentration1, dtype=self.dtype, seed=seed)
        other = _v1.random_gamma([n], alpha=ones * self._concentration0, dtype=self.dtype, seed=_base._other_seed(seed, "beta"))
        return one / (one + other)

    def _normalizer(self):
        return tf.math.lgamma(self._concentration1) + tf.math.lgamma(self._concentration0) - tf.math.lgamma(self.total_concentration)

    def _log_prob(self, x):
        return tf.math.xlogy(self._concentration1 - 1., x) + (self._concentration0 - 1.) * tf.math.log1p(-x) - self._normalizer()

    def _cdf(self, x):
        return tf.math.betainc(self._concentration1, self._concentration0, x)

    def _entropy(self):
        total = self.total_concentration
        return (self._normalizer() - (self._concentration1 - 1.) * tf.math.digamma(self._concentration1) -
                (self._concentration0 - 1.) * tf.math.digamma(self._concentration0) + (total - 2.) * tf.math.digamma(total))

    def _mean(self):
        return self._concentration1 / self.total_concentration

    def _variance(self):
        return self._mean() * (1. - self._mean()) / (1. + self.total_concentration)

    def _mode(self):
        return self._nan_unless(tf.logical_and(self._concentration1 > 1., self._concentration0 > 1.), (self._concentration1 - 1.) / (self.total_concentration - 2.))


class Laplace(_Scalars):
    """The Laplace distribution."""

    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        self._setup(locals(), ("loc", "scale"), _FULL, ("scale",))

    loc, scale = property(lambda self: self._loc), property(lambda self: self._scale)

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _sample_n(self, n, seed=None):
        least = np.nextafter(self.dtype.as_numpy_dtype(-1.), self.dtype.as_numpy_dtype(0.))
        u = _v1.random_uniform(self._room(n), minval=least, maxval=1., dtype=self.dtype, seed=seed)
        return self._loc - self._scale * tf.sign(u) * tf.math.log1p(-tf.abs(u))

    def _log_prob(self, x):
        return -tf.abs(self._z(x)) - math.log(2.) - tf.math.log(self._scale)

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 + 0.5 * tf.sign(z) * (1. - tf.exp(-tf.abs(z)))

    def _entropy(self):
        return math.log(2.) + 1. + tf.math.log(self._scale + tf.zeros_like(self._loc))

    def _mean(self):
        return self._loc + tf.zeros_like(self._scale)

    def _mode(self):
        return self._mean()

    def _stddev(self):
        return math.sqrt(2.) * self._scale + tf.zeros_like(self._loc)


class StudentT(_Scalars):
    """Student's t distribution."""

    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        self._setup(locals(), ("df", "loc", "scale"), _FULL, ("df",))

    df, loc, scale = property(lambda self: self._df), property(lambda self: self._loc), property(lambda self: self._scale)

    def _sample_n(self, n, seed=None):
        normal = _v1.random_normal(self._room(n), dtype=self.dtype, seed=seed)
        gamma = _v1.random_gamma([n], 0.5 * self._df * self._ones(), beta=0.5, dtype=self.dtype, seed=_base._other_seed(seed, "student_t"))
        return normal * tf.math.rsqrt(gamma / self._df) * self._scale + self._loc

    def _log_prob(self, x):
        z = (x - self._loc) / self._scale
        normalizer = (tf.math.log(tf.abs(self._scale)) + 0.5 * tf.math.log(self._df) + 0.5 * math.log(math.pi) + tf.math.lgamma(0.5 * self._df) -
                      tf.math.lgamma(0.5 * (self._df + 1.)))
        return -0.5 * (self._df + 1.) * tf.math.log1p(z ** 2. / self._df) - normalizer

    def _cdf(self, x):
        z = (x - self._loc) / tf.abs(self._scale)
        half = 0.5 * tf.math.betainc(0.5 * self._df, tf.constant(0.5, self.dtype), self._df / (z ** 2. + self._df))
        return tf.where(z < 0., half, 1. - half)

    def _entropy(self):
        df = self._df * self._ones()
        half = 0.5 * (df + 1.)
        beta = tf.math.lgamma(0.5 * df) + math.lgamma(0.5) - tf.math.lgamma(half)
        return tf.math.log(tf.abs(self._scale)) + 0.5 * tf.math.log(df) + beta + half * (tf.math.digamma(half) - tf.math.digamma(0.5 * df))

    def _mean(self):
        return self._nan_unless(self._df > self._ones(), self._loc * self._ones())

    def _variance(self):
        df = self._df * self._ones()
        value = tf.where(df > 2., tf.square(self._scale) * df / tf.where(df > 2., df - 2., tf.ones_like(df)), tf.constant(math.inf, self.dtype))
        return self._nan_unless(df > 1., value)

    def _mode(self):
        return tf.identity(self._loc)


class Bernoulli(_Scalars):
    """One or zero."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True, name="Bernoulli"):
        given = dict(locals())
        self._logits, self._probs = _base._logits_and_probs(logits, probs, False)
        self._spread = [self._logits]
        _base.Distribution.__init__(self, dtype, _NOT, validate_args, allow_nan_stats, given, name=name)

    logits, probs = property(lambda self: self._logits), property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        return tf.cast(_v1.random_uniform(self._room(n), seed=seed, dtype=self._probs.dtype) < self._probs, self.dtype)

    def _log_prob(self, event):
        event, logits = tf.cast(event, self._logits.dtype), self._logits
        shape = tf.broadcast_dynamic_shape(tf.shape(event), tf.shape(logits))
        return -tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.broadcast_to(event, shape), logits=tf.broadcast_to(logits, shape))

    def _entropy(self):
        return -self._logits * (tf.sigmoid(self._logits) - 1) + tf.math.softplus(-self._logits)

    def _mean(self):
        return tf.identity(self._probs)

    def _variance(self):
        return self._probs * (1. - self._probs)

    def _mode(self):
        return tf.cast(self._probs > 0.5, self.dtype)


class Categorical(_base.Distribution):
    """One of several classes."""

    def __init__(self, logits=None, probs=None, dtype=tf.int32, validate_args=False, allow_nan_stats=True, name="Categorical"):
        given = dict(locals())
        self._logits, self._probs = _base._logits_and_probs(logits, probs, True)
        _base.Distribution.__init__(self, dtype, _NOT, validate_args, allow_nan_stats, given, name=name)

    logits, probs = property(lambda self: self._logits), property(lambda self: self._probs)
    event_size = property(lambda self: tf.shape(self._logits)[-1])

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._logits)[:-1]

    def _event_shape(self):
        return []

    def _sample_n(self, n, seed=None):
        flat = tf.reshape(self._logits, [-1, self.event_size])
        draws = _v1.multinomial(flat, n, seed=seed, output_dtype=tf.int64 if self.dtype.size > 4 else tf.int32)
        return tf.cast(tf.reshape(tf.transpose(draws), tf.concat([[n], self.batch_shape_tensor()], 0)), self.dtype)

    def _given(self, value):
        return tf.convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self.dtype)

    def _spread(self, k):
        """The class and the logits, of the same batch."""
        shape = tf.broadcast_dynamic_shape(tf.shape(k), self.batch_shape_tensor())
        return tf.broadcast_to(k, shape), shape

    def _log_prob(self, k):
        k, shape = self._spread(tf.cast(k, self.dtype if self.dtype in (tf.int32, tf.int64) else tf.int32))
        logits = tf.broadcast_to(self._logits, tf.concat([shape, [self.event_size]], 0))
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k):
        k, shape = self._spread(tf.cast(k, tf.int32))
        probs = tf.broadcast_to(self._probs, tf.concat([shape, [self.event_size]], 0))
        return tf.reduce_sum(probs * tf.cast(tf.range(self.event_size) < k[..., tf.newaxis], probs.dtype), -1)

    def _entropy(self):
        logs = tf.nn.log_softmax(self._logits)
        return -tf.reduce_sum(tf.math.multiply_no_nan(logs, self._probs), -1)

    def _mode(self):
        return tf.cast(tf.argmax(self._logits, -1), self.dtype)


class _Vectors(_base.Distribution):
    """Distributions of vectors, of which self._vector has one for each member of the batch."""

    def _batch_shape(self):
        return self._vector.shape[:-1]

    def _batch_shape_tensor(self):
        return tf.shape(self._vector)[:-1]

    def _event_shape(self):
        return self._vector.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._vector)[-1:]


def _outer(v):
    return v[..., :, tf.newaxis] * v[..., tf.newaxis, :]


class Dirichlet(_Vectors):
    """The Dirichlet distribution."""

    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        given = dict(locals())
        self._vector, = _base._positive([_base._number(concentration, "concentration")], validate_args)
        _base.Distribution.__init__(self, self._vector.dtype, _FULL, validate_args, allow_nan_stats, given, name=name)

    concentration = property(lambda self: self._vector)
    total_concentration = property(lambda self: tf.reduce_sum(self._vector, -1))

    def _sample_n(self, n, seed=None):
        drawn = _v1.random_gamma([n], alpha=self._vector, dtype=self.dtype, seed=seed)
        return drawn / tf.reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x):
        return tf.reduce_sum(tf.math.xlogy(self._vector - 1., x), -1) - tf.math.lbeta(self._vector)

    def _entropy(self):
        k, total = tf.cast(self.event_shape_tensor()[0], self.dtype), self.total_concentration
        return (tf.math.lbeta(self._vector) + (total - k) * tf.math.digamma(total) -
                tf.reduce_sum((self._vector - 1.) * tf.math.digamma(self._vector), -1))

    def _mean(self):
        return self._vector / self.total_concentration[..., tf.newaxis]

    def _scale(self):
        return tf.math.rsqrt(1. + self.total_concentration[..., tf.newaxis])

    def _variance(self):
        x = self._scale() * self._mean()
        return x * (self._scale() - x)

    def _covariance(self):
        return tf.linalg.set_diag(-_outer(self._scale() * self._mean()), self._variance())

    def _mode(self):
        k, total = tf.cast(self.event_shape_tensor()[0], self.dtype), self.total_concentration[..., tf.newaxis]
        return self._nan_unless(tf.reduce_all(self._vector > 1., -1, keepdims=True), (self._vector - 1.) / (total - k))


def _log_combinations(n, counts):
    return tf.math.lgamma(n + 1.) - tf.reduce_sum(tf.math.lgamma(counts + 1.), -1)


class Multinomial(_Vectors):
    """How often each class comes in so many draws."""

    def __init__(self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"):
        given = dict(locals())
        self._logits, self._probs = _base._logits_and_probs(logits, probs, True)
        self._total_count = _base._number(total_count, "total_count", self._logits.dtype)
        _base.Distribution.__init__(self, self._logits.dtype, _NOT, validate_args, allow_nan_stats, given, name=name)
        self._vector = self._mean()

    total_count, logits, probs = property(lambda self: self._total_count), property(lambda self: self._logits), property(lambda self: self._probs)

    def _sample_n(self, n, seed=None):
        k, draws = self.event_shape_tensor()[0], tf.cast(self._total_count, tf.int32)
        draws = tf.ones_like(self._logits[..., 0], dtype=draws.dtype) * draws
        logits = tf.ones_like(draws[..., tf.newaxis], dtype=self._logits.dtype) * self._logits

        def one(args):
            x = _v1.multinomial(args[0][tf.newaxis, ...], n * args[1], seed)
            return tf.reduce_sum(tf.one_hot(tf.reshape(x, [n, -1]), depth=k), -2)
        drawn = tf.map_fn(one, [tf.reshape(logits, [-1, k]), tf.reshape(draws, [-1])], fn_output_signature=self.dtype)
        return tf.reshape(tf.transpose(drawn, [1, 0, 2]), tf.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts):
        return tf.reduce_sum(counts * tf.nn.log_softmax(self._logits), -1) + _log_combinations(self._total_count, counts)

    def _mean(self):
        return self._probs * self._total_count[..., tf.newaxis]

    def _covariance(self):
        p = self._probs * tf.ones_like(self._total_count)[..., tf.newaxis]
        return tf.linalg.set_diag(-tf.matmul(self._mean()[..., tf.newaxis], p[..., tf.newaxis, :]), self._variance())

    def _variance(self):
        p = self._probs * tf.ones_like(self._total_count)[..., tf.newaxis]
        return self._mean() - self._mean() * p


class DirichletMultinomial(_Vectors):
    """A multinomial distribution whose probabilities are Dirichlet's."""

    def __init__(self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"):
        given = dict(locals())
        self._concentration, = _base._positive([_base._number(concentration, "concentration")], validate_args)
        self._total_count = _base._number(total_count, "total_count", self._concentration.dtype)
        _base.Distribution.__init__(self, self._concentration.dtype, _NOT, validate_args, allow_nan_stats, given, name=name)
        self._vector = self._mean()

    total_count, concentration = property(lambda self: self._total_count), property(lambda self: self._concentration)
    total_concentration = property(lambda self: tf.reduce_sum(self._concentration, -1))

    def _sample_n(self, n, seed=None):
        k = self.event_shape_tensor()[0]
        logits = tf.reshape(tf.math.log(_v1.random_gamma([n], alpha=self._concentration * tf.ones_like(self._vector), dtype=self.dtype, seed=seed)), [-1, k])
        draws = tf.cast(tf.get_static_value(self._total_count), tf.int32)
        x = _v1.multinomial(logits, draws, seed=_base._other_seed(seed, "dirichlet_multinomial"))
        return tf.reshape(tf.reduce_sum(tf.one_hot(x, depth=k), -2), tf.concat([[n], self.batch_shape_tensor(), [k]], 0))

    def _log_prob(self, counts):
        return tf.math.lbeta(self._concentration + counts) - tf.math.lbeta(self._concentration) + _log_combinations(self._total_count, counts)

    def _mean(self):
        return self._total_count[..., tf.newaxis] * (self._concentration / self.total_concentration[..., tf.newaxis])

    def _factor(self):
        total = self.total_concentration[..., tf.newaxis]
        return tf.sqrt((1. + total / self._total_count[..., tf.newaxis]) / (1. + total))

    def _variance(self):
        x = self._factor() * self._mean()
        return x * (self._total_count[..., tf.newaxis] * self._factor() - x)

    def _covariance(self):
        return tf.linalg.set_diag(-_outer(self._factor() * self._mean()), self._variance())


# ---- divergences ----

def _pair(kind):
    return _base.RegisterKL(kind, kind)


@_pair(Normal)
def _normal(a, b, name=None):
    ratio = tf.square(a.scale / b.scale)
    return tf.square(a.loc - b.loc) / (2. * tf.square(b.scale)) + 0.5 * (ratio - 1. - tf.math.log(ratio))


@_pair(Bernoulli)
def _bernoulli(a, b, name=None):
    zero, one = [[tf.math.softplus(d.logits), tf.math.softplus(-d.logits)] for d in (a, b)]
    return tf.sigmoid(a.logits) * (one[1] - zero[1]) + tf.sigmoid(-a.logits) * (one[0] - zero[0])


@_pair(Categorical)
def _categorical(a, b, name=None):
    return tf.reduce_sum(tf.nn.softmax(a.logits) * (tf.nn.log_softmax(a.logits) - tf.nn.log_softmax(b.logits)), -1)


@_pair(Gamma)
def _gamma(a, b, name=None):
    return ((a.concentration - b.concentration) * tf.math.digamma(a.concentration) + tf.math.lgamma(b.concentration) - tf.math.lgamma(a.concentration) +
            b.concentration * tf.math.log(a.rate) - b.concentration * tf.math.log(b.rate) + a.concentration * (b.rate / a.rate - 1.))


@_pair(Beta)
def _beta(a, b, name=None):
    def delta(get, function=_base._same):
        return function(get(b)) - function(get(a))
    one, zero, total = (lambda d: d.concentration1), (lambda d: d.concentration0), (lambda d: d.total_concentration)
    lgamma, digamma = tf.math.lgamma, tf.math.digamma
    normalizer = (delta(one, lgamma) + delta(zero, lgamma)) - delta(total, lgamma)
    return normalizer - digamma(one(a)) * delta(one) - digamma(zero(a)) * delta(zero) + digamma(total(a)) * delta(total)


@_pair(Dirichlet)
def _dirichlet(a, b, name=None):
    spread = tf.math.digamma(a.concentration) - tf.math.digamma(tf.reduce_sum(a.concentration, -1, keepdims=True))
    return tf.reduce_sum((a.concentration - b.concentration) * spread, -1) - tf.math.lbeta(a.concentration) + tf.math.lbeta(b.concentration)


def install():
    """Fills tf.compat.v1.distributions."""
    module = tf._module("distributions", _v1)
    for name in ("Distribution", "ReparameterizationType", "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "RegisterKL", "kl_divergence"):
        setattr(module, name, getattr(_base, name))
    for kind in (Bernoulli, Beta, Categorical, Dirichlet, DirichletMultinomial, Exponential, Gamma, Laplace, Multinomial, Normal, StudentT, Uniform):
        setattr(module, kind.__name__, kind)
