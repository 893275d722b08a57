/* tf.random.Generator: a stream of random numbers whose state is a variable of its own, so that checkpoints hold it.
 *
 * The state is a counter of two words and a key (see op/random/generator.c); a call reads it, moves it on, and makes its values
 * from what it read with the stateless ops, so that it works in functions too. */
#include "api/random/random.h"
#include "eager/eager.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

enum { COUNTER = 2, PHILOX = 1, THREEFRY = 2, AUTO_SELECT = 3 };

typedef struct tw_generator {
    tw_trackable trackable;
    tw_variable *state; /* a child: "_state_var" */
    int64_t algorithm;
} tw_generator;

int64_t tw__random_algorithm(const tw_value *alg)
{
    static const char *const names[] = { "philox", "threefry", "auto_select" };
    if (alg->kind == TW_VALUE_NONE)
        return AUTO_SELECT;
    if (alg->kind == TW_VALUE_INT && alg->i >= PHILOX && alg->i <= AUTO_SELECT)
        return alg->i;
    for (int i = 0; alg->kind == TW_VALUE_STR && i < 3; i++) {
        if (alg->s.size == strlen(names[i]) && memcmp(alg->s.data, names[i], alg->s.size) == 0)
            return i + 1;
    }
    char number[24] = "of another kind";
    if (alg->kind == TW_VALUE_INT)
        snprintf(number, sizeof number, "%lld", (long long)alg->i);
    bool text = alg->kind == TW_VALUE_STR;
    tw__fail(
        TW_VALUE_ERROR,
        "Argument `alg` got unsupported value %.*s. Supported values are philox for the Philox algorithm, threefry for the ThreeFry "
        "algorithm, and auto_select for auto-selection.",
        text ? (int)alg->s.size : (int)strlen(number), text ? alg->s.data : number);
    return 0;
}

static int64_t state_size(int64_t algorithm)
{
    return algorithm == THREEFRY ? 2 : 3;
}

static tw_status check_shape(const tw_tensor *tensor, int64_t size)
{
    if (tw__shape_compatible(&tensor->shape, &TW_SHAPE(size)))
        return TW_OK;
    tw__owned char *shape = tw__shape_tuple(&tensor->shape);
    tw_status status = tw__fail(TW_VALUE_ERROR, "Shapes %s and [%lld] are incompatible", shape ? shape : "", (long long)size);
    return status;
}

static void generator_destroy(void *self)
{
    tw_release(((tw_generator *)self)->state);
}

static void generator_visit(void *self, tw__visitor visitor, void *context)
{
    tw_generator *generator = self;
    if (generator->state)
        visitor(context, &generator->state->trackable.object);
}

static tw_status generator_init(void *self, const void *given)
{
    const tw_generator_args *args = given;
    tw_generator *generator = self;
    if (args->copy_from ? args->state != NULL || args->alg != TW_NO_INT : !args->state || args->alg == TW_NO_INT)
        return tw__fail(TW_ASSERTION_ERROR, "Generator: either copy_from is given, or state and alg");
    if (args->copy_from && !args->copy_from->state)
        return tw__fail(TW_RUNTIME_ERROR, "Generator: copy_from has no state");
    generator->algorithm =
        args->copy_from ? args->copy_from->algorithm : tw__random_algorithm(&(tw_value){ .kind = TW_VALUE_INT, .i = args->alg });
    if (!generator->algorithm)
        return tw__error_status();
    tw_auto tw_tensor *read = args->copy_from ? tw__resource_read(args->copy_from->state->resource) : tw_retain(args->state);
    if (!read)
        return tw__error_status();
    TW_TRY(check_shape(read, state_size(generator->algorithm)));
    tw_auto tw_tensor *own = read->node ? tw_retain(read) : tw__tensor_copy(read);
    generator->state = own ? tw__variable_new(own, "StateVar", false, NULL) : NULL;
    return generator->state ? tw__track(&generator->trackable, "_state_var", generator->state) : tw__error_status();
}

