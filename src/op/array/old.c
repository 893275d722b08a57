/* Array ops of earlier versions, which later forms compute (op/forms.h), and ops that hand their input on. */
#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/forms.h"
#include "op/gradient.h"
#include "rows.h"

#define NUMBERS                                                                                                               \
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, uint32, uint64}"
#define REALS "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

TW_FORM(concat, ConcatV2, .first_is_last = true)
TW_OP(Concat, .inputs = "concat_dim: int32, values: N * T", .outputs = "output: T", .attrs = "N: int >= 2, T: type",
      TW_FORM_ROW(concat), .doc = "ConcatV2 with the axis before the tensors.");

TW_FORM(gather, GatherV2, .adds = true, .number = 0)
TW_OP(Gather, .inputs = "params: Tparams, indices: Tindices", .outputs = "output: Tparams",
      .attrs = "validate_indices: bool = true, Tparams: type, Tindices: {int32, int64}", TW_FORM_ROW(gather),
      .doc = "GatherV2 along the first dimension.");

TW_FORM(in_top_k, InTopKV2, .adds = true, .number_attr = "k", .of_input_type = true)
TW_OP(InTopK, .inputs = "predictions: float, targets: T", .outputs = "precision: bool",
      .attrs = "k: int, T: {int32, int64} = int32", TW_FORM_ROW(in_top_k), .doc = "InTopKV2 whose k is an attr.");

TW_FORM(top_k, TopKV2, .adds = true, .number_attr = "k")
TW_OP(TopK, .inputs = "input: T", .outputs = "values: T, indices: int32", .attrs = "k: int >= 0, sorted: bool = true, T: " REALS,
      TW_FORM_ROW(top_k), .doc = "TopKV2 whose k is an attr.");

/* The places of true. */
static tw_tensor *chosen(const tw_tensor *dims)
{
    int64_t places[TW_MAX_RANK];
    int count = 0;
    for (int64_t i = 0; i < dims->count && i < TW_MAX_RANK; i++) {
        if (((const bool *)dims->data)[i])
            places[count++] = i;
    }
    return tw__ints_tensor(places, count, TW_INT32);
}

static const tw__form reverse_form = { .later = &tw__op_ReverseV2, .second = chosen };
static tw_status reverse_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 1, 1));
    int64_t rank = inference->shapes[0]->rank, count = inference->shapes[1]->rank == 1 ? inference->shapes[1]->dims[0] : -1;
    if (rank >= 0 && count >= 0 && rank != count)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                          "'dims' must have the same number of values as 'input' has dimensions. 'input' has %lld'dims' has %lld "
                          "values",
                          (long long)rank, (long long)count);
    return tw_shape_same(inference);
}

static tw_status reverse_compute(tw__kernel *kernel)
{
    return tw__form_compute(&reverse_form, kernel);
}

static tw_status reverse_gradient(tw__gradient *gradient)
{
    tw__grad_set(gradient, 0, TW_CALL(Reverse, gradient->output_grads[0], gradient->inputs[1]));
    return gradient->input_grads[0] || !gradient->wanted[0] ? TW_OK : tw__error_status();
}

TW_OP(Reverse, .inputs = "tensor: T, dims: bool", .outputs = "output: T",
      .attrs = "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, complex64, "
               "complex128, string}",
      .shape = reverse_shape, .compute = reverse_compute, .makes_outputs = true, .gradient = reverse_gradient,
      .doc = "ReverseV2 with a bool for each dimension.");

TW_FORM(stitch, DynamicStitch)
TW_OP(ParallelDynamicStitch, .inputs = "indices: N * int32, data: N * T", .outputs = "merged: T", .attrs = "N: int >= 1, T: type",
      TW_FORM_ROW(stitch), .doc = "DynamicStitch in which no index comes twice.");

TW_FORM(accumulate, AddN)
TW_OP(AccumulateNV2, .inputs = "inputs: N * T", .outputs = "sum: T", .attrs = "N: int >= 1, T: " NUMBERS ", shape: shape",
      TW_FORM_ROW(accumulate), .doc = "The sum of tensors of one shape.");

TW_FORM(bias, BiasAdd)
TW_OP(BiasAddV1, .inputs = "value: T, bias: T", .outputs = "output: T", .attrs = "T: " NUMBERS, TW_FORM_ROW(bias),
      .doc = "BiasAdd whose channels are last.");

TW_FORM(scatter_add, TensorScatterAdd)
TW_OP(ScatterNdNonAliasingAdd, .inputs = "input: T, indices: Tindices, updates: T", .outputs = "output: T",
      .attrs =
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, "
          "uint16, complex128, half, uint32, uint64, bool}, Tindices: {int32, int64}",
      TW_FORM_ROW(scatter_add), .doc = "Adds slices to those of a tensor, by index.");

/* ---- what hands its input on ---- */

static tw_status hand_on(tw__kernel *kernel)
{
    return tw__output_take(kernel, 0, tw_retain(kernel->inputs[0]));
}

static tw_status hand_back(tw__gradient *gradient)
{
    tw__grad_set(gradient, 0, gradient->output_grads[0] ? tw_retain(gradient->output_grads[0]) : NULL);
    return TW_OK;
}

#define SAME .shape = tw_shape_same, .compute = hand_on, .makes_outputs = true
TW_OP(GuaranteeConst, .inputs = "input: T", .outputs = "output: T", .attrs = "T: type", SAME, .stateful = true,
      .no_gradient = true, .function = "guarantee_const(input: tensor, name: str = None) -> tensor",
      .doc = "The same value, which the caller promises not to change between runs.\n"
             "input: a tensor");
TW_OP(Copy, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: type, tensor_name: string = '', debug_ops_spec: list(string) = []", SAME, .gradient = hand_back,
      .doc = "The same value.");
TW_OP(CopyHost, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: type, tensor_name: string = '', debug_ops_spec: list(string) = []", SAME, .gradient = hand_back,
      .doc = "The same value.");
TW_OP(DeepCopy, .no_gradient = true, .inputs = "x: T", .outputs = "y: T", .attrs = "T: type", SAME, .stateful = true,
      .doc = "The same value; values of tensors never change, so no copy is needed.");

/* ---- ConjugateTranspose ---- */

static const tw__form transpose_form = { .later = &tw__op_Transpose };

static tw_status transpose_shape(tw__inference *inference)
{
    return tw__form_shape(&transpose_form, inference);
}

static tw_status conjugate_compute(tw__kernel *kernel)
{
    tw_tensor *turned = NULL;
    tw__kernel part = *kernel;
    part.outputs = &turned;
    TW_TRY(tw__form_compute(&transpose_form, &part));
    if (!tw__dtype_is_complex(turned->dtype))
        return tw__output_take(kernel, 0, turned);
    tw_tensor *out = tw__output(kernel, 0, &turned->shape);
    if (out)
        tw__unary_run(&tw__unary_conj, out->dtype, turned->data, out->data, out->count);
    tw_release(turned);
    return out ? TW_OK : tw__error_status();
}

static tw_status conjugate_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    tw_tensor *back = TW_TEMP(InvertPermutation, gradient->inputs[1]);
    tw__grad_set(gradient, 0, TW_CALL(ConjugateTranspose, gradient->output_grads[0], back));
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(ConjugateTranspose, .inputs = "x: T, perm: Tperm", .outputs = "y: T", .attrs = "T: type, Tperm: {int32, int64} = int32",
      .shape = transpose_shape, .compute = conjugate_compute, .gradient = conjugate_gradient, .makes_outputs = true,
      .doc = "The conjugates of the elements, with the dimensions in another order.");
