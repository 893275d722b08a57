/* Lowerings of random numbers: Philox streams, the same words as on the host. A state is [key, counter's lower half, its upper
 * half] of uint64. Stateful ops get theirs as one more input; the others make it of a seed, or of a key and a counter. Uniform
 * numbers and integers are the host's bit by bit, normal ones up to rounding. Truncated ones are drawn again one by one: they
 * stay on the host. */
#include "lower/words.h"

/* `count` words of a stream; a multiple of four. */
static tw__hlo words_of(tw__lowering *l, tw__hlo state, int64_t count)
{
    tw_shape shape = TW_SHAPE(count);
    tw__hlo next = { .id = l->next++, .dtype = TW_UINT64, .shape = TW_SHAPE(3) },
            words = { .id = l->next++, .dtype = TW_UINT32, .shape = shape };
    if (state.id < 0)
        return (tw__hlo){ .id = -1 };
    tw__text_format(
        l->text, "%%%d, %%%d = stablehlo.rng_bit_generator %%%d, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, %s)\n",
        next.id, words.id, state.id, tw__hlo_type_text(words));
    return words;
}

static tw__hlo part(tw__lowering *l, tw__hlo x, int64_t from, int64_t to)
{
    return tw__hlo_slice(l, x, &from, &to, NULL);
}

/* Column `which` of pairs of words. */
static tw__hlo column(tw__lowering *l, tw__hlo pairs, int64_t which)
{
    int64_t rows = pairs.shape.dims[0];
    return tw__hlo_reshape(l, tw__hlo_slice(l, pairs, (int64_t[]){ 0, which }, (int64_t[]){ rows, which + 1 }, NULL),
                           &TW_SHAPE(rows));
}

/* Two lists of words as one of twice as many bits. */
static tw__hlo joined(tw__lowering *l, tw__hlo low, tw__hlo high)
{
    tw__hlo shift = NUMBER(TW_UINT64, 32), wide = tw__hlo_convert(l, high, TW_UINT64);
    return BINARY("or", tw__hlo_convert(l, low, TW_UINT64), BINARY("shift_left", wide, shift));
}

static tw__hlo pairs_of(tw__lowering *l, tw__hlo words)
{
    return tw__hlo_reshape(l, words, &TW_SHAPE(words.shape.dims[0] / 2, 2));
}

/* Words as numbers of [0, 1): the bits behind the point of a number of [1, 2). */
static tw__hlo uniform_of(tw__lowering *l, tw__hlo words)
{
    tw__hlo bits = BINARY("or", BINARY("and", words, tw__hlo_fill(l, words, 8388607)), tw__hlo_fill(l, words, 1065353216));
    tw__hlo out = { .dtype = TW_FLOAT32, .shape = words.shape };
    tw__hlo value = bits.id < 0 ? bits
                                : tw__hlo_line(l, TW_FLOAT32, &words.shape, "stablehlo.bitcast_convert %%%d : (%s) -> %s",
                                               bits.id, tw__hlo_type_text(bits), tw__hlo_type_text(out));
    return BINARY("subtract", value, tw__hlo_fill(l, value, 1));
}

/* The first of a pair has the upper 20 bits. */
static tw__hlo uniform_doubles(tw__lowering *l, tw__hlo pairs)
{
    tw__hlo first = column(l, pairs, 0), upper = BINARY("and", first, tw__hlo_fill(l, first, 0xfffff));
    tw__hlo bits = joined(l, column(l, pairs, 1), BINARY("or", upper, tw__hlo_fill(l, upper, 0x3ff00000)));
    tw__hlo out = { .dtype = TW_FLOAT64, .shape = bits.shape };
    tw__hlo value = bits.id < 0 ? bits
                                : tw__hlo_line(l, TW_FLOAT64, &bits.shape, "stablehlo.bitcast_convert %%%d : (%s) -> %s", bits.id,
                                               tw__hlo_type_text(bits), tw__hlo_type_text(out));
    return BINARY("subtract", value, tw__hlo_fill(l, value, 1));
}

