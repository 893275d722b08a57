/* Buckets for strings by other hashes than FarmHash (encode.c): MurmurHash64A with TensorFlow's seed, and SipHash-2-4 with a key
 * of the user's. */
#include "op/text/text.h"
#include "rows.h"

#define MURMUR_FACTOR UINT64_C(0xc6a4a7935bd1e995)
#define MURMUR_SEED UINT64_C(0xDECAFCAFFE)

/* Up to eight bytes, the low one first. */
static uint64_t word(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

uint64_t tw__murmur64(tw_string string)
{
    const unsigned char *s = (const unsigned char *)string.data;
    uint64_t hash = MURMUR_SEED ^ string.size * MURMUR_FACTOR;
    size_t at = 0;
    for (; at + 8 <= string.size; at += 8) {
        uint64_t part = word(s + at, 8) * MURMUR_FACTOR;
        hash = (hash ^ (part ^ part >> 47) * MURMUR_FACTOR) * MURMUR_FACTOR;
    }
    if (at < string.size)
        hash = (hash ^ word(s + at, string.size - at)) * MURMUR_FACTOR;
    hash = (hash ^ hash >> 47) * MURMUR_FACTOR;
    return hash ^ hash >> 47;
}

static uint64_t turn(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int count)
{
    while (count-- > 0) {
        v[0] += v[1];
        v[1] = turn(v[1], 13) ^ v[0];
        v[0] = turn(v[0], 32);
        v[2] += v[3];
        v[3] = turn(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = turn(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = turn(v[1], 17) ^ v[2];
        v[2] = turn(v[2], 32);
    }
}

static uint64_t sip(tw_string string, uint64_t key0, uint64_t key1)
{
    const unsigned char *s = (const unsigned char *)string.data;
    uint64_t v[4] = { key0 ^ UINT64_C(0x736f6d6570736575), key1 ^ UINT64_C(0x646f72616e646f6d),
                      key0 ^ UINT64_C(0x6c7967656e657261), key1 ^ UINT64_C(0x7465646279746573) };
    for (size_t at = 0; at <= string.size; at += 8) {
        bool last = at + 8 > string.size;
        uint64_t part = last ? word(s + at, string.size - at) | (uint64_t)string.size << 56 : word(s + at, 8);
        v[3] ^= part;
        sip_rounds(v, 2);
        v[0] ^= part;
    }
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static tw_status plain_compute(tw__kernel *kernel)
{
    uint64_t buckets = (uint64_t)TW_ATTR(kernel, "num_buckets")->i;
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++)
        ((int64_t *)kernel->outputs[0]->data)[i] = (int64_t)(tw__murmur64(tw__strings(kernel->inputs[0])[i]) % buckets);
    return TW_OK;
}

static tw_status strong_compute(tw__kernel *kernel)
{
    uint64_t buckets = (uint64_t)TW_ATTR(kernel, "num_buckets")->i;
    const tw_attr *key = TW_ATTR(kernel, "key");
    if (key->count != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Key must have 2 elements");
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++)
        ((int64_t *)kernel->outputs[0]->data)[i] =
            (int64_t)(sip(tw__strings(kernel->inputs[0])[i], (uint64_t)key->ints[0], (uint64_t)key->ints[1]) % buckets);
    return TW_OK;
}

TW_OP(
    StringToHashBucket, .inputs = "string_tensor: string", .outputs = "output: int64", .attrs = "num_buckets: int >= 1",
    .shape = tw_shape_same, .compute = plain_compute,
    .function =
        "strings.to_hash_bucket|compat.v1.string_to_hash_bucket(input: tensor<string>|ragged, num_buckets: int, name: str = None) -> tensor",
    .doc = "A bucket for each string, by its hash.");

TW_OP(
    StringToHashBucketStrong, .inputs = "input: string", .outputs = "output: int64",
    .attrs = "num_buckets: int >= 1, key: list(int)", .shape = tw_shape_same, .compute = strong_compute,
    .function =
        "strings.to_hash_bucket_strong|compat.v1.string_to_hash_bucket_strong(input: tensor<string>|ragged, num_buckets: int, key: ints, "
        "name: str = None) -> tensor",
    .doc =
        "A bucket for each string, by a hash with a key of two integers, which nobody can make strings for that meet in one bucket.\n"
        "key: two integers");
