/* UnicodeScript: the script that a character belongs to, by ICU's numbers. The ranges are spread out once, into begins and
 * scripts that are searched by halves. */
#include <pthread.h>

#include "op/text/text.h"
#include "rows.h"

static const uint8_t ranges[] = {
#include "op/text/script_ranges.h"
};

enum { MOST = sizeof ranges / 2, LAST_CODE = 0x10FFFF };
static uint32_t begins[MOST];
static uint8_t scripts[MOST];
static size_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void spread(void)
{
    uint32_t at = 0;
    for (size_t i = 0; i < sizeof ranges; i++) {
        uint32_t size = 0;
        for (int shift = 0;; shift += 7) {
            size |= (uint32_t)(ranges[i] & 127) << shift;
            if (!(ranges[i++] & 128))
                break;
        }
        begins[count] = at;
        scripts[count++] = ranges[i];
        at += size;
    }
}

static int32_t script_of(int32_t code)
{
    if (code < 0 || code > LAST_CODE)
        return -1;
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (begins[middle] <= (uint32_t)code)
            low = middle;
        else
            high = middle;
    }
    return scripts[low];
}

static tw_status script_compute(tw__kernel *kernel)
{
    pthread_once(&once, spread);
    for (int64_t i = 0; i < kernel->outputs[0]->count; i++)
        ((int32_t *)kernel->outputs[0]->data)[i] = script_of(((const int32_t *)kernel->inputs[0]->data)[i]);
    return TW_OK;
}

TW_OP(UnicodeScript, .inputs = "input: int32", .outputs = "output: int32", .shape = tw_shape_same, .compute = script_compute,
      .function = "strings.unicode_script(input: tensor<int32>|ragged, name: str = None) -> tensor",
      .doc = "The script of each character, by ICU's numbers; -1 if it is none.\n"
             "input: the numbers of characters");
