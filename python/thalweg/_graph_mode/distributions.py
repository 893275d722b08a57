"""tf.compat.v1.distributions: the base class that programs subclass, the usual distributions, divergences by pairs of classes.

Everything is composed of tf's functions, so it works at once and in graphs and has gradients. Samples are drawn by the ops, in the order and with the
seeds, by which TensorFlow draws them."""
import hashlib
import math

import numpy as np
import thalweg as tf
from thalweg import _core

_v1 = tf.compat.v1


class ReparameterizationType:
    """Whether samples have gradients by the parameters."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return "<Reparameterization Type: %s>" % self._rep_type

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED"), ReparameterizationType("NOT_REPARAMETERIZED")


def _other_seed(seed, salt):
    """Another seed made of one, as TensorFlow makes it."""
    return None if seed is None else int(hashlib.md5((str(seed) + salt).encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def _number(value, name, dtype=None):
    return tf.convert_to_tensor(value, dtype=dtype, name=name)


def _positive(values, validate):
    """The tensors; where arguments are validated, an error when one is not positive."""
    if not validate:
        return [tf.identity(v) for v in values]
    with tf.control_dependencies([check for check in (tf.debugging.assert_positive(v) for v in values) if check is not None]):
        return [tf.identity(v) for v in values]


def _logits_and_probs(logits, probs, categories):
    """Both of what one of them says."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        logits = _number(logits, "logits")
        if not logits.dtype.is_floating:
            raise TypeError("logits must having floating type.")
        return logits, tf.nn.softmax(logits) if categories else tf.sigmoid(logits)
    probs = _number(probs, "probs")
    if not probs.dtype.is_floating:
        raise TypeError("probs must having floating type.")
    return (tf.math.log(probs), probs) if categories else (tf.math.log(probs) - tf.math.log1p(-probs), probs)


