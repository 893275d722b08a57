/* shuffle: a buffer of elements, of which one at random is given and replaced. The order is TensorFlow's for the same seeds:
 * Philox numbers, one word per element. With reshuffle_each_iteration every pass draws its seeds from a generator that belongs to
 * the dataset. */
#include "api/random/random.h"
#include "data/state.h"
#include "kernel/random/random.h"
#include "rows.h"

typedef struct shuffle_dataset {
    tw__dataset base;
    int64_t buffer_size; /* TW_UNKNOWN_COUNT: as many as there are */
    int64_t seed, seed2;
    bool reshuffles;
    tw__words generator;   /* of seeds */
    _Atomic uint32_t lock; /* tw__hold_take: of the generator */
} shuffle_dataset;

typedef struct shuffle_cursor {
    tw__cursor base;
    tw__words words;
    tw__elements buffer; /* a ring over [start, end), once it is full */
    uint64_t start, end;
    bool input_ended;
} shuffle_cursor;

static tw_status shuffle_start(tw__cursor *cursor)
{
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    shuffle_dataset *self = (shuffle_dataset *)cursor->dataset;
    int64_t seed = self->seed, seed2 = self->seed2;
    if (self->reshuffles) {
        tw__hold_take(&self->lock);
        seed = tw__words_next(&self->generator);
        seed2 = tw__words_next(&self->generator);
        tw__hold_give(&self->lock);
    }
    c->words = tw__words_of(tw__philox_seeded(seed, seed2));
    c->buffer.count = cursor->dataset->count;
    return TW_OK;
}

/* The place of the element number `at`; the buffer grows to its size. */
static tw_tensor **place_of(shuffle_cursor *c, const shuffle_dataset *self, uint64_t at)
{
    if (self->buffer_size > 0)
        at %= (uint64_t)self->buffer_size;
    return c->buffer.items + at * (uint64_t)c->buffer.count;
}

static tw_status fill(shuffle_cursor *c, const shuffle_dataset *self)
{
    if (!c->base.input && !(c->base.input = tw__cursor_new(c->base.dataset->input)))
        return tw__error_status();
    while (!c->input_ended && (self->buffer_size < 0 || c->end - c->start < (uint64_t)self->buffer_size)) {
        TW_TRY(tw__pause());
        if (self->buffer_size < 0 || c->end < (uint64_t)self->buffer_size) {
            tw_tensor **room = tw__elements_room(&c->buffer);
            TW_NEED(room);
            TW_TRY(tw__cursor_next(c->base.input, room, &c->input_ended));
            c->buffer.size += !c->input_ended;
        } else {
            TW_TRY(tw__cursor_next(c->base.input, place_of(c, self, c->end), &c->input_ended));
        }
        c->end += !c->input_ended;
    }
    return TW_OK;
}

static tw_status shuffle_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    const shuffle_dataset *self = (const shuffle_dataset *)cursor->dataset;
    TW_TRY(fill(c, self));
    *end = c->start == c->end;
    if (*end)
        return TW_OK;
    uint64_t offset = tw__words_next(&c->words) % (c->end - c->start);
    tw_tensor **found = place_of(c, self, c->start + offset), **first = place_of(c, self, c->start);
    for (int i = 0; i < c->buffer.count; i++) {
        element[i] = found[i];
        found[i] = first[i];
        first[i] = NULL;
    }
    c->start++;
    return TW_OK;
}

static void shuffle_stop(tw__cursor *cursor)
{
    tw__elements_free(&((shuffle_cursor *)cursor)->buffer);
}

/* A stream of random words; one that was damaged is refused. */
static void words_state(tw__state *state, const char *name, tw__words *words)
{
    tw__words read = *words;
    tw__state_bytes(state, name, &read, sizeof read);
    if (tw__state_good(state) && (read.used < 0 || read.used > 4))
        tw__state_fail(state, TW_DATA_LOSS, "%s: %d of 4 words are used", name, read.used);
    if (tw__state_good(state))
        *words = read;
}

/* What later passes draw from. A dataset that a function made is met through its cursor only, so it is part of that state, too.
 */
static void seeds_state(tw__dataset *dataset, tw__state *state)
{
    shuffle_dataset *self = (shuffle_dataset *)dataset;
    tw__state_same(state, "reshuffle_each_iteration", self->reshuffles);
    tw__hold_take(&self->lock);
    int64_t seed = self->seed, seed2 = self->seed2;
    tw__words generator = self->generator;
    tw__hold_give(&self->lock);
    tw__state_int(state, "seed", &seed);
    tw__state_int(state, "seed2", &seed2);
    words_state(state, "generator", &generator);
    if (state->saving || !tw__state_good(state))
        return;
    tw__hold_take(&self->lock);
    self->seed = seed;
    self->seed2 = seed2;
    self->generator = generator;
    tw__hold_give(&self->lock);
}

