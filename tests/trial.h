/* Calls that must not end the process: run in a child, which tells in shared memory where it is. A child that dies or hangs is
 * counted, and another one goes on behind the call. */
#ifndef TW_TRIAL_H
#define TW_TRIAL_H

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct trial {
    long next; /* the number of the call that is made, of those of one group */
    long tried, bad;
    long first; /* calls before it were made by children that died */
    char what[400];
} trial;

enum { TRIAL_SECONDS = 20 };

static inline trial *trial_new(void)
{
    trial *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        abort();
    return t;
}

/* Whether the next call is to be made; then it is noted. */
#define TRIAL(t_, ...)          \
    ((t_)->next++ < (t_)->first \
         ? false                \
         : (snprintf((t_)->what, sizeof(t_)->what, __VA_ARGS__), (t_)->tried++, alarm(TRIAL_SECONDS), true))

/* Runs a group of calls in children until one gets through. */
static inline void trial_run(trial *t, void (*group)(trial *t, const void *context), const void *context)
{
    for (t->first = 0;; t->first = t->next) {
        t->next = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
            for (int number = 1; number < 32; number++)
                signal(number, SIG_DFL); /* cmocka has handlers of its own */
            if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
                abort();
            group(t, context);
            _exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child)
            abort();
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return;
        t->bad++;
        printf("%s: ended by %s %d\n", t->what, WIFSIGNALED(status) ? "signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* A folder for what the calls write, left and removed at the end. */
static char trial_folder[64];

static inline void trial_enter(void)
{
    strcpy(trial_folder, "/tmp/thalweg-test-XXXXXX");
    if (!mkdtemp(trial_folder) || chdir(trial_folder) != 0)
        abort();
}

static inline int trial_remove(const char *path, __attribute__((unused)) const struct stat *status,
                               __attribute__((unused)) int kind, __attribute__((unused)) struct FTW *place)
{
    return remove(path);
}

static inline void trial_leave(void)
{
    if (chdir("/") == 0)
        nftw(trial_folder, trial_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
