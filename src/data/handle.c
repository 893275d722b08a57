/* Datasets as users hold them: the variant tensor that an op gave, with the dtypes and shapes of the elements; see data.h. */
#include <math.h>

#include "data/data.h"
#include "data/element_spec.h"
#include "function/cache.h"
#include "op/calls.h"
#include "op/guard.h"
#include "rows.h"

static void handle_destroy(void *self)
{
    struct tw_dataset *dataset = self;
    tw_release(dataset->variant);
    tw__free(dataset->specs);
    tw_value_free(&dataset->structure);
}

static tw_status handle_init(void *self, __attribute__((unused)) const void *args)
{
    if (((tw_object *)self)->class == &tw__class_dataset)
        return tw__fail(TW_TYPE_ERROR, "Dataset can't be made by itself: use from_tensor_slices, from_tensors, range, …");
    return TW_OK;
}

TW_CLASS(dataset, "data.Dataset() -> dataset", .size = sizeof(struct tw_dataset), .init = handle_init, .destroy = handle_destroy,
         .drop_config = true, .doc = "A sequence of elements, each of one or more tensors.");

/* ---- applying ops ---- */

static bool has_attr(const tw__op_signature *signature, const char *name)
{
    for (int i = 0; i < signature->attr_count; i++) {
        if (strcmp(signature->attrs[i].name, name) == 0)
            return true;
    }
    return false;
}

tw_status tw__dataset_apply(struct tw_dataset *self, const tw_op *op, tw_tensor *const *inputs, int input_count,
                            const tw_attr *attrs, int attr_count, const tw_spec *specs, int count)
{
    const tw__op_signature *signature = tw__op_signature_of(op);
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)count + 1, sizeof *dtypes);
    tw__owned tw_shape *shapes = tw__alloc_array((size_t)count + 1, sizeof *shapes);
    self->specs = tw__alloc_array((size_t)count + 1, sizeof *self->specs);
    TW_NEED(signature && dtypes && shapes && self->specs && attr_count + 2 <= TW_MAX_ATTRS);
    for (int i = 0; i < count; i++) {
        self->specs[i] = specs[i];
        dtypes[i] = specs[i].dtype;
        shapes[i] = specs[i].shape;
    }
    self->count = count;
    tw_attr all[TW_MAX_ATTRS];
    int known = 0;
    for (; known < attr_count; known++)
        all[known] = attrs[known];
    if (has_attr(signature, "output_types"))
        all[known++] = TW_A_TYPES("output_types", dtypes, count);
    if (has_attr(signature, "output_shapes"))
        all[known++] = (tw_attr){ .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = count, .shapes = shapes };
    self->variant = tw__call(op, inputs, input_count, all, known);
    TW_NEED(self->variant);
    return tw__element_of_specs(self->specs, count, &self->structure);
}

tw_status tw__dataset_settle(struct tw_dataset *self, tw_status status, tw_value structure, bool exact)
{
    int count = 0;
    tw_spec *specs = status == TW_OK ? tw__element_specs(&structure, &count) : NULL;
    if (status == TW_OK)
        status = !specs ? tw__error_status()
                 : count != self->count
                     ? tw__fail(TW_INVALID_ARGUMENT, "a structure of %d tensors for elements of %d", count, self->count)
                     : TW_OK;
    tw__free(specs);
    if (status == TW_OK && exact) {
        tw_value_free(&self->structure);
        self->structure = structure;
        return TW_OK;
    }
    if (status == TW_OK) {
        tw_value_free(&self->structure);
        status = tw__element_renewed(&structure, self->specs, &self->structure);
    }
    tw_value_free(&structure);
    return status;
}

tw_status tw__dataset_wrap(struct tw_dataset *self)
{
    tw_value *items = tw__alloc_array(1, sizeof *items);
    TW_NEED(items);
    items[0] = self->structure;
    self->structure = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { .items = items, .count = 1 } };
    return TW_OK;
}

/* The elements are nested like those of another dataset. */
static tw_status settle_like(struct tw_dataset *self, tw_status status, const struct tw_dataset *other)
{
    if (status != TW_OK || other->structure.kind == TW_VALUE_NONE)
        return status;
    tw_value_free(&self->structure);
    return tw__element_renewed(&other->structure, self->specs, &self->structure);
}

tw_status tw__dataset_step(struct tw_dataset *self, const struct tw_dataset *input, tw_spec *specs, const tw_op *op,
                           tw_tensor *const *further, int count, const tw_attr *attrs, int attr_count)
{
    tw_tensor *inputs[8] = { input->variant };
    tw_status status = count < 8 ? TW_OK : tw__fail(TW_INTERNAL, "%s: too many inputs", op->name);
    for (int i = 0; status == TW_OK && i < count; i++) {
        inputs[i + 1] = further[i];
        if (!further[i])
            status = tw__error_status();
    }
    if (status == TW_OK)
        status = tw__dataset_apply(self, op, inputs, count + 1, attrs, attr_count, specs ? specs : input->specs, input->count);
    status = settle_like(self, status, input);
    for (int i = 0; i < count; i++)
        tw_release(further[i]);
    tw__free(specs);
    return status;
}

