/* Old forms of ops; see forms.h. */
#include "op/forms.h"

/* What the later op is given. `from[i]`: the old op's input that is its input i, -1: the number. */
typedef struct later {
    int count, outputs;
    int from[TW_FORM_INPUTS];
    tw_tensor *inputs[TW_FORM_INPUTS]; /* or values, which may be unknown */
    tw_tensor *made;                   /* to be released */
    tw_attr attrs[TW_MAX_ATTRS];
} later;

static tw_tensor *make_number(const tw__form *form, const tw_op *op, const tw_attr *attrs, const tw_dtype *dtypes)
{
    int64_t value = form->number_attr ? tw__attr_find(op, attrs, form->number_attr)->i : form->number;
    tw_dtype dtype = form->of_input_type ? dtypes[1] : form->wide ? TW_INT64 : TW_INT32;
    if (dtype == TW_INT64)
        return tw_tensor_new(TW_INT64, TW_SCALAR, &value);
    if (value < INT32_MIN || value > INT32_MAX) {
        tw__fail_op(op->name, TW_INVALID_ARGUMENT, "%s is %lld, which int32 can't hold", form->number_attr, (long long)value);
        return NULL;
    }
    return tw_tensor_new(TW_INT32, TW_SCALAR, &(int32_t){ (int32_t)value });
}

/* The attrs that both ops have, and the later op's defaults. */
static tw_status complete_attrs(const tw__form *form, const tw_op *op, const tw_attr *attrs, const tw_dtype *dtypes, later *l)
{
    const tw__op_signature *own = tw__op_signature_of(op), *other = tw__op_signature_of(form->later);
    if (!own || !other)
        return tw__error_status();
    tw_attr given[TW_MAX_ATTRS];
    int count = 0;
    for (int i = 0; i < own->attr_count; i++) {
        for (int k = 0; k < other->attr_count; k++) {
            if (strcmp(own->attrs[i].name, other->attrs[k].name) == 0 && !other->attrs[k].inferred)
                given[count++] = attrs[i];
        }
    }
    tw_dtype types[TW_FORM_INPUTS], out_types[TW_FORM_INPUTS];
    for (int i = 0; i < l->count; i++)
        types[i] = l->from[i] < 0                            ? l->made->dtype
                   : l->inputs[i] && l->inputs[i] == l->made ? l->made->dtype
                                                             : dtypes[l->from[i]];
    return tw__op_resolve(form->later, types, l->count, given, count, l->attrs, out_types, TW_FORM_INPUTS, &l->outputs);
}

static tw_status begin(const tw__form *form, const tw_op *op, const tw_attr *attrs, const tw_dtype *dtypes,
                       tw_tensor *const *inputs, int count, later *l)
{
    if (count >= TW_FORM_INPUTS)
        return tw__fail_op(op->name, TW_UNIMPLEMENTED, "%d inputs, at most %d are supported; %s has no such limit", count,
                           TW_FORM_INPUTS - 1, form->later->name);
    *l = (later){ .count = 0 };
    int at = form->adds ? form->at ? form->at : count : -1;
    for (int i = form->first_is_last; i < count; i++) {
        if (l->count == at)
            l->from[l->count++] = -1;
        l->from[l->count++] = i;
    }
    if (form->first_is_last)
        l->from[l->count++] = 0;
    if (l->count == at)
        l->from[l->count++] = -1;
    if (form->adds)
        TW_NEED(l->made = make_number(form, op, attrs, dtypes));
    if (form->second && inputs[1])
        TW_NEED(l->made = form->second(inputs[1]));
    for (int i = 0; i < l->count; i++)
        l->inputs[i] = l->from[i] < 0 || (form->second && l->from[i] == 1) ? l->made : inputs[l->from[i]];
    tw_status status = complete_attrs(form, op, attrs, dtypes, l);
    if (status != TW_OK)
        tw_release(l->made);
    return status;
}

