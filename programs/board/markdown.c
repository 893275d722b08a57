/* Markdown as HTML: headings, paragraphs, lists, tables, quotes, code; emphasis, code, links and pictures inside of lines.
 *
 * Whatever looks like markup in the text is escaped, and an address is kept only if its protocol is harmless, so the result holds
 * no elements but those that are written here. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "board.h"

enum { LEVELS = 8 };

typedef struct line {
    const char *text;
    size_t size;
} line;

/* ---- inside of lines ---- */

static bool is_entity(const char *text, size_t size)
{
    size_t i = 1;
    if (size > 2 && text[1] == '#')
        i = 2;
    size_t start = i;
    while (i < size && i < 12 && isalnum((unsigned char)text[i]))
        i++;
    return i > start && i < size && text[i] == ';';
}

static void put_letter(FILE *out, const char *text, size_t size)
{
    if (*text == '&')
        fputs(is_entity(text, size) ? "&" : "&amp;", out);
    else if (*text == '<' || *text == '>')
        fputs(*text == '<' ? "&lt;" : "&gt;", out);
    else if (*text)
        fputc(*text, out);
}

void board_put_escaped(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_letter(out, text + i, size - i);
}

/* All of it as it stands: also entities. */
static void put_code(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        text[i] == '&' ? (void)fputs("&amp;", out) : put_letter(out, text + i, size - i);
}

static void put_quoted(FILE *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        text[i] == '"' ? (void)fputs("&quot;", out) : put_letter(out, text + i, size - i);
}

static bool is_harmless(const char *url, size_t size)
{
    static const char *const known[] = { "http:", "https:", "mailto:" };
    for (size_t i = 0; i < size; i++) {
        if (url[i] == '/' || url[i] == '?' || url[i] == '#')
            break;
        if (url[i] != ':')
            continue;
        for (size_t k = 0; k < 3; k++) {
            if (i + 1 == strlen(known[k]) && strncasecmp(url, known[k], i + 1) == 0)
                return true;
        }
        return false;
    }
    return true;
}

static const char *find(const char *text, const char *end, const char *what)
{
    size_t size = strlen(what);
    for (; text + size <= end; text++) {
        if (*text == '\\' && text + 1 < end)
            text++;
        else if (memcmp(text, what, size) == 0)
            return text;
    }
    return NULL;
}

static void put_inline(FILE *out, const char *at, const char *end, int level);

/* [text](address "title") or ![text](address); what is behind it, or NULL: it is none. */
static const char *put_link(FILE *out, const char *at, const char *end, int level)
{
    bool picture = *at == '!';
    const char *text = at + (picture ? 2 : 1), *close = text;
    int depth = 1;
    for (; close < end && depth; close++)
        depth += *close == '[' ? 1 : *close == ']' ? -1 : 0;
    if (depth || close >= end || *close != '(')
        return NULL;
    const char *url = close + 1, *stop = url;
    for (depth = 1; stop < end && depth; stop++)
        depth += *stop == '(' ? 1 : *stop == ')' ? -1 : 0;
    if (depth)
        return NULL;
    const char *title = find(url, stop - 1, " \""), *url_end = title ? title : stop - 1;
    fputs(picture ? "<img" : "<a", out);
    if (picture) {
        fputs(" alt=\"", out);
        put_quoted(out, text, (size_t)(close - 1 - text));
        fputc('"', out);
    }
    if (is_harmless(url, (size_t)(url_end - url))) {
        fputs(picture ? " src=\"" : " href=\"", out);
        put_quoted(out, url, (size_t)(url_end - url));
        fputc('"', out);
    }
    if (title && stop - 2 > title + 1) {
        fputs(" title=\"", out);
        put_quoted(out, title + 2, (size_t)(stop - 2 - (title + 2)));
        fputc('"', out);
    }
    fputc('>', out);
    if (!picture) {
        put_inline(out, text, close - 1, level + 1);
        fputs("</a>", out);
    }
    return stop;
}

/* `code`, with as many ` at both ends. */
static const char *put_span(FILE *out, const char *at, const char *end)
{
    size_t marks = 0;
    while (at + marks < end && at[marks] == '`')
        marks++;
    for (const char *stop = at + marks; stop + marks <= end; stop++) {
        if (memcmp(stop, at, marks) != 0 || (stop + marks < end && stop[marks] == '`'))
            continue;
        const char *from = at + marks;
        while (from < stop && *from == ' ')
            from++;
        const char *to = stop;
        while (to > from && to[-1] == ' ')
            to--;
        fputs("<code>", out);
        put_code(out, from, (size_t)(to - from));
        fputs("</code>", out);
        return stop + marks;
    }
    return NULL;
}

