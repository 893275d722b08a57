/* Compression of records, for record.c and record_reader.c. */
#ifndef TW_RECORD_H
#define TW_RECORD_H

#include "format/format.h"

/* ---- compressing ---- */
typedef struct tw__deflater tw__deflater;
tw__deflater *tw__deflater_new(const tw__deflate_options *options, const char *path); /* `path` stands in errors */
/* Appends what becomes of the bytes; `flush` is zlib's (Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_FINISH). */
tw_status tw__deflater_add(tw__deflater *deflater, const void *data, size_t size, int flush, tw__text *out);
void tw__deflater_free(tw__deflater *deflater); /* NULL is fine */

/* ---- and back ---- */
typedef struct tw__inflater tw__inflater;
tw__inflater *tw__inflater_new(tw__compression compression);
/* Up to `room` bytes more; *got is 0 at the end. `place` is moved on in the file. */
tw_status tw__inflater_read(tw__inflater *inflater, const tw__file_reader *file, int64_t *place, void *out, size_t room,
                            size_t *got);
void tw__inflater_free(tw__inflater *inflater); /* NULL is fine */

/* ---- behind damage (record_damage.c) ---- */
/* Whether the record that could not be read has a good head and the bytes end inside of it. */
bool tw__record_cut_off(const tw__record_reader *reader);
/* After DATA_LOSS: steps to the next good head, or to the end. */
tw_status tw__record_resync(tw__record_reader *reader, int64_t *skipped);
/* At the end of a file: whether bytes are left that are too few for a head. Somebody may be writing them; of a file that is
 * finished they are the rest of a record that was torn off. DATA_LOSS then, unless THALWEG_TORN_RECORDS=ignore says that such
 * files are taken as TensorFlow takes them. */
tw_status tw__record_check_end(const tw__record_reader *reader);
/* Fetches until `need` bytes are there or no more come (record_reader.c). */
tw_status tw__record_fill(tw__record_reader *reader, uint64_t need);

#endif