class Distribution:
    """A distribution. Subclasses give `_log_prob` or `_prob`, `_sample_n`, `_mean` and the like, of which the public methods are made."""

    def __init__(self, dtype, reparameterization_type, validate_args, allow_nan_stats, parameters=None, graph_parents=None, name=None):
        self._dtype, self._reparameterization_type = tf.as_dtype(dtype), reparameterization_type
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = {k: v for k, v in (parameters or {}).items() if k not in ("self", "__class__")}
        with tf.name_scope(name or type(self).__name__) as scope:
            self._name = scope

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    parameters = property(lambda self: dict(self._parameters))
    reparameterization_type = property(lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)

    def copy(self, **override_parameters_kwargs):
        """The same with other parameters."""
        return type(self)(**dict(self.parameters, **override_parameters_kwargs))

    # -- shapes --

    batch_shape = property(lambda self: tf.TensorShape(self._batch_shape()))
    event_shape = property(lambda self: tf.TensorShape(self._event_shape()))

    def _batch_shape(self):
        return None

    def _event_shape(self):
        return None

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """How many distributions it is, as a tensor."""
        shape = self.batch_shape
        return tf.constant(shape.as_list(), tf.int32) if shape.is_fully_defined() else tf.identity(self._batch_shape_tensor())

    def event_shape_tensor(self, name="event_shape_tensor"):
        """The shape of one sample, as a tensor."""
        shape = self.event_shape
        return tf.constant(shape.as_list(), tf.int32) if shape.is_fully_defined() else tf.identity(self._event_shape_tensor())

    def is_scalar_event(self, name="is_scalar_event"):
        """Whether a sample is a number."""
        return tf.equal(tf.size(self.event_shape_tensor()), 0)

    def is_scalar_batch(self, name="is_scalar_batch"):
        """Whether it is one distribution."""
        return tf.equal(tf.size(self.batch_shape_tensor()), 0)

    # -- samples --

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Samples; their shape is sample_shape, then that of the batch, then that of one sample."""
        with tf.name_scope(self._name + name):
            shape = tf.reshape(tf.cast(tf.convert_to_tensor(sample_shape, tf.int32 if isinstance(sample_shape, (tuple, list)) else None), tf.int32), [-1])
            drawn = self._sample_n(tf.reduce_prod(shape), seed)
            whole = tf.reshape(drawn, tf.concat([shape, tf.shape(drawn)[1:]], 0))
            if not _core.is_symbolic(sample_shape):
                known = np.reshape(np.array(sample_shape, np.int32), [-1]).tolist()
                whole.set_shape(tf.TensorShape(known).concatenate(self.batch_shape).concatenate(self.event_shape))
            return whole

    def _sample_n(self, n, seed=None):
        raise NotImplementedError("sample_n is not implemented: %s" % type(self).__name__)

    # -- of values --

    def _given(self, value):
        return tf.convert_to_tensor(value, dtype=self.dtype, name="value")

    def _of(self, value, *ways):
        value = self._given(value)
        for name, change in ways:
            method = getattr(self, name, None)
            if method is not None:
                return change(method(value))
        raise NotImplementedError("%s is not implemented: %s" % (ways[0][0].lstrip("_"), type(self).__name__))

    def log_prob(self, value, name="log_prob"):
        """The logarithm of the density, or of the probability."""
        return self._of(value, ("_log_prob", _same), ("_prob", tf.math.log))

    def prob(self, value, name="prob"):
        """The density, or the probability."""
        return self._of(value, ("_prob", _same), ("_log_prob", tf.exp))

    def log_cdf(self, value, name="log_cdf"):
        """The logarithm of the probability of at most the value."""
        return self._of(value, ("_log_cdf", _same), ("_cdf", tf.math.log))

    def cdf(self, value, name="cdf"):
        """The probability of at most the value."""
        return self._of(value, ("_cdf", _same), ("_log_cdf", tf.exp))

    def survival_function(self, value, name="survival_function"):
        """The probability of more than the value."""
        return self._of(value, ("_survival_function", _same), ("_cdf", lambda p: 1. - p), ("_log_cdf", lambda p: 1. - tf.exp(p)))

    def log_survival_function(self, value, name="log_survival_function"):
        """Its logarithm."""
        return self._of(value, ("_log_survival_function", _same), ("_cdf", lambda p: tf.math.log1p(-p)))

    def quantile(self, value, name="quantile"):
        """The value that so much of the probability lies below."""
        return self._of(value, ("_quantile", _same))

    # -- of itself --

    def _stat(self, name):
        method = getattr(self, "_" + name, None)
        if method is None:
            raise NotImplementedError("%s is not implemented: %s" % (name, type(self).__name__))
        return method()

    def mean(self, name="mean"):
        """The mean."""
        return self._stat("mean")

    def mode(self, name="mode"):
        """The most likely value."""
        return self._stat("mode")

    def entropy(self, name="entropy"):
        """The entropy in nats."""
        return self._stat("entropy")

    def covariance(self, name="covariance"):
        """The covariance of a sample's members."""
        return self._stat("covariance")

    def variance(self, name="variance"):
        """The variance."""
        return self._variance() if hasattr(self, "_variance") else tf.square(self._stat("stddev"))

    def stddev(self, name="stddev"):
        """The standard deviation."""
        return self._stddev() if hasattr(self, "_stddev") else tf.sqrt(self._stat("variance"))

    def kl_divergence(self, other, name="kl_divergence"):
        """The divergence from this distribution to another."""
        return kl_divergence(self, other)

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy of this distribution and another."""
        return kl_divergence(self, other) + self.entropy()

    def _nan_unless(self, defined, value):
        """The value where the statistic is defined; elsewhere NaN, or an error if that is not allowed."""
        if self._allow_nan_stats:
            return tf.where(defined, value, tf.constant(math.nan, value.dtype))
        with tf.control_dependencies([c for c in [tf.debugging.Assert(tf.reduce_all(defined), ["the statistic is not defined for all members"])] if c is not None]):
            return tf.identity(value)

    def __repr__(self):
        return "<tfp.distributions.%s '%s' batch_shape=%s event_shape=%s dtype=%s>" % (
            type(self).__name__, self.name, self.batch_shape, self.event_shape, self.dtype.name)

    def __str__(self):
        return "tfp.distributions.%s(\"%s\", batch_shape=%s, event_shape=%s, dtype=%s)" % (
            type(self).__name__, self.name, self.batch_shape, self.event_shape, self.dtype.name)


def _same(value):
    return value


# ---- divergences ----

_DIVERGENCES = {}


def _divergence_of(a, b):
    ways = [(i + k, _DIVERGENCES[(p, q)]) for i, p in enumerate(a.__mro__) for k, q in enumerate(b.__mro__) if (p, q) in _DIVERGENCES]
    return min(ways, key=lambda way: way[0])[1] if ways else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """The divergence from one distribution to another."""
    function = _divergence_of(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError("No KL(distribution_a || distribution_b) registered for distribution_a type %s and distribution_b type %s" %
                                  (type(distribution_a).__name__, type(distribution_b).__name__))
    with tf.name_scope("KullbackLeibler"):
        value = function(distribution_a, distribution_b, name=name)
        return value if allow_nan_stats else tf.debugging.check_numerics(value, "KL calculation between %s and %s returned NaN values (and was called with "
                                                                         "allow_nan_stats=False)." % (distribution_a.name, distribution_b.name))


class RegisterKL:
    """A decorator: the function gives the divergence from distributions of one class to those of another."""

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError("kl_fn must be callable, received: %s" % (kl_fn,))
        if self._key in _DIVERGENCES:
            raise ValueError("KL(%s || %s) has already been registered to: %s" % (*[c.__name__ for c in self._key], _DIVERGENCES[self._key]))
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def tiny(dtype):
    """The least positive normal number of a dtype."""
    return np.finfo(dtype.as_numpy_dtype).tiny
