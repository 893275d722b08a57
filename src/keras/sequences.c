/* keras.preprocessing: sequences of different lengths as one array, how often words shall be drawn, texts as rows of numbers. The
 * sequences come as their elements one behind the other, and how many each has. */
#include <math.h>

#include "op/calls.h"
#include "rows.h"

/* ---- lengths ---- */

/* How many elements the sequences have, each and at most; they must be all of `values`. */
static tw_status measure(const tw_tensor *values, const tw_tensor *lengths, int64_t *most)
{
    const int64_t *each = tw__tensor_values(lengths, "lengths");
    TW_NEED(each && tw__tensor_values(values, "values"));
    int64_t sum = 0, all = values->shape.rank ? values->shape.dims[0] : 0;
    *most = 0;
    for (int64_t i = 0; i < lengths->count; i++) {
        if (each[i] < 0 || each[i] > all - sum)
            return tw__fail(TW_VALUE_ERROR, "length %lld of sequence %lld, but %lld elements are left", (long long)each[i],
                            (long long)i, (long long)(all - sum));
        sum += each[i];
        *most = each[i] > *most ? each[i] : *most;
    }
    if (sum != all || values->shape.rank < 1)
        return tw__fail(TW_VALUE_ERROR, "the sequences have %lld elements, expected %lld", (long long)all, (long long)sum);
    return TW_OK;
}

/* ---- padding ---- */

static tw_tensor *filled(tw_tensor *value, tw_dtype dtype, const tw_shape *shape)
{
    TW_TEMPS(t);
    tw_tensor *number = value ? tw__temp_cast(t, value, dtype) : NULL;
    if (value && (!number || number->count != 1)) {
        tw__fail(TW_VALUE_ERROR, "pad_sequences: the padding value must be one number");
        return NULL;
    }
    if (!number)
        return tw_tensor_new(dtype, *shape, NULL);
    return tw__keep(t, TW_TEMP(Fill, tw__temp(t, tw__tensor_of_shape(shape, TW_INT64)),
                               tw__temp(t, tw__tensor_view(number, &TW_SCALAR))));
}

TW_API(
    sequence_pad,
    "keras.preprocessing.sequence._pad(values: tensor, lengths: tensor<int64>, maxlen: int = None, padding: str {pre, post} = pre, "
    "truncating: str {pre, post} = pre, value: tensor = None) -> tensor<numpy>",
    "Sequences of different lengths as the rows of one array. values: the elements of all of them, one behind the other; lengths: how many "
    "each has. Rows have maxlen elements, or as many as the longest sequence: shorter ones are filled up with the value (0 without one) "
    "before or behind them, of longer ones the beginning (pre) or the end (post) is cut off.")
{
    int64_t most;
    tw_shape shape = args->values->shape;
    if (measure(args->values, args->lengths, &most) != TW_OK)
        return NULL;
    most = args->maxlen == TW_NO_INT ? most : args->maxlen;
    if (most < 0 || shape.rank == TW_MAX_RANK || args->values->dtype == TW_STRING || tw__element_size(args->values->dtype) == 0) {
        tw__fail(TW_VALUE_ERROR, "pad_sequences: maxlen %lld, values of dtype %s and shape %s are not supported", (long long)most,
                 tw_dtype_name(args->values->dtype), tw__shape_text(&shape));
        return NULL;
    }
    size_t element = tw__element_size(args->values->dtype);
    for (int i = 1; i < args->values->shape.rank; i++)
        element *= (size_t)args->values->shape.dims[i];
    for (int i = shape.rank++; i > 1; i--)
        shape.dims[i] = shape.dims[i - 1];
    shape.dims[0] = args->lengths->count;
    shape.dims[1] = most;
    tw_auto tw_tensor *rows = filled(args->value, args->values->dtype, &shape);
    const int64_t *each = args->lengths->data;
    const char *from = args->values->data;
    bool before = strcmp(args->padding, "pre") == 0, cut = strcmp(args->truncating, "pre") == 0;
    for (int64_t i = 0; rows && i < args->lengths->count; i++) {
        size_t length = (size_t)each[i], kept = each[i] < most ? length : (size_t)most;
        char *to = (char *)rows->data + ((size_t)i * (size_t)most + (before ? (size_t)most - kept : 0)) * element;
        if (kept && element)
            memcpy(to, from + (cut ? length - kept : 0) * element, kept * element);
        from += length * element;
    }
    return rows ? tw_retain(rows) : NULL;
}