tw_tensor *tw__data_number(double value, void *object, const char *what)
{
    if (object && tw__is(object, &tw__tensor_class)) {
        tw_tensor *tensor = object;
        if (tensor->dtype == TW_INT64)
            return tw_retain(tensor);
        if (tw__dtype_is_integer(tensor->dtype))
            return TW_CALL(Cast, tensor, TW_A_TYPE("DstT", TW_INT64));
        tw__fail(TW_TYPE_ERROR, "%s must be an integer, got a tensor of dtype %s", what, tw_dtype_name(tensor->dtype));
        return NULL;
    }
    if (object || isnan(value) || value != floor(value) || fabs(value) > 9007199254740992.0) {
        tw__fail(TW_TYPE_ERROR, "Cannot convert %.15g to EagerTensor of dtype int64 (the argument %s)", value, what);
        return NULL;
    }
    return tw_tensor_int64((int64_t)value);
}

/* ---- functions ---- */

tw__function *tw__data_function_for(void *object, const tw_spec *specs, int count, const char *who)
{
    tw__function *f = tw__is(object, &tw__function_class) ? tw_retain(object) : tw__function_concrete(object, specs, count);
    if (f && f->argument_count != count) {
        tw__fail(TW_INVALID_ARGUMENT, "%s: the function %s takes %d arguments; elements have %d", who, f->name, f->argument_count,
                 count);
        tw_release(f);
        return NULL;
    }
    return f;
}

tw_status tw__data_results(const tw__function *f, tw_spec **specs)
{
    *specs = tw__alloc_array((size_t)f->output_count + 1, sizeof **specs);
    if (!*specs)
        return tw__error_status();
    for (int i = 0; i < f->output_count; i++)
        (*specs)[i] = (tw_spec){ tw__function_output_dtype(f, i), *tw__function_output_shape(f, i) };
    return TW_OK;
}

tw_tensor **tw__data_inputs(tw_tensor *const *first, int first_count, const tw__function *const *functions, int function_count,
                            tw_tensor *const *last, int last_count, int *count)
{
    int all = first_count + last_count;
    for (int i = 0; i < function_count; i++)
        all += functions[i]->input_count - functions[i]->argument_count;
    tw_tensor **inputs = tw__alloc_array((size_t)all + 1, sizeof *inputs);
    *count = 0;
    if (!inputs)
        return NULL;
    for (int i = 0; i < first_count; i++)
        inputs[(*count)++] = first[i];
    for (int i = 0; i < function_count; i++) {
        for (int k = 0; k < functions[i]->input_count - functions[i]->argument_count; k++)
            inputs[(*count)++] = functions[i]->captures[k];
    }
    for (int i = 0; i < last_count; i++)
        inputs[(*count)++] = last[i];
    return inputs;
}

/* The elements' specs of the dataset that an edge of a graph carries, by the attrs of the node that makes it. */
static const tw__node *maker_of(const tw__function *f)
{
    const tw__node *node = f->outputs[0].node;
    while (node->op->forwards)
        node = node->inputs[0].node;
    return node;
}

tw_status tw__data_inner_specs(const tw__function *f, const struct tw_dataset *like, const char *who, tw_spec **specs, int *count)
{
    if (f->output_count != 1 || tw__function_output_dtype(f, 0) != TW_VARIANT)
        return tw__fail(TW_TYPE_ERROR, "%s: the function must give a dataset", who);
    const tw__node *node = maker_of(f);
    const tw__op_signature *signature = tw__op_signature_of(node->op);
    const tw_dtype *dtypes = NULL;
    const tw_shape *shapes = NULL;
    *count = 0;
    for (int i = 0; !like && signature && i < signature->attr_count; i++) {
        const tw_attr *attr = &node->attrs[i];
        if (strcmp(attr->name, "output_types") == 0 || strcmp(attr->name, "Toutput_types") == 0) {
            dtypes = attr->types;
            *count = attr->count;
        } else if (strcmp(attr->name, "output_shapes") == 0) {
            shapes = attr->shapes;
        }
    }
    const tw_op *op = node->op->plain ? node->op->plain : node->op;
    bool lines = !dtypes && op->touches & TW_READS_FILES; /* strings of files */
    *count = like ? like->count : lines ? 1 : *count;
    if (!like && !lines && (!dtypes || !shapes))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "%s: what the elements of the function's dataset are is not known; say so by `element`", who);
    *specs = tw__alloc_array((size_t)*count + 1, sizeof **specs);
    if (!*specs)
        return tw__error_status();
    for (int i = 0; i < *count; i++)
        (*specs)[i] = like ? like->specs[i] : lines ? (tw_spec){ TW_STRING, TW_SCALAR } : (tw_spec){ dtypes[i], shapes[i] };
    return TW_OK;
}