/* The elements that are left, in order, from the ring's start on. */
static void buffer_state(shuffle_cursor *c, const shuffle_dataset *self, tw__state *state)
{
    int64_t left = (int64_t)(c->end - c->start);
    tw__state_int(state, "buffered", &left);
    if (tw__state_good(state) && (left < 0 || (self->buffer_size > 0 && left > self->buffer_size)))
        tw__state_fail(state, TW_DATA_LOSS, "a buffer of %lld elements", (long long)left);
    if (!state->saving && tw__state_good(state)) {
        tw__elements_free(&c->buffer);
        c->start = c->end = 0;
    }
    for (int64_t i = 0; tw__state_good(state) && i < left; i++) {
        tw_tensor **place = state->saving ? place_of(c, self, c->start + (uint64_t)i) : tw__elements_room(&c->buffer);
        if (!place) {
            state->status = tw__error_status();
            return;
        }
        if (!state->saving) {
            memset(place, 0, (size_t)c->buffer.count * sizeof *place);
            c->buffer.size++;
            c->end++;
        }
        for (int k = 0; k < c->buffer.count; k++)
            tw__state_tensor(state, "component", &place[k]);
    }
}

static void shuffle_state(tw__cursor *cursor, tw__state *state)
{
    shuffle_cursor *c = (shuffle_cursor *)cursor;
    shuffle_dataset *self = (shuffle_dataset *)cursor->dataset;
    tw__state_cursor(state, "input", &cursor->input, cursor->dataset->input);
    tw__state_same(state, "buffer_size", self->buffer_size);
    seeds_state(cursor->dataset, state);
    words_state(state, "words", &c->words);
    tw__state_bool(state, "input_ended", &c->input_ended);
    buffer_state(c, self, state);
}

static const tw__dataset_kind shuffle_kind = {
    .class = TW_DATASET_CLASS("ShuffleDataset", shuffle_dataset, NULL),
    .cursor_size = sizeof(shuffle_cursor),
    .starts_inputs = true, /* the input begins with the first element, as in TensorFlow */
    .start = shuffle_start,
    .next = shuffle_next,
    .stop = shuffle_stop,
    .cardinality = tw__cardinality_same,
    .state = shuffle_state,
    .shared = seeds_state,
};

bool tw__dataset_shuffles(const tw__dataset *dataset)
{
    return tw__kind_of(dataset) == &shuffle_kind;
}

/* Two zeros stand for seeds by chance. */
static void take_seeds(shuffle_dataset *self, const tw_tensor *seed, const tw_tensor *seed2)
{
    self->seed = tw_tensor_int_at(seed, 0);
    self->seed2 = tw_tensor_int_at(seed2, 0);
    if (self->seed == 0 && self->seed2 == 0) {
        self->seed = (int64_t)tw__random_entropy();
        self->seed2 = (int64_t)tw__random_entropy();
    }
    self->generator = tw__words_of(tw__philox_seeded(self->seed, self->seed2));
}

static tw_status shuffle_compute(tw__kernel *kernel)
{
    int64_t size = tw_tensor_int_at(kernel->inputs[1], 0);
    if (size < 1 && size != TW_UNKNOWN_COUNT)
        return tw__fail(TW_INVALID_ARGUMENT, "buffer_size must be greater than zero or UNKNOWN_CARDINALITY");
    shuffle_dataset *self = tw__dataset_make(kernel, &shuffle_kind, true);
    TW_NEED(self);
    self->buffer_size = size;
    take_seeds(self, kernel->inputs[2], kernel->inputs[3]);
    self->reshuffles = TW_ATTR(kernel, "reshuffle_each_iteration")->b;
    return tw__dataset_give(kernel, self);
}

/* A resource that says: the dataset keeps its own state. */
static const tw_class own_state_class = { .name = "OwnState", .size = sizeof(tw_object) };

