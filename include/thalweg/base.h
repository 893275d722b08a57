/* Objects, ownership and errors: what every other public header builds on.
 *
 * Every handle of the library is a reference-counted object. A returned handle is the caller's; handles that are passed are
 * borrowed, except where a function says that it takes them (the parts of a model, for example). Makers return NULL on failure,
 * doers a status. The text of the error belongs to the thread and the first error is kept, so a program may check once at its
 * end:
 *
 *     tw_auto tw_tensor *y = tw_matmul(a, b);     // released at the end of the block; NULL if a or b is NULL
 *     return tw_report(stderr);                   // prints the first error, if any, and returns the exit code
 */
#ifndef THALWEG_BASE_H
#define THALWEG_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0
#define TW_VERSION "0.1.0"

#define TW_API_FUNCTION __attribute__((visibility("default")))

/* TensorFlow's canonical codes. The codes from 100 on are errors that Python raises as one of its own classes; a C
 * program may treat them as TW_INVALID_ARGUMENT. */
typedef enum tw_status {
    TW_OK = 0,
    TW_CANCELLED = 1,
    TW_UNKNOWN = 2,
    TW_INVALID_ARGUMENT = 3,
    TW_DEADLINE_EXCEEDED = 4,
    TW_NOT_FOUND = 5,
    TW_ALREADY_EXISTS = 6,
    TW_PERMISSION_DENIED = 7,
    TW_RESOURCE_EXHAUSTED = 8,
    TW_FAILED_PRECONDITION = 9,
    TW_ABORTED = 10,
    TW_OUT_OF_RANGE = 11,
    TW_UNIMPLEMENTED = 12,
    TW_INTERNAL = 13,
    TW_UNAVAILABLE = 14,
    TW_DATA_LOSS = 15,
    TW_UNAUTHENTICATED = 16,
    TW_TYPE_ERROR = 100,
    TW_VALUE_ERROR = 101,
    TW_INDEX_ERROR = 102,
    TW_KEY_ERROR = 103,
    TW_ATTRIBUTE_ERROR = 104,
    TW_ASSERTION_ERROR = 105,
    TW_RUNTIME_ERROR = 106,
    TW_NOT_IMPLEMENTED_ERROR = 107,
    TW_LOOKUP_ERROR = 108,
    TW_OS_ERROR = 109,
    TW_FOREIGN_ERROR = 199 /* an error of the embedding language, kept by it */
} tw_status;

typedef struct tw_object tw_object;
typedef struct tw_class tw_class;
typedef struct tw_tensor tw_tensor;
typedef struct tw_variable tw_variable;
typedef struct tw_tape tw_tape;

/* A name ("relu", "adam") or an object that can stand in its place. */
typedef const void *tw_named;

/* Options. A call gives what it requires first, then what it wants otherwise by name; what it leaves out has its default, and
 * zero, false and NULL mean what they say:
 *
 *     tw_sort(x, .axis = 0)
 *
 * is tw_sort_(&(tw_sort_args){ … }): the macro writes the defaults (tw_sort_defaults) before the caller's initialisers, and the
 * size of the struct. Libraries that know more options than the program was compiled with take the defaults for those.
 * TW_ARGS(sort, …) is such a struct as a value (lists in it must have names: TW_TENSORS(…) would end with it). Compilers that
 * warn of an initialiser that overrides another are told that this is meant, here and nowhere else. */
#define TW_QUIETLY(...)                                                                                   \
    __extension__({                                                                                       \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") __VA_ARGS__; \
        _Pragma("GCC diagnostic pop")                                                                     \
    })
#define TW_WITH_DEFAULTS(id, ...) TW_QUIETLY(tw_##id##_(&(tw_##id##_args){ tw_##id##_defaults, __VA_ARGS__ }))
#define TW_ARGS(id, ...) TW_QUIETLY((tw_##id##_args){ tw_##id##_defaults, __VA_ARGS__ })
/* Numbers that may be left out: no number. */
#define TW_NO_INT INT64_MIN
#define TW_NO_FLOAT __builtin_nan("")
/* Members of options begin at multiples of 8 bytes: so one that is added later lies behind the end of the older struct. */
typedef bool tw_flag __attribute__((aligned(8)));

TW_API_FUNCTION void *tw_retain(const void *object);
TW_API_FUNCTION void tw_release(const void *object);
TW_API_FUNCTION const char *tw_class_name(const void *object);

static inline void tw_auto_release(void *pointer)
{
    tw_release(*(void **)pointer);
}
#define tw_auto __attribute__((cleanup(tw_auto_release)))

TW_API_FUNCTION tw_status tw_error_code(void);
TW_API_FUNCTION const char *tw_error_message(void);
TW_API_FUNCTION void tw_clear_error(void);
TW_API_FUNCTION const char *tw_status_name(tw_status status);
TW_API_FUNCTION int tw_report(FILE *stream);
TW_API_FUNCTION const char *tw_version(void);

/* Collects the temporaries of a long expression: everything kept in it is released when it is. */
typedef struct tw_scope tw_scope;
TW_API_FUNCTION tw_scope *tw_scope_new(void);
TW_API_FUNCTION void *tw_scope_keep(tw_scope *scope, void *object);

#ifdef __cplusplus
}
#endif
#endif
