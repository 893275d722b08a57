/* A value that differs between replicas: a tensor for each. It passes functions, tf.nest and datasets as one value of several
 * tensors (src/api/composite.h). */
#include "api/composite.h"
#include "distribute/distribute.h"
#include "rows.h"

struct tw_per_replica {
    tw_object object;
    int count;
    tw_tensor *values[TW_COMPOSITE_PARTS];
};

struct tw_per_replica_spec {
    tw_type_spec spec;
    int count;
    tw_dtype dtypes[TW_COMPOSITE_PARTS];
    tw_shape shapes[TW_COMPOSITE_PARTS];
};

/* ---- the type ---- */

static int spec_parts(const void *self, tw_shape *shapes, tw_dtype *dtypes)
{
    const struct tw_per_replica_spec *spec = self;
    for (int i = 0; i < spec->count; i++) {
        shapes[i] = spec->shapes[i];
        dtypes[i] = spec->dtypes[i];
    }
    return spec->count;
}

static void *per_replica_of(tw_tensor *const *values, int count)
{
    struct tw_per_replica *made = tw__object_new(&tw__class_per_replica);
    for (; made && made->count < count; made->count++)
        made->values[made->count] = tw_retain(values[made->count]);
    return made;
}

static void *spec_pack(const void *self, tw_tensor *const *parts)
{
    return per_replica_of(parts, ((const struct tw_per_replica_spec *)self)->count);
}

static void spec_text(const void *self, tw__text *text)
{
    const struct tw_per_replica_spec *spec = self;
    tw__text_add(text, "PerReplicaSpec(");
    for (int i = 0; i < spec->count; i++) {
        tw__owned char *shape = tw__shape_tuple(&spec->shapes[i]);
        tw__text_format(text, "%sTensorSpec(shape=%s, dtype=tf.%s, name=None)", i ? ", " : "", shape ? shape : "",
                        tw_dtype_name(spec->dtypes[i]));
        text->failed |= !shape;
    }
    tw__text_add(text, ")");
}

static bool spec_covers(const void *self, const void *other)
{
    const struct tw_per_replica_spec *a = self, *b = other;
    bool covers = a->count == b->count;
    for (int i = 0; covers && i < a->count; i++)
        covers = a->dtypes[i] == b->dtypes[i] && tw__shape_covers(&a->shapes[i], &b->shapes[i]);
    return covers;
}

static const tw__type_spec_methods spec_methods = { spec_parts, spec_pack, spec_text, spec_covers };

static tw_status add_part(struct tw_per_replica_spec *spec, tw_dtype dtype, const tw_shape *shape)
{
    if (spec->count == TW_COMPOSITE_PARTS)
        return tw__fail(TW_UNIMPLEMENTED, "PerReplicaSpec: more than %d replicas are not supported", TW_COMPOSITE_PARTS);
    spec->dtypes[spec->count] = dtype;
    spec->shapes[spec->count++] = *shape;
    return TW_OK;
}

struct tw_per_replica_spec *tw__per_replica_spec_new(const tw_spec *parts, int count)
{
    struct tw_per_replica_spec *spec = tw__object_new(&tw__class_per_replica_spec);
    for (int i = 0; spec && i < count; i++) {
        if (add_part(spec, parts[i].dtype, &parts[i].shape) != TW_OK) {
            tw_release(spec);
            return NULL;
        }
    }
    return spec;
}

static tw_status spec_init(void *self, const void *given)
{
    const tw_per_replica_spec_args *args = given;
    for (int64_t i = 0; i < args->value_specs.count; i++) {
        tw_shape shapes[TW_COMPOSITE_PARTS];
        tw_dtype dtypes[TW_COMPOSITE_PARTS];
        if (tw__spec_parts(args->value_specs.items[i], shapes, dtypes) != 1)
            return tw__fail(TW_UNIMPLEMENTED, "PerReplicaSpec: item %lld is no TensorSpec", (long long)i);
        TW_TRY(add_part(self, dtypes[0], &shapes[0]));
    }
    return TW_OK;
}

TW_CLASS(per_replica_spec, "distribute._PerReplicaSpec(*value_specs: list<type_spec>)", .parent = &tw__class_type_spec,
         .size = sizeof(struct tw_per_replica_spec), .init = spec_init, .methods = &spec_methods, .drop_config = true,
         .doc = "The type of values that differ between replicas.");

/* ---- the value ---- */

static int parts(void *self, tw_tensor **list)
{
    struct tw_per_replica *value = self;
    for (int i = 0; i < value->count; i++)
        list[i] = value->values[i];
    return value->count;
}

static tw_type_spec *spec_of(void *self)
{
    const struct tw_per_replica *value = self;
    struct tw_per_replica_spec *spec = tw__object_new(&tw__class_per_replica_spec);
    tw_status status = spec ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < value->count; i++)
        status = add_part(spec, value->values[i]->dtype, &value->values[i]->shape);
    if (status == TW_OK)
        return &spec->spec;
    tw_release(spec);
    return NULL;
}

static void *with_values(__attribute__((unused)) void *self, __attribute__((unused)) tw_tensor *values)
{
    tw__fail(TW_TYPE_ERROR, "a value of several replicas has no values of one");
    return NULL;
}

static const tw__composite_methods methods = { parts, spec_of, with_values };

static void value_destroy(void *self)
{
    struct tw_per_replica *value = self;
    for (int i = 0; i < value->count; i++)
        tw_release(value->values[i]);
}

static tw_status value_init(void *self, const void *given)
{
    const tw_per_replica_args *args = given;
    struct tw_per_replica *value = self;
    if (args->values.count < 1 || args->values.count > TW_COMPOSITE_PARTS)
        return tw__fail(TW_UNIMPLEMENTED, "PerReplica: %lld values; 1 to %d are supported", (long long)args->values.count,
                        TW_COMPOSITE_PARTS);
    for (; value->count < args->values.count; value->count++)
        value->values[value->count] = tw_retain(args->values.items[value->count]);
    return TW_OK;
}

TW_CLASS(per_replica, "distribute._PerReplica(values: tensors)", .parent = &tw__composite_class,
         .size = sizeof(struct tw_per_replica), .init = value_init, .destroy = value_destroy, .methods = &methods,
         .drop_config = true, .doc = "A tensor for each replica.");

TW_PROPERTY(per_replica_values, "distribute._PerReplica.values(self: per_replica) -> tensors",
            "The tensors, one for each replica.")
{
    tw_tensors list = { tw__alloc_array((size_t)args->self->count + 1, sizeof *list.items), 0 };
    for (; list.items && list.count < args->self->count; list.count++)
        list.items[list.count] = tw_retain(args->self->values[list.count]);
    return list;
}
