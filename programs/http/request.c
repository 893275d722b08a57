/* From the bytes of a connection to a request, and from an answer to bytes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http.h"

/* ---- headers ---- */

char *http_headers_end(const char *bytes)
{
    const char *crlf = strstr(bytes, "\r\n\r\n"), *lf = strstr(bytes, "\n\n");
    return (char *)(crlf && (!lf || crlf < lf) ? crlf + 4 : lf ? lf + 2 : NULL);
}

/* The next header of this name from `line` on, which is moved behind it. */
static const char *next_header(const char **line, const char *name, size_t *size)
{
    size_t length = strlen(name);
    while (*line && **line && **line != '\r' && **line != '\n') {
        const char *at = *line, *end = strchr(at, '\n');
        *line = end ? end + 1 : NULL;
        if (strncasecmp(at, name, length) != 0 || at[length] != ':')
            continue;
        at += length + 1;
        at += strspn(at, " \t");
        *size = strcspn(at, "\r\n");
        while (*size && (at[*size - 1] == ' ' || at[*size - 1] == '\t'))
            (*size)--;
        return at;
    }
    return NULL;
}

const char *http_header(const char *headers, const char *name, size_t *size)
{
    return next_header(&headers, name, size);
}

bool http_header_has(const char *headers, const char *name, const char *word)
{
    size_t size = 0, length = strlen(word);
    const char *value = http_header(headers, name, &size);
    for (size_t i = 0; value && i + length <= size; i++) {
        if (strncasecmp(value + i, word, length) == 0)
            return true;
    }
    return false;
}

int64_t http_body_size(const char *headers)
{
    size_t size = 0, digits = 0;
    const char *line = headers, *value = next_header(&line, "Content-Length", &size), *again = value;
    size_t other = 0;
    bool chunked = http_header(headers, "Transfer-Encoding", &other) != NULL;
    if (chunked)
        return !value && http_header_has(headers, "Transfer-Encoding", "chunked") ? -1 : -2;
    if (!value)
        return 0;
    digits = strspn(value, "0123456789");
    again = next_header(&line, "Content-Length", &other); /* two of them: whom to believe? */
    return !digits || digits != size || digits > 15 || again ? -2 : strtoll(value, NULL, 10);
}

/* ---- the host ---- */

/* The host without its port and, of a numeric IPv6 address, its brackets; false: it is none. */
static bool host_name(const char *value, size_t size, char *name, size_t room)
{
    const char *end = value + size, *stop = value;
    if (size && *value == '[') {
        stop = memchr(value, ']', size);
        if (!stop)
            return false;
        value++;
    } else {
        stop = memchr(value, ':', size);
        stop = stop ? stop : end;
    }
    const char *port = *value && stop < end && *stop == ']' ? stop + 1 : stop;
    for (const char *p = port; p < end; p++) {
        if (p == port ? *p != ':' : !isdigit((unsigned char)*p))
            return false;
    }
    size_t length = (size_t)(stop - value);
    if (!length || length >= room)
        return false;
    memcpy(name, value, length);
    name[length] = 0;
    return true;
}

static bool is_numeric(const char *name)
{
    int dots = 0;
    if (strchr(name, ':'))
        return strspn(name, "0123456789abcdefABCDEF:.") == strlen(name);
    for (const char *p = name; *p; p++) {
        if (*p != '.' && !isdigit((unsigned char)*p))
            return false;
        dots += *p == '.';
    }
    return dots == 3;
}

static bool allowed(const http_hosts *hosts, const char *name)
{
    if (strcasecmp(name, "localhost") == 0 || strncmp(name, "127.", 4) == 0 || strcmp(name, "::1") == 0)
        return strncmp(name, "127.", 4) != 0 || is_numeric(name);
    if (hosts->numeric && is_numeric(name))
        return true;
    for (size_t i = 0; i < hosts->count; i++) {
        if (strcasecmp(hosts->names[i], name) == 0)
            return true;
    }
    return false;
}

int http_check_host(const char *headers, const http_hosts *hosts)
{
    int found = 0, code = 0;
    size_t size = 0;
    for (const char *value; (value = next_header(&headers, "Host", &size)); found++) {
        char name[256];
        if (!host_name(value, size, name, sizeof name) || !allowed(hosts, name))
            code = 403;
    }
    return found == 1 ? code : 400;
}

