/* Saving objects as a SavedModel: what functions captured is bound to the objects that are saved, then the files are written.
 *
 * The files are written into a directory beside the target, which then takes its place in one step (both are exchanged if there
 * was one), so that at any time there is a whole SavedModel or none. What else the old directory held is moved into the new one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "op/text/text.h"
#include "saving/saved_gradient.h"

/* ---- what functions captured ---- */

typedef struct binding {
    tw__extra *extra;
    const tw__object_walk *walk;
    tw__map constants;           /* address of a tensor -> tw_saved_constant, a reference */
    tw_saved_concrete *concrete; /* whose gradients are bound */
} binding;

static tw_variable *variable_of(const tw_tensor *capture)
{
    tw_object *object =
        capture->dtype == TW_RESOURCE && !capture->node && capture->count == 1 ? *(tw_object **)capture->data : NULL;
    return object && tw__is(object, &tw__resource_class) ? ((tw__resource *)object)->variable : NULL;
}

static tw_status untracked(const tw__function *function, const tw_variable *variable)
{
    return tw__fail(
        TW_ASSERTION_ERROR,
        "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) "
        "captured by functions must be 'tracked' by assigning them to an attribute of a tracked object or assigned to an attribute of the "
        "main object directly. See the information below:\n\tFunction name = b'%s'\n\tCaptured variable = %s",
        function->name, variable ? variable->name : "a resource that is no variable or table, or one that is gone");
}

static tw_trackable *table_of(const binding *b, const tw_tensor *capture)
{
    for (size_t i = 0; i < b->walk->count; i++) {
        tw_trackable *object = b->walk->nodes[i].object;
        if (tw__is(object, &tw__class_lookup_table) && tw__lookup_is((const struct tw_lookup_table *)object, capture))
            return object;
    }
    return NULL;
}

/* The object that a captured tensor is; borrowed. A constant is held by the concrete function under a name with this number. */
static tw_trackable *object_of(binding *b, tw_saved_concrete *concrete, const tw__function *f, tw_tensor *capture,
                               const char *prefix, int index)
{
    if (capture->dtype == TW_RESOURCE || capture->dtype == TW_VARIANT) {
        tw_variable *variable = variable_of(capture);
        if (variable && tw__pointer_map_get(&b->walk->ids, variable, -1) >= 0)
            return &variable->trackable;
        tw_trackable *table = table_of(b, capture);
        if (table)
            return table;
        untracked(f, variable);
        return NULL;
    }
    if (capture->node) {
        tw__fail(TW_VALUE_ERROR, "function '%s' uses a tensor of a graph around it: it can't be saved by itself", f->name);
        return NULL;
    }
    tw_saved_constant *constant = tw__map_get(&b->constants, &capture, sizeof capture);
    char name[32];
    for (size_t i = 0; capture->by_identity && !constant && i < b->walk->count; i++) {
        tw_saved_constant *asset = (tw_saved_constant *)b->walk->nodes[i].object;
        constant = tw__is(asset, &tw__class_saved_constant) && asset->asset && asset->value == capture ? asset : NULL;
    }
    if (constant)
        return &constant->trackable;
    constant = tw__saved_constant_new(capture, NULL);
    snprintf(name, sizeof name, "%s_%d", prefix, index);
    if (!constant || tw__map_put(&b->constants, &capture, sizeof capture, constant) != TW_OK) {
        tw_release(constant);
        return NULL;
    }
    return tw__extra_add(b->extra, &concrete->trackable, name, constant) == TW_OK ? &constant->trackable : NULL;
}

static tw_status bind_concrete(binding *b, tw_saved_concrete *concrete)
{
    tw__function *f = tw__saved_concrete_build(concrete);
    if (!f)
        return tw__error_status();
    if (concrete->library) { /* out of a file: bound already */
        for (size_t i = 0; i < concrete->bound_count; i++) {
            if (tw__is(concrete->bound[i], &tw__class_variable) && tw__pointer_map_get(&b->walk->ids, concrete->bound[i], -1) < 0)
                return untracked(f, (tw_variable *)concrete->bound[i]);
            if (tw__pointer_map_get(&b->walk->ids, concrete->bound[i], -1) < 0) {
                char name[32];
                snprintf(name, sizeof name, "capture_%zu", i);
                TW_TRY(tw__extra_add(b->extra, &concrete->trackable, name, concrete->bound[i]));
            }
        }
        return TW_OK;
    }
    tw__saved_concrete_unbind(concrete);
    int count = f->input_count - f->argument_count;
    if (!(concrete->bound = tw__alloc_array((size_t)count + 1, sizeof *concrete->bound)))
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < count; i++) {
        tw_trackable *object = object_of(b, concrete, f, f->captures[i], "capture", i);
        if (!object)
            return tw__error_status();
        concrete->bound[concrete->bound_count++] = tw_retain(object);
    }
    return TW_OK;
}

