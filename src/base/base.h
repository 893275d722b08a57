/* What every folder may use: allocation, objects, errors, text, arrays, maps, files, worker threads.
 *
 * Conventions of the whole library
 *   - A function that can fail returns tw_status or a pointer; it has set the thread's error by tw__fail when it returns
 *     a status other than TW_OK or NULL. The first error is kept.
 *   - Memory comes from tw__alloc and its kin alone, so that tests can make the n-th allocation fail.
 */
#ifndef TW_BASE_H
#define TW_BASE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include <thalweg/base.h>

/* ---- allocation (alloc.c) ---- */
void *tw__alloc(size_t size); /* not cleared; 64-byte aligned from 64 bytes on; never NULL for 0 */
void *tw__alloc_zero(size_t size);
void *tw__alloc_array(size_t count, size_t size); /* cleared; the product is checked */
void *tw__realloc(void *memory, size_t size);
void tw__free(void *memory);
char *tw__strdup(const char *text);
char *tw__strndup(const char *text, size_t size);
/* Makes the n-th allocation from now on fail (1 = the next one); 0 switches that off. */
TW_API_FUNCTION void tw__alloc_fail_at(long n);
TW_API_FUNCTION long tw__alloc_count(void); /* allocations so far in the process */

/* Makes room for `need` items, at least doubling; items may move. */
tw_status tw__grow(void *items_pointer, size_t *capacity, size_t need, size_t item_size);
#define TW_GROW(items, capacity, need) tw__grow(&(items), &(capacity), (need), sizeof *(items))

