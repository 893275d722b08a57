/* thalweg run [SCRIPT.py [ARGUMENT …]]: Python with thalweg in TensorFlow's place. Without a script it reads one from the
 * standard input, or lines from a terminal.
 *
 * The package is looked for beside the program: in a build tree bin/thalweg and python/thalweg, installed bin/thalweg and
 * lib/…/python/thalweg. Where it is not there, Python's own path decides. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

/* The folder that holds the package, relative to the one above the program's. */
static const char *const places[] = {
    "python", TW_LIBRARY_FOLDER "/thalweg/python", "lib/thalweg/python", "lib/python3/dist-packages", NULL,
};

static bool find_package(char *path, size_t size)
{
    char program[PATH_MAX], package[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = 0;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(program, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    for (int i = 0; places[i]; i++) {
        struct stat status;
        snprintf(package, sizeof package, "%s/%s/thalweg/__init__.py", program, places[i]);
        if (stat(package, &status) == 0)
            return snprintf(path, size, "%s/%s", program, places[i]) < (int)size;
    }
    return false;
}

static int run(int count, char **arguments)
{
    static char *from_terminal[] = { "-i" }, *from_input[] = { "-" };
    if (count < 1) {
        count = 1;
        arguments = isatty(STDIN_FILENO) ? from_terminal : from_input;
    }
    char package[PATH_MAX];
    if (find_package(package, sizeof package)) {
        const char *old = getenv("PYTHONPATH");
        char *path = malloc(strlen(package) + (old ? strlen(old) : 0) + 2);
        if (!path) {
            perror("thalweg");
            return EXIT_FAILED;
        }
        sprintf(path, "%s%s%s", package, old && *old ? ":" : "", old ? old : "");
        setenv("PYTHONPATH", path, 1);
        free(path);
    }
    const char *python = getenv("THALWEG_PYTHON");
    if (!python || !*python)
        python = "python3";
    char **call = calloc((size_t)count + 4, sizeof *call);
    if (!call) {
        perror("thalweg");
        return EXIT_FAILED;
    }
    call[0] = (char *)python;
    call[1] = "-m";
    call[2] = "thalweg";
    memcpy(call + 3, arguments, (size_t)count * sizeof *call);
    execvp(python, call);
    fprintf(stderr, "thalweg: could not run %s: %s\n", python, strerror(errno));
    free(call);
    return EXIT_FAILED;
}

const command run_command = {
    .name = "run",
    .arguments = "[SCRIPT.py [ARGUMENT …]]",
    .summary = "Runs a Python script with thalweg in TensorFlow's place.",
    .help =
        "\n'import tensorflow' in the script gives thalweg. Without a script, or with -, it is read from the standard input;\nat a terminal lines are run as they come, with tf there. The Python is python3, or what THALWEG_PYTHON names.\n",
    .run = run,
};
