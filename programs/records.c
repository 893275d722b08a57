/* thalweg records ls|head|cat|count|verify|index|convert: TFRecord files.
 *
 * Files that are not compressed are read with the places of their records, and behind damage; compressed ones, by GZIP or ZLIB,
 * from the beginning. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "program.h"

/* One record after the other, of either kind of file. */
typedef struct reader {
    const char *path;
    tw_records *plain;
    tw_record_iterator *packed;
    tw_value held; /* the last record of a compressed file */
    int64_t place; /* where the record begins; -1: compressed */
    int64_t next;
    int64_t size; /* of the file */
} reader;

/* "", "GZIP" or "ZLIB", by the first bytes. A record's head is a length: 8 bytes of which the last are zero. */
const char *compression_of(const char *path)
{
    unsigned char first[8] = { 0 };
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(first, 1, sizeof first, file) : 0;
    if (file)
        fclose(file);
    if (size >= 3 && first[0] == 0x1f && first[1] == 0x8b && first[2] == 8)
        return "GZIP";
    bool is_length = size == 8 && !first[5] && !first[6] && !first[7];
    return size >= 2 && !is_length && first[0] == 0x78 && (first[0] * 256 + first[1]) % 31 == 0 ? "ZLIB" : "";
}

static bool open_reader(reader *r, const char *path)
{
    struct stat status;
    const char *compression = compression_of(path);
    *r = (reader){ .path = path, .place = -1, .size = stat(path, &status) == 0 ? (int64_t)status.st_size : 0 };
    if (*compression)
        r->packed = tw_record_iterator(path, .compression_type = compression);
    else
        r->plain = tw_records_open(path, 0);
    return r->packed || r->plain;
}

static void close_reader(reader *r)
{
    tw_value_free(&r->held);
    tw_records_close(r->plain);
    tw_release(r->packed);
}

/* False at the end, and with an error where the file is damaged. */
static bool next_record(reader *r, const void **data, size_t *size)
{
    if (r->plain) {
        r->place = tw_records_offset(r->plain);
        return tw_records_next(r->plain, data, size);
    }
    tw_value_free(&r->held);
    r->held = tw_record_iterator_read(r->packed);
    if (r->held.kind == TW_VALUE_NONE)
        return false;
    *data = r->held.s.data;
    *size = r->held.s.size;
    return true;
}

/* Calls `visit` for each record, at most `most` of them (-1: all), with a line that shows how far it is. */
static int each(const char *path, int64_t most,
                int (*visit)(void *state, const reader *r, int64_t number, const void *data, size_t size), void *state)
{
    reader r;
    const void *data;
    size_t size;
    int result = open_reader(&r, path) ? EXIT_WORKED : library_error();
    for (int64_t i = 0; result == EXIT_WORKED && (most < 0 || i < most); i++) {
        if (!next_record(&r, &data, &size)) {
            result = tw_error_code() == TW_OK ? EXIT_WORKED : library_error();
            break;
        }
        result = visit(state, &r, i, data, size);
        if (i % 65536 == 65535)
            show_progress(path, r.place, r.place < 0 ? 0 : r.size);
    }
    show_progress(path, 0, -1);
    close_reader(&r);
    return result;
}

/* ---- printing ---- */

/* An Example as text, or bytes as a JSON text; what is no Example is told by its size. */
static int print_record(void *state, const reader *r, int64_t number, const void *data, size_t size)
{
    const invocation *call = state;
    (void)r;
    if (given(call, "--raw"))
        return fwrite(data, 1, size, stdout) == size ? EXIT_WORKED : EXIT_FAILED;
    tw_value bytes = { .kind = TW_VALUE_BYTES, .s = { data, size } };
    char *text = tw_message_text(value_of(call, "--type", "Example"), bytes);
    if (given(call, "--json")) {
        tw_value shown = { .kind = text ? TW_VALUE_STR : TW_VALUE_NONE };
        if (text)
            shown.s = (tw_string){ text, strlen(text) };
        printf("{\"record\": %lld, \"bytes\": %zu, \"text\": ", (long long)number, size);
        print_json(&shown);
        puts("}");
    } else if (text) {
        printf("# record %lld, %zu bytes\n%s", (long long)number, size, text);
    } else {
        printf("# record %lld, %zu bytes: no %s\n", (long long)number, size, value_of(call, "--type", "Example"));
    }
    bool wrong_type = !text && given(call, "--type");
    free(text);
    if (wrong_type && tw_error_code() == TW_VALUE_ERROR)
        return library_error();
    tw_clear_error();
    return EXIT_WORKED;
}