static tw_status bind_function(binding *b, tw_saved_function *function)
{
    for (size_t i = 0; i < function->concrete_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "trace_%zu", i);
        TW_TRY(bind_concrete(b, function->concretes[i]));
        if (tw__tracked(&function->trackable, name) != &function->concretes[i]->trackable)
            TW_TRY(tw__extra_add(b->extra, &function->trackable, name, function->concretes[i]));
    }
    return TW_OK;
}

/* For gradients. Constants that they use are numbered through. */
static tw_trackable *gradient_object(void *context, const tw__function *function, tw_tensor *capture, int index)
{
    binding *b = context;
    (void)index;
    return object_of(b, b->concrete, function, capture, "gradient_capture", (int)b->constants.count);
}

static tw_status bind_gradients(binding *b, tw__saved_gradients *gradients)
{
    gradients->object_of = gradient_object;
    gradients->context = b;
    for (size_t i = 0; i < b->walk->count; i++) {
        tw_saved_function *function = (tw_saved_function *)b->walk->nodes[i].object;
        bool traces = tw__is(function, &tw__class_saved_function), one = tw__is(function, &tw__class_saved_concrete);
        for (size_t k = 0; k < (traces ? function->concrete_count : one); k++) {
            b->concrete = traces ? function->concretes[k] : (tw_saved_concrete *)b->walk->nodes[i].object;
            TW_TRY(tw__saved_gradients_add(gradients, b->concrete->function));
        }
    }
    return TW_OK;
}

static void release(void *object)
{
    tw_release(object);
}

static void binding_end(binding *b)
{
    tw__map_free(&b->constants, release);
}

static tw_status bind_all(tw__extra *extra, const tw__object_walk *walk, tw__saved_gradients *gradients)
{
    tw__auto(binding_end) binding b = { .extra = extra, .walk = walk };
    for (size_t i = 0; i < walk->count; i++) {
        tw_trackable *object = walk->nodes[i].object;
        if (tw__is(object, &tw__class_saved_function))
            TW_TRY(bind_function(&b, (tw_saved_function *)object));
        else if (tw__is(object, &tw__class_saved_concrete))
            TW_TRY(bind_concrete(&b, (tw_saved_concrete *)object));
    }
    if (gradients)
        TW_TRY(bind_gradients(&b, gradients));
    return TW_OK;
}

/* ---- files ---- */

static tw_status write_file(const char *directory, const char *name, const void *data, size_t size)
{
    char *path = tw__path_join(directory, name);
    tw__file_writer *writer = path ? tw__file_create(path) : NULL;
    tw__free(path);
    if (!writer)
        return tw__error_status();
    tw_status status = tw__file_write(writer, data, size);
    if (status == TW_OK)
        return tw__file_commit(writer);
    tw__file_abandon(writer);
    return status;
}

static tw_status copy_assets(const char *directory, tw_saved_constant *const *assets, size_t count)
{
    tw__owned char *folder = tw__path_join(directory, "assets");
    TW_NEED(folder);
    TW_TRY(tw__make_directories(folder));
    for (size_t i = 0; i < count; i++) {
        tw__owned char *target = tw__path_join(folder, tw__path_name(assets[i]->asset));
        if (!target)
            return TW_RESOURCE_EXHAUSTED;
        if (tw__path_exists(target))
            return tw__fail(TW_UNIMPLEMENTED, "two assets have the name '%s'", tw__path_name(assets[i]->asset));
        TW_TRY(tw_gfile_copy(assets[i]->asset, target));
    }
    return TW_OK;
}

