/* Requests to `thalweg tensorboard`, and answers with their headers.
 *
 * The page may load nothing but what this server serves (the content security policy), so that names in event files can't become
 * anything that runs. Files are read again when something is asked for and the last reading is some seconds old. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

static const double ROUND = 0.05,
                    FIRST_READING = 1.5; /* seconds of reading event files: between requests, and before an answer */

const char board_headers[] =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n";

void board_refuse(void *context, int code, http_answer *answer)
{
    (void)context;
    const char *text = code == 403 ? "this host name is not one of the server's; see --allow_host\n" : http_reason(code);
    answer->code = code;
    answer->type = "text/plain; charset=utf-8";
    answer->headers = code == 405 ? "Allow: GET, HEAD\r\n" : NULL;
    answer->body = strdup(text);
    answer->size = strlen(text);
}

static void read_files(board *b, double seconds)
{
    if (!board_refresh(b, seconds))
        fputs("thalweg: memory ran out while event files were read\n", stderr);
}

bool board_between(void *context)
{
    board_service *service = context;
    if (service->b.unread)
        read_files(&service->b, ROUND);
    return service->b.unread;
}

/* The path behind the prefix; NULL: it is another one. */
static const char *behind_prefix(const char *path, const char *prefix)
{
    size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 && path[size] == '/' ? path + size : NULL;
}

/* Sends /PREFIX on to /PREFIX/, so that relative addresses work. */
static void move_on(board_service *service, http_answer *answer)
{
    snprintf(service->location, sizeof service->location, "Location: %s/\r\n", service->prefix);
    *answer = (http_answer){ .code = 301, .headers = service->location, .body = strdup("") };
}

static void respond(board_service *service, const board_request *asked, http_answer *answer)
{
    size_t size = 0;
    char *body = NULL;
    board_answer made = { .body = open_memstream(&body, &size) };
    if (!made.body)
        return;
    if (board_needs_files(asked->path) && http_seconds() - service->refreshed >= service->reload) {
        read_files(&service->b, FIRST_READING);
        service->refreshed = http_seconds();
    }
    board_respond(&service->b, asked, &made);
    bool written = !ferror(made.body);
    if (fclose(made.body) != 0 || !written) {
        free(body);
        board_refuse(service, 503, answer);
        return;
    }
    answer->code = made.code;
    answer->type = made.type;
    answer->body = body;
    answer->size = size;
    answer->headers = made.code == 405 ? "Allow: GET, HEAD\r\n" : NULL;
}

void board_answer_request(void *context, const http_request *request, http_answer *answer)
{
    board_service *service = context;
    bool get = strcmp(request->method, "GET") == 0, head = strcmp(request->method, "HEAD") == 0,
         post = strcmp(request->method, "POST") == 0;
    const char *path = *request->path == '/' ? behind_prefix(request->path, service->prefix) : NULL;
    if (!get && !head && !post)
        board_refuse(service, 405, answer);
    else if (*request->path != '/' || strlen(request->body) != request->body_size)
        board_refuse(service, 400, answer);
    else if (*service->prefix && strcmp(request->path, service->prefix) == 0)
        move_on(service, answer);
    else if (!path || (post && !board_takes_body(path)))
        board_refuse(service, path ? 405 : 404, answer);
    else
        respond(service,
                &(board_request){
                    .path = path, .query = request->query, .body = request->body, .post = post, .prefix = service->prefix },
                answer);
}