TW_CLASS(
    generator,
    "random.Generator|random.experimental.Generator(copy_from: generator = None, state: tensor<int64> = None, alg: int = None) -> generator",
    .parent = &tw__trackable_class, .size = sizeof(tw_generator), .init = generator_init, .destroy = generator_destroy,
    .visit = generator_visit, .drop_config = true,
    .doc = "A stream of random numbers with a state of its own.\n"
           "copy_from: a generator whose state and algorithm are taken\n"
           "state: the state that it begins with\n"
           "alg: the number of the algorithm: 1 for Philox");

/* ---- states ---- */

TW_API(random_algorithm, "random._algorithm(alg: value = None) -> int",
       "The number of an algorithm that is given by name or number.")
{
    return tw__random_algorithm(&args->alg);
}

/* The first `size` words, zeros in front of fewer. */
TW_API(random_create_rng_state, "random._create_rng_state(seed: tensor, alg: value) -> tensor",
       "A generator's state from words: the first ones, with zeros in front if there are fewer than it has.")
{
    TW_TEMPS(t);
    int64_t algorithm = tw__random_algorithm(&args->alg), size = state_size(algorithm);
    if (!algorithm)
        return NULL;
    tw_auto tw_tensor *flat_shape = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    tw_tensor *words =
        args->seed->dtype == TW_INT64 ? tw_retain(args->seed) : TW_CALL(Cast, args->seed, TW_A_TYPE("DstT", TW_INT64));
    words = TW_CALL(Reshape, tw__temp(t, words), flat_shape);
    if (!words)
        return NULL;
    int64_t count = words->shape.dims[0];
    if (count < 0 || count > size) {
        tw_auto tw_tensor *begin = tw__ints_tensor((const int64_t[]){ 0 }, 1, TW_INT32),
                          *sizes = tw__ints_tensor(&size, 1, TW_INT32);
        tw_auto tw_tensor *all = words;
        return TW_CALL(Slice, all, begin, sizes);
    }
    if (count == size)
        return words;
    tw_auto tw_tensor *zeros = tw_tensor_new(TW_INT64, TW_SHAPE(size - count), NULL), *axis = tw_tensor_int(0), *rest = words;
    return TW_CALL(ConcatV2, zeros, rest, axis);
}

TW_API(random_state_of_key_counter,
       "random._state_of_key_counter(key: tensor<int64>, counter: tensor<int64>, alg: value) -> tensor",
       "A generator's state from its parts.")
{
    int64_t algorithm = tw__random_algorithm(&args->alg);
    if (!algorithm || check_shape(args->counter, state_size(algorithm) - 1) != TW_OK)
        return NULL;
    tw_auto tw_tensor *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32), *axis = tw_tensor_int(0);
    tw_auto tw_tensor *key = TW_CALL(Reshape, args->key, one);
    return TW_CALL(ConcatV2, args->counter, key, axis);
}

TW_API(random_any_state, "random._any_state(alg: value) -> tensor",
       "A generator's state from the operating system's random numbers.")
{
    int64_t algorithm = tw__random_algorithm(&args->alg), size = state_size(algorithm);
    tw_auto tw_tensor *shape = algorithm ? tw__ints_tensor(&size, 1, TW_INT32) : NULL;
    return TW_CALL(NonDeterministicInts, shape);
}

TW_PROPERTY(generator_state, "random.Generator.state(self: generator) -> variable", "The variable that holds the state.")
{
    return tw_retain(args->self->state);
}

TW_PROPERTY(generator_algorithm, "random.Generator.algorithm(self: generator) -> int", "The number of the algorithm.")
{
    return args->self->algorithm;
}

static tw_tensor *slice(tw_tensor *vector, int64_t from, int64_t count)
{
    tw_auto tw_tensor *begin = tw__ints_tensor(&from, 1, TW_INT32), *size = tw__ints_tensor(&count, 1, TW_INT32);
    return TW_CALL(Slice, vector, begin, size);
}

