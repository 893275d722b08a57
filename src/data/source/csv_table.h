/* What make_csv_dataset knows of its files. */
#ifndef TW_DATA_CSV_TABLE_H
#define TW_DATA_CSV_TABLE_H

#include "data/data.h"
#include "format/stream.h"

struct tw_dataset_make_csv_args;

typedef struct tw__csv_table {
    const struct tw_dataset_make_csv_args *args;
    char delimiter;
    tw__compression compression;
    tw_tensor *files; /* their names */
    tw_value names;   /* of all columns: a list of texts */
    int64_t *columns; /* the wanted ones, ascending */
    int64_t count;
    tw_tensor **defaults; /* of these */
} tw__csv_table;

/* Each finds out one thing, of the arguments or of the files, in this order. */
tw_status tw__csv_names(tw__csv_table *self);
tw_status tw__csv_columns(tw__csv_table *self);
tw_status tw__csv_defaults(tw__csv_table *self);

static inline const char *tw__csv_name(const tw__csv_table *self, int64_t column)
{
    return self->names.list.items[column].s.data;
}
/* 'a', 'b': of all columns, or of the wanted ones. */
void tw__csv_names_text(const tw__csv_table *self, bool wanted, tw__text *text);

#endif