/* ---- the first line, and bodies in chunks ---- */

bool http_first_line(char *bytes, http_request *request)
{
    size_t word = strcspn(bytes, " \r\n");
    char *path = bytes + word + 1, *end = bytes[word] == ' ' ? strpbrk(path, " \r\n") : NULL;
    if (!end || strncmp(end, " HTTP/1.", 8) != 0)
        return false;
    bytes[word] = 0;
    *end = 0;
    char *query = strchr(path, '?');
    if (query)
        *query++ = 0;
    request->method = bytes;
    request->path = path;
    request->query = query ? query : "";
    return true;
}

http_chunks http_join_chunks(char *bytes, size_t size, size_t *read, size_t *joined)
{
    for (;;) {
        char *line = bytes + *read, *end = memchr(line, '\n', size - *read), *digits_end;
        if (!end)
            return size - *read > 256 ? HTTP_CHUNKS_WRONG : HTTP_CHUNKS_MORE;
        unsigned long long chunk = isxdigit((unsigned char)*line) ? strtoull(line, &digits_end, 16) : 0;
        if (!isxdigit((unsigned char)*line) || digits_end - line > 12 || !strchr(";\r\n \t", *digits_end))
            return HTTP_CHUNKS_WRONG;
        size_t start = (size_t)(end + 1 - bytes);
        if (!chunk) { /* the last one; lines may follow it */
            while ((end = memchr(bytes + start, '\n', size - start))) {
                size_t length = (size_t)(end - (bytes + start));
                bool empty = length == 0 || (length == 1 && bytes[start] == '\r');
                start += length + 1;
                if (empty) {
                    *read = start;
                    return HTTP_CHUNKS_END;
                }
            }
            return size - *read > HTTP_HEADERS_LIMIT ? HTTP_CHUNKS_WRONG : HTTP_CHUNKS_MORE;
        }
        if (chunk > size || size - start < chunk + 2)
            return HTTP_CHUNKS_MORE;
        size_t after = start + chunk + (bytes[start + chunk] == '\r');
        if (bytes[after] != '\n')
            return HTTP_CHUNKS_WRONG;
        memmove(bytes + *joined, bytes + start, chunk);
        *joined += chunk;
        *read = after + 1;
    }
}

/* ---- answers ---- */

const char *http_reason(int code)
{
    static const struct {
        int code;
        const char *reason;
    } reasons[] = { { 200, "OK" },
                    { 301, "Moved Permanently" },
                    { 400, "Bad Request" },
                    { 401, "Unauthorized" },
                    { 403, "Forbidden" },
                    { 404, "Not Found" },
                    { 405, "Method Not Allowed" },
                    { 408, "Request Timeout" },
                    { 409, "Conflict" },
                    { 413, "Content Too Large" },
                    { 429, "Too Many Requests" },
                    { 431, "Request Header Fields Too Large" },
                    { 499, "Client Closed Request" },
                    { 500, "Internal Server Error" },
                    { 501, "Not Implemented" },
                    { 504, "Gateway Timeout" } };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].code == code)
            return reasons[i].reason;
    }
    return "Service Unavailable";
}

char *http_answer_bytes(http_answer *answer, const char *headers, bool with_body, bool stays, size_t *size)
{
    char start[2048];
    char type[256] = "";
    if (answer->type)
        snprintf(type, sizeof type, "Content-Type: %s\r\n", answer->type);
    int length = snprintf(start, sizeof start, "HTTP/1.1 %d %s\r\n%sContent-Length: %zu\r\n%s%sConnection: %s\r\n\r\n",
                          answer->code, http_reason(answer->code), type, answer->size, answer->headers ? answer->headers : "",
                          headers, stays ? "keep-alive" : "close");
    *size = (size_t)length + (with_body ? answer->size : 0);
    char *made = answer->body && length < (int)sizeof start ? malloc(*size) : NULL;
    if (made) {
        memcpy(made, start, (size_t)length);
        if (with_body)
            memcpy(made + length, answer->body, answer->size);
    }
    free(answer->body);
    answer->body = NULL;
    return made;
}
