/* What every C test includes: cmocka and the library's error state. */
#ifndef TW_TEST_H
#define TW_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

/* A sanitizer's allocator is in the place of the system's, which then says nothing about memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_SANITIZED 1
#else
#define TW_SANITIZED 0
#endif

#ifdef TW_TEST_SCOPES
/* Every test of the file has a scope: what it makes and does not release ends with it (<thalweg/base.h>). */
static size_t test_scope;

static inline int begin_test_scope(void **state)
{
    (void)state;
    test_scope = tw_scope_begin();
    return 0;
}

static inline int end_test_scope(void **state)
{
    (void)state;
    tw_scope_end(&test_scope);
    return 0;
}

#undef cmocka_unit_test
#define cmocka_unit_test(f) cmocka_unit_test_setup_teardown(f, begin_test_scope, end_test_scope)
#endif

/* The thread's error must be this code with this text in it; it is cleared. */
static inline void expect_error(tw_status code, const char *part)
{
    if (tw_error_code() != code || !strstr(tw_error_message(), part))
        print_error("error %s: %s; expected %s: …%s…\n", tw_status_name(tw_error_code()), tw_error_message(),
                    tw_status_name(code), part);
    assert_int_equal(tw_error_code(), code);
    assert_non_null(strstr(tw_error_message(), part));
    tw_clear_error();
}

static inline void expect_no_error(void)
{
    if (tw_error_code() != TW_OK)
        print_error("%s: %s\n", tw_status_name(tw_error_code()), tw_error_message());
    assert_int_equal(tw_error_code(), TW_OK);
}

#endif