/* ---- words ---- */

TW_API(
    sequence_make_sampling_table,
    "keras.preprocessing.sequence.make_sampling_table(size: int > 0, sampling_factor: float = 1e-05) -> tensor<numpy>",
    "How probable it is that the word of each rank is drawn, if the frequencies of words follow Zipf's law: a vector of float64 for "
    "skipgrams. Frequent words are drawn less often; sampling_factor is word2vec's.\n"
    "size: how many words there are\n"
    "sampling_factor: the factor of word2vec: less of it leaves out more of the frequent words")
{
    tw_shape shape = TW_SHAPE(args->size);
    tw_tensor *table = tw__tensor_empty(TW_FLOAT64, &shape);
    for (int64_t i = 0; table && i < args->size; i++) {
        double rank = i ? (double)i : 1.0, frequency = rank * (log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank);
        double f = args->sampling_factor * frequency, probability = f / sqrt(f);
        ((double *)table->data)[i] = probability > 1.0 ? 1.0 : probability;
    }
    return table;
}

typedef enum mode { BINARY, COUNT, FREQUENCY, TFIDF } mode;

/* What stands for a word that a text has `count` times among `length` words; `documents` of `all` have it. */
static double weight_of(mode m, int64_t count, int64_t length, double documents, double all)
{
    switch (m) {
    case BINARY:
        return 1;
    case COUNT:
        return (double)count;
    case FREQUENCY:
        return (double)count / (double)length;
    default:
        return (1 + log((double)count)) * log(1 + all / (1 + documents));
    }
}

TW_API(
    text_matrix,
    "keras.preprocessing.text._matrix(values: tensor<int64>, lengths: tensor<int64>, num_words: int, mode: str {binary, count, freq, "
    "tfidf} = binary, documents: tensor<float64> = None, document_count: int = 0) -> tensor<numpy>",
    "Texts as rows of num_words numbers (float64), one for each word: whether the text has it (binary), how often (count), how often for "
    "its length (freq), or weighed by how rare it is (tfidf). values: the words of all texts by number; lengths: how many words each text "
    "has. For tfidf: in how many documents each word is (num_words numbers; without them 0), of how many.")
{
    static const char *const names[] = { "binary", "count", "freq", "tfidf" };
    int64_t most, words = args->num_words;
    tw_shape shape = TW_SHAPE(args->lengths->count, words > 0 ? words : 0);
    mode m = BINARY;
    while (strcmp(names[m], args->mode) != 0)
        m++;
    if (measure(args->values, args->lengths, &most) != TW_OK)
        return NULL;
    if (words < 1 || args->values->shape.rank != 1 || (args->documents && args->documents->count != words)) {
        tw__fail(TW_VALUE_ERROR,
                 "texts_to_matrix: words of shape %s, expected a vector; num_words %lld, expected a positive "
                 "number and as many counts of documents",
                 tw__shape_text(&args->values->shape), (long long)words);
        return NULL;
    }
    const double *documents = args->documents ? tw__tensor_values(args->documents, "documents") : NULL;
    tw__owned int64_t *counts = tw__alloc_array((size_t)words, sizeof *counts);
    tw_auto tw_tensor *rows = counts && (documents || !args->documents) ? tw_tensor_new(TW_FLOAT64, shape, NULL) : NULL;
    const int64_t *each = args->lengths->data, *numbers = args->values->data;
    for (int64_t i = 0; rows && i < args->lengths->count; numbers += each[i++]) {
        double *row = (double *)rows->data + i * words;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t k = 0; k < each[i]; k++) {
                int64_t word = numbers[k] < 0 ? numbers[k] + words : numbers[k];
                if (word >= words)
                    continue;
                if (word < 0) {
                    tw__fail(TW_INDEX_ERROR, "index %lld is out of bounds for axis 0 with size %lld", (long long)numbers[k],
                             (long long)words);
                    return NULL;
                }
                if (pass == 0)
                    counts[word]++;
                else if (counts[word])
                    row[word] =
                        weight_of(m, counts[word], each[i], documents ? documents[word] : 0, (double)args->document_count);
            }
        }
        for (int64_t k = 0; k < each[i]; k++) {
            int64_t word = numbers[k] < 0 ? numbers[k] + words : numbers[k];
            if (word < words)
                counts[word] = 0;
        }
    }
    return rows ? tw_retain(rows) : NULL;
}