static tw_status own_state_compute(tw__kernel *kernel)
{
    tw_auto void *made = tw__object_new(&own_state_class);
    tw_tensor *handle = made ? tw__tensor_of_object(TW_RESOURCE, made) : NULL;
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

TW_OP(DummySeedGenerator, .inputs = "", .outputs = "handle: resource", .attrs = "", .shape = tw_shape_scalar,
      .compute = own_state_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "Says that a dataset keeps its generator of seeds itself.");

TW_OP(DummyMemoryCache, .inputs = "", .outputs = "handle: resource", .attrs = "", .shape = tw_shape_scalar,
      .compute = own_state_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "Says that a dataset keeps its cache itself.");

TW_OP(ShuffleDatasetV3,
      .inputs = "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource",
      .attrs = "reshuffle_each_iteration: bool = true, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = shuffle_compute, .stateful = true, .seeds = 1 + 2,
      .doc = "The elements in an order that chance gives, within a buffer.");

static tw_status shuffle_init(void *self, const void *arguments)
{
    const tw_dataset_shuffle_args *args = arguments;
    tw__seeds seeds = tw__seed_pair(args->seed);
    if (seeds.refused)
        return tw__error_status();
    tw_tensor *generator = NULL;
    int count = 1;
    TW_TRY(tw__apply(&tw__op_DummySeedGenerator, NULL, 0, NULL, 0, &generator, &count));
    return tw__dataset_step(self, args->self, NULL, &tw__op_ShuffleDatasetV3,
                            TW_IN(tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size"),
                                  tw_tensor_int64(seeds.seed), tw_tensor_int64(seeds.seed2), generator),
                            4, TW_WITH(TW_A_BOOL("reshuffle_each_iteration", args->reshuffle_each_iteration)), 1);
}

TW_CLASS(
    dataset_shuffle,
    "data._ShuffleDataset|data.Dataset.shuffle(self: dataset, buffer_size: number, seed: int = None, reshuffle_each_iteration: bool? = True shown None, name: str = None) -> dataset",
    TW_STEP(shuffle_init),
    .doc = "The elements in an order that chance gives: one of the next buffer_size elements at a time. buffer_size -2: of all.\n"
           "example: sorted(tf.data.Dataset.range(4).shuffle(4).as_numpy_iterator())  # [0, 1, 2, 3]");

/* ---- random numbers as a dataset ---- */

typedef struct random_cursor {
    tw__cursor base;
    tw__words words;
} random_cursor;

static tw_status random_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    *end = false;
    element[0] = tw_tensor_int64(tw__words_next(&((random_cursor *)cursor)->words));
    return element[0] ? TW_OK : tw__error_status();
}

static tw_status random_start(tw__cursor *cursor)
{
    shuffle_dataset *self = (shuffle_dataset *)cursor->dataset;
    int64_t seed = self->seed, seed2 = self->seed2;
    if (self->reshuffles) {
        tw__hold_take(&self->lock);
        seed = tw__words_next(&self->generator);
        seed2 = tw__words_next(&self->generator);
        tw__hold_give(&self->lock);
    }
    ((random_cursor *)cursor)->words = tw__words_of(tw__philox_seeded(seed, seed2));
    return TW_OK;
}

static int64_t endless(__attribute__((unused)) tw__dataset *dataset)
{
    return TW_INFINITE;
}

static void random_state(tw__cursor *cursor, tw__state *state)
{
    seeds_state(cursor->dataset, state);
    words_state(state, "words", &((random_cursor *)cursor)->words);
}

static const tw__dataset_kind random_kind = {
    .class = TW_DATASET_CLASS("RandomDataset", shuffle_dataset, NULL),
    .cursor_size = sizeof(random_cursor),
    .start = random_start,
    .next = random_next,
    .cardinality = endless,
    .state = random_state,
    .shared = seeds_state,
};

static tw_status random_compute(tw__kernel *kernel)
{
    shuffle_dataset *self = tw__dataset_make(kernel, &random_kind, false);
    TW_NEED(self);
    take_seeds(self, kernel->inputs[0], kernel->inputs[1]);
    self->reshuffles = TW_ATTR(kernel, "rerandomize_each_iteration")->b;
    return tw__dataset_give(kernel, self);
}

TW_OP(RandomDatasetV2, .inputs = "seed: int64, seed2: int64, seed_generator: resource",
      .attrs = "rerandomize_each_iteration: bool = false, " TW_ELEMENTS ", metadata: string = ''", TW_DATASET_OP,
      .shape = tw__scalars_shape, .compute = random_compute, .stateful = true, .seeds = 1 + 0,
      .doc = "Random numbers without end.");

static tw_status random_init(void *self, const void *arguments)
{
    const tw_dataset_random_args *args = arguments;
    tw__seeds seeds = tw__seed_pair(args->seed);
    if (seeds.refused)
        return tw__error_status();
    tw_tensor *inputs[3] = { tw_tensor_int64(seeds.seed), tw_tensor_int64(seeds.seed2), NULL };
    int count = 1;
    tw_status status =
        inputs[0] && inputs[1] ? tw__apply(&tw__op_DummySeedGenerator, NULL, 0, NULL, 0, &inputs[2], &count) : tw__error_status();
    if (status == TW_OK)
        status = tw__dataset_apply(self, &tw__op_RandomDatasetV2, inputs, 3,
                                   TW_WITH(TW_A_BOOL("rerandomize_each_iteration", args->rerandomize_each_iteration)), 1,
                                   &(tw_spec){ TW_INT64, TW_SCALAR }, 1);
    for (int i = 0; i < 3; i++)
        tw_release(inputs[i]);
    return status;
}

TW_CLASS(
    dataset_random,
    "data._RandomDataset|data.Dataset.random(seed: int = None, rerandomize_each_iteration: bool = None, name: str = None) -> dataset",
    TW_STEP(random_init),
    .doc = "Random numbers below 2**32, without end.\n"
           "rerandomize_each_iteration: True: every iteration has numbers of its own\n"
           "seed: an integer that fixes the numbers; None: they differ");
