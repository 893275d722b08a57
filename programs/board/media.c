/* Pictures and sounds, by TensorBoard's routes.
 *
 *     images/tags, images/images?run&tag&sample, images/individualImage?blob_key; audio alike
 *
 * A blob key is the base 64 of a JSON list: [experiment, plugin, run, tag, step, index]. */
#include <stdlib.h>
#include <string.h>

#include "board.h"

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* JSON of ASCII letters only. */
static void put_ascii(FILE *out, const char *text)
{
    fputc('"', out);
    const uint8_t *at = (const uint8_t *)text;
    while (*at) {
        size_t size = board_utf8(at, strlen((const char *)at));
        if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at);
        } else if (*at < 32 || *at == 127) {
            static const char named[] = "\b\f\n\r\t", names[] = "bfnrt";
            const char *found = strchr(named, *at);
            *at == 127 ? fprintf(out, "\x7f") : found ? fprintf(out, "\\%c", names[found - named]) : fprintf(out, "\\u%04x", *at);
        } else if (*at < 128 || !size) {
            fputc(*at, out);
        } else {
            unsigned code = size == 2 ? *at & 31u : size == 3 ? *at & 15u : *at & 7u;
            for (size_t i = 1; i < size; i++)
                code = code << 6 | (at[i] & 63u);
            if (code >= 0x10000)
                fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
            else
                fprintf(out, "\\u%04x", code);
        }
        at += size ? size : 1;
    }
    fputc('"', out);
}

void board_put_blob_key(FILE *out, const char *plugin, const char *run, const char *tag, int64_t step, int64_t index)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *inner = open_memstream(&memory, &size);
    if (!inner)
        return;
    fprintf(inner, "[\"\",\"%s\",", plugin);
    put_ascii(inner, run);
    fputc(',', inner);
    put_ascii(inner, tag);
    fprintf(inner, ",%lld,%lld]", (long long)step, (long long)index);
    fclose(inner);
    const uint8_t *data = (const uint8_t *)memory;
    for (size_t i = 0; memory && i < size; i += 3) {
        size_t left = size - i;
        unsigned bits = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) | (left > 2 ? data[i + 2] : 0);
        for (size_t k = 0; k <= (left > 2 ? 3 : left); k++)
            fputc(LETTERS[bits >> (18 - 6 * k) & 63], out);
    }
    free(memory);
}

/* The text behind a key; false: it is none. */
static bool decode(const char *key, char *out, size_t room)
{
    unsigned bits = 0;
    size_t count = 0, size = 0;
    for (; *key && *key != '='; key++) {
        const char *found = strchr(LETTERS, *key);
        if (!found || size + 2 >= room)
            return false;
        bits = bits << 6 | (unsigned)(found - LETTERS);
        if (++count % 4 != 1)
            out[size++] = (char)(bits >> (count % 4 == 2 ? 4 : count % 4 == 3 ? 2 : 0));
    }
    out[size] = 0;
    return true;
}

