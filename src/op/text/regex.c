/* Regular expressions. The syntax is RE2's, which is a part of Perl's with a few differences; PCRE2, loaded with the first
 * pattern, does the matching. `translate` refuses what RE2 does not know, in its words, and rewrites what means something else
 * there. A match that takes too many steps is an error (PCRE2 goes back, RE2 does not). */
#include <pthread.h>

#include "op/text/text.h"
#include "rows.h"

enum {
    NO_MATCH = -1,
    ERROR_ROOM = 200,
    REPEAT_LIMIT = 1000,
};
#define OPTION_DOLLAR_ENDONLY 0x00000010u
#define OPTION_UTF 0x00080000u
#define OPTION_MATCH_INVALID_UTF 0x04000000u
#define OPTION_ENDANCHORED 0x20000000u
#define OPTION_ANCHORED 0x80000000u

typedef struct code code;
typedef struct match_data match_data;

static struct {
    void *(*general_context_create)(void *(*allocate)(size_t, void *), void (*end)(void *, void *), void *data);
    void *(*compile_context_create)(void *general);
    code *(*compile)(const unsigned char *pattern, size_t size, uint32_t options, int *error, size_t *offset, void *context);
    void (*code_free)(code *code);
    match_data *(*match_data_create)(const code *code, void *general);
    void (*match_data_free)(match_data *data);
    int (*match)(const code *code, const unsigned char *subject, size_t size, size_t start, uint32_t options, match_data *data,
                 void *context);
    size_t *(*ovector)(match_data *data);
    int (*error_message)(int error, unsigned char *buffer, size_t room);
    void *general, *context;
    bool available;
} pcre;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *allocate(size_t size, void *unused)
{
    (void)unused;
    return tw__alloc(size);
}

static void end_memory(void *memory, void *unused)
{
    (void)unused;
    tw__free(memory);
}

static void load(void)
{
#define FIND(member, name)                        \
    {                                             \
        "pcre2_" name "_8", (void **)&pcre.member \
    }
    static const tw__symbol symbols[] = {
        FIND(general_context_create, "general_context_create"),
        FIND(compile_context_create, "compile_context_create"),
        FIND(compile, "compile"),
        FIND(code_free, "code_free"),
        FIND(match_data_create, "match_data_create_from_pattern"),
        FIND(match_data_free, "match_data_free"),
        FIND(match, "match"),
        FIND(ovector, "get_ovector_pointer"),
        FIND(error_message, "get_error_message"),
    };
#undef FIND
    if (!tw__library_load("libpcre2-8.so.0", symbols, sizeof symbols / sizeof *symbols))
        return;
    pcre.general = pcre.general_context_create(allocate, end_memory, NULL);
    pcre.context = pcre.general ? pcre.compile_context_create(pcre.general) : NULL;
    pcre.available = pcre.context;
}

/* ---- RE2's syntax ---- */

typedef struct translation {
    const char *at, *end;
    tw__text out;
    char error[ERROR_ROOM];
    int groups; /* capturing */
} translation;

static bool refuse(translation *t, const char *what, const char *from, size_t size)
{
    snprintf(t->error, sizeof t->error, "%s%s%.*s", what, size ? ": " : "", (int)(size < 150 ? size : 150), from);
    return false;
}

/* {2}, {2,}, {2,3}: its length, 0 if it is none; `good`: the sizes are allowed. */
static size_t repeat_size(const char *at, const char *end, bool *good)
{
    const char *p = at + 1;
    long low = 0, high = 0;
    if (p == end || *p < '0' || *p > '9')
        return 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        low = low > REPEAT_LIMIT ? low : low * 10 + (*p - '0');
    high = low;
    if (p < end && *p == ',') {
        bool open = ++p < end && *p == '}';
        for (high = 0; p < end && *p >= '0' && *p <= '9'; p++)
            high = high > REPEAT_LIMIT ? high : high * 10 + (*p - '0');
        if (open)
            high = low;
    }
    if (p == end || *p != '}')
        return 0;
    *good = low <= REPEAT_LIMIT && high <= REPEAT_LIMIT && low <= high;
    return (size_t)(p + 1 - at);
}

