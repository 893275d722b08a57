"""tf.compat.v1.distributions: the base class that programs subclass, the usual distributions, divergences by pairs of classes.

What the usual ones compute are formulas of C's (src/v1/distributions.c): calls of ops, which work at once and in graphs and have gradients. Samples are
drawn in the order and with the seeds, by which TensorFlow draws them."""
import functools
import re

import numpy as np
import thalweg as tf
from thalweg import _core

_v1 = tf.compat.v1
_rows = _v1.distributions


class ReparameterizationType:
    """Whether samples have gradients by the parameters."""

    def __init__(self, rep_type):
        self._rep_type = rep_type

    def __repr__(self):
        return "<Reparameterization Type: %s>" % self._rep_type


FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED"), ReparameterizationType("NOT_REPARAMETERIZED")


def _checked(checks, value):
    """The value, once the checks have passed."""
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(value)


def _logits_and_probs(logits, probs, categories):
    """Both of what one of them says."""
    if (logits is None) == (probs is None):
        raise ValueError("Must pass probs or logits, but not both.")
    name, given = ("probs", probs) if logits is None else ("logits", logits)
    given = tf.convert_to_tensor(given, name=name)
    if not given.dtype.is_floating:
        raise TypeError("%s must having floating type." % name)
    if name == "logits":
        return given, tf.nn.softmax(given) if categories else tf.sigmoid(given)
    return (tf.math.log(given), given) if categories else (tf.math.log(given) - tf.math.log1p(-given), given)


def _same(value):
    return value


def _named(method, name, doc):
    method.__name__, method.__doc__ = name, doc
    return method


def _of_value(own, doc, *ways):
    """A public method of a value; `ways`: private methods of which the first that is there gives it, and what is done to that."""
    def method(self, value, name=own):
        value = self._given(value)
        for inner, change in (("_" + own, _same),) + ways:
            if hasattr(self, inner):
                return change(getattr(self, inner)(value))
        raise NotImplementedError("%s is not implemented: %s" % (own, type(self).__name__))
    return _named(method, own, doc)


def _of_itself(own, doc, *ways):
    """The same of the distribution alone."""
    def method(self, name=own):
        for inner, change in (("_" + own, _same),) + ways:
            if hasattr(self, inner):
                return change(getattr(self, inner)())
        raise NotImplementedError("%s is not implemented: %s" % (own, type(self).__name__))
    return _named(method, own, doc)


def _shape_tensor(own, doc):
    def method(self, name=own + "_tensor"):
        shape = getattr(self, own)
        return tf.constant(shape.as_list(), tf.int32) if shape.is_fully_defined() else tf.identity(getattr(self, "_" + own + "_tensor")())
    return _named(method, own + "_tensor", doc)


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
    _batch_shape = _event_shape = lambda self: None
    batch_shape_tensor = _shape_tensor("batch_shape", "How many distributions it is, as a tensor.")
    event_shape_tensor = _shape_tensor("event_shape", "The shape of one sample, as a tensor.")

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

    log_prob = _of_value("log_prob", "The logarithm of the density, or of the probability.", ("_prob", tf.math.log))
    prob = _of_value("prob", "The density, or the probability.", ("_log_prob", tf.exp))
    log_cdf = _of_value("log_cdf", "The logarithm of the probability of at most the value.", ("_cdf", tf.math.log))
    cdf = _of_value("cdf", "The probability of at most the value.", ("_log_cdf", tf.exp))
    survival_function = _of_value("survival_function", "The probability of more than the value.", ("_cdf", lambda p: 1. - p),
                                  ("_log_cdf", lambda p: 1. - tf.exp(p)))
    log_survival_function = _of_value("log_survival_function", "Its logarithm.", ("_cdf", lambda p: tf.math.log1p(-p)))
    quantile = _of_value("quantile", "The value that so much of the probability lies below.")

    # -- of itself --

    mean = _of_itself("mean", "The mean.")
    mode = _of_itself("mode", "The most likely value.")
    entropy = _of_itself("entropy", "The entropy in nats.")
    covariance = _of_itself("covariance", "The covariance of a sample's members.")
    variance = _of_itself("variance", "The variance.", ("_stddev", tf.square))
    stddev = _of_itself("stddev", "The standard deviation.", ("_variance", tf.sqrt))

    def kl_divergence(self, other, name="kl_divergence"):
        """The divergence from this distribution to another."""
        return kl_divergence(self, other)

    def cross_entropy(self, other, name="cross_entropy"):
        """The cross entropy of this distribution and another."""
        return kl_divergence(self, other) + self.entropy()

    def __repr__(self):
        return "<tfp.distributions.%s '%s' batch_shape=%s event_shape=%s dtype=%s>" % (
            type(self).__name__, self.name, self.batch_shape, self.event_shape, self.dtype.name)

    def __str__(self):
        return "tfp.distributions.%s(\"%s\", batch_shape=%s, event_shape=%s, dtype=%s)" % (
            type(self).__name__, self.name, self.batch_shape, self.event_shape, self.dtype.name)


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


