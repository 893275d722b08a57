/* Objects, ownership, scopes, options and errors: what every other public header builds on.
 *
 * OWNERSHIP. Every handle is a reference-counted object, and one rule holds for all functions:
 *
 *   1. What is passed is borrowed. A callee that keeps a handle retains it; the caller's reference stays the caller's, whatever
 * it is passed to and however often.
 *   2. What is returned is the caller's: a handle for tw_release, a list or value for tw_tensors_free, tw_objects_free or
 *      tw_value_free, a text (char *) for free(). What is borrowed is const, or its comment says so.
 *   3. Inside a scope the scope is the caller: handles, lists and values returned while it is open end with it. So expressions
 * nest, and need no names and no releases:
 *
 *          tw_scoped();                                        // to the end of this block
 *          tw_tensor *y = tw_nn_relu(tw_add(tw_matmul(x, w), b));
 *          model->bias = tw_retain(b);                         // lives on: retained, so it is the program's
 *          return tw_retain(y);
 *
 *      Without a scope a variable declared with tw_auto releases what it holds at the end of its block; in a scope it does no
 * harm. In functions that the library calls (the bodies of functions and loops, a model's call, callbacks) a scope is open, and
 * what they return is taken out of it.
 *
 * ERRORS. Makers return NULL on failure, doers a status. The text of the error belongs to the thread and the first error is kept,
 * and NULL passed on is an error that changes nothing: so a program may check once at its end.
 *
 *     return tw_report(stderr);                               // prints the first error, if any, and returns the exit code
 *
 * THREADS. Tensors never change and may be shared; variables lock for each operation; a handle may be retained and released in
 * any thread. Errors, scopes and tapes belong to the thread.
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

TW_API_FUNCTION void *tw_retain(const void *object); /* the object */
TW_API_FUNCTION void tw_release(const void *object); /* NULL is fine */
TW_API_FUNCTION const char *tw_class_name(const void *object);

/* A scope, from here to the end of the block, also on the way out by return or break. */
#define tw_scoped() __attribute__((cleanup(tw_scope_end), unused)) const size_t TW_JOIN(tw_scope_, __LINE__) = tw_scope_begin()
#define TW_JOIN(a, b) TW_JOIN_(a, b)
#define TW_JOIN_(a, b) a##b
/* The same by hand: a begin and its end stand in one thread, and scopes end in reverse order. */
TW_API_FUNCTION size_t tw_scope_begin(void);
TW_API_FUNCTION void tw_scope_end(const size_t *scope);
/* Gives a handle, or a text, to the innermost open scope; without one it stays the caller's. The headers' macros do so with what
 * functions return, but for texts and for what functions put into arrays. */
TW_API_FUNCTION void *tw_made(void *object);
TW_API_FUNCTION char *tw_made_text(char *text);
/* What the macros below make of tw_retain, tw_release and tw_auto: a scope does not release what the program released. */
TW_API_FUNCTION void *tw_scope_retain(const void *object);
TW_API_FUNCTION void tw_scope_release(const void *object);
TW_API_FUNCTION void tw_scope_leave(const void *object);
TW_API_FUNCTION void tw_scope_forget(const void *key); /* an object, or the memory of a list: it is the caller's again */

static inline void tw_auto_release(void *pointer)
{
#if defined TW_BUILDING || defined __cplusplus
    tw_release(*(void **)pointer);
#else
    tw_scope_leave(*(void **)pointer);
#endif
}
#define tw_auto __attribute__((cleanup(tw_auto_release)))

/* C programs have scopes; C++ has destructors (<thalweg.hpp>), and the library itself counts by hand. */
#if !defined TW_BUILDING && !defined __cplusplus
#define TW_SCOPES
#define TW_MADE(type, call) ((type)tw_made(call))
#define TW_MADE_TENSORS(call) tw_made_tensors(call)
#define TW_MADE_OBJECTS(call) tw_made_objects(call)
#define TW_MADE_VALUE(call) tw_made_value(call)
#define tw_retain(object) tw_scope_retain(object)
#define tw_release(object) tw_scope_release(object)
#else
#define TW_MADE(type, call) (call)
#define TW_MADE_TENSORS(call) (call)
#define TW_MADE_OBJECTS(call) (call)
#define TW_MADE_VALUE(call) (call)
#endif

TW_API_FUNCTION tw_status tw_error_code(void);
TW_API_FUNCTION const char *tw_error_message(void);
TW_API_FUNCTION void tw_clear_error(void);
TW_API_FUNCTION const char *tw_status_name(tw_status status);
TW_API_FUNCTION int tw_report(FILE *stream);
TW_API_FUNCTION const char *tw_version(void);
/* Takes the thread's error: its text, for free(), and its code; afterwards there is none. NULL and TW_OK: there was none. For
 * programs that go on, such as servers. `code` may be NULL. */
TW_API_FUNCTION char *tw_take_error(tw_status *code);
/* One code per kind of error, whatever Python would call it: TW_VALUE_ERROR and TW_TYPE_ERROR are TW_INVALID_ARGUMENT,
 * TW_KEY_ERROR is TW_NOT_FOUND, TW_INDEX_ERROR is TW_OUT_OF_RANGE … */
TW_API_FUNCTION tw_status tw_status_kind(tw_status status);

/* Warnings and notes go to `log`, with their level ("WARNING"); NULL, as it is at first: nowhere. In whatever thread they come
 * up. tw_set_log(tw_log_line, stderr);      // lines as TensorFlow writes them: "WARNING:tensorflow:…" */
typedef void (*tw_log)(void *user, const char *level, const char *text);
TW_API_FUNCTION void tw_set_log(tw_log log, void *user);
TW_API_FUNCTION void tw_log_line(void *stream, const char *level, const char *text);

/* Ends the library's threads and frees what it keeps for later (caches, tables, the thread's error), so that nothing is left for
 * a leak checker to see. To be called last, by the last thread that uses the library, when all handles are released. */
TW_API_FUNCTION void tw_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
