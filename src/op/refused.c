/* Ops that can't be called; see refused.h. Some work on references to variables, which only graphs of TensorFlow 1 have. Others
 * were removed from TensorFlow, whose words these are. */
#include "op/refused.h"

#include <string.h>

typedef struct refused {
    const char *name, *function; /* NULL: it was removed */
    const char *word;            /* the argument that is a reference; or what to use instead */
    int version;
} refused;

static const refused ops[] = {
    { "ApplyAdaMax", "apply_ada_max", "out", 0 },
    { "ApplyAdadelta", "apply_adadelta", "out", 0 },
    { "ApplyAdagrad", "apply_adagrad", "out", 0 },
    { "ApplyAdagradDA", "apply_adagrad_da", "out", 0 },
    { "ApplyAdagradV2", "apply_adagrad_v2", "out", 0 },
    { "ApplyAdam", "apply_adam", "out", 0 },
    { "ApplyAddSign", "apply_add_sign", "out", 0 },
    { "ApplyCenteredRMSProp", "apply_centered_rms_prop", "out", 0 },
    { "ApplyFtrl", "apply_ftrl", "out", 0 },
    { "ApplyFtrlV2", "apply_ftrl_v2", "out", 0 },
    { "ApplyGradientDescent", "apply_gradient_descent", "out", 0 },
    { "ApplyMomentum", "apply_momentum", "out", 0 },
    { "ApplyPowerSign", "apply_power_sign", "out", 0 },
    { "ApplyProximalAdagrad", "apply_proximal_adagrad", "out", 0 },
    { "ApplyProximalGradientDescent", "apply_proximal_gradient_descent", "out", 0 },
    { "ApplyRMSProp", "apply_rms_prop", "out", 0 },
    { "Assign", "assign", "output_ref", 0 },
    { "AssignAdd", "assign_add", "output_ref", 0 },
    { "AssignSub", "assign_sub", "output_ref", 0 },
    { "CountUpTo", "count_up_to", "ref", 0 },
    { "DestroyTemporaryVariable", "destroy_temporary_variable", "ref", 0 },
    { "HashTable", "hash_table", "table_handle", 0 },
    { "InitializeTable", "initialize_table", "table_handle", 0 },
    { "InitializeTableFromTextFile", "initialize_table_from_text_file", "table_handle", 0 },
    { "IsVariableInitialized", "is_variable_initialized", "ref", 0 },
    { "LookupTableExport", "lookup_table_export", "table_handle", 0 },
    { "LookupTableFind", "lookup_table_find", "table_handle", 0 },
    { "LookupTableImport", "lookup_table_import", "table_handle", 0 },
    { "LookupTableInsert", "lookup_table_insert", "table_handle", 0 },
    { "LookupTableSize", "lookup_table_size", "table_handle", 0 },
    { "MutableDenseHashTable", "mutable_dense_hash_table", "table_handle", 0 },
    { "MutableHashTable", "mutable_hash_table", "table_handle", 0 },
    { "MutableHashTableOfTensors", "mutable_hash_table_of_tensors", "table_handle", 0 },
    { "RefEnter", "ref_enter", "output", 0 },
    { "RefExit", "ref_exit", "output", 0 },
    { "RefIdentity", "ref_identity", "output", 0 },
    { "RefMerge", "ref_merge", "output", 0 },
    { "RefNextIteration", "ref_next_iteration", "output", 0 },
    { "RefSelect", "ref_select", "output", 0 },
    { "RefSwitch", "ref_switch", "output_true", 0 },
    { "ScatterAdd", "scatter_add", "output_ref", 0 },
    { "ScatterDiv", "scatter_div", "output_ref", 0 },
    { "ScatterMax", "scatter_max", "output_ref", 0 },
    { "ScatterMin", "scatter_min", "output_ref", 0 },
    { "ScatterMul", "scatter_mul", "output_ref", 0 },
    { "ScatterNdAdd", "scatter_nd_add", "output_ref", 0 },
    { "ScatterNdMax", "scatter_nd_max", "output_ref", 0 },
    { "ScatterNdMin", "scatter_nd_min", "output_ref", 0 },
    { "ScatterNdSub", "scatter_nd_sub", "output_ref", 0 },
    { "ScatterNdUpdate", "scatter_nd_update", "output_ref", 0 },
    { "ScatterSub", "scatter_sub", "output_ref", 0 },
    { "ScatterUpdate", "scatter_update", "output_ref", 0 },
    { "SparseApplyAdadelta", "sparse_apply_adadelta", "out", 0 },
    { "SparseApplyAdagrad", "sparse_apply_adagrad", "out", 0 },
    { "SparseApplyAdagradDA", "sparse_apply_adagrad_da", "out", 0 },
    { "SparseApplyAdagradV2", "sparse_apply_adagrad_v2", "out", 0 },
    { "SparseApplyCenteredRMSProp", "sparse_apply_centered_rms_prop", "out", 0 },
    { "SparseApplyFtrl", "sparse_apply_ftrl", "out", 0 },
    { "SparseApplyFtrlV2", "sparse_apply_ftrl_v2", "out", 0 },
    { "SparseApplyMomentum", "sparse_apply_momentum", "out", 0 },
    { "SparseApplyProximalAdagrad", "sparse_apply_proximal_adagrad", "out", 0 },
    { "SparseApplyProximalGradientDescent", "sparse_apply_proximal_gradient_descent", "out", 0 },
    { "SparseApplyRMSProp", "sparse_apply_rms_prop", "out", 0 },
    { "Stack", "stack", "handle", 0 },
    { "StackClose", "stack_close", "handle", 0 },
    { "StackPop", "stack_pop", "handle", 0 },
    { "StackPush", "stack_push", "handle", 0 },
    { "StridedSliceAssign", "strided_slice_assign", "output_ref", 0 },
    { "TemporaryVariable", "temporary_variable", "ref", 0 },
    { "TensorArray", "tensor_array", "handle", 0 },
    { "TensorArrayClose", "tensor_array_close", "handle", 0 },
    { "TensorArrayConcat", "tensor_array_concat", "handle", 0 },
    { "TensorArrayGather", "tensor_array_gather", "handle", 0 },
    { "TensorArrayGrad", "tensor_array_grad", "grad_handle", 0 },
    { "TensorArrayPack", "tensor_array_pack", "handle", 0 },
    { "TensorArrayRead", "tensor_array_read", "handle", 0 },
    { "TensorArrayScatter", "tensor_array_scatter", "handle", 0 },
    { "TensorArraySize", "tensor_array_size", "handle", 0 },
    { "TensorArraySplit", "tensor_array_split", "handle", 0 },
    { "TensorArrayUnpack", "tensor_array_unpack", "handle", 0 },
    { "TensorArrayWrite", "tensor_array_write", "handle", 0 },
    { "Variable", "variable", "ref", 0 },
    { "VariableV2", "variable_v2", "ref", 0 },
    { "BatchCholesky", NULL, "Use Cholesky instead.", 13 },
    { "BatchCholeskyGrad", NULL, "Use CholeskyGrad instead.", 13 },
    { "BatchFFT", NULL, "Use FFT", 15 },
    { "BatchFFT2D", NULL, "Use FFT2D", 15 },
    { "BatchFFT3D", NULL, "Use FFT3D", 15 },
    { "BatchIFFT", NULL, "Use IFFT", 15 },
    { "BatchIFFT2D", NULL, "Use IFFT2D", 15 },
    { "BatchIFFT3D", NULL, "Use IFFT3D", 15 },
    { "BatchMatrixBandPart", NULL, "Use MatrixBandPart", 14 },
    { "BatchMatrixDeterminant", NULL, "Use MatrixDeterminant instead.", 13 },
    { "BatchMatrixDiag", NULL, "Use MatrixDiag", 14 },
    { "BatchMatrixDiagPart", NULL, "Use MatrixDiagPart", 14 },
    { "BatchMatrixInverse", NULL, "Use MatrixInverse instead.", 13 },
    { "BatchMatrixSetDiag", NULL, "Use MatrixSetDiag", 14 },
    { "BatchMatrixSolve", NULL, "Use MatrixSolve instead.", 13 },
    { "BatchMatrixSolveLs", NULL, "Use MatrixSolveLs instead.", 13 },
    { "BatchMatrixTriangularSolve", NULL, "Use MatrixTriangularSolve instead.", 13 },
    { "BatchSelfAdjointEig", NULL, "Use SelfAdjointEigV2 instead.", 11 },
    { "BatchSelfAdjointEigV2", NULL, "Use SelfAdjointEigV2 instead.", 13 },
    { "BatchSvd", NULL, "Use Svd instead.", 13 },
    { "MatrixExponential", NULL, "Use Python implementation tf.linalg.matrix_exponential instead.", 27 },
    { "PlaceholderV2", NULL, "Placeholder now behaves the same as PlaceholderV2.", 23 },
    { "RandomCrop", NULL, "Random crop is now pure Python", 8 },
    { "RandomPoisson", NULL, "Replaced by RandomPoissonV2", 25 },
    { "SelfAdjointEig", NULL, "Use SelfAdjointEigV2 instead.", 11 },
    { "StatefulStandardNormal", NULL, "Use StatefulStandardNormalV2 instead", 29 },
    { "TensorArrayCloseV2", NULL, "Use TensorArrayCloseV3", 26 },
    { "TensorArrayGatherV2", NULL, "Use TensorArrayGatherV3", 26 },
    { "TensorArrayGradV2", NULL, "Use TensorArrayGradV3", 26 },
    { "TensorArrayReadV2", NULL, "Use TensorArrayReadV3", 26 },
    { "TensorArrayScatterV2", NULL, "Use TensorArrayScatterV3", 26 },
    { "TensorArraySizeV2", NULL, "Use TensorArraySizeV3", 26 },
    { "TensorArraySplitV2", NULL, "Use TensorArraySplitV3", 26 },
    { "TensorArrayV2", NULL, "Use TensorArrayV3", 26 },
    { "TensorArrayWriteV2", NULL, "Use TensorArrayWriteV3", 26 },
};

static const refused *find(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    }
    return NULL;
}

bool tw__op_refused(const char *name)
{
    return find(name) != NULL;
}

const char *tw__op_refused_at(int index)
{
    return (size_t)index < sizeof ops / sizeof *ops ? ops[index].name : NULL;
}

tw_status tw__op_refuse(const char *name, bool at_once)
{
    const refused *op = find(name);
    if (!op)
        return tw__fail(TW_NOT_FOUND, "there is no op %s", name);
    if (!op->function)
        return tw__fail(TW_UNIMPLEMENTED,
                        "Op %s is not available in GraphDef version 1645. It has been removed in version %d. %s.", name,
                        op->version, op->word);
    if (at_once)
        return tw__fail(TW_RUNTIME_ERROR, "%s op does not support eager execution. Arg '%s' is a ref.", op->function, op->word);
    return tw__fail(TW_UNIMPLEMENTED,
                    "%s: references to variables and tables are not supported in graphs that a program builds; use the "
                    "op on resources",
                    name);
}
