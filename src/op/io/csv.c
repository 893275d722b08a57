/* DecodeCSV: strings of comma-separated values, one record each, as one tensor per column.
 *
 * A field in quotes may hold the delimiter, line ends and, doubled, quotes. A field that is empty, or says the na_value, has its
 * default; one without a default is required. */
#include "format/format.h"
#include "op/op.h"
#include "op/text/text.h"
#include "rows.h"

typedef struct decoder {
    tw__kernel *kernel;
    const tw_attr *columns; /* that are wanted, ascending; none: all */
    char delimiter;
    bool quotes;
    tw_string na_value;
    tw__text field; /* with a zero byte behind it */
} decoder;

static tw_status csv_shape(tw__inference *inference)
{
    for (int i = 1; i < inference->input_count; i++) {
        const tw_shape *shape = inference->shapes[i];
        if (shape->rank > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
        if (shape->rank == 1 && shape->dims[0] > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "There should only be 1 default per field but field %d has %lld", i - 1,
                            (long long)shape->dims[0]);
    }
    for (int i = 0; i < inference->output_count; i++)
        inference->out_shapes[i] = *inference->shapes[0];
    return TW_OK;
}

/* The field at *at into d->field; *at is moved behind its delimiter. */
static tw_status read_field(decoder *d, tw_string s, size_t *at)
{
    tw__text_clear(&d->field);
    size_t i = *at, begin = i;
    if (!d->quotes || s.data[i] != '"') {
        for (; i < s.size && s.data[i] != d->delimiter; i++) {
            if ((d->quotes && s.data[i] == '"') || s.data[i] == '\n' || s.data[i] == '\r')
                return tw__fail(TW_INVALID_ARGUMENT, "Unquoted fields cannot have quotes/CRLFs inside");
        }
        tw__text_bytes(&d->field, s.data + begin, i - begin);
        *at = i + 1;
    } else {
        for (i++; i + 1 < s.size && (s.data[i] != '"' || s.data[i + 1] != d->delimiter); i++) {
            if (s.data[i] == '"' && s.data[++i] != '"')
                return tw__fail(TW_INVALID_ARGUMENT, "Quote inside a string has to be escaped by another quote");
            tw__text_bytes(&d->field, s.data + i, 1);
        }
        if (i >= s.size || s.data[i] != '"')
            return tw__fail(TW_INVALID_ARGUMENT, "Quoted field has to end with quote followed by delim or end");
        *at = i + 2;
    }
    tw__text_add(&d->field, "");
    return d->field.failed ? tw__error_status() : TW_OK;
}

static tw_status put_field(decoder *d, int column, int64_t record)
{
    tw_tensor *out = d->kernel->outputs[column];
    const char *text = d->field.data ? d->field.data : "";
    size_t size = tw__element_size(out->dtype);
    if (d->field.size == 0 || (d->field.size == d->na_value.size && memcmp(text, d->na_value.data, d->field.size) == 0)) {
        const tw_tensor *value = d->kernel->inputs[1 + column];
        if (value->count != 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Field %d is required but missing in record %lld!", column, (long long)record);
        if (out->dtype == TW_STRING)
            return tw__string_set(out, record, tw__strings(value)->data ? tw__strings(value)->data : "",
                                  tw__strings(value)->size);
        memcpy((char *)out->data + (size_t)record * size, value->data, size);
        return TW_OK;
    }
    if (out->dtype == TW_STRING)
        return tw__string_set(out, record, text, d->field.size);
    if (!tw__csv_number(text, out->dtype, (char *)out->data + (size_t)record * size))
        return tw__fail(TW_INVALID_ARGUMENT, "Field %d in record %lld is not a valid %s: %s", column, (long long)record,
                        tw__dtype_text(out->dtype), text);
    return TW_OK;
}

/* Fields beyond the last one are counted, for the error. */
static tw_status read_record(decoder *d, int64_t record)
{
    tw_string s = tw__strings(d->kernel->inputs[0])[record];
    int made = 0, count = d->kernel->output_count;
    int64_t column = 0;
    size_t at = 0;
    for (; at < s.size && (!d->columns->count || made < count); column++) {
        if (s.data[at] == '\n' || s.data[at] == '\r') {
            at++;
            column--;
            continue;
        }
        TW_TRY(read_field(d, s, &at));
        if (d->columns->count && d->columns->ints[made] != column)
            continue;
        if (made < count)
            TW_TRY(put_field(d, made, record));
        made++;
    }
    bool wanted = !d->columns->count || (made < count && d->columns->ints[made] == column);
    if (s.size && wanted && s.data[s.size - 1] == d->delimiter && at >= s.size) { /* an empty field at the end */
        tw__text_clear(&d->field);
        if (made < count)
            TW_TRY(put_field(d, made, record));
        made++;
    }
    if (made != count)
        return tw__fail(TW_INVALID_ARGUMENT, "Expect %d fields but have %d in record %lld", count, made, (long long)record);
    return TW_OK;
}

static tw_status csv_compute(tw__kernel *kernel)
{
    tw_string delimiter = TW_ATTR(kernel, "field_delim")->s;
    decoder d = { .kernel = kernel,
                  .columns = TW_ATTR(kernel, "select_cols"),
                  .quotes = TW_ATTR(kernel, "use_quote_delim")->b,
                  .na_value = TW_ATTR(kernel, "na_value")->s };
    if (delimiter.size != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "field_delim should be only 1 char");
    if (d.columns->count && d.columns->count != kernel->output_count)
        return tw__fail(TW_INVALID_ARGUMENT, "select_cols should match output size");
    for (int i = 0; i < d.columns->count; i++) {
        if (d.columns->ints[i] < 0 || (i && d.columns->ints[i] <= d.columns->ints[i - 1]))
            return tw__fail(TW_INVALID_ARGUMENT, "select_cols should be %s indices",
                            d.columns->ints[i] < 0 ? "non-negative" : "strictly increasing");
    }
    d.delimiter = delimiter.data[0];
    tw_status status = TW_OK;
    for (int64_t i = 0; status == TW_OK && i < kernel->inputs[0]->count; i++)
        status = read_record(&d, i);
    tw__text_free(&d.field);
    return status;
}

TW_OP(DecodeCSV, .inputs = "records: string, record_defaults: OUT_TYPE", .outputs = "output: OUT_TYPE",
      .attrs =
          "OUT_TYPE: list({float, double, int32, int64, string}) >= 1, field_delim: string = ',', use_quote_delim: bool = true, "
          "na_value: string = '', select_cols: list(int) = []",
      .shape = csv_shape, .compute = csv_compute, .doc = "Columns of strings of comma-separated values.");

TW_API(
    io_decode_csv,
    "io.decode_csv(records: tensor<string>, record_defaults: tensors, field_delim: str = None shown ',', use_quote_delim: bool = True, na_value: str = None shown '', "
    "select_cols: ints = None, name: str = None) -> tensors",
    "One tensor per column of records of comma-separated values, of the dtypes of the defaults. A default without elements says that the field is "
    "required.\n"
    "records: lines of text\n"
    "record_defaults: a tensor for each column: its dtype is the column's, its element stands for empty fields\n"
    "field_delim: the character between fields; None: a comma\n"
    "use_quote_delim: False: quotes are characters as others are\n"
    "na_value: a text that counts as an empty field\n"
    "select_cols: the columns to read, in rising order; None: all\n"
    "returns: a list with a tensor for each column, of the shape of `records`\n"
    "raises: InvalidArgumentError: a line has another number of fields, or a field is not of its dtype\n"
    "example: [t.numpy().tolist() for t in tf.io.decode_csv(['1,a', '2,b'], [[0], ['']])]  # [[1, 2], [b'a', b'b']]")
{
    int count = (int)args->record_defaults.count, made = count;
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof *out.items), count };
    tw_tensor **inputs = tw__alloc_array((size_t)count + 1, sizeof *inputs);
    tw_status status = out.items && inputs ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        inputs[0] = args->records;
        for (int i = 0; i < count; i++)
            inputs[i + 1] = args->record_defaults.items[i];
        const tw_attr attrs[] = { TW_A_STRING("field_delim", args->field_delim ? args->field_delim : ","),
                                  TW_A_BOOL("use_quote_delim", args->use_quote_delim),
                                  TW_A_STRING("na_value", args->na_value ? args->na_value : ""),
                                  TW_A_INTS("select_cols", args->select_cols.items, args->select_cols.count) };
        status = tw__apply(&tw__op_DecodeCSV, inputs, count + 1, attrs, sizeof attrs / sizeof *attrs, out.items, &made);
    }
    tw__free(inputs);
    if (status != TW_OK) {
        tw__free(out.items);
        return (tw_tensors){ 0 };
    }
    return out;
}
