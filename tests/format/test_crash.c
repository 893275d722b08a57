/* Saves that die: a child process is killed at every system call of a save, entering it and leaving it. After each death the
 * checkpoint is the old one or the new one, the new one if the save had returned; a save elsewhere in the directory changes
 * neither and cleans up; a save at the same place leaves the two files alone. And: reading while another process saves. */
#include "test.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/format.h"
#include "scratch.h"

enum { COUNT = 20000, SAVED = 7 };

static char prefix[80], other[80];

static int make_prefixes(void **state)
{
    if (make_scratch(state) != 0)
        return -1;
    snprintf(prefix, sizeof prefix, "%s/ckpt", scratch);
    snprintf(other, sizeof other, "%s/other", scratch);
    return 0;
}

static tw_status save(const char *where, int32_t value)
{
    tw_tensor *tensor = tw_tensor_new(TW_INT32, TW_SHAPE(COUNT), NULL);
    for (int i = 0; i < COUNT; i++)
        ((int32_t *)tensor->data)[i] = value;
    tw__bundle_writer *writer = tw__bundle_create(where);
    tw_status status = writer ? tw__bundle_add(writer, "value", tensor) : tw__error_status();
    tw_release(tensor);
    if (status == TW_OK)
        return tw__bundle_finish(writer);
    tw__bundle_abandon(writer);
    return status;
}

/* The value, -1 if there is no checkpoint, -2 if it can't be read. */
static int32_t load(const char *where)
{
    int32_t value = -2;
    tw__bundle_reader *reader = tw__bundle_open(where);
    tw_tensor *tensor = reader ? tw__bundle_read(reader, "value") : NULL;
    if (!reader && tw_error_code() == TW_NOT_FOUND)
        value = -1;
    if (tensor)
        value = ((int32_t *)tensor->data)[0] == ((int32_t *)tensor->data)[COUNT - 1] ? ((int32_t *)tensor->data)[0] : -2;
    if (value == -2)
        print_error("%s\n", tw_error_message());
    tw_clear_error();
    tw_release(tensor);
    tw__bundle_close(reader);
    return value;
}

/* Runs a save of 2 in a child and kills it at its n-th stop at a system call. Returns the exit code, SAVED if it came to the end
 * of the save, -1 if it was killed before, -2 if children can't be traced here. */
static int save_and_die(long n)
{
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        _exit(save(prefix, 2) == TW_OK ? SAVED : 2);
    }
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        return -2;
    for (long stop = 0;; stop++) {
        if (stop == n)
            kill(child, SIGKILL);
        else
            ptrace(PTRACE_SYSCALL, child, NULL, NULL);
        if (waitpid(child, &status, 0) != child || WIFSIGNALED(status))
            return -1;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
    }
}

static void dies_everywhere(bool fresh)
{
    for (long n = 1;; n++) {
        count_files("", true);
        if (!fresh)
            assert_int_equal(save(prefix, 1), TW_OK);
        int result = save_and_die(n);
        if (result == -2)
            skip();
        int32_t value = load(prefix);
        if (result == SAVED)
            assert_int_equal(value, 2);
        else
            assert_true(value == 2 || value == (fresh ? -1 : 1));
        assert_int_equal(save(other, 3), TW_OK);
        assert_int_equal(load(prefix), value);
        assert_int_equal(count_files("ckpt", false), value == -1 ? 0 : 2);
        assert_int_equal(count_files(".", false), 0);
        assert_int_equal(save(prefix, 4), TW_OK);
        assert_int_equal(load(prefix), 4);
        assert_int_equal(count_files("", false), 4);
        if (result == SAVED)
            break;
        assert_int_equal(result, -1);
        assert_true(n < 2000);
    }
    count_files("", true);
}

static void keeps_one_when_overwriting(void **state)
{
    (void)state;
    setenv("THALWEG_FSYNC", "1", 1);
    dies_everywhere(false);
}

static void leaves_nothing_at_a_new_place(void **state)
{
    (void)state;
    setenv("THALWEG_FSYNC", "0", 1);
    dies_everywhere(true);
}

static void reads_while_another_saves(void **state)
{
    (void)state;
    setenv("THALWEG_FSYNC", "0", 1);
    assert_int_equal(save(prefix, 0), TW_OK);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 1; i <= 300; i++) {
            if (save(prefix, i) != TW_OK)
                _exit(1);
        }
        _exit(SAVED);
    }
    int status;
    int32_t last = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        int32_t value = load(prefix);
        assert_true(value >= last);
        last = value;
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), SAVED);
    assert_int_equal(load(prefix), 300);
    count_files("", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_one_when_overwriting),
        cmocka_unit_test(leaves_nothing_at_a_new_place),
        cmocka_unit_test(reads_while_another_saves),
    };
    return cmocka_run_group_tests(tests, make_prefixes, remove_scratch);
}