# ---- the usual distributions ----

# Each with its arguments; + stands before those that must be positive, ~ before the name where samples have no gradients.
_KINDS = """
Normal(loc, +scale): The normal distribution.
Uniform(low=0., high=1.): Numbers in [low, high), all equally likely.
Gamma(+concentration, +rate): The gamma distribution.
Exponential(+rate): The exponential distribution.
Beta(+concentration1=None, +concentration0=None): The beta distribution.
Laplace(loc, +scale): The Laplace distribution.
StudentT(+df, loc, scale): Student's t distribution.
~Bernoulli(logits=None, probs=None, dtype=tf.int32): One or zero.
~Categorical(logits=None, probs=None, dtype=tf.int32): One of several classes.
Dirichlet(+concentration): The Dirichlet distribution.
~Multinomial(total_count, logits=None, probs=None): How often each class comes in so many draws.
~DirichletMultinomial(total_count, +concentration): A multinomial distribution whose probabilities are Dirichlet's.
"""


class _Kind(Distribution):
    """A distribution whose methods are formulas of C's."""
    _vector = None  # of distributions of vectors: a tensor whose last dimension has their members

    def _make(self, given):
        names, kind = self._names, type(self)
        if "logits" in names:
            values = dict(zip(("logits", "probs"), _logits_and_probs(given["logits"], given["probs"], kind._vectors)))
        else:
            values = {name: tf.convert_to_tensor(given[name], name=name) for name in names if name in given and name != "total_count"}
        dtype = next(iter(values.values())).dtype
        for name, value in values.items():
            if value.dtype != dtype:
                raise ValueError("%s, type=%r, must be of the same type (%r) as %s." % (value, value.dtype, dtype, next(iter(values.values()))))
            if name in self._positive:
                values[name] = _checked([tf.debugging.assert_positive(value)] if given["validate_args"] else [], value)
        if "total_count" in names:
            values["total_count"] = tf.convert_to_tensor(given["total_count"], dtype, name="total_count")
        self._tensors = [values[name] if name in values else tf.ones((), dtype) for name in names]  # Exponential: no concentration
        Distribution.__init__(self, given.get("dtype", dtype), kind._reparameterized, given["validate_args"], given["allow_nan_stats"], given, name=given["name"])
        if self._vectors:
            self._vector = self._compute("vector")

    def _compute(self, method, x=None, seed=None, other=()):
        return _rows._compute(self._formulas, method, self._tensors + list(other), x, self._dtype, seed, bool(self._allow_nan_stats))

    def _batch_shape(self):
        return self._vector.shape[:-1] if self._vectors else functools.reduce(tf.broadcast_static_shape, [value.shape for value in self._tensors])

    def _batch_shape_tensor(self):
        return tf.shape(self._vector)[:-1] if self._vectors else functools.reduce(tf.broadcast_dynamic_shape, map(tf.shape, self._tensors))

    def _event_shape(self):
        return self._vector.shape[-1:] if self._vectors else []

    def _event_shape_tensor(self):
        return tf.shape(self._vector)[-1:]


def _formula(name):
    if name == "sample_n":
        return lambda self, n, seed=None: self._compute(name, n, seed)
    return lambda self, x=None: self._compute(name, x)


