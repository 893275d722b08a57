/* Decompression by zlib, of all of a deflate stream at once. zlib's memory comes from tw__alloc. */
#include <limits.h>
#include <zlib.h>

#include "codec/codec.h"

static voidpf allocate(voidpf opaque, uInt count, uInt size)
{
    (void)opaque;
    return tw__alloc_array(count, size);
}

static void release(voidpf opaque, voidpf memory)
{
    (void)opaque;
    tw__free(memory);
}

/* zlib counts in unsigned int; larger buffers are given to it piece by piece. */
static uInt piece(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

bool tw__inflate(const void *data, size_t size, tw__deflated kind, void *out, size_t out_size)
{
    z_stream stream = { .zalloc = allocate, .zfree = release };
    if (inflateInit2(&stream, kind) != Z_OK)
        return false;
    uint8_t nothing; /* zlib wants a place to write to even if nothing is to come */
    const uint8_t *from = data;
    uint8_t *to = out ? out : &nothing;
    size_t from_left = size, to_left = out_size;
    int result = Z_OK;
    while (result == Z_OK) {
        uInt give = piece(from_left), room = piece(to_left);
        stream.next_in = (z_const Bytef *)from;
        stream.avail_in = give;
        stream.next_out = to;
        stream.avail_out = room;
        result = inflate(&stream, Z_NO_FLUSH);
        size_t taken = give - stream.avail_in, made = room - stream.avail_out;
        from += taken;
        from_left -= taken;
        to += made;
        to_left -= made;
        if (result == Z_OK && taken == 0 && made == 0)
            break;
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END && to_left == 0;
}

bool tw__inflate_all(const void *data, size_t size, tw__deflated kind, tw__text *out)
{
    z_stream stream = { .zalloc = allocate, .zfree = release, .next_in = (z_const Bytef *)data, .avail_in = piece(size) };
    if (size > UINT_MAX || inflateInit2(&stream, kind) != Z_OK)
        return false;
    uint8_t block[16384];
    int result = Z_OK;
    while (result == Z_OK && !out->failed) {
        stream.next_out = block;
        stream.avail_out = sizeof block;
        result = inflate(&stream, Z_NO_FLUSH);
        tw__text_bytes(out, block, sizeof block - stream.avail_out);
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END && !out->failed;
}
