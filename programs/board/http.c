/* Requests to `thalweg tensorboard`, and answers with their headers.
 *
 * A page of another site may make a browser ask this server, under a name of that site's own which its name server says is this
 * machine (DNS rebinding). Such a request names another host and is refused. The page may load nothing but what this server
 * serves (the content security policy), so that names in event files can't become anything that runs. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "board.h"

#define SECURITY                                                                                                                               \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; " \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"                                                                          \
    "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"                                             \
    "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"

/* ---- answers ---- */

static const char *reason(int code)
{
    return code == 200   ? "OK"
           : code == 400 ? "Bad Request"
           : code == 301 ? "Moved Permanently"
           : code == 403 ? "Forbidden"
           : code == 404 ? "Not Found"
           : code == 405 ? "Method Not Allowed"
           : code == 408 ? "Request Timeout"
           : code == 413 ? "Content Too Large"
           : code == 431 ? "Request Header Fields Too Large"
                         : "Service Unavailable";
}

/* Takes the body. */
static char *whole(int code, const char *type, char *body, size_t body_size, bool with_body, size_t *size)
{
    char start[1200];
    int length = snprintf(start, sizeof start,
                          "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n%s" SECURITY
                          "Connection: close\r\n\r\n",
                          code, reason(code), type, body_size, code == 405 ? "Allow: GET, HEAD\r\n" : "");
    *size = (size_t)length + (with_body ? body_size : 0);
    char *made = body ? malloc(*size) : NULL;
    if (made) {
        memcpy(made, start, (size_t)length);
        if (with_body)
            memcpy(made + length, body, body_size);
    }
    free(body);
    return made;
}

char *board_refuse(int code, size_t *size)
{
    const char *text = code == 403 ? "this host name is not one of the server's; see --allow_host\n" : reason(code);
    return whole(code, "text/plain; charset=utf-8", strdup(text), strlen(text), true, size);
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

static bool allowed(const board_hosts *hosts, const char *name)
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

/* 0: the request names this server, and once; or the code of the refusal. */
static int check_host(const char *headers, const board_hosts *hosts)
{
    int found = 0, code = 0;
    for (const char *line = headers; line && *line && *line != '\r' && *line != '\n';) {
        const char *end = strchr(line, '\n');
        if (strncasecmp(line, "Host:", 5) == 0) {
            const char *value = line + 5 + strspn(line + 5, " \t");
            size_t size = strcspn(value, "\r\n");
            char name[256];
            while (size && (value[size - 1] == ' ' || value[size - 1] == '\t'))
                size--;
            found++;
            if (!host_name(value, size, name, sizeof name) || !allowed(hosts, name))
                code = 403;
        }
        line = end ? end + 1 : NULL;
    }
    return found == 1 ? code : 400;
}

/* ---- requests ---- */

int64_t board_body_size(const char *request, const char *end)
{
    int64_t size = 0;
    for (const char *line = strchr(request, '\n'); line && line + 1 < end; line = strchr(line + 1, '\n')) {
        if (strncasecmp(line + 1, "Transfer-Encoding:", 18) == 0)
            return -1;
        if (strncasecmp(line + 1, "Content-Length:", 15) != 0)
            continue;
        const char *value = line + 16 + strspn(line + 16, " \t");
        size_t digits = strspn(value, "0123456789");
        if (!digits || digits > 9 || !strchr(" \t\r\n", value[digits]))
            return -1;
        size = strtol(value, NULL, 10);
    }
    return size <= BOARD_BODY_LIMIT ? size : -1;
}

/* The path behind the prefix; NULL: it is another one. */
static char *behind_prefix(char *path, const char *prefix)
{
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 && path[size] == '/' ? path + size : NULL;
}

/* Sends /PREFIX on to /PREFIX/, so that relative addresses work. */
static char *move_on(const char *prefix, size_t *size)
{
    char head[1200];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 301 %s\r\nLocation: %s/\r\nContent-Length: 0\r\n" SECURITY "Connection: close\r\n\r\n",
                          reason(301), prefix);
    *size = (size_t)length;
    return length < (int)sizeof head ? strdup(head) : board_refuse(404, size);
}

char *board_answer_request(board *b, char *request, const board_hosts *hosts, const char *prefix, void (*refresh)(void *context),
                           void *context, size_t *size)
{
    bool get = strncmp(request, "GET ", 4) == 0, head = strncmp(request, "HEAD ", 5) == 0,
         post = strncmp(request, "POST ", 5) == 0;
    char *path = request + (head || post ? 5 : 4), *headers = strchr(request, '\n');
    if (!headers)
        return board_refuse(400, size);
    int code = check_host(headers + 1, hosts);
    if (code)
        return board_refuse(code, size);
    if (!get && !head && !post)
        return board_refuse(405, size);
    char *end = strpbrk(path, " \r\n"), *crlf = strstr(request, "\r\n\r\n"), *lf = strstr(request, "\n\n");
    if (*path != '/' || !end || strncmp(end, " HTTP/1.", 8) != 0)
        return board_refuse(400, size);
    *end = 0;
    char *query = strchr(path, '?'), *body = NULL;
    if (query)
        *query++ = 0;
    if (*prefix && strcmp(path, prefix) == 0)
        return move_on(prefix, size);
    path = behind_prefix(path, prefix);
    if (!path || (post && !board_takes_body(path)))
        return board_refuse(path ? 405 : 404, size);
    board_request asked = { .path = path, .query = query ? query : "", .post = post, .prefix = prefix };
    asked.body = crlf && (!lf || crlf < lf) ? crlf + 4 : lf ? lf + 2 : "";
    size_t body_size = 0;
    board_answer made = { .body = open_memstream(&body, &body_size) };
    if (!made.body)
        return NULL;
    if (board_needs_files(path))
        refresh(context);
    board_respond(b, &asked, &made);
    bool written = !ferror(made.body);
    if (fclose(made.body) != 0 || !written) {
        free(body);
        return board_refuse(503, size);
    }
    return whole(made.code, made.type, body, body_size, !head, size);
}