tw_status tw__form_shape(const tw__form *form, tw__inference *inference)
{
    later l;
    TW_TRY(begin(form, inference->op, inference->attrs, inference->dtypes, inference->values, inference->input_count, &l));
    const tw_shape *shapes[TW_FORM_INPUTS];
    tw_dtype dtypes[TW_FORM_INPUTS];
    for (int i = 0; i < l.count; i++) {
        bool own = l.made && l.inputs[i] == l.made;
        shapes[i] = own ? &l.made->shape : inference->shapes[l.from[i]];
        dtypes[i] = own ? l.made->dtype : inference->dtypes[l.from[i]];
    }
    tw__inference whole = *inference;
    whole.op = form->later;
    whole.input_count = l.count;
    whole.shapes = shapes;
    whole.dtypes = dtypes;
    whole.values = l.inputs;
    whole.attrs = l.attrs;
    whole.partial = (tw__partial_reader){ 0 };
    tw_status status = form->later->shape(&whole);
    tw_release(l.made);
    return status;
}

tw_status tw__form_compute(const tw__form *form, tw__kernel *kernel)
{
    later l;
    tw_dtype dtypes[TW_FORM_INPUTS];
    for (int i = 0; i < kernel->input_count && i < TW_FORM_INPUTS; i++)
        dtypes[i] = kernel->inputs[i]->dtype;
    TW_TRY(begin(form, kernel->op, kernel->attrs, dtypes, kernel->inputs, kernel->input_count, &l));
    tw__kernel whole = *kernel;
    whole.op = form->later;
    whole.input_count = l.count;
    whole.inputs = l.inputs;
    whole.attrs = l.attrs;
    tw_status status = TW_OK;
    if (!form->later->makes_outputs) { /* its outputs are made beforehand where their shapes are known */
        const tw_shape *shapes[TW_FORM_INPUTS];
        tw_dtype types[TW_FORM_INPUTS], out_types[TW_FORM_INPUTS];
        tw_shape out_shapes[TW_FORM_INPUTS];
        for (int i = 0; i < l.count; i++) {
            shapes[i] = &l.inputs[i]->shape;
            types[i] = l.inputs[i]->dtype;
        }
        for (int i = 0; i < l.outputs; i++) {
            out_shapes[i].rank = -1;
            out_types[i] = kernel->out_dtypes[i];
        }
        tw__inference inference = { form->later, l.count, l.outputs,  shapes,    types,
                                    l.inputs,    l.attrs, out_shapes, out_types, { 0 } };
        status = form->later->shape(&inference);
        for (int i = 0; status == TW_OK && i < kernel->output_count; i++) {
            if (tw__shape_known(&out_shapes[i]) && !tw__output(kernel, i, &out_shapes[i]))
                status = tw__error_status();
        }
    }
    if (status == TW_OK)
        status = form->later->compute(&whole);
    tw_release(l.made);
    return status;
}

tw_status tw__form_gradient(const tw__form *form, tw__gradient *gradient)
{
    later l;
    tw_dtype dtypes[TW_FORM_INPUTS];
    if (!form->later->gradient)
        return TW_OK;
    for (int i = 0; i < gradient->input_count && i < TW_FORM_INPUTS; i++)
        dtypes[i] = gradient->inputs[i]->dtype;
    tw_tensor *values[TW_FORM_INPUTS] = { NULL };
    for (int i = 0; i < gradient->input_count && i < TW_FORM_INPUTS; i++)
        values[i] = gradient->inputs[i];
    if (form->second && !values[1]->data)
        return tw__fail_op(gradient->op->name, TW_UNIMPLEMENTED, "the gradient needs a value that is not known while tracing");
    TW_TRY(begin(form, gradient->op, gradient->attrs, dtypes, values, gradient->input_count, &l));
    tw_tensor *grads[TW_FORM_INPUTS] = { NULL };
    bool wanted[TW_FORM_INPUTS];
    for (int i = 0; i < l.count; i++)
        wanted[i] = l.from[i] >= 0 && gradient->wanted[l.from[i]];
    tw__gradient whole = *gradient;
    whole.op = form->later;
    whole.input_count = l.count;
    whole.inputs = l.inputs;
    whole.input_grads = grads;
    whole.wanted = wanted;
    whole.attrs = l.attrs;
    tw_status status = form->later->gradient(&whole);
    for (int i = 0; i < l.count; i++) {
        if (l.from[i] >= 0)
            gradient->input_grads[l.from[i]] = grads[i];
    }
    tw_release(l.made);
    return status;
}
