"""tf.random.Generator's makers, and seeds as Python's integers: what the rows can't say."""
import thalweg as tf

_Generator = tf.random.Generator
_PHILOX = 1


def _later(name):
    """What of tf.random is imported only when it is asked for."""
    if name != "Algorithm":
        raise AttributeError("module 'thalweg.random' has no attribute %r" % name)
    from thalweg import _enums
    return _enums.Algorithm


_init = _Generator.__init__


def _make(self, copy_from=None, state=None, alg=None):
    _init(self, copy_from, state, None if alg is None else tf.random._algorithm(alg))


_Generator.__init__ = _make


def _words(seed, alg):
    """A seed as a tensor of 64-bit words; an integer of any size gives as many as the state has, the low one first."""
    if not isinstance(seed, int):
        return tf.convert_to_tensor(seed)
    size = tf.random._create_rng_state(0, alg).shape[0]
    words = [(seed >> (64 * i)) & (2**64 - 1) for i in range(size)]
    return tf.constant([w - 2**64 if w >= 2**63 else w for w in words], tf.int64)


def create_rng_state(seed, alg):
    """A generator's state from a seed: an integer, or integers."""
    return tf.random._create_rng_state(_words(seed, alg), alg)


class _Members:
    """What is put onto tf.random.Generator."""

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator of a seed."""
        alg = _PHILOX if alg is None else alg
        if isinstance(seed, int):
            with tf.init_scope():  # inside of a function it is the same generator at every call
                return cls(state=create_rng_state(seed, alg), alg=alg)
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_state(cls, state, alg):
        """A generator that goes on from a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator of a key and a counter."""
        return cls(alg=alg, state=tf.random._state_of_key_counter(key, counter, alg))

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that nobody can foretell."""
        alg = _PHILOX if alg is None else alg
        return cls(alg=alg, state=tf.random._any_state(alg))

    def reset_from_seed(self, seed):
        """Sets the state by a seed."""
        self.reset(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key, counter):
        """Sets the state by a key and a counter."""
        self.reset(tf.random._state_of_key_counter(key, counter, self.algorithm))

    def split(self, count=1):
        """Generators that are independent of this one."""
        return [type(self)(alg=self.algorithm, state=s) for s in self._split_states(count)]

    def uniform(self, shape, minval=0, maxval=None, dtype=tf.float32, name=None):
        """Values from [minval, maxval), all equally likely; floats from [0, 1) if there are no limits."""
        dtype = tf.as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError("For integer dtype <dtype: '%s'>, minval and maxval must be both `None` or both non-`None`; got minval=%s and maxval=%s" % (
                dtype.name, minval, maxval))
        return self._uniform(shape, minval, maxval, dtype)


tf._put(_Members, _Generator)
tf.random.create_rng_state = tf.random.experimental.create_rng_state = create_rng_state
tf.random.__getattr__ = tf.random.experimental.__getattr__ = _later