/* Hashes of the parts; who reads a SavedModel can tell by them whether it is the same one. */
static tw_status write_fingerprint(const char *directory, const tw__text *model)
{
    tw__owned char *path = tw__path_join(directory, "variables/variables.index");
    size_t size = 0;
    tw__owned char *index = path ? tw__file_read_all(path, (size_t)1 << 31, &size) : NULL;
    tw__auto(tw__text_free) tw__text text = { 0 };
    uint64_t hash = tw__fingerprint64((tw_string){ model->data, model->size });
    tw__put_FingerprintDef_saved_model_checksum(&text, (int64_t)hash);
    tw__put_FingerprintDef_graph_def_program_hash(&text, (int64_t)hash);
    tw__put_FingerprintDef_signature_def_hash(&text, (int64_t)hash);
    tw__put_FingerprintDef_saved_object_graph_hash(&text, (int64_t)hash);
    if (index)
        tw__put_FingerprintDef_checkpoint_hash(&text, (int64_t)tw__fingerprint64((tw_string){ index, size }));
    size_t version = tw__open_FingerprintDef_version(&text);
    tw__put_VersionDef_producer(&text, 1);
    tw__close(&text, version);
    tw_status status = index && !text.failed ? write_file(directory, "fingerprint.pb", text.data, text.size) : tw__error_status();
    return status;
}

typedef struct saved_file {
    const char *name;
    tw__saved_model_file make;
    void *context;
} saved_file;

static tw_status write_further(const char *directory, const tw__object_walk *walk, const saved_file *file)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    TW_TRY(file->make(file->context, walk, &text));
    return write_file(directory, file->name, text.data, text.size);
}

static tw_status write_files(const char *directory, const tw__saved_model_parts *parts, const saved_file *further)
{
    const tw__object_walk *walk = parts->walk;
    tw__auto(tw__text_free) tw__text model = { 0 };
    tw__owned tw_saved_constant **assets = NULL;
    size_t asset_count = 0;
    tw__owned char *prefix = tw__path_join(directory, "variables/variables");
    TW_TRY(prefix ? tw__saved_model_write(&model, parts, &assets, &asset_count) : TW_RESOURCE_EXHAUSTED);
    TW_TRY(copy_assets(directory, assets, asset_count));
    TW_TRY(tw__save_walk(walk, prefix));
    if (further->name)
        TW_TRY(write_further(directory, walk, further));
    TW_TRY(write_fingerprint(directory, &model));
    return write_file(directory, "saved_model.pb", model.data, model.size);
}

static bool is_own(const char *name)
{
    static const char *const names[] = { ".",         "..",     "saved_model.pb", "saved_model.pbtxt",
                                         "variables", "assets", "fingerprint.pb", "keras_metadata.pb" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return tw__file_is_temporary(name); /* of a writer that died */
}

/* What is no part of a SavedModel goes back to where it was. */
static void move_others(const char *from, const char *to)
{
    DIR *list = opendir(from);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char *old = is_own(entry->d_name) ? NULL : tw__path_join(from, entry->d_name),
             *new = old ? tw__path_join(to, entry->d_name) : NULL;
        if (new)
            renameat2(AT_FDCWD, old, AT_FDCWD, new, RENAME_NOREPLACE);
        tw__free(old);
        tw__free(new);
    }
    if (list)
        closedir(list);
}

static tw_status put_in_place(const char *made, const char *target)
{
    if (rename(made, target) != 0) {
        if (errno != ENOTEMPTY && errno != EEXIST)
            return tw__fail_errno(errno, "can't make the SavedModel", target);
        if (renameat2(AT_FDCWD, made, AT_FDCWD, target, RENAME_EXCHANGE) != 0)
            return tw__fail_errno(errno, "can't replace the SavedModel", target);
        move_others(made, target);
        tw_status removed = tw_gfile_rmtree(made);
        if (removed != TW_OK)
            return removed;
    }
    tw__owned char *parent = tw__path_directory(target);
    tw_status status = parent ? tw__sync_directory(*parent ? parent : ".") : TW_RESOURCE_EXHAUSTED;
    return status;
}

/* Takes the lock of a directory that a save works in; -1: another save holds it, or it is gone. */
static int lock_made(const char *path)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor >= 0 &&
        (flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor, &status) != 0 || status.st_nlink == 0)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* Directories that a save left there when it was killed, which nobody holds the lock of: what was no SavedModel's goes to the
 * target, the rest away. */
