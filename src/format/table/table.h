/* The numbers of the table format, for its writer and its reader. */
#ifndef TW_TABLE_H
#define TW_TABLE_H

#include "base/base.h"

#define TABLE_MAGIC 0xdb4775248b80fb57u
#define TABLE_FOOTER_SIZE 48
#define TABLE_TRAILER_SIZE 5 /* type byte and checksum behind a block */
#define TABLE_BLOCK_SIZE 262144
#define TABLE_RESTART_INTERVAL 16

/* Keys as unsigned bytes: less than, equal to, greater than 0 as memcmp. */
static inline int tw__table_compare(const void *a, size_t a_size, const void *b, size_t b_size)
{
    size_t size = a_size < b_size ? a_size : b_size;
    int order = size ? memcmp(a, b, size) : 0;
    return order ? order : a_size < b_size ? -1 : a_size > b_size;
}

#endif
