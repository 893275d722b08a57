/* The values of fields of comma-separated values, for DecodeCSV (op/io/csv.c) and datasets of such files (data/source/csv.c). */
#include <errno.h>
#include <stdlib.h>

#include "format/format.h"

bool tw__csv_number(const char *text, tw_dtype dtype, void *out)
{
    const char *start = text + strspn(text, " \t");
    char *end = NULL;
    double value = 0;
    errno = 0;
    if (dtype == TW_INT32 || dtype == TW_INT64) {
        long long number = strtoll(start, &end, 10);
        if (errno || (dtype == TW_INT32 && (number < INT32_MIN || number > INT32_MAX)))
            return false;
        if (dtype == TW_INT32)
            *(int32_t *)out = (int32_t)number;
        else
            *(int64_t *)out = number;
    } else if (dtype == TW_FLOAT32) {
        *(float *)out = strtof(start, &end);
    } else {
        value = strtod(start, &end);
        *(double *)out = value;
    }
    return end != start && !end[strspn(end, " \t")];
}
