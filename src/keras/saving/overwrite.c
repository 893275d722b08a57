/* overwrite=False: the user is asked, on standard output and input, whether a file that is there may be replaced. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "keras/saving/h5.h"

static void say(const char *text)
{
    tw__write(text, strlen(text));
}

tw_status tw__ask_overwrite(const char *path, bool *proceed)
{
    struct stat info;
    char *question = NULL, *line = NULL;
    size_t capacity = 0;
    tw_status status = TW_OK;
    *proceed = true;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return TW_OK;
    if (!(question = tw__format("[WARNING] %s already exists - overwrite? [y/n]", path)))
        return TW_RESOURCE_EXHAUSTED;
    say(question);
    for (;;) {
        if (getline(&line, &capacity, stdin) < 0) {
            status = tw__fail(TW_ALREADY_EXISTS,
                              "%s exists, overwrite is False, and there is nobody to ask: EOF when reading a line", path);
            break;
        }
        line[strcspn(line, "\r\n")] = 0;
        const char *answer = line + strspn(line, " \t");
        char letter = answer[0] && !answer[1 + strspn(answer + 1, " \t")] ? answer[0] : 0;
        *proceed = letter == 'y' || letter == 'Y';
        if (*proceed || letter == 'n' || letter == 'N')
            break;
        say("Enter \"y\" (overwrite) or \"n\" (cancel).");
    }
    if (status == TW_OK && *proceed)
        say("[TIP] Next time specify overwrite=True!\n");
    free(line);
    tw__free(question);
    return status;
}
