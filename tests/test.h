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