TW_PROPERTY(generator_key, "random.Generator.key(self: generator) -> tensor", "The last word of the state.")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *state = args->self->state ? tw__variable_read(args->self->state) : NULL;
    tw_auto tw_tensor *last = state ? slice(state, state_size(args->self->algorithm) - 1, 1) : NULL;
    tw_tensor *scalar = tw__ints_tensor(NULL, 0, TW_INT32);
    return TW_CALL(Reshape, last, tw__temp(t, scalar));
}

TW_METHOD(generator_reset, "random.Generator.reset(self: generator, state: tensor<int64>)",
          "Sets the state.\n"
          "state: the new state, of the old one's length")
{
    tw_generator *generator = args->self;
    TW_TRY(check_shape(args->state, state_size(generator->algorithm)));
    tw_variable *assigned = tw_variable_assign(generator->state, args->state);
    tw_release(assigned);
    return assigned ? TW_OK : tw__error_status();
}

static tw_tensor *skip(tw_generator *generator, tw_tensor *delta)
{
    tw_auto tw_tensor *algorithm = tw_tensor_int((int32_t)generator->algorithm);
    tw_auto tw_tensor *number = delta->dtype == TW_UINT64 ? tw_retain(delta) : TW_CALL(Cast, delta, TW_A_TYPE("DstT", TW_UINT64));
    if (!generator->state || !algorithm || !number)
        return NULL;
    return TW_CALL(RngReadAndSkip, generator->state->handle, algorithm, number);
}

TW_METHOD(generator_skip, "random.Generator.skip(self: generator, delta: tensor) -> tensor",
          "Moves the state on by so many values; gives what it was.\n"
          "delta: how many numbers are skipped")
{
    return skip(args->self, args->delta);
}

/* ---- values ---- */

static tw_tensor *number_of(tw_tensor *shape)
{
    if (!shape->node && shape->dtype != TW_INT64 && shape->dtype != TW_INT32)
        return tw__fail(TW_TYPE_ERROR, "Generator: a shape of dtype %s, expected int32 or int64", tw_dtype_name(shape->dtype)),
               NULL;
    tw_auto tw_tensor *axis = tw__ints_tensor((const int64_t[]){ 0 }, 1, TW_INT32);
    return TW_CALL(Prod, shape, axis);
}

static tw_tensor *words(tw_tensor *state, int64_t from, int64_t count)
{
    tw_auto tw_tensor *part = slice(state, from, count);
    return TW_CALL(Bitcast, part, TW_A_TYPE("type", TW_UINT64));
}

/* A stateless op on the stream as it stands. */
static tw_tensor *draw(tw_generator *generator, const tw_op *op, tw_tensor *shape, tw_dtype dtype, tw_tensor *low,
                       tw_tensor *high)
{
    if (!generator->state)
        return tw__fail(TW_RUNTIME_ERROR, "Generator: it has no state"), NULL;
    tw_auto tw_tensor *count = number_of(shape);
    tw_auto tw_tensor *state = count ? skip(generator, count) : NULL;
    tw_auto tw_tensor *key = state ? words(state, COUNTER, 1) : NULL, *counter = key ? words(state, 0, COUNTER) : NULL;
    tw_auto tw_tensor *algorithm = tw_tensor_int((int32_t)generator->algorithm);
    tw_attr type = TW_A_TYPE("dtype", dtype);
    return counter && algorithm ? tw__call(op, TW_IN(shape, key, counter, algorithm, low, high), low ? 6 : 4, &type, 1) : NULL;
}

/* values * scale + shift; takes the values. */
static tw_tensor *scaled(tw_tensor *values, tw_tensor *scale, tw_tensor *shift)
{
    TW_TEMPS(t);
    if (scale)
        values = TW_CALL(Mul, tw__temp(t, values), scale);
    return shift ? TW_CALL(AddV2, tw__temp(t, values), shift) : values;
}

TW_METHOD(
    generator_normal,
    "random.Generator.normal(self: generator, shape: tensor<int32>, mean: tensor<dtype> = None shown 0.0, stddev: tensor<dtype> = None shown 1.0, "
    "dtype: dtype = float32, name: str = None) -> tensor",
    "Normal values; the mean is 0 and the standard deviation 1 if not given.")
{
    return scaled(draw(args->self, &tw__op_StatelessRandomNormalV2, args->shape, args->dtype, NULL, NULL), args->stddev,
                  args->mean);
}

