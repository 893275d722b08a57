/* Texts, by TensorBoard's routes: text/tags, text/text?run&tag[&markdown=false]. A text becomes HTML; a list or table of texts
 * becomes a table. */
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { CELLS_LIMIT = 100000 };

static void put_tags(board *b, const board_request *request, board_answer *answer)
{
    FILE *out = answer->body;
    bool some = false;
    (void)request;
    fputc('{', out);
    for (size_t i = 0; i < b->run_count; i++) {
        bool first = true;
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            if (!board_is(&b->runs[i].tags[k], "text"))
                continue;
            fputs(some && first ? "," : "", out);
            if (first)
                board_put_string(out, b->runs[i].name);
            fputs(first ? ":[" : ",", out);
            first = false;
            some = true;
            board_put_string(out, b->runs[i].tags[k].name);
        }
        fputs(first ? "" : "]", out);
    }
    fputc('}', out);
}

static void put_cell(FILE *out, tw_string text, bool markdown)
{
    if (markdown)
        board_put_markdown(out, text.data, text.size);
    else
        board_put_escaped(out, text.data, text.size);
}

static void put_table(FILE *out, const tw_tensor *tensor, bool markdown)
{
    int rank = tw_tensor_rank(tensor);
    int64_t columns = rank > 1 ? tw_tensor_dim(tensor, rank - 1) : 1, rows = tw_tensor_dim(tensor, rank > 1 ? rank - 2 : 0);
    if (rank > 2) {
        char warning[200];
        int size = snprintf(
            warning, sizeof warning,
            "**Warning:** This text summary contained data of dimensionality %d, but only 2d tables are supported. Showing a 2d "
            "slice of the data instead.",
            rank);
        board_put_markdown(out, warning, (size_t)size);
    }
    fputs("<table>\n<tbody>\n", out);
    for (int64_t i = 0; i < rows && i * columns < CELLS_LIMIT; i++) {
        fputs("<tr>\n", out);
        for (int64_t k = 0; k < columns; k++) {
            fputs("<td>", out);
            put_cell(out, tw_tensor_string_at(tensor, i * columns + k), markdown);
            fputs("</td>\n", out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table>", out);
}

static void put_value(FILE *out, board_value *value, bool markdown)
{
    tw_tensor *tensor = board_tensor(value);
    char *memory = NULL;
    size_t size = 0;
    FILE *inner = open_memstream(&memory, &size);
    if (inner && tensor && tw_tensor_dtype(tensor) == TW_STRING && tw_tensor_count(tensor) > 0) {
        if (tw_tensor_rank(tensor) == 0)
            put_cell(inner, tw_tensor_string_at(tensor, 0), markdown);
        else
            put_table(inner, tensor, markdown);
    }
    if (inner)
        fclose(inner);
    board_put_text(out, memory, memory ? size : 0);
    free(memory);
}

static void put_texts(board *b, const board_request *request, board_answer *answer)
{
    const board_run *run;
    const board_tag *tag;
    char markdown[8], run_name[BOARD_NAME_LIMIT], tag_name[BOARD_NAME_LIMIT];
    FILE *out = answer->body;
    bool first = true;
    board_parameter(request->query, "markdown", 0, markdown, sizeof markdown);
    board_parameter(request->query, "run", 0, run_name, sizeof run_name);
    board_parameter(request->query, "tag", 0, tag_name, sizeof tag_name);
    run = board_find_run(b, run_name);
    tag = board_find_tag(run, tag_name, "text");
    fputc('[', out);
    for (size_t i = 0; tag && i < tag->place_count; i++) {
        board_value value;
        if (!board_fetch(b, run, &tag->places[i], &value))
            continue;
        fputs(first ? "{\"wall_time\":" : ",{\"wall_time\":", out);
        first = false;
        board_put_number(out, tag->places[i].wall_time);
        fprintf(out, ",\"step\":%lld,\"text\":", (long long)tag->places[i].step);
        put_value(out, &value, strcmp(markdown, "false") != 0);
        fputc('}', out);
        board_value_free(&value);
    }
    fputc(']', out);
}

const board_route board_text_routes[] = {
    { "text", "tags", put_tags, NULL },
    { "text", "text", put_texts, NULL },
    { 0 },
};