static bool take_escape(translation *t, bool in_class)
{
    if (t->at + 1 == t->end)
        return refuse(t, "trailing \\", "", 0);
    char c = t->at[1];
    bool octal = c >= '1' && c <= '7' && t->at + 2 < t->end && t->at[2] >= '0' && t->at[2] <= '7';
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '1' && c <= '9');
    if (letter && !octal && !strchr(in_class ? "dDsSwWpPafnrtvx" : "AbBCdDsSwWzQEpPafnrtvx", c))
        return refuse(t, "invalid escape sequence", t->at, 2);
    if (c == 'v') {
        tw__text_add(&t->out, "\\x0b");
    } else if (c == 's' || (c == 'S' && !in_class)) {
        tw__text_format(&t->out, "%s\\t\\n\\f\\r %s", in_class ? "" : c == 's' ? "[" : "[^", in_class ? "" : "]");
    } else if (c == 'Q' && !in_class) {
        const char *close = memmem(t->at, (size_t)(t->end - t->at), "\\E", 2);
        close = close ? close + 2 : t->end;
        tw__text_bytes(&t->out, t->at, (size_t)(close - t->at));
        t->at = close;
        return true;
    } else if (octal) {
        int value = 0, digits = 0;
        for (t->at++; t->at < t->end && digits < 3 && *t->at >= '0' && *t->at <= '7'; t->at++, digits++)
            value = value * 8 + (*t->at - '0');
        tw__text_format(&t->out, "\\x{%x}", (unsigned)value);
        return true;
    } else {
        tw__text_bytes(&t->out, t->at, 2);
    }
    t->at += 2;
    return true;
}

static bool take_class(translation *t)
{
    const char *start = t->at++;
    tw__text_add(&t->out, "[");
    if (t->at < t->end && *t->at == '^') {
        tw__text_add(&t->out, "^");
        t->at++;
    }
    for (bool first = true; t->at < t->end; first = false) {
        if (*t->at == ']' && !first) {
            tw__text_add(&t->out, "]");
            t->at++;
            return true;
        }
        const char *close = *t->at == '[' && t->at + 1 < t->end && t->at[1] == ':'
                                ? memmem(t->at + 2, (size_t)(t->end - t->at - 2), ":]", 2)
                                : NULL;
        if (*t->at == '\\') {
            if (!take_escape(t, true))
                return false;
        } else if (close) {
            tw__text_bytes(&t->out, t->at, (size_t)(close + 2 - t->at));
            t->at = close + 2;
        } else {
            if (*t->at == '[' || *t->at == ']')
                tw__text_add(&t->out, "\\");
            tw__text_bytes(&t->out, t->at++, 1);
        }
    }
    return refuse(t, "missing ]", start, (size_t)(t->end - start));
}

/* "(", "(?:", "(?i)", "(?P<name>". */
static bool take_group(translation *t)
{
    const char *p = t->at + 1;
    if (p == t->end || *p != '?') {
        t->groups++;
        tw__text_add(&t->out, "(");
        t->at++;
        return true;
    }
    p++;
    if (p + 1 < t->end && p[0] == 'P' && p[1] == '<') {
        t->groups++;
    } else {
        while (p < t->end && *p && strchr("imsU-", *p))
            p++;
        if (p < t->end && *p != ':' && *p != ')')
            return refuse(t, "invalid perl operator", t->at, (size_t)(p + 1 - t->at));
        if (p == t->end)
            return refuse(t, "missing )", t->at, (size_t)(t->end - t->at));
    }
    tw__text_bytes(&t->out, t->at, (size_t)(p - t->at));
    t->at = p;
    return true;
}

/* Reads a repetition; `again`: one stands right before it. */
static bool take_repeat(translation *t, size_t size, bool good, bool empty, const char *before)
{
    const char *start = t->at;
    if (empty)
        return refuse(t, "no argument for repetition operator", start, size);
    if (before)
        return refuse(t, "bad repetition operator", before, (size_t)(start - before) + size);
    if (!good)
        return refuse(t, "invalid repetition size", start, size);
    t->at += size;
    if (t->at < t->end && *t->at == '?')
        t->at++;
    tw__text_bytes(&t->out, start, (size_t)(t->at - start));
    return true;
}

static bool translate(translation *t, tw_string pattern)
{
    int depth = 0;
    bool empty = true;           /* nothing stands here that could be repeated */
    const char *repeated = NULL; /* the repetition that ends here */
    *t = (translation){ .at = pattern.data, .end = pattern.data + pattern.size };
    while (t->at < t->end) {
        const char *start = t->at;
        bool good = true;
        size_t braces = *start == '{' ? repeat_size(start, t->end, &good) : 0;
        if (*start == '*' || *start == '+' || *start == '?' || braces) {
            if (!take_repeat(t, braces ? braces : 1, good, empty, repeated))
                return false;
            repeated = start;
            continue;
        }
        repeated = NULL;
        empty = *start == '(' || *start == '|';
        bool fine = true;
        if (*start == '\\') {
            fine = take_escape(t, false);
        } else if (*start == '[') {
            fine = take_class(t);
        } else if (*start == '(') {
            depth++;
            fine = take_group(t);
            if (fine && t->at < t->end && t->at > start + 1 && (*t->at == ':' || *t->at == ')') && *start == '(') {
                depth -= *t->at == ')';
                tw__text_bytes(&t->out, t->at++, 1);
            }
        } else {
            depth += *start == ')' ? -1 : 0;
            if (depth < 0)
                return refuse(t, "unexpected )", pattern.data, pattern.size);
            tw__text_bytes(&t->out, t->at++, 1);
        }
        if (!fine)
            return false;
    }
    return depth ? refuse(t, "missing )", pattern.data, pattern.size) : true;
}