TW_METHOD(
    generator_truncated_normal,
    "random.Generator.truncated_normal(self: generator, shape: tensor<int32>, mean: tensor<dtype> = None shown 0.0, stddev: tensor<dtype> = None shown 1.0, "
    "dtype: dtype = float32, name: str = None) -> tensor",
    "Normal values, those farther than two standard deviations from the mean drawn again.")
{
    return scaled(draw(args->self, &tw__op_StatelessTruncatedNormalV2, args->shape, args->dtype, NULL, NULL), args->stddev,
                  args->mean);
}

TW_METHOD(
    generator_uniform,
    "random.Generator._uniform(self: generator, shape: tensor<int32>, minval: tensor<dtype> = None, maxval: tensor<dtype> = None, "
    "dtype: dtype = float32, name: str = None) -> tensor",
    "Values from [minval, maxval), floats from [0, 1), integers from the whole range if there are no limits.")
{
    tw_tensor *low = args->minval, *high = args->maxval;
    if (tw__dtype_is_integer(args->dtype)) {
        if (!low && !high)
            return draw(args->self, &tw__op_StatelessRandomUniformFullIntV2, args->shape, args->dtype, NULL, NULL);
        if (!high)
            return tw__fail(
                       TW_VALUE_ERROR,
                       "For integer dtype <dtype: '%s'>, minval and maxval must be both `None` or both non-`None`; got maxval=None",
                       tw_dtype_name(args->dtype)),
                   NULL;
        tw_auto tw_tensor *zero = low ? tw_retain(low) : tw_tensor_new(args->dtype, TW_SCALAR, NULL);
        return zero ? draw(args->self, &tw__op_StatelessRandomUniformIntV2, args->shape, args->dtype, zero, high) : NULL;
    }
    tw_tensor *values = draw(args->self, &tw__op_StatelessRandomUniformV2, args->shape, args->dtype, NULL, NULL);
    if (!low)
        return scaled(values, high, NULL);
    tw_auto tw_tensor *one = high ? tw_retain(high) : TW_CALL(OnesLike, low);
    tw_auto tw_tensor *range = TW_CALL(Sub, one, low);
    if (range)
        return scaled(values, range, low);
    tw_release(values);
    return NULL;
}

TW_METHOD(
    generator_uniform_full_int,
    "random.Generator.uniform_full_int(self: generator, shape: tensor<int32>, dtype: dtype = uint64, name: str = None) -> tensor",
    "Integers from the whole range of the dtype.")
{
    return draw(args->self, &tw__op_StatelessRandomUniformFullIntV2, args->shape, args->dtype, NULL, NULL);
}

TW_METHOD(
    generator_binomial,
    "random.Generator.binomial(self: generator, shape: tensor<int32>, counts: tensor<T>, probs: tensor<T>, dtype: dtype = int32, "
    "name: str = None) -> tensor",
    "Numbers of successes in trials; shape ends with that of counts and probs.\n"
    "counts: the number of trials\n"
    "probs: the probability of success")
{
    return TW_CALL(StatefulRandomBinomial, args->self->state->handle, (int64_t)args->self->algorithm, args->shape, args->counts,
                   args->probs, TW_A_TYPE("dtype", args->dtype));
}

TW_METHOD(generator_make_seeds, "random.Generator.make_seeds(self: generator, count: int > -1 = 1) -> tensor",
          "Seeds for stateless functions: [2, count], the second row zeros.\n"
          "count: how many seeds there are")
{
    tw_auto tw_tensor *shape = tw__ints_tensor(&args->count, 1, TW_INT32);
    tw_auto tw_tensor *first =
        shape ? draw(args->self, &tw__op_StatelessRandomUniformFullIntV2, shape, TW_INT64, NULL, NULL) : NULL;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, first);
    return TW_CALL(Pack, first, zeros);
}