static const char *put_emphasis(FILE *out, const char *at, const char *start, const char *end, int level)
{
    char marks[3] = { *at, at + 1 < end && at[1] == *at ? *at : 0, 0 };
    size_t size = strlen(marks);
    if (*at == '_' && at > start && isalnum((unsigned char)at[-1]))
        return NULL;
    const char *inside = at + size, *stop = inside < end && !isspace((unsigned char)*inside) ? find(inside, end, marks) : NULL;
    while (stop && (isspace((unsigned char)stop[-1]) || (*at == '_' && stop + size < end && isalnum((unsigned char)stop[size]))))
        stop = find(stop + 1, end, marks);
    if (!stop || stop == inside)
        return NULL;
    fputs(size == 2 ? "<strong>" : "<em>", out);
    put_inline(out, inside, stop, level + 1);
    fputs(size == 2 ? "</strong>" : "</em>", out);
    return stop + size;
}

static void put_inline(FILE *out, const char *at, const char *end, int level)
{
    const char *start = at;
    while (at < end) {
        const char *behind = NULL;
        bool deep = level < LEVELS;
        if (*at == '\\' && at + 1 < end && strchr("\\`*_{}[]()>#+-.!", at[1])) {
            put_letter(out, at + 1, (size_t)(end - at - 1));
            behind = at + 2;
        } else if (*at == '`') {
            behind = put_span(out, at, end);
        } else if (deep && (*at == '*' || *at == '_')) {
            behind = put_emphasis(out, at, start, end, level);
        } else if (deep && (*at == '[' || (*at == '!' && at + 1 < end && at[1] == '['))) {
            behind = put_link(out, at, end, level);
        } else if (end - at > 2 && at[0] == ' ' && at[1] == ' ' && at[2] == '\n') {
            fputs("<br>\n", out);
            behind = at + 3;
        }
        if (!behind)
            put_letter(out, at, (size_t)(end - at));
        at = behind ? behind : at + 1;
    }
}

/* ---- blocks ---- */

static bool is_blank(const line *l)
{
    for (size_t i = 0; i < l->size; i++) {
        if (!isspace((unsigned char)l->text[i]))
            return false;
    }
    return true;
}

static line trimmed(line l)
{
    while (l.size && isspace((unsigned char)*l.text)) {
        l.text++;
        l.size--;
    }
    while (l.size && isspace((unsigned char)l.text[l.size - 1]))
        l.size--;
    return l;
}

static size_t indent_of(const line *l)
{
    size_t i = 0;
    while (i < l->size && l->text[i] == ' ')
        i++;
    return i;
}

static bool is_fence(const line *l)
{
    return l->size >= 3 && (strncmp(l->text, "```", 3) == 0 || strncmp(l->text, "~~~", 3) == 0);
}

static bool is_rule(const line *l)
{
    size_t count = 0;
    for (size_t i = 0; i < l->size; i++) {
        if (l->text[i] != ' ' && (l->text[i] != l->text[0] || !strchr("-*_", l->text[i])))
            return false;
        count += l->text[i] != ' ';
    }
    return count >= 3 && indent_of(l) < 4;
}

/* How many letters the mark of a list's item has; 0: it is none. */
static size_t mark_of(const line *l, bool *ordered)
{
    size_t from = indent_of(l), i = from;
    if (i > 3)
        return 0;
    *ordered = i < l->size && isdigit((unsigned char)l->text[i]);
    if (*ordered) {
        while (i < l->size && isdigit((unsigned char)l->text[i]))
            i++;
        i = i < l->size && l->text[i] == '.' ? i + 1 : 0;
    } else {
        i = i < l->size && strchr("*+-", l->text[i]) ? i + 1 : 0;
    }
    if (!i || i >= l->size || l->text[i] != ' ')
        return 0;
    while (i < l->size && l->text[i] == ' ')
        i++;
    return i;
}

