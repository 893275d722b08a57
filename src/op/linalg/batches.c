/* Batches of matrices: widening, running over the batch by several threads, narrowing; shapes. See linalg.h. */
#include "kernel/kernel.h"
#include "op/linalg/linalg.h"

const char tw__matrix_no_memory[] = "out of memory";
_Thread_local tw__stopper *tw__matrix_stopper;

tw_tensor *tw__kernel_cast(const tw_op *op, tw_tensor *tensor, tw_dtype dtype)
{
    if (tensor->dtype == dtype)
        return tw_retain(tensor);
    if (!tw__cast_has(tensor->dtype, dtype)) {
        tw__fail(TW_UNIMPLEMENTED, "%s: %s as %s", op->name, tw_dtype_name(tensor->dtype), tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *cast = tw__tensor_empty(dtype, &tensor->shape);
    if (cast)
        tw__cast_run(tensor->dtype, dtype, tensor->data, cast->data, tensor->count, false);
    return cast;
}

static void body(void *context, int64_t begin, int64_t end)
{
    tw__matrix_job *job = context;
    tw__matrix_stopper = &job->stopper;
    for (int64_t i = begin; i < end && !tw__matrix_stopped(); i++) {
        const char *failure = job->run(job, i);
        if (failure)
            atomic_store(&job->failure, failure);
    }
    tw__matrix_stopper = NULL;
}

static tw_dtype wide_dtype(tw_dtype dtype)
{
    if (tw__dtype_is_complex(dtype))
        return TW_COMPLEX128;
    return tw__dtype_is_float(dtype) ? TW_FLOAT64 : dtype;
}

static tw_status narrow_outputs(tw__kernel *kernel, tw__matrix_job *job)
{
    for (int i = 0; i < kernel->output_count; i++) {
        tw_tensor *wide = job->outputs[i], *out = kernel->outputs[i];
        if (wide != out)
            tw__cast_run(wide->dtype, out->dtype, wide->data, out->data, out->count, false);
    }
    return TW_OK;
}

static tw_status run_job(tw__kernel *kernel, tw__matrix_job *job)
{
    const tw_shape *shape = &kernel->inputs[0]->shape;
    job->rows = shape->dims[shape->rank - 2];
    job->columns = shape->dims[shape->rank - 1];
    job->matrices = 1;
    for (int i = 0; i < shape->rank - 2; i++)
        job->matrices *= shape->dims[i];
    double work = (double)job->rows * (double)job->columns * (double)(job->rows + job->columns) + 1;
    tw__stopper_begin(&job->stopper);
    tw__parallel(job->matrices, (int64_t)(1e5 / work) + 1, body, job);
    TW_TRY(tw__stopper_status(&job->stopper)); /* what else failed is no news then */
    const char *failure = atomic_load(&job->failure);
    if (failure == tw__matrix_no_memory)
        return tw__no_memory(0);
    if (failure)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s", failure);
    return narrow_outputs(kernel, job);
}

tw_status tw__matrix_each(tw__kernel *kernel, const char *(*run)(tw__matrix_job *job, int64_t index))
{
    tw__matrix_job job = { .op = kernel->op, .attrs = kernel->attrs, .run = run };
    job.of = tw__dtype_is_complex(kernel->inputs[0]->dtype) ? &tw__complex_matrices : &tw__real_matrices;
    tw_tensor *held[2 * TW_MATRIX_TENSORS] = { NULL };
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < kernel->input_count; i++) {
        job.inputs[i] = held[i] = tw__kernel_cast(kernel->op, kernel->inputs[i], wide_dtype(kernel->inputs[i]->dtype));
        status = held[i] ? TW_OK : tw__error_status();
    }
    for (int i = 0; status == TW_OK && i < kernel->output_count; i++) {
        tw_tensor *out = kernel->outputs[i];
        tw_dtype wide = wide_dtype(out->dtype);
        job.outputs[i] = held[TW_MATRIX_TENSORS + i] = wide == out->dtype ? tw_retain(out) : tw__tensor_empty(wide, &out->shape);
        status = job.outputs[i] ? TW_OK : tw__error_status();
    }
    if (status == TW_OK)
        status = run_job(kernel, &job);
    for (int i = 0; i < 2 * TW_MATRIX_TENSORS; i++)
        tw_release(held[i]);
    return status;
}

void *tw__matrix_at(const tw_tensor *tensor, int64_t index, int64_t size)
{
    return (char *)tensor->data + (size_t)(index * size) * tw__element_size(tensor->dtype);
}

/* ---- shapes ---- */

void tw__matrix_square(const tw_shape *in, tw_shape *out)
{
    int64_t rows = tw__matrix_dim(in, 2), columns = tw__matrix_dim(in, 1), n = rows >= 0 ? rows : columns;
    tw__matrix_shape(in, n, n, out);
}

tw_status tw__matrix_need(const tw__inference *inference, int input, bool square)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank < 0)
        return TW_OK;
    if (shape->rank < 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input tensor %d must have rank >= 2, got %d", input, shape->rank);
    int64_t rows = tw__matrix_dim(shape, 2), columns = tw__matrix_dim(shape, 1);
    if (square && rows >= 0 && columns >= 0 && rows != columns)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input matrix must be square.");
    return TW_OK;
}

int64_t tw__matrix_dim(const tw_shape *shape, int from_end)
{
    return shape->rank < from_end ? -1 : shape->dims[shape->rank - from_end];
}

void tw__matrix_shape(const tw_shape *in, int64_t a, int64_t b, tw_shape *out)
{
    *out = *in;
    if (in->rank < 0)
        return;
    out->rank = in->rank - 2;
    if (a != -2)
        out->dims[out->rank++] = a;
    if (b != -2)
        out->dims[out->rank++] = b;
}