/* ---- errors (error.c) ---- */
/* Sets the thread's error unless there is one, and returns the code. */
tw_status tw__fail(tw_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));
tw_status tw__no_memory(size_t size);
/* The same, by an op: who runs ops says which one failed (tw__error_at_op), others say it here. */
tw_status tw__fail_op(const char *op, tw_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, with why it failed, for those who can do without (tw__error_now()->reason). */
typedef enum tw__reason {
    TW_REASON_NONE,
    TW_REASON_UNKNOWN_NAME, /* a config names a class or function that nobody knows */
    TW_REASON_CODE,         /* a config brings code along */
    TW_REASON_INPUTS,       /* a layer does not take such inputs: told before it is called */
    TW_REASON_LAYER,        /* it says already which layer failed */
} tw__reason;
tw_status tw__fail_because(tw__reason reason, tw_status code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same of a node that has no name yet: tw__error_fill puts it in at these places of the text, which are in order. */
tw_status tw__fail_unnamed(tw_status code, const char *text, const size_t *gaps, size_t count);
void tw__error_fill(const char *name);
/* What is known of the thread's error beside its text; without an effect if there is none. */
void tw__error_at_op(const char *op); /* unless an op or a node inside of it is told */
void tw__error_call_name(const char *name);
void tw__error_because(tw__reason reason);
void tw__error_at_node(const char *name,
                       tw_object *origin); /* the innermost first; `origin`: where the program made it, or NULL */
void tw__error_in_function(const char *name, const char *where); /* the function that was called at once; the origin's lines */
/* Puts text before that of the thread's error. */
void tw__error_prefix(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The whole message, with text around it, becomes the error's text. */
void tw__error_wrap(const char *head, const char *tail);
/* The code of the thread's error, TW_INTERNAL if there is none (a failure that set none). */
tw_status tw__error_status(void);
/* A message for whoever asked for them (tw_set_log). */
void tw__log(const char *level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `end` is called by tw_shutdown, the last one first. Whoever keeps memory for the time of the process says so when it gets it.
 * The struct is static; saying it again costs nothing. */
typedef struct tw__ending {
    void (*end)(void);
    struct tw__ending *next; /* the rest is tw__at_shutdown's */
    atomic_bool known;
} tw__ending;
void tw__at_shutdown(tw__ending *ending);
/* Takes the error out of the thread, to be given back by tw__error_restore; for work that must go on after a failure. */
typedef struct tw__saved_error {
    tw_status code;
    tw__reason reason;
    char *text;
    char *op, *call_name;   /* that failed, and the name its call was given; told of errors outside of graphs */
    char *node;             /* of a graph, "while/body/MatMul" */
    tw_object *origin;      /* where the program made the node */
    char *function, *where; /* what was called at once, and the origin's lines: "Graph execution error" */
    size_t *gaps;           /* places in the text where the name of an unnamed node belongs */
    size_t gap_count;
    char *composed; /* the whole message; made when it is asked for */
} tw__saved_error;
tw__saved_error tw__error_take(void);
void tw__error_restore(tw__saved_error saved);
void tw__error_drop(tw__saved_error *saved);
const char *tw__error_message_of(tw__saved_error *saved);
const tw__saved_error *tw__error_now(void); /* the thread's */

#define TW_TRY(expression)                             \
    do {                                               \
        tw_status try_status_ = (expression);          \
        if (__builtin_expect(try_status_ != TW_OK, 0)) \
            return try_status_;                        \
    } while (0)

/* The same for a pointer, or a condition: where it is NULL, the error was set. */
#define TW_NEED(pointer)                     \
    do {                                     \
        if (__builtin_expect(!(pointer), 0)) \
            return tw__error_status();       \
    } while (0)

/* ---- what ends with its block ---- */
/* tw_auto (<thalweg/base.h>) releases an object, tw__owned frees memory, tw__auto(f) calls f with the variable's address. */
static inline void tw__owned_end(void *pointer)
{
    tw__free(*(void **)pointer);
}
#define tw__owned __attribute__((cleanup(tw__owned_end)))
#define tw__auto(end) __attribute__((cleanup(end)))
/* Moves a pointer out of a variable, which is NULL then. */
#define TW_TAKE(pointer)                        \
    __extension__({                             \
        __typeof__(pointer) taken_ = (pointer); \
        (pointer) = NULL;                       \
        taken_;                                 \
    })

/* ---- objects (object.c) ---- */
/* The first byte of an object is 1, which no name begins with: so a tw_named can be either. */
#define TW_OBJECT_MAGIC 0x54570001u

struct tw_object {
    uint32_t magic;
    _Atomic int32_t references;
    const tw_class *class;
    void *peer;   /* the embedding language's object that stands for this one and carries its references, or NULL */
    void *config; /* the arguments it was made with (spec/), or NULL */
};

typedef void (*tw__visitor)(void *context, tw_object *child);

struct tw_signature;
struct tw_field;

/* One class of objects. Rows of user-visible classes are made by TW_CLASS (spec/spec.h); inner ones are plain structs. */
struct tw_class {
    union {
        const char *name; /* "Dense" */
        const char *doc;  /* for tools/collect_rows.py: the name takes its place (TW_WRITTEN) */
    };
    const tw_class *parent;
    size_t size;                 /* of the instance struct, which begins with the parent's */
    void (*destroy)(void *self); /* releases what this level holds; the parent's runs after it */
    void (*visit)(void *self, tw__visitor visitor, void *context); /* every object this level holds a reference to */
    void (*clear)(void *self);                                     /* drops those references, to break a cycle */
    tw_status (*init)(void *self, const void *args);               /* this level's part of construction, after the parent's */
    /* Checks this level's settings and works out what follows from them: after `init`, and again when one was changed. */
    tw_status (*settle)(void *self, const void *args);
    bool drop_config;    /* the arguments are not kept once the object is made */
    const char *fixed;   /* settings that can't be changed: " units use_bias " */
    const char *refused; /* settings that could be, but not here */
    const char *inert;   /* arguments that are no settings: an attribute of that name is the program's. " *": all */
    const void *methods; /* what the level's own mechanism needs, e.g. a layer's functions */
    const struct tw_signature *signature; /* arguments; NULL for inner classes */
    void (*free_config)(void *self);
    void (*visit_config)(void *self, tw__visitor visitor, void *context);
    void (*free_memory)(void *self); /* NULL: tw__free */
};
/* A row whose texts are for tools alone: they share a place with a name that is given last, so the library does not hold them. */
#define TW_WRITTEN(...)                                                                               \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") __VA_ARGS__; \
    _Pragma("GCC diagnostic pop")

void *tw__object_new(const tw_class *class); /* cleared, one reference */
bool tw__is(const void *object, const tw_class *class);
/* The same for functions of the C API that are no rows: else, and for NULL, an error that names the function. */
bool tw__check(const void *object, const tw_class *class, const char *function);
/* A C caller's options: `options` holds the defaults, and gets as much of the given struct as both have. Each begins with its
 * size; see <thalweg/base.h>. */
tw_status tw__options_take(const void *given, void *options, const char *function);
bool tw__check_given(const void *pointer, const char *what, const char *function); /* any pointer but NULL */
bool tw__named_is_object(tw_named named);
void tw__object_visit(void *object, tw__visitor visitor, void *context);
void tw__object_clear(void *object);
/* The nearest `methods` on the way from the object's class to its root. */
const void *tw__methods(const void *object);

/* From now on `peer` stands for the object: references held so far become references to the peer, and the object
 * dies with it (tw__object_end). */
TW_API_FUNCTION void tw__object_attach(void *object, void *peer);
TW_API_FUNCTION void tw__object_end(void *object);

/* An array of references (NULL at first) that knows its length: declared tw__held, it and they end with the block. */
void *tw__held_new(size_t count);
void tw__held_end(void *pointer); /* the variable's address */
#define tw__held __attribute__((cleanup(tw__held_end)))

/* Assigns to a slot that holds a reference: the new object is retained, the old one released. */
void tw__set(void *slot, const void *object);

/* ---- scopes of C programs (scope.c) ---- */
typedef void (*tw__scope_ender)(void *key, int64_t count);
/* Gives memory to the innermost open scope, with how it ends (NULL: an object). Without a scope it stays the caller's. False: an
 * error; it has ended. */
bool tw__scope_add(void *key, int64_t count, tw__scope_ender end);
/* Ends the scope in which a program's function was called; what it gave (objects, or the memory of lists) is the caller's. */
void tw__scope_end_with(size_t start, void *const *results, int64_t count);

/* ---- text (text.c) ---- */
typedef struct tw__text {
    char *data; /* always ends in a zero byte once something was added */
    size_t size, capacity;
    bool failed; /* an allocation failed: the thread's error is set */
} tw__text;
void tw__text_add(tw__text *text, const char *string);
void tw__text_bytes(tw__text *text, const void *data, size_t size);
void tw__text_format(tw__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tw__text_clear(tw__text *text); /* keeps the memory */
void tw__text_free(tw__text *text);
char *tw__text_take(tw__text *text); /* the string, for tw__free (or a user's free()); NULL if failed */
char *tw__format(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool tw__starts_with(const char *text, const char *prefix);
bool tw__ends_with(const char *text, const char *suffix);

/* ---- map from byte strings to pointers (map.c), in insertion order ---- */
typedef struct tw__map_entry {
    char *key;
    size_t key_size;
    void *value;
} tw__map_entry;
typedef struct tw__map {
    tw__map_entry *entries;
    size_t count, capacity;
    uint32_t *table; /* entry index + 1, open addressing */
    size_t table_size;
} tw__map;
tw_status tw__map_put(tw__map *map, const void *key, size_t key_size, void *value); /* replaces */
void *tw__map_get(const tw__map *map, const void *key, size_t key_size);            /* NULL if not there */
bool tw__map_has(const tw__map *map, const void *key, size_t key_size);
void tw__map_free(tw__map *map, void (*free_value)(void *));
static inline void tw__map_end(tw__map *map) /* whose values belong to others */
{
    tw__map_free(map, NULL);
}

/* ---- map from pointers to integers (pointer_map.c) ---- */
typedef struct tw__pointer_map {
    const void **keys;
    int64_t *values;
    size_t count, size; /* size: of the table, a power of two */
} tw__pointer_map;
tw_status tw__pointer_map_put(tw__pointer_map *map, const void *key, int64_t value);
int64_t tw__pointer_map_get(const tw__pointer_map *map, const void *key, int64_t otherwise);
void tw__pointer_map_clear(tw__pointer_map *map); /* keeps the memory */
void tw__pointer_map_free(tw__pointer_map *map);

/* ---- files (file.c, file_writer.c) ---- */
/* One atomic-file writer for everything: bytes go to a temporary name beside `path`; commit syncs, renames and syncs the
 * directory; abandoning removes the temporary. THALWEG_FSYNC=0 in the environment leaves out the syncs. */
typedef struct tw__file_writer tw__file_writer;
tw__file_writer *tw__file_create(const char *path);
tw_status tw__file_write(tw__file_writer *writer, const void *data, size_t size);
tw_status tw__file_commit(tw__file_writer *writer); /* ends the writer, also when it fails */
void tw__file_abandon(tw__file_writer *writer);     /* NULL is fine */
int64_t tw__file_position(const tw__file_writer *writer);
/* Exactly this many bytes are about to be written: room on the disk is taken at once, which makes the writes faster. */
void tw__file_reserve(tw__file_writer *writer, size_t size);
/* The steps of a commit, for files that must change together: seal writes out and syncs; link gives the file one more name, which
 * must be free; place moves it from the temporary name to `path`, over what is there. Neither syncs the directory. */
tw_status tw__file_seal(tw__file_writer *writer);
tw_status tw__file_link(tw__file_writer *writer, const char *path);
tw_status tw__file_place(tw__file_writer *writer, const char *path);
/* Removes the temporaries in `directory` whose writers are dead. `dead` may be NULL; it is called before, with the name that was
 * to be. */
void tw__file_sweep(const char *directory, void (*dead)(void *context, const char *name), void *context);
bool tw__file_is_temporary(const char *name); /* whether a writer's temporary would have such a name */
/* Waits (a few seconds at most) until nobody else holds the directory's lock; for tw__directory_unlock. */
int tw__directory_lock(const char *path);
void tw__directory_unlock(int lock);
/* Makes the n-th step (create, write, sync, link, rename) of a writer from now on fail, as on a full disk; 0 switches that off.
 */
TW_API_FUNCTION void tw__file_fail_at(long n);

/* A file for reading at any offset. */
typedef struct tw__file_reader {
    int descriptor;
    int64_t size;
    char *path;
} tw__file_reader;
tw_status tw__file_open(tw__file_reader *reader, const char *path);
tw_status tw__file_read_at(const tw__file_reader *reader, int64_t offset, void *data, size_t size); /* all of it or an error */
void tw__file_close(tw__file_reader *reader);
/* The whole file in memory with a zero byte behind it, for tw__free; the limit guards against nonsense. */
char *tw__file_read_all(const char *path, size_t limit, size_t *size);

bool tw__path_exists(const char *path);
tw_status tw__make_directories(const char *path);             /* like mkdir -p */
char *tw__path_join(const char *directory, const char *name); /* as os.path.join: an absolute name stands alone */
char *tw__path_directory(const char *path);                   /* as os.path.dirname */
const char *tw__path_name(const char *path);                  /* behind the last slash */
tw_status tw__file_remove(const char *path);                  /* a file that is not there is no error */
tw_status tw__sync_directory(const char *path);
/* Sets NOT_FOUND, PERMISSION_DENIED … as errno says, with the path. */
tw_status tw__fail_errno(int number, const char *what, const char *path);

/* ---- locks (fork.c) ---- */
/* A lock of static duration that a forked child finds free. A thread holds one at a time. */
typedef struct tw__lock {
    pthread_mutex_t mutex;
    struct tw__lock *next;
    _Atomic bool known;
} tw__lock;
#define TW__LOCK                           \
    {                                      \
        .mutex = PTHREAD_MUTEX_INITIALIZER \
    }
void tw__lock_take(tw__lock *lock);
void tw__lock_give(tw__lock *lock);
void tw__lock_prepare(void); /* from here on forks are counted in */
/* A lock inside an object, held for a short time: the holder's tw__process_generation, 0 if it is free. What a thread of the
 * parent held when a process was forked off is free in the child. */
void tw__hold_take(_Atomic uint32_t *hold);
void tw__hold_give(_Atomic uint32_t *hold);
extern _Atomic uint32_t tw__process_generation; /* differs between a process and its forked children; never 0 */

/* ---- denormal numbers ---- */
/* As in TensorFlow, kernels take denormal numbers as zero and make none: it is part of the results, and processors are slow at
 * them. Calls of kernels stand between these two; the state is the thread's, and workers take it over from the thread whose job
 * they do. */
#if defined(__x86_64__)
enum { TW_FLUSH_DENORMALS = 0x8040 }; /* of MXCSR: denormals are zero, flush to zero */
static inline uint64_t tw__denormals_get(void)
{
    return __builtin_ia32_stmxcsr();
}
static inline void tw__denormals_restore(uint64_t state)
{
    if (__builtin_ia32_stmxcsr() != (unsigned)state)
        __builtin_ia32_ldmxcsr((unsigned)state);
}
#elif defined(__aarch64__)
enum { TW_FLUSH_DENORMALS = 1 << 24 }; /* of FPCR */
static inline uint64_t tw__denormals_get(void)
{
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
}
static inline void tw__denormals_restore(uint64_t state)
{
    if (tw__denormals_get() != state)
        __asm__ volatile("msr fpcr, %0" : : "r"(state));
}
#else
enum { TW_FLUSH_DENORMALS = 0 };
static inline uint64_t tw__denormals_get(void)
{
    return 0;
}
static inline void tw__denormals_restore(uint64_t state)
{
    (void)state;
}
#endif
/* Flushes from now on; gives what tw__denormals_restore needs. */
static inline uint64_t tw__denormals_flush(void)
{
    uint64_t before = tw__denormals_get();
    tw__denormals_restore(before | TW_FLUSH_DENORMALS);
    return before;
}

/* ---- libraries that may be missing (library.c) ---- */
typedef struct tw__symbol {
    const char *name;
    void **place; /* of the pointer to the function */
} tw__symbol;
/* The library with all of these functions, for good; NULL, without an error: it is not there, or lacks one. */
void *tw__library_load(const char *file, const tw__symbol *symbols, int count);

/* ---- worker threads (pool.c) ---- */
int tw__thread_count(void); /* workers + the caller */
void tw__thread_count_set(int count);
/* Calls body(context, begin, end) over [0, count) in chunks of at least `grain`; the caller works too. Chunks are the
 * same for the same count, grain and number of threads. A call inside a body runs in its own thread. */
void tw__parallel(int64_t count, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context);
/* The same; `watch` is called by the caller when it finds no more to do and workers may still be at work. */
void tw__parallel_watched(int64_t count, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context,
                          void (*watch)(void *context));

#endif