static bool is_delimiter(const line *l)
{
    bool dash = false;
    for (size_t i = 0; i < l->size; i++) {
        if (!strchr("|-: ", l->text[i]))
            return false;
        dash |= l->text[i] == '-';
    }
    return dash && memchr(l->text, '|', l->size);
}

static void put_cells(FILE *out, line l, const char *cell, size_t columns)
{
    l = trimmed(l);
    if (l.size && *l.text == '|') {
        l.text++;
        l.size--;
    }
    if (l.size && l.text[l.size - 1] == '|')
        l.size--;
    fputs("<tr>\n", out);
    const char *at = l.text, *end = l.text + l.size;
    for (size_t i = 0; i < columns; i++) {
        const char *stop = at <= end ? find(at, end, "|") : NULL;
        line inside = trimmed((line){ at, at <= end ? (size_t)((stop ? stop : end) - at) : 0 });
        fprintf(out, "<%s>", cell);
        put_inline(out, inside.text, inside.text + inside.size, 0);
        fprintf(out, "</%s>\n", cell);
        at = stop ? stop + 1 : end + 1;
    }
    fputs("</tr>\n", out);
}

static size_t columns_of(line l)
{
    size_t count = 1;
    l = trimmed(l);
    for (size_t i = 1; i + 1 < l.size; i++)
        count += l.text[i] == '|';
    return count;
}

static void put_blocks(FILE *out, const line *lines, size_t count, int level, bool tight);

static size_t put_table(FILE *out, const line *lines, size_t count)
{
    size_t columns = columns_of(lines[1]), i = 2;
    fputs("<table>\n<thead>\n", out);
    put_cells(out, lines[0], "th", columns);
    fputs("</thead>\n<tbody>\n", out);
    for (; i < count && !is_blank(&lines[i]); i++)
        put_cells(out, lines[i], "td", columns);
    fputs("</tbody>\n</table>", out);
    return i;
}

static size_t put_fenced(FILE *out, const line *lines, size_t count)
{
    size_t end = 1;
    while (end < count && !(is_fence(&lines[end]) && lines[end].text[0] == lines[0].text[0]))
        end++;
    fputs("<pre><code>", out);
    for (size_t i = 1; i < end; i++) {
        put_code(out, lines[i].text, lines[i].size);
        fputc('\n', out);
    }
    fputs("</code></pre>", out);
    return end < count ? end + 1 : end;
}

static size_t put_indented(FILE *out, const line *lines, size_t count)
{
    size_t i = 0, last = 0;
    while (i < count && (is_blank(&lines[i]) || indent_of(&lines[i]) >= 4)) {
        last = is_blank(&lines[i]) ? last : i + 1;
        i++;
    }
    fputs("<pre><code>", out);
    for (size_t k = 0; k < last; k++) {
        size_t skip = lines[k].size < 4 ? lines[k].size : 4;
        put_code(out, lines[k].text + skip, lines[k].size - skip);
        fputc('\n', out);
    }
    fputs("</code></pre>", out);
    return i;
}

static size_t put_quote(FILE *out, const line *lines, size_t count, int level)
{
    size_t size = 0;
    while (size < count && !is_blank(&lines[size]))
        size++;
    line *inside = malloc((size + 1) * sizeof *inside);
    for (size_t i = 0; inside && i < size; i++) {
        line l = lines[i];
        size_t skip = indent_of(&l);
        skip += skip < l.size && l.text[skip] == '>';
        skip += skip && skip < l.size && l.text[skip] == ' ';
        inside[i] = (line){ l.text + skip, l.size - skip };
    }
    fputs("<blockquote>\n", out);
    if (inside)
        put_blocks(out, inside, size, level + 1, false);
    fputs("\n</blockquote>", out);
    free(inside);
    return size;
}