static const char *type_of(const board_field *bytes)
{
    static const struct {
        const char *start, *type;
        size_t size;
    } kinds[] = { { "\x89PNG", "image/png", 4 },   { "GIF8", "image/gif", 4 }, { "RIFF", "audio/wav", 4 },
                  { "\xff\xd8", "image/jpeg", 2 }, { "BM", "image/bmp", 2 },   { "ID3", "audio/mpeg", 3 },
                  { "OggS", "audio/ogg", 4 },      { "fLaC", "audio/flac", 4 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (bytes->size >= kinds[i].size && memcmp(bytes->data, kinds[i].start, kinds[i].size) == 0)
            return kinds[i].type;
    }
    return "application/octet-stream";
}

static void put_bytes(board *b, const board_run *run, const board_place *place, int64_t index, board_answer *answer)
{
    board_value value;
    board_field bytes;
    bool good = board_fetch(b, run, place, &value) && board_string(&value, index, &bytes);
    if (good) {
        answer->type = type_of(&bytes);
        fwrite(bytes.data, 1, bytes.size, answer->body);
    } else {
        board_refused(answer, 404, "there is no such picture or sound");
    }
    board_value_free(&value);
}

void board_put_blob(board *b, const char *key, board_answer *answer, bool sound)
{
    char text[2 * BOARD_NAME_LIMIT], plugin[64], run_name[BOARD_NAME_LIMIT], tag_name[BOARD_NAME_LIMIT];
    double step = 0, index = 0;
    bool good = decode(key, text, sizeof text) && board_json_valid(text) &&
                board_json_string(board_json_element(text, 1), plugin, sizeof plugin) &&
                board_json_string(board_json_element(text, 2), run_name, sizeof run_name) &&
                board_json_string(board_json_element(text, 3), tag_name, sizeof tag_name) &&
                board_json_number(board_json_element(text, 4), &step) && board_json_number(board_json_element(text, 5), &index);
    const board_run *run = good ? board_find_run(b, run_name) : NULL;
    const board_tag *tag = board_find_tag(run, tag_name, sound ? "audio" : "images");
    for (size_t i = 0; tag && i < tag->place_count; i++) {
        if ((double)tag->places[i].step == step && index >= 0 && index < 1e9) {
            put_bytes(b, run, &tag->places[i], (int64_t)index * (sound ? 2 : 1), answer);
            return;
        }
    }
    board_refused(answer, 404, "there is no such picture or sound");
}

/* ---- routes ---- */

static void put_image_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    board_put_tags(b, "images", true, answer->body);
}

static void put_audio_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    board_put_tags(b, "audio", true, answer->body);
}

static void put_list(board *b, const board_request *request, board_answer *answer, const char *plugin)
{
    const board_run *run;
    const board_tag *tag;
    bool sound = strcmp(plugin, "audio") == 0, first = true;
    FILE *out = answer->body;
    if (!board_asked(b, request, plugin, 404, answer, &run, &tag))
        return;
    int64_t sample = board_parameter_count(request->query, "sample", 0);
    fputc('[', out);
    for (size_t i = 0; i < tag->place_count && sample >= 0; i++) {
        const board_place *place = &tag->places[i];
        board_value value = { 0 };
        bool there = true;
        if (sample > 0) {
            there = board_fetch(b, run, place, &value) && board_strings(&value) > (sound ? 2 * sample : sample + 2);
            board_value_free(&value);
        }
        if (!there)
            continue;
        fputs(first ? "{\"wall_time\":" : ",{\"wall_time\":", out);
        first = false;
        board_put_number(out, place->wall_time);
        fprintf(out, ",\"step\":%lld,%s\"query\":\"blob_key=", (long long)place->step,
                sound ? "\"label\":\"\",\"contentType\":\"audio/wav\"," : "");
        board_put_blob_key(out, plugin, run->name, tag->name, place->step, sound ? sample : sample + 2);
        fputs(sound ? "&content_type=audio%2Fwav\"}" : "\"}", out);
    }
    fputc(']', out);
}

static void put_images(board *b, const board_request *request, board_answer *answer)
{
    put_list(b, request, answer, "images");
}

static void put_sounds(board *b, const board_request *request, board_answer *answer)
{
    put_list(b, request, answer, "audio");
}

static void put_one(board *b, const board_request *request, board_answer *answer, bool sound)
{
    char key[2 * BOARD_NAME_LIMIT];
    if (board_parameter(request->query, "blob_key", 0, key, sizeof key))
        board_put_blob(b, key, answer, sound);
    else
        board_refused(answer, 400, "Invalid run, tag, index, or sample");
}

static void put_image(board *b, const board_request *request, board_answer *answer)
{
    put_one(b, request, answer, false);
}

static void put_sound(board *b, const board_request *request, board_answer *answer)
{
    put_one(b, request, answer, true);
}

const board_route board_media_routes[] = {
    { "images", "tags", put_image_tags, NULL },
    { "images", "images", put_images, NULL },
    { "images", "individualImage", put_image, NULL },
    { "audio", "tags", put_audio_tags, NULL },
    { "audio", "audio", put_sounds, NULL },
    { "audio", "individualAudio", put_sound, NULL },
    { 0 },
};