/* Of halves: some of the lowest bits, as a fraction. */
static tw__hlo small_uniforms(tw__lowering *l, tw__hlo words, tw_dtype dtype)
{
    int limit = dtype == TW_FLOAT16 ? 1024 : 128;
    tw__hlo bits = tw__hlo_convert(l, BINARY("and", words, tw__hlo_fill(l, words, limit - 1)), TW_FLOAT32);
    return tw__hlo_convert(l, BINARY("multiply", bits, tw__hlo_fill(l, bits, 1.0 / limit)), dtype);
}

/* Pairs of uniform numbers as normal ones (Box and Muller): sine and cosine side by side. */
static tw__hlo normals_of(tw__lowering *l, tw__hlo first, tw__hlo second)
{
    int64_t count = first.shape.dims[0];
    tw__hlo angle = BINARY("multiply", second, tw__hlo_fill(l, second, 6.283185307179586));
    tw__hlo logs =
        UNARY("log", BINARY("maximum", first, tw__hlo_fill(l, first, first.dtype == TW_FLOAT64 ? 1e-7 : (double)1e-7f)));
    tw__hlo radius = UNARY("sqrt", BINARY("multiply", logs, tw__hlo_fill(l, logs, -2)));
    tw__hlo sides[] = { tw__hlo_reshape(l, BINARY("multiply", UNARY("sine", angle), radius), &TW_SHAPE(count, 1)),
                        tw__hlo_reshape(l, BINARY("multiply", UNARY("cosine", angle), radius), &TW_SHAPE(count, 1)) };
    return tw__hlo_reshape(l, tw__hlo_concatenate(l, sides, 2, 1), &TW_SHAPE(2 * count));
}

/* Integers: all of them, or of [low, low + range). */
static tw__hlo integers_of(tw__lowering *l, tw__hlo words, tw_dtype dtype, const int64_t *limits)
{
    bool wide = dtype == TW_INT64 || dtype == TW_UINT64;
    tw__hlo pairs = wide ? pairs_of(l, words) : words, value = wide ? joined(l, column(l, pairs, 0), column(l, pairs, 1)) : words;
    if (!limits)
        return tw__hlo_convert(l, value, dtype);
    uint64_t range = (uint64_t)limits[1] - (uint64_t)limits[0];
    if (range > (uint64_t)1 << 52 || limits[0] > (int64_t)1 << 52 || limits[0] < -((int64_t)1 << 52))
        return (tw__hlo){ .id = -1 };
    tw__hlo rest = BINARY("remainder", value, tw__hlo_fill(l, value, (double)range));
    rest = tw__hlo_convert(l, rest, dtype);
    return BINARY("add", rest, tw__hlo_fill(l, rest, (double)limits[0]));
}

/* The op's values, of its own distribution: the row's argument. */
static bool give_values(tw__lowering *l, tw__hlo state, const int64_t *limits)
{
    tw_dtype dtype = l->outputs[0].dtype;
    bool wide = dtype == TW_FLOAT64 || dtype == TW_INT64 || dtype == TW_UINT64, normal = strcmp(l->argument, "normal") == 0;
    int64_t count;
    if (tw__shape_count(&l->outputs[0].shape, &count) != TW_OK || count == 0)
        return false;
    tw__hlo words = words_of(l, state, (count * (wide ? 2 : 1) + 3) / 4 * 4), values;
    if (words.id < 0)
        return false;
    if (!tw__dtype_is_float(dtype)) {
        values = integers_of(l, words, dtype, limits);
    } else if (!normal) {
        values = dtype == TW_FLOAT64   ? uniform_doubles(l, pairs_of(l, words))
                 : dtype == TW_FLOAT32 ? uniform_of(l, words)
                                       : small_uniforms(l, words, dtype);
    } else {
        tw__hlo numbers = wide ? uniform_doubles(l, pairs_of(l, words)) : uniform_of(l, words), pairs = pairs_of(l, numbers);
        values = tw__hlo_convert(l, normals_of(l, column(l, pairs, 0), column(l, pairs, 1)), dtype);
    }
    return values.id >= 0 && GIVE(part(l, values, 0, count));
}

/* minval and maxval, which must be known: the host refuses bad ones. */
static bool limits_of(tw__lowering *l, int first, int64_t *limits)
{
    int count;
    return tw__lower_ints(l, first, &limits[0], 1, &count) && tw__lower_ints(l, first + 1, &limits[1], 1, &count) &&
           limits[0] < limits[1];
}

