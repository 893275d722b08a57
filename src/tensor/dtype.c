/* Dtypes: names, sizes, classes, and the two 16-bit floats. */
#include "tensor/tensor.h"

typedef enum dtype_class { OTHER, REAL, INTEGER, COMPLEX } dtype_class;

static const struct {
    const char *name;
    uint8_t size;
    uint8_t class;
} dtypes[TW_DTYPE_LIMIT] = {
    [TW_FLOAT32] = { "float32", 4, REAL },
    [TW_FLOAT64] = { "float64", 8, REAL },
    [TW_INT32] = { "int32", 4, INTEGER },
    [TW_UINT8] = { "uint8", 1, INTEGER },
    [TW_INT16] = { "int16", 2, INTEGER },
    [TW_INT8] = { "int8", 1, INTEGER },
    [TW_STRING] = { "string", sizeof(tw_string), OTHER },
    [TW_COMPLEX64] = { "complex64", 8, COMPLEX },
    [TW_INT64] = { "int64", 8, INTEGER },
    [TW_BOOL] = { "bool", 1, OTHER },
    [TW_QINT8] = { "qint8", 1, OTHER },
    [TW_QUINT8] = { "quint8", 1, OTHER },
    [TW_QINT32] = { "qint32", 4, OTHER },
    [TW_BFLOAT16] = { "bfloat16", 2, REAL },
    [TW_QINT16] = { "qint16", 2, OTHER },
    [TW_QUINT16] = { "quint16", 2, OTHER },
    [TW_UINT16] = { "uint16", 2, INTEGER },
    [TW_COMPLEX128] = { "complex128", 16, COMPLEX },
    [TW_FLOAT16] = { "float16", 2, REAL },
    [TW_RESOURCE] = { "resource", 0, OTHER },
    [TW_VARIANT] = { "variant", 0, OTHER },
    [TW_UINT32] = { "uint32", 4, INTEGER },
    [TW_UINT64] = { "uint64", 8, INTEGER },
};

bool tw__dtype_is_valid(tw_dtype dtype)
{
    return (int)dtype > 0 && dtype < TW_DTYPE_LIMIT && dtypes[dtype].name;
}

const char *tw_dtype_name(tw_dtype dtype)
{
    return tw__dtype_is_valid(dtype) ? dtypes[dtype].name : "<none>";
}

const char *tw__dtype_message_name(tw_dtype dtype)
{
    static const char *const names[TW_DTYPE_LIMIT] = {
        [TW_DTYPE_NONE] = "DT_INVALID",
        [TW_FLOAT32] = "DT_FLOAT",
        [TW_FLOAT64] = "DT_DOUBLE",
        [TW_INT32] = "DT_INT32",
        [TW_UINT8] = "DT_UINT8",
        [TW_INT16] = "DT_INT16",
        [TW_INT8] = "DT_INT8",
        [TW_STRING] = "DT_STRING",
        [TW_COMPLEX64] = "DT_COMPLEX64",
        [TW_INT64] = "DT_INT64",
        [TW_BOOL] = "DT_BOOL",
        [TW_QINT8] = "DT_QINT8",
        [TW_QUINT8] = "DT_QUINT8",
        [TW_QINT32] = "DT_QINT32",
        [TW_BFLOAT16] = "DT_BFLOAT16",
        [TW_QINT16] = "DT_QINT16",
        [TW_QUINT16] = "DT_QUINT16",
        [TW_UINT16] = "DT_UINT16",
        [TW_COMPLEX128] = "DT_COMPLEX128",
        [TW_FLOAT16] = "DT_HALF",
        [TW_RESOURCE] = "DT_RESOURCE",
        [TW_VARIANT] = "DT_VARIANT",
        [TW_UINT32] = "DT_UINT32",
        [TW_UINT64] = "DT_UINT64",
    };
    return dtype > 0 && dtype < TW_DTYPE_LIMIT ? names[dtype] : names[0];
}

