/* Guarded copies of ops that use files or call the program; see guard.h. */
#include "op/guard.h"

#include <limits.h>
#include <stdlib.h>

#include "op/internal.h"

typedef struct twin {
    tw_op op; /* op.plain is the row it stands for */
    tw__signature_slot signature;
    char *attrs;
} twin;

typedef twin *_Atomic twin_slot;
static twin_slot *_Atomic twins; /* by place in the table of ops */

_Thread_local const char *tw__guard_loading, *tw__guard_calling;

/* ---- what is allowed ---- */

static char *copy_of_real(const char *path)
{
    char *found = realpath(path, NULL), *copy = found ? tw__strdup(found) : NULL;
    free(found);
    return copy;
}

char *tw__guard_path(const char *path)
{
    char *real = copy_of_real(path);
    return real || tw_error_code() != TW_OK ? real : tw__strdup(path);
}

/* Whether a file is the model's own. One that does not exist is looked for in its directory: the beginning of names, as
 * checkpoints have it. */
static bool is_inside(const char *path, tw_string model)
{
    char *real = copy_of_real(path), *directory = real ? NULL : tw__path_directory(path);
    if (directory)
        real = copy_of_real(*directory ? directory : ".");
    bool inside =
        real && model.size > 1 && strncmp(real, model.data, model.size) == 0 && (real[model.size] == '/' || !real[model.size]);
    tw__free(directory);
    tw__free(real);
    return inside;
}

static tw_status refuse(const tw__kernel *kernel, tw_string model, const char *what, tw_string path)
{
    tw__owned char *file = path.size ? tw__format(" '%.*s'", (int)(path.size > 1000 ? 1000 : path.size), path.data) : NULL;
    tw_status status = TW_OP_FAIL(
        kernel, TW_PERMISSION_DENIED,
        "%s: the model '%.*s' would %s%s. A model may do so only if you trust whoever made it: load it with "
        "options=tf.saved_model.LoadOptions(trusted=True), with safe_mode=False in Keras, with .trusted = true in C; or set "
        "THALWEG_TRUST_MODELS=1 to trust all models.",
        kernel->op->name, (int)model.size, model.data, what, file ? file : "");
    return status;
}

static tw_status check_path(const tw__kernel *kernel, tw_string model, tw_string path)
{
    const tw_op *plain = kernel->op->plain;
    const char *what = plain->touches & TW_WRITES_FILES ? "write the file" : "read a file that is not its own,";
    if (!path.size)
        return TW_OK;
    tw__owned char *text = plain->touches & TW_WRITES_FILES ? NULL : tw__strndup(path.data, path.size);
    bool inside = text && !memchr(path.data, 0, path.size) && is_inside(text, model);
    return inside ? TW_OK : refuse(kernel, model, what, path);
}

/* The names of files stand in an input, or in an attr: that of PrintV2, where only file:// means a file. */
static tw_status check_files(const tw__kernel *kernel, tw_string model)
{
    const tw_op *plain = kernel->op->plain;
    const tw__op_signature *signature = tw__op_signature_of(plain);
    static const char scheme[] = "file://";
    if (!signature)
        return tw__error_status();
    for (int i = 0; plain->paths && i < signature->input_count && i < kernel->input_count; i++) {
        if (strcmp(signature->inputs[i].name, plain->paths) != 0)
            continue;
        const tw_tensor *names = kernel->inputs[i];
        for (int64_t k = 0; names->dtype == TW_STRING && k < names->count; k++)
            TW_TRY(check_path(kernel, model, ((const tw_string *)names->data)[k]));
        return TW_OK;
    }
    for (int i = 0; plain->paths && i < signature->attr_count; i++) {
        tw_string value = kernel->attrs[i].kind == TW_ATTR_STRING ? kernel->attrs[i].s : (tw_string){ "", 0 };
        if (strcmp(signature->attrs[i].name, plain->paths) == 0)
            return value.size < sizeof scheme || memcmp(value.data, scheme, sizeof scheme - 1) != 0
                       ? TW_OK
                       : check_path(kernel, model, value);
    }
    return refuse(kernel, model, plain->touches & TW_WRITES_FILES ? "write files" : "look for files", (tw_string){ "", 0 });
}

static tw_status compute_if_allowed(tw__kernel *kernel)
{
    const tw_op *plain = kernel->op->plain;
    const char *trusted = getenv("THALWEG_TRUST_MODELS");
    tw_string model = TW_ATTR(kernel, TW_GUARD_ATTR)->s;
    if (!trusted || strcmp(trusted, "1") != 0) {
        if (plain->touches & TW_CALLS_PROGRAM)
            return refuse(kernel, model, "call a function of the program", (tw_string){ "", 0 });
        TW_TRY(check_files(kernel, model));
    }
    tw__kernel inner = *kernel;
    inner.op = plain; /* its attrs are the first ones */
    return plain->compute(&inner);
}

/* ---- the rows ---- */

static void free_twin(twin *made)
{
    if (made && made->signature)
        tw__op_signature_free(made->signature);
    if (made)
        tw__free(made->attrs);
    tw__free(made);
}

static twin *make_twin(const tw_op *op)
{
    twin *made = tw__alloc(sizeof *made);
    const char *attrs = op->attrs ? op->attrs : "";
    if (!made)
        return NULL;
    *made = (twin){ .op = *op, .attrs = tw__format("%s%s" TW_GUARD_ATTR ": string = ''", attrs, *attrs ? ", " : "") };
    made->op.plain = op;
    made->op.attrs = made->attrs;
    made->op.compute = compute_if_allowed;
    made->op.signature = &made->signature;
    if (made->attrs && tw__op_signature_of(&made->op))
        return made;
    free_twin(made);
    return NULL;
}

const tw_op *tw__op_guarded(const tw_op *op)
{
    if (!op->touches || op->plain)
        return op;
    twin_slot *table = atomic_load(&twins);
    if (!table) {
        twin_slot *made = tw__alloc_array((size_t)tw__op_count() + 1, sizeof *made);
        if (!made)
            return NULL;
        if (atomic_compare_exchange_strong(&twins, &table, made))
            table = made;
        else
            tw__free(made);
    }
    int place = tw__op_place(op->name);
    twin *found = atomic_load(&table[place]);
    if (!found) {
        twin *made = make_twin(op);
        if (!made || atomic_compare_exchange_strong(&table[place], &found, made))
            return made ? &made->op : NULL;
        free_twin(made); /* another thread was faster */
    }
    return &found->op;
}