static void sweep(const char *target, const char *parent)
{
    DIR *list = opendir(*parent ? parent : ".");
    size_t size = strlen(tw__path_name(target));
    for (struct dirent *entry; list && (entry = readdir(list));) {
        long process;
        int number, used = 0;
        bool ours = strncmp(entry->d_name, tw__path_name(target), size) == 0 &&
                    sscanf(entry->d_name + size, ".tmp-%ld-%d%n", &process, &number, &used) == 2 &&
                    !entry->d_name[size + (size_t)used];
        char *path = ours ? tw__path_join(parent, entry->d_name) : NULL;
        int lock = path ? lock_made(path) : -1;
        if (lock >= 0) {
            move_others(path, target);
            if (tw_gfile_rmtree(path) != TW_OK)
                tw_clear_error(); /* the next one may */
            close(lock);
        }
        tw__free(path);
    }
    if (list)
        closedir(list);
}

/* A new directory beside the target, and its lock (-1: a file system without locks). A sweep may take it for a dead one in the
 * moment before the lock: then another is made. */
static char *make_beside(const char *target, int *lock)
{
    for (int i = 0; i < 1000; i++) {
        char *path = tw__format("%s.tmp-%ld-%d", target, (long)getpid(), i);
        int number = !path || mkdir(path, 0777) == 0 ? 0 : errno;
        if (path && !number) {
            *lock = lock_made(path);
            if (*lock < 0 && !tw__path_exists(path))
                number = EEXIST;
        }
        if (!number)
            return path;
        if (number != EEXIST)
            tw__fail_errno(number, "can't make the directory", path);
        tw__free(path);
        if (number != EEXIST)
            return NULL;
    }
    tw__fail(TW_ALREADY_EXISTS, "%s.tmp-*: there are too many of them", target);
    return NULL;
}

static tw_status save_walked(const tw__saved_model_parts *parts, const char *directory, const saved_file *further)
{
    size_t size = strlen(directory);
    while (size > 1 && directory[size - 1] == '/')
        size--;
    char *target = tw__strndup(directory, size), *parent = target ? tw__path_directory(target) : NULL;
    tw_status status = parent ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK && *parent)
        status = tw__make_directories(parent);
    int lock = -1;
    tw__owned char *made = status == TW_OK ? make_beside(target, &lock) : NULL;
    if (status == TW_OK)
        status = made ? TW_OK : tw__error_status();
    if (status == TW_OK) {
        status = write_files(made, parts, further);
        if (status == TW_OK)
            status = put_in_place(made, target);
        if (status == TW_OK)
            sweep(target, parent);
        if (status != TW_OK) {
            tw__saved_error kept = tw__error_take();
            if (tw__path_exists(made) && tw_gfile_rmtree(made) != TW_OK)
                tw_clear_error();
            tw__error_restore(kept);
        }
    }
    if (lock >= 0)
        close(lock);
    tw__free(target);
    tw__free(parent);
    return status;
}

tw_status tw__saved_model_save(tw__saving_view *view, tw_saved_object *signatures, const char *directory, const char *file_name,
                               tw__saved_model_file make, void *context)
{
    if (!*directory)
        return tw__fail(TW_INVALID_ARGUMENT, "saved_model.save: the directory's name is empty");
    tw__extra *attached = (tw__extra *)view->extra;
    if (signatures)
        TW_TRY(tw__extra_add(attached, view->root, "signatures", signatures));
    tw__auto(tw__walk_free) tw__object_walk walk = { 0 };
    TW_TRY(tw__walk_objects(&walk, view));
    tw__auto(tw__saved_gradients_free) tw__saved_gradients gradients = { 0 };
    bool tables = false;
    TW_TRY(tw__saved_tables_attach(attached, &walk, &tables));
    if (tables) {
        tw__walk_free(&walk);
        TW_TRY(tw__walk_objects(&walk, view));
    }
    TW_TRY(bind_all(attached, &walk, view->no_gradients ? NULL : &gradients));
    tw__walk_free(&walk);
    TW_TRY(tw__walk_objects(&walk, view));
    return save_walked(&(tw__saved_model_parts){ &walk, signatures, &gradients }, directory,
                       &(saved_file){ file_name, make, context });
}
