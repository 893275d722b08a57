/* Parts of tensors in SaveV2 and RestoreV2: "8 4 0,2:-" is the rows 0 and 1 of a tensor of 8 rows and 4 columns. A part that is
 * saved has an entry of its own, and the tensor's entry lists its parts; see bundle_slices.c. */
#include <stdio.h>
#include <stdlib.h>

#include "format/bundle/bundle.h"

static tw_status wrong(const char *text, const char *why)
{
    return tw__fail(TW_INVALID_ARGUMENT, "the part \"%s\" of a tensor %s; expected sizes and extents as in \"8 4 0,2:-\"", text,
                    why);
}

/* One extent: "-", or start and length. */
static bool read_extent(const char **at, int64_t dim, int64_t *start, int64_t *length)
{
    int used = 0;
    long long first, count;
    if (**at == '-') {
        *start = 0;
        *length = -1;
        (*at)++;
        return true;
    }
    if (sscanf(*at, "%18lld,%18lld%n", &first, &count, &used) != 2 || first < 0 || count < 0 || first > dim ||
        count > dim - first)
        return false;
    *start = first;
    *length = count;
    *at += used;
    return true;
}

tw_status tw__slice_parse(const char *text, tw__slice *slice)
{
    const char *at = text;
    *slice = (tw__slice){ .whole = TW_SCALAR };
    for (char *end;; at = end) {
        while (*at == ' ')
            at++;
        long long size = strtoll(at, &end, 10);
        if (end == at || *end != ' ') /* the extents begin */
            break;
        if (size < 0 || slice->whole.rank == TW_MAX_RANK)
            return wrong(text, size < 0 ? "has a negative size" : "has too many dimensions");
        slice->whole.dims[slice->whole.rank++] = size;
    }
    slice->part = slice->whole;
    for (int i = 0; i < slice->whole.rank; i++) {
        if (i && *at++ != ':')
            return wrong(text, "has too few extents");
        if (!read_extent(&at, slice->whole.dims[i], &slice->start[i], &slice->length[i]))
            return wrong(text, "has an extent that does not fit");
        if (slice->length[i] >= 0)
            slice->part.dims[i] = slice->length[i];
    }
    return *at ? wrong(text, "has too many extents") : TW_OK;
}

tw_tensor *tw__slice_cut(const char *name, const tw_tensor *whole, const tw__slice *slice)
{
    if (!tw__shape_equal(&whole->shape, &slice->whole)) {
        tw__fail(TW_INVALID_ARGUMENT,
                 "tensor_name = %s; shape in shape_and_slice spec %s does not match the shape stored in checkpoint: %s", name,
                 tw__shape_text(&slice->whole), tw__shape_text(&whole->shape));
        return NULL;
    }
    tw_tensor *part = tw__tensor_empty(whole->dtype, &slice->part);
    int64_t index[TW_MAX_RANK] = { 0 };
    size_t element = part && whole->dtype != TW_STRING ? tw__element_size(whole->dtype) : 0;
    for (int64_t i = 0; part && i < part->count; i++) {
        int64_t from = 0;
        for (int axis = 0; axis < slice->whole.rank; axis++)
            from = from * slice->whole.dims[axis] + slice->start[axis] + index[axis];
        tw_string s = element ? (tw_string){ NULL, 0 } : tw_tensor_string_at(whole, from);
        if (element) {
            memcpy((char *)part->data + (size_t)i * element, (const char *)whole->data + (size_t)from * element, element);
        } else if (tw__string_set(part, i, s.data ? s.data : "", s.size) != TW_OK) {
            tw_release(part);
            return NULL;
        }
        for (int axis = slice->whole.rank - 1; axis >= 0 && ++index[axis] == slice->part.dims[axis]; axis--)
            index[axis] = 0;
    }
    return part;
}