/* ---- patterns ---- */

typedef struct regex {
    code *code;
    match_data *data;
    int groups;
} regex;

static void regex_end(regex *r)
{
    if (r->data)
        pcre.match_data_free(r->data);
    if (r->code)
        pcre.code_free(r->code);
}

static tw_status regex_make(tw_string pattern, regex *r)
{
    *r = (regex){ 0 };
    pthread_once(&once, load);
    if (!pcre.available)
        return tw__fail(TW_UNIMPLEMENTED, "regular expressions need the library libpcre2-8.so.0, which is not there");
    if (!pattern.size)
        pattern.data = "";
    translation t;
    bool good = translate(&t, pattern);
    tw_status status = t.out.failed ? tw__error_status() : TW_OK;
    if (good && status == TW_OK) {
        int error;
        size_t offset;
        r->groups = t.groups;
        r->code = pcre.compile((const unsigned char *)(t.out.data ? t.out.data : ""), t.out.size,
                               OPTION_UTF | OPTION_DOLLAR_ENDONLY | OPTION_MATCH_INVALID_UTF, &error, &offset, pcre.context);
        if (!r->code)
            pcre.error_message(error, (unsigned char *)t.error, sizeof t.error);
    }
    if (status == TW_OK && !r->code)
        status = tw__fail(TW_INVALID_ARGUMENT, "Invalid pattern: %.*s, error: %s", (int)(pattern.size < 500 ? pattern.size : 500),
                          pattern.data, t.error);
    tw__text_free(&t.out);
    r->data = r->code ? pcre.match_data_create(r->code, pcre.general) : NULL;
    if (status == TW_OK && !r->data)
        status = tw__no_memory(0);
    return status;
}

/* Sets *found to whether there is a match from `start` on; its places are in the ovector. */
static tw_status regex_match(regex *r, tw_string s, size_t start, uint32_t options, bool *found)
{
    int result = pcre.match(r->code, (const unsigned char *)(s.data ? s.data : ""), s.size, start, options, r->data, NULL);
    *found = result >= 0;
    if (result >= 0 || result == NO_MATCH)
        return TW_OK;
    unsigned char message[ERROR_ROOM] = "";
    pcre.error_message(result, message, sizeof message);
    return tw__fail(TW_RESOURCE_EXHAUSTED, "matching a string of %zu bytes failed: %s", s.size, message);
}

/* ---- RegexFullMatch ---- */

static tw_status full_match_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *inference->shapes[0];
    return inference->input_count > 1 ? tw__need_scalar(inference, 1, "Pattern must be scalar, but received") : TW_OK;
}

static tw_status full_match_compute(tw__kernel *kernel)
{
    regex r;
    tw_string pattern = kernel->input_count > 1 ? tw__strings(kernel->inputs[1])[0] : TW_ATTR(kernel, "pattern")->s;
    tw_status status = regex_make(pattern, &r);
    for (int64_t i = 0; status == TW_OK && i < kernel->outputs[0]->count; i++)
        status = regex_match(&r, tw__strings(kernel->inputs[0])[i], 0, OPTION_ANCHORED | OPTION_ENDANCHORED,
                             (bool *)kernel->outputs[0]->data + i);
    regex_end(&r);
    return status;
}

TW_OP(RegexFullMatch, .inputs = "input: string, pattern: string", .outputs = "output: bool", .shape = full_match_shape,
      .compute = full_match_compute,
      .function = "strings.regex_full_match(input: tensor<string>|ragged, pattern: tensor<string>, "
                  "name: str = None) -> tensor",
      .doc = "Whether the whole of each string is what a regular expression says.\n"
             "example: tf.strings.regex_full_match(['a1', 'b'], '[a-z][0-9]').numpy().tolist()  # [True, False]");

TW_OP(StaticRegexFullMatch, .inputs = "input: string", .outputs = "output: bool", .attrs = "pattern: string",
      .shape = full_match_shape, .compute = full_match_compute,
      .doc = "Whether the whole of each string is what a regular expression says.");

/* ---- RegexReplace ---- */

