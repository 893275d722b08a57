/* What is known of hyperparameters: what the experiment says, or what the values of all sessions show. */
#include <stdlib.h>
#include <string.h>

#include "hparams.h"

enum { INFOS_LIMIT = 4096 };

typedef struct info {
    board_field name, message; /* message.data NULL: worked out from the runs */
    bool differs, text, known;
    int kind; /* 1 text, 2 bool, 3 number */
    double low, high;
} info;

static bool same(const board_field *a, const board_field *b)
{
    return a->size == b->size && (!a->size || memcmp(a->data, b->data, a->size) == 0);
}

static int by_name(const void *a, const void *z)
{
    const info *one = a, *other = z;
    if (one->differs != other->differs)
        return one->differs ? -1 : 1;
    size_t size = one->name.size < other->name.size ? one->name.size : other->name.size;
    int order = size ? memcmp(one->name.data, other->name.data, size) : 0;
    return order ? order : (one->name.size > other->name.size) - (one->name.size < other->name.size);
}

static int kind_of(const board_field *value)
{
    board_field field;
    const uint8_t *at = value->data;
    return !board_next_field(&at, value->data + value->size, &field) ? 0
           : field.number == 2                                       ? 3
           : field.number == 3                                       ? 1
           : field.number == 4                                       ? 2
                                                                     : 0;
}

/* Hyperparameters of an experiment that does not list them: those of all sessions. */
static size_t infer_infos(const board *b, info *list)
{
    size_t count = 0;
    board_field start, key, value, number;
    for (size_t i = 0; i < b->run_count; i++) {
        if (!hparams_part(&b->runs[i], START, 3, &start))
            continue;
        for (const uint8_t *at = start.data; hparams_next(&start, &at, &key, &value);) {
            size_t k = 0;
            while (k < count && !same(&list[k].name, &key))
                k++;
            int kind = kind_of(&value);
            if (k == INFOS_LIMIT || !kind)
                continue;
            double x = board_get_field(value.data, value.size, 2, &number) ? board_as_double(number.value) : 0;
            if (k == count)
                list[count++] = (info){ .name = key, .kind = kind, .low = x, .high = x };
            list[k].kind = list[k].kind == kind ? kind : 1;
            list[k].low = x < list[k].low ? x : list[k].low;
            list[k].high = x > list[k].high ? x : list[k].high;
        }
    }
    return count;
}

/* The different values of a hyperparameter over all sessions. */
static size_t put_distinct(const board *b, const info *it, FILE *out)
{
    board_field start, key, value;
    char *seen = NULL;
    size_t seen_size = 0, count = 0;
    FILE *list = open_memstream(&seen, &seen_size);
    for (size_t i = 0; list && i < b->run_count; i++) {
        if (!hparams_part(&b->runs[i], START, 3, &start))
            continue;
        for (const uint8_t *at = start.data; hparams_next(&start, &at, &key, &value);) {
            if (!same(&key, &it->name) || !kind_of(&value))
                continue;
            char *text = NULL;
            size_t size = 0;
            FILE *one = open_memstream(&text, &size);
            if (!one)
                continue;
            bool quoted = kind_of(&value) == 1 || it->kind != 1;
            fputs(quoted ? "" : "\"", one);
            hparams_put_value(one, &value);
            fputs(quoted ? "" : "\"", one);
            fputc('\n', one);
            fclose(one);
            fflush(list);
            if (!seen || !strstr(seen, text)) {
                fputs(text, list);
                if (out)
                    fprintf(out, "%s%.*s", count ? "," : "", (int)size - 1, text);
                count++;
            }
            free(text);
        }
    }
    if (list)
        fclose(list);
    free(seen);
    return count;
}

static void put_inferred(const board *b, const info *it, FILE *out)
{
    static const char *const types[] = { "UNSET", "STRING", "BOOL", "FLOAT64" };
    fputs("{\"name\":", out);
    board_put_text(out, it->name.data, it->name.size);
    fprintf(out, ",\"displayName\":\"\",\"description\":\"\",\"type\":\"DATA_TYPE_%s\",\"differs\":%s,", types[it->kind],
            it->differs ? "true" : "false");
    if (it->kind == 3) {
        fputs("\"domainInterval\":{\"minValue\":", out);
        board_put_number(out, it->low);
        fputs(",\"maxValue\":", out);
        board_put_number(out, it->high);
        fputs("}}", out);
    } else {
        fputs("\"domainDiscrete\":[", out);
        put_distinct(b, it, out);
        fputs("]}", out);
    }
}

static void put_given(const board_field *message, FILE *out)
{
    static const char *const types[] = { "UNSET", "STRING", "BOOL", "FLOAT64" };
    board_field domain, part;
    uint64_t type = hparams_get(message, 4).value;
    fputs("{\"name\":", out);
    hparams_put_field(out, message, 1);
    fputs(",\"displayName\":", out);
    hparams_put_field(out, message, 2);
    fputs(",\"description\":", out);
    hparams_put_field(out, message, 3);
    fprintf(out, ",\"type\":\"DATA_TYPE_%s\",\"differs\":%s", types[type < 4 ? type : 0],
            hparams_get(message, 7).value ? "true" : "false");
    if (board_get_field(message->data, message->size, 5, &domain)) {
        bool first = true;
        fputs(",\"domainDiscrete\":[", out);
        for (const uint8_t *at = domain.data; board_next_field(&at, domain.data + domain.size, &part);) {
            if (part.number == 1 && part.data) {
                fputs(first ? "" : ",", out);
                first = false;
                hparams_put_value(out, &part);
            }
        }
        fputc(']', out);
    } else if (board_get_field(message->data, message->size, 6, &domain)) {
        fputs(",\"domainInterval\":{\"minValue\":", out);
        hparams_put_double(out, &domain, 1);
        fputs(",\"maxValue\":", out);
        hparams_put_double(out, &domain, 2);
        fputc('}', out);
    }
    fputc('}', out);
}

void hparams_put_infos(const board *b, const board_field *experiment, FILE *out)
{
    info *list = calloc(INFOS_LIMIT, sizeof *list);
    size_t count = 0;
    board_field part;
    for (const uint8_t *at = experiment->data; list && board_next_field(&at, experiment->data + experiment->size, &part);) {
        if (part.number == 4 && part.data && count < INFOS_LIMIT)
            list[count++] = (info){ .name = hparams_get(&part, 1), .message = part, .differs = hparams_get(&part, 7).value };
    }
    if (list && !experiment->data) {
        count = infer_infos(b, list);
        for (size_t i = 0; i < count; i++)
            list[i].differs = list[i].kind == 3 ? list[i].low != list[i].high : put_distinct(b, &list[i], NULL) > 1;
    }
    if (list)
        qsort(list, count, sizeof *list, by_name);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        if (list[i].message.data)
            put_given(&list[i].message, out);
        else
            put_inferred(b, &list[i], out);
    }
    free(list);
}