const char *tw__dtype_text(tw_dtype dtype)
{
    switch (dtype) {
    case TW_FLOAT16:
        return "half";
    case TW_FLOAT32:
        return "float";
    case TW_FLOAT64:
        return "double";
    default:
        return tw_dtype_name(dtype);
    }
}

tw_dtype tw_dtype_from_name(const char *name)
{
    static const struct {
        const char *name;
        tw_dtype dtype;
    } others[] = {
        { "float", TW_FLOAT32 }, { "double", TW_FLOAT64 }, { "half", TW_FLOAT16 }, { "str", TW_STRING }, { "object", TW_STRING }
    };
    for (int i = 1; name && i < TW_DTYPE_LIMIT; i++) {
        if (dtypes[i].name && strcmp(dtypes[i].name, name) == 0)
            return (tw_dtype)i;
    }
    for (size_t i = 0; name && i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].name, name) == 0)
            return others[i].dtype;
    }
    return TW_DTYPE_NONE;
}

bool tw__policy_is_mixed(tw_dtype policy)
{
    return policy == TW_MIXED_FLOAT16 || policy == TW_MIXED_BFLOAT16;
}

const char *tw__policy_name(tw_dtype policy)
{
    return policy == TW_MIXED_FLOAT16 ? "mixed_float16" : policy == TW_MIXED_BFLOAT16 ? "mixed_bfloat16" : tw_dtype_name(policy);
}

tw_dtype tw__policy_from_name(const char *name)
{
    if (name && strncmp(name, "mixed_", 6) == 0)
        return strcmp(name + 6, "float16") == 0    ? TW_MIXED_FLOAT16
               : strcmp(name + 6, "bfloat16") == 0 ? TW_MIXED_BFLOAT16
                                                   : TW_DTYPE_NONE;
    return tw_dtype_from_name(name);
}

size_t tw_dtype_size(tw_dtype dtype)
{
    return tw__dtype_is_valid(dtype) ? dtypes[dtype].size : 0;
}

size_t tw__element_size(tw_dtype dtype)
{
    return dtype == TW_RESOURCE || dtype == TW_VARIANT ? sizeof(void *) : tw_dtype_size(dtype);
}

static bool is_class(tw_dtype dtype, dtype_class class)
{
    return tw__dtype_is_valid(dtype) && dtypes[dtype].class == class;
}

bool tw__dtype_is_float(tw_dtype dtype)
{
    return is_class(dtype, REAL);
}

bool tw__dtype_is_integer(tw_dtype dtype)
{
    return is_class(dtype, INTEGER);
}

bool tw__dtype_is_complex(tw_dtype dtype)
{
    return is_class(dtype, COMPLEX);
}

bool tw__dtype_differentiable(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype) || dtype == TW_RESOURCE || dtype == TW_VARIANT;
}

float tw__half_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    uint32_t out;
    if (exponent == 31) {
        out = sign | 0x7f800000u | (mantissa << 13);
    } else if (exponent) {
        out = sign | ((exponent + 112) << 23) | (mantissa << 13);
    } else {
        float value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    float value;
    memcpy(&value, &out, sizeof value);
    return value;
}

uint16_t tw__float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)((bits >> 16) & 0x8000);
    bits &= 0x7fffffffu;
    if (bits > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00);
    if (bits >= 0x47800000u) /* 2^16 and above, infinity */
        return (uint16_t)(sign | 0x7c00);
    if (bits < 0x38800000u) { /* below the smallest normal: let the float unit round to a multiple of 2^-24 */
        float scaled;
        memcpy(&scaled, &bits, sizeof scaled);
        scaled += 0.5f;
        memcpy(&bits, &scaled, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3f000000u));
    }
    uint32_t odd = (bits >> 13) & 1;
    bits += 0xc8000fffu + odd; /* exponent - 112, round to nearest even */
    return (uint16_t)(sign | (bits >> 13));
}

float tw__bfloat16_to_float(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

uint16_t tw__float_to_bfloat16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(((bits >> 16) & 0x8000) | 0x7fc0);
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