static int cat(const invocation *call)
{
    int result = EXIT_WORKED;
    for (int i = 0; result == EXIT_WORKED && i < call->count; i++)
        result = each(call->words[i], -1, print_record, (void *)call);
    return result;
}

static int head(const invocation *call)
{
    int64_t lines;
    if (!number_of(call, "--lines", 0, 5, &lines))
        return EXIT_USAGE;
    return each(call->words[0], lines, print_record, (void *)call);
}

static int print_place(void *state, const reader *r, int64_t number, const void *data, size_t size)
{
    (void)data;
    if (*(bool *)state)
        printf("{\"record\": %lld, \"offset\": %lld, \"bytes\": %zu}\n", (long long)number, (long long)r->place, size);
    else if (r->place < 0)
        printf("%8lld  %12s  %10zu\n", (long long)number, "-", size);
    else
        printf("%8lld  %12lld  %10zu\n", (long long)number, (long long)r->place, size);
    return EXIT_WORKED;
}

static int list(const invocation *call)
{
    bool json = given(call, "--json");
    return each(call->words[0], -1, print_place, &json);
}

/* ---- counting and checking ---- */

static int count_one(void *state, const reader *r, int64_t number, const void *data, size_t size)
{
    (void)r, (void)number, (void)data;
    ((int64_t *)state)[0]++;
    ((int64_t *)state)[1] += (int64_t)size;
    return EXIT_WORKED;
}

static int count(const invocation *call)
{
    int result = EXIT_WORKED;
    int64_t all[2] = { 0 };
    bool json = given(call, "--json");
    for (int i = 0; result == EXIT_WORKED && i < call->count; i++) {
        int64_t sums[2] = { 0 };
        result = each(call->words[i], -1, count_one, sums);
        if (result != EXIT_WORKED)
            break;
        if (json) {
            fputs("{\"file\": ", stdout);
            print_json_text(call->words[i]);
            printf(", \"records\": %lld, \"bytes\": %lld}\n", (long long)sums[0], (long long)sums[1]);
        } else {
            printf("%lld  %s\n", (long long)sums[0], call->words[i]);
        }
        all[0] += sums[0];
    }
    if (result == EXIT_WORKED && !json && call->count > 1)
        printf("%lld  in all\n", (long long)all[0]);
    return result;
}

typedef struct health {
    int64_t good, damages, skipped;
} health;

/* Reads to the end, past every damage that the format allows to pass. */
static bool examine(const char *path, health *h)
{
    reader r;
    const void *data;
    size_t size;
    bool opened = open_reader(&r, path);
    while (opened) {
        if (next_record(&r, &data, &size)) {
            if (++h->good % 65536 == 0)
                show_progress(path, r.place, r.place < 0 ? 0 : r.size);
            continue;
        }
        if (tw_error_code() == TW_OK)
            break;
        h->damages++;
        int64_t skipped = r.plain ? (tw_clear_error(), tw_records_skip_damage(r.plain)) : -1;
        tw_clear_error();
        if (skipped < 0)
            break; /* behind damage in a compressed file nothing can be read */
        h->skipped += skipped;
    }
    show_progress(path, 0, -1);
    close_reader(&r);
    return opened;
}

static int verify(const invocation *call)
{
    int result = EXIT_WORKED;
    for (int i = 0; i < call->count; i++) {
        health h = { 0 };
        if (!examine(call->words[i], &h))
            return library_error();
        if (h.damages)
            result = EXIT_FAILED;
        if (given(call, "--json")) {
            fputs("{\"file\": ", stdout);
            print_json_text(call->words[i]);
            printf(", \"records\": %lld, \"damages\": %lld, \"skipped_bytes\": %lld}\n", (long long)h.good, (long long)h.damages,
                   (long long)h.skipped);
        } else if (h.damages) {
            printf("%s: damaged in %lld places, %lld bytes skipped, %lld records are good\n", call->words[i],
                   (long long)h.damages, (long long)h.skipped, (long long)h.good);
        } else {
            printf("%s: good, %lld records\n", call->words[i], (long long)h.good);
        }
    }
    return result;
}

/* ---- writing ---- */

