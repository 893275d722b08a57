/* thalweg devices: what operations run on here. */
#include <stdlib.h>

#include "program.h"

static int run(const invocation *call)
{
    bool json = given(call, "--json");
    tw_objects devices = tw_list_logical_devices();
    if (!devices.items)
        return library_error();
    if (json)
        putchar('[');
    for (int64_t i = 0; i < devices.count; i++) {
        char *name = tw_logical_device_name(devices.items[i]), *kind = tw_logical_device_type(devices.items[i]);
        if (json)
            printf("%s{\"name\": \"%s\", \"type\": \"%s\", \"threads\": %lld}", i ? ",\n " : "", name ? name : "",
                   kind ? kind : "", (long long)tw_config_get_intra_op_threads());
        else
            printf("%-16s  %s\n", name ? name : "", kind ? kind : "");
        free(name);
        free(kind);
    }
    if (json)
        puts("]");
    tw_objects_free(&devices);
    return EXIT_WORKED;
}

static const verb verbs[] = { { NULL, "", 0, 0, "", run }, { .name = NULL } };
static const command_option options[] = { { "--json", 0, NULL, "as JSON", NULL }, { .name = NULL } };
const command devices_command = {
    .name = "devices", .summary = "Lists the devices that operations can run on.", .help = "", .verbs = verbs, .options = options
};
