/* Numbers and texts where a tensor is wanted:
 *
 *     tw_add(tw_multiply(x, TW_F(2)), TW_F(1))           tw_reshape(x, TW_IS(-1, 28, 28))           tw_io_read_file(TW_S(path))
 *
 * They are made as any tensor: what they give is the caller's, or the open scope's (<thalweg/base.h>). */
#ifndef THALWEG_LITERAL_H
#define THALWEG_LITERAL_H

#include <thalweg/describe.h>

/* Scalars of int64 and bool; <thalweg/tensor.h> has TW_F (float32), TW_I (int32) and TW_S (string). */
#define TW_L(number) tw_tensor_int64(number)
#define TW_B(truth) tw_tensor_bool(truth)
/* Vectors of float32, int32, int64 and string. */
#define TW_FS(...) TW_VECTOR_(TW_FLOAT32, float, __VA_ARGS__)
#define TW_IS(...) TW_VECTOR_(TW_INT32, int32_t, __VA_ARGS__)
#define TW_LS(...) TW_VECTOR_(TW_INT64, int64_t, __VA_ARGS__)
#define TW_SS(...) tw_tensor_strings((const char *const[]){ __VA_ARGS__, NULL })
#define TW_VECTOR_(dtype, type, ...) \
    tw_tensor_new(dtype, TW_SHAPE((int64_t)(sizeof((type[]){ __VA_ARGS__ }) / sizeof(type))), (type[]){ __VA_ARGS__ })

/* The head of a body (<thalweg/function.h>), whose arguments are `user` and `in`; it need not use both:
 *     TW_BODY(twice)
 *     {
 *         return tw_give(tw_add(in.items[0], in.items[0]));
 *     } */
#define TW_BODY(name) static tw_tensors name(__attribute__((unused)) void *user, __attribute__((unused)) tw_tensors in)
/* No tensors, where a list of them is wanted. */
#define TW_NO_TENSORS ((tw_tensors){ NULL, 0 })

#ifdef __cplusplus
extern "C" {
#endif

/* The vector of the texts before a NULL, which ends the list. */
TW_API_FUNCTION tw_tensor *tw_tensor_strings(const char *const *texts);

/* The other way round: the elements as NumPy prints an array, "[1. 2.]"; for free(). */
TW_API_FUNCTION char *tw_tensor_values_text(const tw_tensor *tensor);
/* Element `index` of a tensor of strings as bytes where an argument takes any value; borrowed. */
static inline tw_value tw_bytes_at(const tw_tensor *tensor, int64_t index)
{
    tw_value value;
#ifdef __cplusplus
    value.kind = tw_value::TW_VALUE_BYTES;
#else
    value.kind = TW_VALUE_BYTES;
#endif
    value.s = tw_tensor_string_at(tensor, index);
    return value;
}

/* An object where an argument takes any value; borrowed. */
#define TW_OBJECT(object_) ((tw_value){ .kind = TW_VALUE_OBJECT, .object = (object_) })

/* A member of a list that a function returned; NULL if there is none, as after an error: so expressions go on nesting. Borrowed.
 */
static inline tw_tensor *tw_tensors_at(tw_tensors list, int64_t index)
{
    return index >= 0 && index < list.count ? list.items[index] : NULL;
}
static inline void *tw_objects_at(tw_objects list, int64_t index)
{
    return index >= 0 && index < list.count ? list.items[index] : NULL;
}

/* What it gives belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_tensor_strings(...) TW_MADE(tw_tensor *, tw_tensor_strings(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