/* RandomUniform(shape, state) and its kin; the state is the last input. */
static bool stateful(tw__lowering *l)
{
    int64_t limits[2];
    bool below = strcmp(l->argument, "below") == 0;
    return (!below || limits_of(l, 1, limits)) && give_values(l, l->inputs[l->input_count - 1], below ? limits : NULL);
}

/* Seeds are scrambled: the words of a stream of its own are the key and the counter's upper half. */
static tw__hlo seeded_state(tw__lowering *l, tw__hlo seed, tw__hlo *key, tw__hlo *counter)
{
    static const uint32_t secret[2] = { 0x3ec8f720, 0x02461e29 };
    uint64_t word = secret[0] | (uint64_t)secret[1] << 32;
    tw__hlo wide = tw__hlo_convert(l, tw__hlo_convert(l, seed, TW_INT64), TW_UINT64);
    tw__hlo start =
        tw__hlo_concatenate(l, (tw__hlo[]){ tw__hlo_bytes(l, TW_UINT64, &TW_SHAPE(1), &word, sizeof word), wide }, 2, 0);
    tw__hlo words = pairs_of(l, words_of(l, start, 4)), both = joined(l, column(l, words, 0), column(l, words, 1));
    *key = part(l, both, 0, 1);
    *counter = tw__hlo_concatenate(l, (tw__hlo[]){ tw__hlo_constant(l, TW_UINT64, &TW_SHAPE(1), 0), part(l, both, 1, 2) }, 2, 0);
    return tw__hlo_concatenate(l, (tw__hlo[]){ *key, *counter }, 2, 0);
}

/* StatelessRandom…(shape, seed[, minval, maxval]) */
static bool of_seed(tw__lowering *l)
{
    int64_t limits[2];
    tw__hlo key, counter;
    bool below = strcmp(l->argument, "below") == 0;
    return Y.shape.rank == 1 && Y.shape.dims[0] == 2 && (!below || limits_of(l, 2, limits)) &&
           give_values(l, seeded_state(l, Y, &key, &counter), below ? limits : NULL);
}

static bool is_philox(const tw__lowering *l, int input)
{
    enum { PHILOX = 1, AUTO_SELECT = 3 };
    int64_t algorithm;
    int count;
    return tw__lower_ints(l, input, &algorithm, 1, &count) && (algorithm == PHILOX || algorithm == AUTO_SELECT);
}

/* StatelessRandom…V2(shape, key, counter, alg[, minval, maxval]) */
static bool of_key(tw__lowering *l)
{
    int64_t limits[2];
    bool below = strcmp(l->argument, "below") == 0;
    return is_philox(l, 3) && (!below || limits_of(l, 4, limits)) &&
           give_values(l, tw__hlo_concatenate(l, l->inputs + 1, 2, 0), below ? limits : NULL);
}

/* StatelessRandomGetKeyCounter(seed) */
static bool key_and_counter(tw__lowering *l)
{
    tw__hlo key, counter;
    return X.shape.rank == 1 && X.shape.dims[0] == 2 && seeded_state(l, X, &key, &counter).id >= 0 && GIVE(key) &&
           tw__lower_give(l, 1, counter) && (l->output_count < 3 || tw__lower_give(l, 2, NUMBER(TW_INT32, 1)));
}

const tw__lower_row tw__lower_random[] = {
    { "RandomUniform", stateful, "uniform" },
    { "RandomStandardNormal", stateful, "normal" },
    { "RandomUniformInt", stateful, "below" },
    { "StatelessRandomUniform", of_seed, "uniform" },
    { "StatelessRandomNormal", of_seed, "normal" },
    { "StatelessRandomUniformInt", of_seed, "below" },
    { "StatelessRandomUniformFullInt", of_seed, "all" },
    { "StatelessRandomUniformV2", of_key, "uniform" },
    { "StatelessRandomNormalV2", of_key, "normal" },
    { "StatelessRandomUniformIntV2", of_key, "below" },
    { "StatelessRandomUniformFullIntV2", of_key, "all" },
    { "StatelessRandomGetKeyCounter", key_and_counter, NULL },
    { "StatelessRandomGetKeyCounterAlg", key_and_counter, NULL },
    { NULL, NULL, NULL },
};