/* Adds the rewriting of a match. False: it has an escape that is none; what stands before it was added. */
static bool add_rewriting(tw__text *text, tw_string rewrite, tw_string s, const size_t *places)
{
    for (size_t i = 0; i < rewrite.size; i++) {
        char c = rewrite.data[i];
        if (c != '\\') {
            tw__text_bytes(text, &c, 1);
            continue;
        }
        c = ++i < rewrite.size ? rewrite.data[i] : 0;
        if (c >= '0' && c <= '9') {
            size_t from = places[2 * (c - '0')], to = places[2 * (c - '0') + 1];
            if (from != SIZE_MAX)
                tw__text_bytes(text, s.data + from, to - from);
        } else if (c == '\\') {
            tw__text_bytes(text, &c, 1);
        } else {
            return false;
        }
    }
    return true;
}

static int highest_group(tw_string rewrite)
{
    int highest = 0;
    for (size_t i = 0; i + 1 < rewrite.size; i++) {
        if (rewrite.data[i] != '\\')
            continue;
        int digit = rewrite.data[++i] - '0';
        if (digit >= 0 && digit <= 9 && digit > highest)
            highest = digit;
    }
    return highest;
}

static size_t character_size(tw_string s, size_t at)
{
    size_t size = 1;
    while ((unsigned char)s.data[at] >= 0xC0 && at + size < s.size && size < 4 &&
           ((unsigned char)s.data[at + size] & 0xC0) == 0x80)
        size++;
    return size;
}

static tw_status replace_one(regex *r, tw_string s, tw_string rewrite, bool all, tw__text *text)
{
    size_t at = 0, last_end = SIZE_MAX;
    while (at <= s.size) {
        bool found;
        TW_TRY(regex_match(r, s, at, 0, &found));
        if (!found)
            break;
        const size_t *places = pcre.ovector(r->data);
        size_t from = places[0], to = places[1];
        if (s.size)
            tw__text_bytes(text, s.data + at, from - at);
        if (from == to && from == last_end) { /* no empty match right behind another */
            if (from == s.size)
                return TW_OK;
            size_t size = character_size(s, from);
            tw__text_bytes(text, s.data + from, size);
            at = from + size;
            last_end = SIZE_MAX;
            continue;
        }
        size_t before = text->size;
        if (!add_rewriting(text, rewrite, s, places) && !all) {
            text->size = before;
            tw__text_bytes(text, s.data + from, s.size - from);
            return TW_OK;
        }
        at = last_end = to;
        if (!all)
            break;
    }
    if (at < s.size)
        tw__text_bytes(text, s.data + at, s.size - at);
    return TW_OK;
}

static tw_status replace_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *inference->shapes[0];
    if (inference->input_count == 1)
        return TW_OK;
    TW_TRY(tw__need_scalar(inference, 1, "Pattern must be scalar, but received"));
    return tw__need_scalar(inference, 2, "Rewrite must be scalar, but received");
}

static tw_status replace_compute(tw__kernel *kernel)
{
    bool given = kernel->input_count > 1;
    tw_string pattern = given ? tw__strings(kernel->inputs[1])[0] : TW_ATTR(kernel, "pattern")->s;
    tw_string rewrite = given ? tw__strings(kernel->inputs[2])[0] : TW_ATTR(kernel, "rewrite")->s;
    bool all = TW_ATTR(kernel, "replace_global")->b;
    regex r;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw_status status = regex_make(pattern, &r);
    bool possible = highest_group(rewrite) <= r.groups; /* else RE2 leaves strings as they are */
    for (int64_t i = 0; status == TW_OK && i < kernel->outputs[0]->count; i++) {
        tw_string s = tw__strings(kernel->inputs[0])[i];
        if (possible)
            status = replace_one(&r, s, rewrite, all, &text);
        else
            tw__text_bytes(&text, s.data, s.size);
        if (status == TW_OK)
            status = tw__string_from_text(kernel->outputs[0], i, &text);
    }
    regex_end(&r);
    return status;
}

TW_OP(RegexReplace, .inputs = "input: string, pattern: string, rewrite: string", .outputs = "output: string",
      .attrs = "replace_global: bool = true", .shape = replace_shape, .compute = replace_compute,
      .function = "strings.regex_replace|compat.v1.regex_replace(input: tensor<string>|ragged, pattern: tensor<string>, "
                  "rewrite: tensor<string>, replace_global: bool = True, name: str = None) -> tensor",
      .doc = "What a regular expression finds, replaced.\n"
             "rewrite: what stands in its place; `\\1` is the first group\n"
             "replace_global: False: replace the first place alone\n"
             "example: tf.strings.regex_replace('a1b22', '[0-9]+', '#').numpy()  # b'a#b#'");

TW_OP(StaticRegexReplace, .inputs = "input: string", .outputs = "output: string",
      .attrs = "pattern: string, rewrite: string, replace_global: bool = true", .shape = replace_shape,
      .compute = replace_compute, .doc = "What a regular expression finds, replaced; \\\\1 in the new text is the first group.");
