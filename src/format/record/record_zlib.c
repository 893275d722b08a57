/* Records in compressed files: streams of zlib, made and read piece by piece, so that memory does not grow with the file.
 *
 * GZIP files may consist of several members; ZLIB files end with their first stream. zlib's memory comes from tw__alloc. */
#include <zlib.h>

#include "format/record/record.h"

enum { PIECE = 1 << 16 };

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

bool tw__compression_find(const char *name, tw__compression *compression)
{
    static const char *const names[] = { "", "ZLIB", "GZIP" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(name ? name : "", names[i]) == 0) {
            *compression = (tw__compression)i;
            return true;
        }
    }
    return false;
}

tw__deflate_options tw__deflate_options_default(tw__compression compression)
{
    return (tw__deflate_options){ .compression = compression,
                                  .level = Z_DEFAULT_COMPRESSION,
                                  .window_bits = 15,
                                  .method = Z_DEFLATED,
                                  .mem_level = 9,
                                  .strategy = Z_DEFAULT_STRATEGY,
                                  .flush_mode = Z_NO_FLUSH };
}

/* ---- compressing ---- */

struct tw__deflater {
    z_stream stream;
    const char *path;
};

static tw_status deflate_failed(const tw__deflater *deflater, int result)
{
    if (tw_error_code() != TW_OK) /* memory */
        return tw__error_status();
    return tw__fail(TW_INVALID_ARGUMENT, "%s: deflate() failed with error %d: %s", deflater->path, result,
                    deflater->stream.msg ? deflater->stream.msg : "the options of compression don't go together");
}

tw__deflater *tw__deflater_new(const tw__deflate_options *options, const char *path)
{
    tw__deflater *deflater = tw__alloc_zero(sizeof *deflater);
    if (!deflater)
        return NULL;
    deflater->stream.zalloc = allocate;
    deflater->stream.zfree = release;
    deflater->path = path;
    int bits = options->window_bits + (options->compression == TW_COMPRESSION_GZIP ? 16 : 0);
    int result = deflateInit2(&deflater->stream, options->level, options->method, bits, options->mem_level, options->strategy);
    if (result == Z_OK)
        return deflater;
    deflate_failed(deflater, result);
    tw__free(deflater);
    return NULL;
}

void tw__deflater_free(tw__deflater *deflater)
{
    if (deflater)
        deflateEnd(&deflater->stream);
    tw__free(deflater);
}

tw_status tw__deflater_add(tw__deflater *deflater, const void *data, size_t size, int flush, tw__text *out)
{
    z_stream *stream = &deflater->stream;
    const uint8_t *at = data;
    uint8_t made[PIECE / 4];
    bool last;
    do {
        size_t give = size < (1u << 30) ? size : (1u << 30);
        last = give == size;
        stream->next_in = (z_const Bytef *)at;
        stream->avail_in = (uInt)give;
        do {
            stream->next_out = made;
            stream->avail_out = sizeof made;
            int result = deflate(stream, last ? flush : Z_NO_FLUSH);
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
                return deflate_failed(deflater, result);
            tw__text_bytes(out, made, sizeof made - stream->avail_out);
        } while (stream->avail_out == 0);
        at += give;
        size -= give;
    } while (!last);
    return out->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

/* ---- and back ---- */

struct tw__inflater {
    z_stream stream;
    bool several; /* streams may follow one another */
    bool between; /* one has ended, and nothing was seen of the next */
    bool ended;
    uint8_t given[PIECE];
};

tw__inflater *tw__inflater_new(tw__compression compression)
{
    tw__inflater *inflater = tw__alloc_zero(sizeof *inflater);
    if (!inflater)
        return NULL;
    inflater->stream.zalloc = allocate;
    inflater->stream.zfree = release;
    inflater->several = compression == TW_COMPRESSION_GZIP;
    if (inflateInit2(&inflater->stream, compression == TW_COMPRESSION_GZIP ? 31 : 15) == Z_OK)
        return inflater;
    tw__no_memory(sizeof inflater->given);
    tw__free(inflater);
    return NULL;
}

void tw__inflater_free(tw__inflater *inflater)
{
    if (inflater)
        inflateEnd(&inflater->stream);
    tw__free(inflater);
}

static tw_status fetch(tw__inflater *inflater, const tw__file_reader *file, int64_t *place)
{
    int64_t left = file->size - *place;
    size_t size = left < PIECE ? (size_t)left : PIECE;
    TW_TRY(tw__file_read_at(file, *place, inflater->given, size));
    inflater->stream.next_in = inflater->given;
    inflater->stream.avail_in = (uInt)size;
    *place += (int64_t)size;
    return TW_OK;
}

tw_status tw__inflater_read(tw__inflater *inflater, const tw__file_reader *file, int64_t *place, void *out, size_t room,
                            size_t *got)
{
    z_stream *stream = &inflater->stream;
    uInt limit = room < (1u << 30) ? (uInt)room : (1u << 30);
    *got = 0;
    stream->next_out = out;
    stream->avail_out = limit;
    while (!inflater->ended && stream->avail_out == limit) {
        if (stream->avail_in == 0) {
            if (*place >= file->size)
                return TW_OK; /* the end, or somebody is writing */
            TW_TRY(fetch(inflater, file, place));
        }
        if (inflater->between) {
            inflateReset(stream);
            inflater->between = false;
        }
        int result = inflate(stream, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            inflater->between = inflater->several;
            inflater->ended = !inflater->several;
        } else if (result == Z_MEM_ERROR) {
            return tw_error_code() != TW_OK ? tw__error_status() : tw__no_memory(0);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return tw__fail(TW_DATA_LOSS, "%s: inflate() failed with error %d: %s", file->path, result,
                            stream->msg ? stream->msg : "the bytes are no compressed stream");
        }
    }
    *got = limit - stream->avail_out;
    return TW_OK;
}
