/* Files of records, as TFRecord and event files are: read from any place, also while they grow, and behind damage. */
#ifndef THALWEG_RECORDS_H
#define THALWEG_RECORDS_H

#include <thalweg/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_records tw_records;
/* Opens a file that is not compressed; `offset` is where a record begins. NULL: an error. */
TW_API_FUNCTION tw_records *tw_records_open(const char *path, int64_t offset);
TW_API_FUNCTION void tw_records_close(tw_records *records); /* NULL is fine */
/* The next record, whose bytes are good until the next call. False at the end of the file, and with DATA_LOSS at a record that is
 * damaged or cut off. It may be called again: a file may have grown. */
TW_API_FUNCTION bool tw_records_next(tw_records *records, const void **data, size_t *size);
/* Where the next record begins. */
TW_API_FUNCTION int64_t tw_records_offset(const tw_records *records);
/* After DATA_LOSS: whether the record's head is good and the file ends inside of it, as it does while it is written. */
TW_API_FUNCTION bool tw_records_cut_off(const tw_records *records);
/* After DATA_LOSS: goes on where the next head of a record is, or at the end of the file. How many bytes were passed over; -1: an
 * error. */
TW_API_FUNCTION int64_t tw_records_skip_damage(tw_records *records);

#ifdef __cplusplus
}
#endif
#endif