static size_t put_list(FILE *out, const line *lines, size_t count, int level)
{
    bool ordered, unused, loose = false;
    size_t i = 0;
    (void)mark_of(&lines[0], &ordered);
    fputs(ordered ? "<ol>" : "<ul>", out);
    line *inside = malloc(count * sizeof *inside);
    while (inside && i < count) {
        size_t mark = mark_of(&lines[i], &unused), size = 0, blank = 0;
        if (!mark || indent_of(&lines[i]) > 3)
            break;
        inside[size++] = (line){ lines[i].text + mark, lines[i].size - mark };
        for (i++; i < count; i++) {
            blank = is_blank(&lines[i]) ? blank + 1 : blank;
            if (is_blank(&lines[i]))
                continue;
            size_t indent = indent_of(&lines[i]);
            if ((blank && indent < 4) || (!blank && indent < 2 && mark_of(&lines[i], &unused)))
                break;
            if (blank)
                inside[size++] = (line){ "", 0 };
            size_t skip = indent < 4 ? indent : 4;
            inside[size++] = (line){ lines[i].text + skip, lines[i].size - skip };
            blank = 0;
        }
        bool follows = i < count && mark_of(&lines[i], &unused);
        bool wide = loose || (blank && follows);
        fputs(wide ? "\n<li>\n" : "\n<li>", out);
        put_blocks(out, inside, size, level + 1, !wide);
        fputs(wide ? "\n</li>" : "</li>", out);
        loose = blank && follows;
        if (!follows)
            break;
    }
    free(inside);
    fputs(ordered ? "\n</ol>" : "\n</ul>", out);
    return i ? i : 1;
}

static size_t put_paragraph(FILE *out, const line *lines, size_t count, bool tight)
{
    size_t size = 0;
    while (size < count && !is_blank(&lines[size]) && !(size && (is_fence(&lines[size]) || lines[size].text[0] == '#')))
        size++;
    line last = trimmed(lines[size - 1]);
    const char *from = trimmed(lines[0]).text, *to = last.text + last.size;
    fputs(tight ? "" : "<p>", out);
    if (lines[size - 1].text >= lines[0].text && to > from && (size == 1 || lines[1].text == lines[0].text + lines[0].size + 1)) {
        put_inline(out, from, to, 0);
    } else {
        for (size_t i = 0; i < size; i++) {
            line l = trimmed(lines[i]);
            fputs(i ? "\n" : "", out);
            put_inline(out, l.text, l.text + l.size, 0);
        }
    }
    fputs(tight ? "" : "</p>", out);
    return size;
}

static size_t put_heading(FILE *out, line l)
{
    int depth = 0;
    while (depth < 6 && l.size && *l.text == '#') {
        depth++;
        l.text++;
        l.size--;
    }
    l = trimmed(l);
    while (l.size && l.text[l.size - 1] == '#')
        l.size--;
    l = trimmed(l);
    fprintf(out, "<h%d>", depth);
    put_inline(out, l.text, l.text + l.size, 0);
    fprintf(out, "</h%d>", depth);
    return 1;
}

static size_t put_rule(FILE *out)
{
    fputs("<hr>", out);
    return 1;
}

static void put_blocks(FILE *out, const line *lines, size_t count, int level, bool tight)
{
    bool first = true, ordered;
    for (size_t i = 0; i < count;) {
        const line *l = &lines[i];
        size_t left = count - i;
        if (is_blank(l)) {
            i++;
            continue;
        }
        fputs(first ? "" : "\n", out);
        first = false;
        if (level < LEVELS && is_fence(l))
            i += put_fenced(out, l, left);
        else if (l->text[0] == '#')
            i += put_heading(out, *l);
        else if (indent_of(l) >= 4)
            i += put_indented(out, l, left);
        else if (is_rule(l))
            i += put_rule(out);
        else if (level < LEVELS && trimmed(*l).text[0] == '>')
            i += put_quote(out, l, left, level);
        else if (level < LEVELS && mark_of(l, &ordered))
            i += put_list(out, l, left, level);
        else if (left > 1 && memchr(l->text, '|', l->size) && is_delimiter(&lines[i + 1]))
            i += put_table(out, l, left);
        else
            i += put_paragraph(out, l, left, tight);
    }
}

void board_put_markdown(FILE *out, const char *text, size_t size)
{
    size_t count = 1, at = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    line *lines = calloc(count, sizeof *lines);
    if (!lines)
        return;
    count = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i == size || text[i] == '\n') {
            lines[count++] = (line){ text + at, i - at - (i > at && text[i - 1] == '\r') };
            at = i + 1;
        }
    }
    put_blocks(out, lines, count, 0, false);
    free(lines);
}

void board_put_markdown_string(FILE *out, const char *text, size_t size)
{
    char *memory = NULL;
    size_t length = 0;
    FILE *inner = open_memstream(&memory, &length);
    if (inner) {
        board_put_markdown(inner, text, size);
        fclose(inner);
    }
    board_put_text(out, memory, memory ? length : 0);
    free(memory);
}