enum { HEAD_AND_CHECKS = 16 }; /* bytes of a record that are not its own */

static int write_place(void *state, const reader *r, int64_t number, const void *data, size_t size)
{
    (void)data, (void)number;
    if (r->place < 0) {
        fprintf(stderr, "thalweg: %s: records of a compressed file have no places\n", r->path);
        return EXIT_FAILED;
    }
    return fprintf(state, "%lld %zu\n", (long long)r->place, size + HEAD_AND_CHECKS) > 0 ? EXIT_WORKED : EXIT_FAILED;
}

/* What is written stands under another name until it is whole. For free(); NULL and a message: no memory. */
static char *temporary_name(const char *path)
{
    char *name = malloc(strlen(path) + sizeof ".thalweg-part");
    if (name)
        strcat(strcpy(name, path), ".thalweg-part");
    else
        perror("thalweg");
    return name;
}

static int finish_file(char *temporary, const char *path, int result)
{
    if (result == EXIT_WORKED && rename(temporary, path) != 0) {
        perror(path);
        result = EXIT_FAILED;
    }
    if (result != EXIT_WORKED)
        remove(temporary);
    free(temporary);
    return result;
}

static int index_records(const invocation *call)
{
    if (call->count < 2)
        return each(call->words[0], -1, write_place, stdout);
    char *temporary = temporary_name(call->words[1]);
    FILE *out = temporary ? fopen(temporary, "w") : NULL;
    if (!out) {
        perror(call->words[1]);
        free(temporary);
        return EXIT_FAILED;
    }
    int result = each(call->words[0], -1, write_place, out);
    if (fclose(out) != 0 && result == EXIT_WORKED) {
        perror(call->words[1]);
        result = EXIT_FAILED;
    }
    return finish_file(temporary, call->words[1], result);
}

static int copy_record(void *state, const reader *r, int64_t number, const void *data, size_t size)
{
    (void)r, (void)number;
    tw_value bytes = { .kind = TW_VALUE_BYTES, .s = { data, size } };
    return tw_record_file_write(state, bytes) == TW_OK ? EXIT_WORKED : library_error();
}

static int convert(const invocation *call)
{
    const char *compression = value_of(call, "--compression", "none");
    if (strcmp(compression, "none") != 0 && strcmp(compression, "gzip") != 0 && strcmp(compression, "zlib") != 0)
        return usage_error(call->command, "--compression must be none, gzip or zlib, got '%s'", compression);
    const char *type = *compression == 'g' ? "GZIP" : *compression == 'z' ? "ZLIB" : "";
    char *temporary = temporary_name(call->words[1]);
    if (!temporary)
        return EXIT_FAILED;
    tw_auto tw_record_file *file = tw_record_file(temporary, .compression_type = type);
    int result = file ? each(call->words[0], -1, copy_record, file) : library_error();
    if (file && tw_record_file_close(file) != TW_OK && result == EXIT_WORKED)
        result = library_error();
    return finish_file(temporary, call->words[1], result);
}

static const verb verbs[] = {
    { "ls", "FILE", 1, 1, "number, place and size of each record", list },
    { "head", "FILE", 1, 1, "the first records", head },
    { "cat", "FILE …", 1, -1, "all records: tf.train.Example as text", cat },
    { "count", "FILE …", 1, -1, "how many records there are", count },
    { "verify", "FILE …", 1, -1, "checks every checksum; the exit code is 1 if a file is damaged", verify },
    { "index", "FILE [OUT]", 1, 2, "a line with place and size in the file for each record", index_records },
    { "convert", "FILE OUT", 2, 2, "writes the records to another file", convert },
    { .name = NULL },
};
static const command_option options[] = {
    { "--json", 0, NULL, "as JSON, a line for each record or file", NULL },
    { "--lines", 'n', "N", "how many (5)", "head" },
    { "--raw", 0, NULL, "the bytes of the records as they are", "head cat" },
    { "--type", 0, "NAME", "the message in the records (Example; SequenceExample, Event …)", "head cat" },
    { "--compression", 0, "KIND", "none, gzip or zlib (none)", "convert" },
    { .name = NULL },
};
const command records_command = {
    .name = "records",
    .summary = "Shows, checks and converts files of records (TFRecord).",
    .help = "\nFiles that are compressed by GZIP or ZLIB are known by their first bytes.\n",
    .verbs = verbs,
    .options = options,
};