tw_status tw__dataset_apply_function(struct tw_dataset *self, const struct tw_dataset *input, const tw_op *op, const char *attr,
                                     tw__function *f, const struct tw_dataset *like, tw_tensor *const *last, int last_count,
                                     const tw_attr *attrs, int attr_count)
{
    int count = 0;
    tw__owned tw_tensor **inputs =
        tw__data_inputs(&input->variant, 1, (const tw__function *const *)&f, 1, last, last_count, &count);
    tw_attr all[TW_MAX_ATTRS] = { TW_A_FUNC(attr, f) };
    for (int i = 0; i < attr_count && i < TW_MAX_ATTRS - 4; i++)
        all[1 + i] = attrs[i];
    const tw_spec *specs = like ? like->specs : input->specs;
    tw_status status =
        inputs ? tw__dataset_apply(self, op, inputs, count, all, 1 + attr_count, specs, like ? like->count : input->count)
               : tw__error_status();
    return settle_like(self, status, like ? like : input);
}

tw_attr tw__data_capture_types(const char *name, const tw__function *f, tw_dtype **types)
{
    int count = f->input_count - f->argument_count;
    *types = tw__alloc_array((size_t)count + 1, sizeof **types);
    for (int i = 0; *types && i < count; i++)
        (*types)[i] = f->captures[i]->dtype;
    return TW_A_TYPES(name, *types, count);
}

/* ---- shapes ---- */

tw_shape tw__shape_stacked(const tw_shape *shape, int64_t size)
{
    if (shape->rank < 0 || shape->rank >= TW_MAX_RANK)
        return TW_UNKNOWN_SHAPE;
    tw_shape stacked = { .rank = shape->rank + 1, .dims = { size } };
    memcpy(stacked.dims + 1, shape->dims, (size_t)shape->rank * sizeof *shape->dims);
    return stacked;
}

tw_shape tw__shape_row(const tw_shape *shape)
{
    if (shape->rank < 1)
        return TW_UNKNOWN_SHAPE;
    tw_shape row = { .rank = shape->rank - 1 };
    memcpy(row.dims, shape->dims + 1, (size_t)row.rank * sizeof *row.dims);
    return row;
}

/* ---- what a dataset tells of itself ---- */

TW_PROPERTY(dataset_variant_tensor, "data.Dataset._variant_tensor(self: dataset) -> tensor",
            "The tensor that stands for the dataset in graphs.")
{
    return tw_retain(args->self->variant);
}

TW_PROPERTY(dataset_element_spec, "data.Dataset.element_spec(self: dataset) -> value",
            "The structure of the elements, with TensorSpecs.")
{
    return tw__value_copy(&args->self->structure);
}

TW_PROPERTY(dataset_type_spec, "data.Dataset._type_spec(self: dataset) -> dataset_spec", "The spec of the dataset itself.")
{
    return tw__dataset_spec_new(&args->self->structure).object;
}

TW_METHOD(dataset_set_structure, "data.Dataset._settle(self: dataset, structure: value<spec>, exact: bool = False) -> dataset",
          "Says how the elements are nested; with the dtypes and shapes that are known, or exactly as it is said.")
{
    tw_value structure = tw__value_copy(&args->structure);
    tw_status status = structure.kind == args->structure.kind ? TW_OK : tw__error_status();
    return tw__dataset_settle(args->self, status, structure, args->exact) == TW_OK ? tw_retain(args->self) : NULL;
}

TW_PROPERTY(dataset_class_name, "data.Dataset._class_name(self: dataset) -> str", "What the step is called.")
{
    return tw__strdup(args->self->object.class->name);
}

static tw_status cardinality_shape(tw__inference *inference)
{
    return tw_shape_scalar(inference);
}

static tw_status cardinality_compute(tw__kernel *kernel)
{
    tw__dataset *dataset = tw__dataset_of(kernel->op->name, kernel->inputs[0]);
    TW_NEED(dataset);
    *(int64_t *)kernel->outputs[0]->data = tw__dataset_cardinality(dataset);
    return TW_OK;
}

TW_OP(DatasetCardinality, .inputs = "input_dataset: variant", .outputs = "cardinality: int64",
      .attrs = "cardinality_options: string = ''", .shape = cardinality_shape, .compute = cardinality_compute,
      .doc = "The number of elements; -1: there is no end, -2: it is not known.");