def _parameter(i):
    return property(lambda self: self._tensors[i])


def _class(line, parameters, formulas):
    """The class that a line describes."""
    plain, name, arguments, doc = re.fullmatch(r"(~?)(\w+)\((.*)\): (.*)", line).groups()
    kind, bases = ("Gamma", (made["Gamma"],)) if name == "Exponential" else (name, (_Kind,))
    space = {"tf": tf}
    exec("def __init__(self, %s, validate_args=False, allow_nan_stats=True, name=%r):\n    self._make(locals())" % (arguments.replace("+", ""), name), space)
    members = {"_" + method: _formula(method) for method in formulas[kind] if method not in ("vector", "kl")} if bases == (_Kind,) else {}
    members.update((word, _parameter(i)) for i, word in enumerate(parameters[kind]))
    members.update(__init__=space["__init__"], __doc__=doc, __module__=__name__, _formulas=kind, _names=parameters[kind], _vectors="vector" in formulas[kind],
                   _positive=set(re.findall(r"\+(\w+)", arguments)), _reparameterized=NOT_REPARAMETERIZED if plain else FULLY_REPARAMETERIZED)
    made[name] = type(name, bases, members)
    if "kl" in formulas[kind] and name == kind:
        RegisterKL(made[name], made[name])(lambda a, b, name=None: a._compute("kl", other=b._tensors))


made = {}


def _uniform(self, given):
    _Kind._make(self, given)
    if given["validate_args"]:
        low, high = self._tensors
        self._tensors[0] = _checked([tf.debugging.assert_less(low, high, message="uniform not defined when low >= high.")], low)


def _multinomial_samples(self, n, seed=None):
    """Each distribution draws for itself."""
    k, (total_count, logits, _) = self.event_shape_tensor()[0], self._tensors
    draws = tf.ones_like(logits[..., 0], dtype=tf.int32) * tf.cast(total_count, tf.int32)
    logits = tf.ones_like(draws[..., tf.newaxis], dtype=logits.dtype) * logits

    def one(args):
        x = _v1.multinomial(args[0][tf.newaxis, ...], n * args[1], seed)
        return tf.reduce_sum(tf.one_hot(tf.reshape(x, [n, -1]), depth=k), -2)
    drawn = tf.map_fn(one, [tf.reshape(logits, [-1, k]), tf.reshape(draws, [-1])], fn_output_signature=self.dtype)
    return tf.reshape(tf.transpose(drawn, [1, 0, 2]), tf.concat([[n], self.batch_shape_tensor(), [k]], 0))


def install():
    """Fills tf.compat.v1.distributions."""
    lines = _rows._formulas().strip().split("\n")
    parameters = {kind: words.split(",") for kind, words in re.findall(r"^(\w+)\((.*)\)$", "\n".join(lines), re.M)}
    formulas = {kind: re.findall(r"^%s\.(\w+)=" % kind, "\n".join(lines), re.M) for kind in parameters}
    for line in _KINDS.strip().split("\n"):
        _class(line, parameters, formulas)
    made["Exponential"]._sample_n = lambda self, n, seed=None: self._compute("exponential", n, seed)
    made["Uniform"]._make, made["Uniform"].range = _uniform, lambda self, name="range": self._tensors[1] - self._tensors[0]
    made["Multinomial"]._sample_n = _multinomial_samples
    made["Categorical"]._event_shape = lambda self: []
    made["Categorical"]._given = lambda self, value: tf.convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self.dtype)
    made["Categorical"].event_size = property(lambda self: tf.shape(self._tensors[0])[-1])
    made["Beta"].total_concentration = property(lambda self: self._tensors[0] + self._tensors[1])
    for kind in ("Dirichlet", "DirichletMultinomial"):
        made[kind].total_concentration = property(lambda self: tf.reduce_sum(self._tensors[-1], -1))
    module = tf._module("distributions", _v1, **made)
    for name in ("Distribution", "ReparameterizationType", "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "RegisterKL", "kl_divergence"):
        setattr(module, name, globals()[name])