/* One generator per seed: a counter of zeros, and the seed as the key. */
TW_METHOD(generator_split_states, "random.Generator._split_states(self: generator, count: int > -1 = 1) -> tensors",
          "The states of generators that are independent of this one.")
{
    tw_tensors states = { tw__alloc_array((size_t)args->count + 1, sizeof(tw_tensor *)), args->count };
    tw_auto tw_tensor *seeds = states.items ? tw_generator_make_seeds(args->self, .count = args->count) : NULL;
    tw_auto tw_tensor *flat = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32), *axis = tw_tensor_int(0);
    tw_auto tw_tensor *keys = TW_CALL(Reshape, seeds, flat);
    tw_auto tw_tensor *zeros = tw_tensor_new(TW_INT64, TW_SHAPE(state_size(args->self->algorithm) - 1), NULL);
    bool good = keys && zeros && axis;
    for (int64_t i = 0; good && i < args->count; i++) {
        tw_auto tw_tensor *key = slice(keys, i, 1);
        states.items[i] = TW_CALL(ConcatV2, zeros, key, axis);
        good = states.items[i] != NULL;
    }
    if (!good)
        tw_tensors_free(&states);
    return states;
}

/* ---- the global one ---- */

static tw__lock lock = TW__LOCK;
static tw_generator *global;

static void end_global(void)
{
    tw_release(global);
    global = NULL;
}

TW_API(random_get_global_generator, "random.get_global_generator|random.experimental.get_global_generator() -> generator",
       "The generator that all share; made from the operating system's random numbers at first.")
{
    tw__lock_take(&lock);
    tw_generator *held = tw_retain(global);
    tw__lock_give(&lock);
    if (held)
        return held;
    static tw__ending ending = { .end = end_global };
    tw__at_shutdown(&ending);
    tw__outside outside = tw__outside_begin();
    tw_value alg = { .kind = TW_VALUE_INT, .i = PHILOX };
    tw_auto tw_tensor *state = tw_random_any_state(alg);
    tw_auto tw_generator *made = state ? tw_generator(.state = state, .alg = PHILOX) : NULL;
    tw__outside_end(outside);
    if (!made)
        return NULL;
    tw__lock_take(&lock);
    if (!global)
        global = tw_retain(made);
    held = tw_retain(global);
    tw__lock_give(&lock);
    return held;
}

TW_API(random_set_global_generator, "random.set_global_generator|random.experimental.set_global_generator(generator: generator)",
       "Makes a generator the one that all share.\n"
       "generator: the generator")
{
    static tw__ending ending = { .end = end_global };
    tw__at_shutdown(&ending);
    tw__lock_take(&lock);
    tw_auto tw_generator *old = global;
    global = tw_retain(args->generator);
    tw__lock_give(&lock);
    return TW_OK;
}

/* ---- seeds from seeds ---- */

TW_API(
    random_split,
    "random.split|random.experimental.stateless_split(seed: tensor<int32>, num: int > -1 = 2, alg: value = None shown auto_select) -> tensor",
    "New seeds from one: [num, 2].\n"
    "num: how many seeds there are")
{
    tw_auto tw_tensor *shape = tw__ints_tensor((const int64_t[]){ args->num, 2 }, 2, TW_INT32);
    return shape ? tw_random_stateless_uniform(shape, args->seed, .dtype = args->seed->dtype, .alg = args->alg) : NULL;
}

TW_API(
    random_fold_in,
    "random.fold_in|random.experimental.stateless_fold_in(seed: tensor<int32>, data: tensor, alg: value = None shown auto_select) -> tensor",
    "A new seed from one and a number.\n"
    "data: the number")
{
    tw_auto tw_tensor *scalar = tw__ints_tensor(NULL, 0, TW_INT32);
    tw_auto tw_tensor *first =
        scalar ? tw_random_stateless_uniform(scalar, args->seed, .dtype = args->data->dtype, .alg = args->alg) : NULL;
    return TW_CALL(Pack, first, args->data);
}