TW_METHOD(
    dataset_cardinality, "data.Dataset.cardinality(self: dataset, name: str = None) -> tensor",
    "The number of elements as an int64 scalar: INFINITE_CARDINALITY if there is no end, UNKNOWN_CARDINALITY if it is not known.")
{
    return TW_CALL(DatasetCardinality, args->self->variant);
}

/* ---- a dataset of a variant tensor ---- */

static tw_status variant_init(void *pointer, const void *arguments)
{
    struct tw_dataset *self = pointer;
    const tw_dataset_variant_args *args = arguments;
    const tw__dataset *inner = NULL;
    bool told = args->element_spec.kind != TW_VALUE_NONE;
    if (args->variant->dtype != TW_VARIANT)
        return tw__fail(TW_TYPE_ERROR, "_VariantDataset: a tensor of dtype variant is expected, got %s",
                        tw_dtype_name(args->variant->dtype));
    if (!told && !args->variant->data)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "_VariantDataset: a tensor of a graph does not tell what the elements of its dataset are; element_spec has to");
    if (!told && !(inner = tw__dataset_of("_VariantDataset", args->variant)))
        return tw__error_status();
    self->count = inner ? inner->count : 0;
    self->specs = inner ? tw__alloc_array((size_t)self->count + 1, sizeof *self->specs)
                        : tw__element_specs(&args->element_spec, &self->count);
    TW_NEED(self->specs);
    for (int i = 0; inner && i < self->count; i++)
        self->specs[i] = (tw_spec){ inner->dtypes[i], inner->shapes[i] };
    self->variant = tw_retain(args->variant);
    return inner ? tw__element_of_specs(self->specs, self->count, &self->structure)
                 : tw__element_renewed(&args->element_spec, self->specs, &self->structure);
}

TW_CLASS(dataset_variant, "data._VariantDataset(variant: tensor, element_spec: value<spec> = None) -> dataset",
         TW_STEP(variant_init),
         .doc = "The dataset that a variant tensor holds, with elements of that structure. Without one its own is asked for.");

struct tw_dataset *tw__dataset_of_variant(tw_tensor *variant, const tw_value *structure)
{
    return tw_class_make(&tw__class_dataset_variant,
                         &(tw_dataset_variant_args){ .variant = variant, .element_spec = *structure });
}

/* ---- elements that ops give ---- */

tw_value tw__data_element_by_op(const tw_op *op, tw_tensor *input, const tw_value *structure)
{
    int count = 0;
    tw_value value = { .kind = TW_VALUE_NONE };
    tw__owned tw_spec *specs = tw__element_specs(structure, &count);
    tw__owned tw_tensor **tensors = specs ? tw__alloc_array((size_t)count + 1, sizeof *tensors) : NULL;
    tw__owned tw_dtype *dtypes = tensors ? tw__alloc_array((size_t)count + 1, sizeof *dtypes) : NULL;
    tw__owned tw_shape *shapes = dtypes ? tw__alloc_array((size_t)count + 1, sizeof *shapes) : NULL;
    for (int i = 0; shapes && i < count; i++) {
        dtypes[i] = specs[i].dtype;
        shapes[i] = specs[i].shape;
    }
    int made = count;
    if (shapes) {
        tw_attr attrs[] = { TW_A_TYPES("output_types", dtypes, count),
                            { .name = "output_shapes", .kind = TW_ATTR_SHAPES, .count = count, .shapes = shapes } };
        if (tw__apply(op, &input, 1, attrs, 2, tensors, &made) == TW_OK)
            tw__element_pack(structure, tensors, made, &value);
    }
    return value;
}

tw_status tw__dataset_apply_functions(struct tw_dataset *self, const struct tw_dataset *input, const tw_op *op,
                                      const char *const *names, const tw__traced *functions, int count, const tw_spec *specs,
                                      int spec_count)
{
    TW_TEMPS(t);
    const tw__function *all[TW_DATA_FUNCTIONS];
    char types[TW_DATA_FUNCTIONS][64];
    tw_attr attrs[2 * TW_DATA_FUNCTIONS];
    for (int i = 0; i < count; i++) {
        tw_dtype *captured = NULL;
        all[i] = functions[i].function;
        snprintf(types[i], sizeof types[i], "T%s_other_arguments", names[i]);
        attrs[2 * i] = TW_A_FUNC(names[i], functions[i].function);
        attrs[2 * i + 1] = tw__data_capture_types(types[i], all[i], &captured);
        TW_NEED(tw__temp_memory(t, captured));
    }
    int given = 0;
    tw__owned tw_tensor **inputs = tw__data_inputs(&input->variant, 1, all, count, NULL, 0, &given);
    TW_NEED(inputs);
    return tw__dataset_apply(self, op, inputs, given, attrs, 2 * count, specs, spec_count);
}
