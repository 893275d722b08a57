/* saved_model.pbtxt: a SavedModel as text, turned into the bytes that saved_model_parse.c reads. The tables hold the names,
 * numbers and kinds of all fields that a SavedModel may have; a map's entries are messages of a key and a value. */
#include "api/composite.h"
#include "codec/codec.h"
#include "rows.h"
#include "saving/saved_model.h"

static const tw__text_type messages[] = {
    { "Any", "type_url 1 s|value 2 s" },
    { "AssetFileDef", "tensor_info 1 m TensorInfo|filename 2 s" },
    { "AttrValue", "list 1 m AttrValue_ListValue|s 2 s|i 3 i|f 4 f|b 5 b|type 6 e DataType|shape 7 m TensorShapeProto|"
                   "tensor 8 m TensorProto|placeholder 9 s|func 10 m NameAttrList" },
    { "AttrValue_ListValue", "s 2 s|i 3 i|f 4 f|b 5 b|type 6 e DataType|shape 7 m TensorShapeProto|tensor 8 m TensorProto|"
                             "func 9 m NameAttrList" },
    { "BoundedTensorSpecProto",
      "name 1 s|shape 2 m TensorShapeProto|dtype 3 e DataType|minimum 4 m TensorProto|maximum 5 m TensorProto" },
    { "CapturedTensor", "name 1 s|concrete_function 2 s" },
    { "CollectionDef", "node_list 1 m CollectionDef_NodeList|bytes_list 2 m CollectionDef_BytesList|"
                       "int64_list 3 m CollectionDef_Int64List|float_list 4 m CollectionDef_FloatList|"
                       "any_list 5 m CollectionDef_AnyList" },
    { "CollectionDef_AnyList", "value 1 m Any" },
    { "CollectionDef_BytesList", "value 1 s" },
    { "CollectionDef_FloatList", "value 1 f" },
    { "CollectionDef_Int64List", "value 1 i" },
    { "CollectionDef_NodeList", "value 1 s" },
    { "DictValue", "fields 1 m DictValue_FieldsEntry" },
    { "DictValue_FieldsEntry", "key 1 s|value 2 m StructuredValue" },
    { "FullTypeDef", "type_id 1 e FullTypeId|args 2 m FullTypeDef|s 3 s|i 4 i" },
    { "FunctionDef", "signature 1 m OpDef|node_def 3 m NodeDef|ret 4 m FunctionDef_RetEntry|attr 5 m FunctionDef_AttrEntry|"
                     "control_ret 6 m FunctionDef_ControlRetEntry|arg_attr 7 m FunctionDef_ArgAttrEntry|"
                     "resource_arg_unique_id 8 m FunctionDef_ResourceArgUniqueIdEntry" },
    { "FunctionDefLibrary", "function 1 m FunctionDef|gradient 2 m GradientDef|registered_gradients 3 m RegisteredGradient" },
    { "FunctionDef_ArgAttrEntry", "key 1 i|value 2 m FunctionDef_ArgAttrs" },
    { "FunctionDef_ArgAttrs", "attr 1 m FunctionDef_ArgAttrs_AttrEntry" },
    { "FunctionDef_ArgAttrs_AttrEntry", "key 1 s|value 2 m AttrValue" },
    { "FunctionDef_AttrEntry", "key 1 s|value 2 m AttrValue" },
    { "FunctionDef_ControlRetEntry", "key 1 s|value 2 s" },
    { "FunctionDef_ResourceArgUniqueIdEntry", "key 1 i|value 2 i" },
    { "FunctionDef_RetEntry", "key 1 s|value 2 s" },
    { "FunctionSpec", "fullargspec 1 m StructuredValue|is_method 2 b|input_signature 5 m StructuredValue|"
                      "jit_compile 6 e FunctionSpec_JitCompile" },
    { "GradientDef", "function_name 1 s|gradient_func 2 s" },
    { "GraphDebugInfo",
      "files 1 s|traces 2 m GraphDebugInfo_TracesEntry|frames_by_id 4 m GraphDebugInfo_FramesByIdEntry|"
      "name_to_trace_id 5 m GraphDebugInfo_NameToTraceIdEntry|traces_by_id 6 m GraphDebugInfo_TracesByIdEntry" },
    { "GraphDebugInfo_FileLineCol", "file_index 1 i|line 2 i|col 3 i|func 4 s|code 5 s" },
    { "GraphDebugInfo_FramesByIdEntry", "key 1 x|value 2 m GraphDebugInfo_FileLineCol" },
    { "GraphDebugInfo_NameToTraceIdEntry", "key 1 s|value 2 x" },
    { "GraphDebugInfo_StackTrace", "file_line_cols 1 m GraphDebugInfo_FileLineCol|frame_id 2 x" },
    { "GraphDebugInfo_TracesByIdEntry", "key 1 x|value 2 m GraphDebugInfo_StackTrace" },
    { "GraphDebugInfo_TracesEntry", "key 1 s|value 2 m GraphDebugInfo_StackTrace" },
    { "GraphDef", "node 1 m NodeDef|library 2 m FunctionDefLibrary|version 3 i|versions 4 m VersionDef|"
                  "debug_info 5 m GraphDebugInfo" },
    { "ListValue", "values 1 m StructuredValue" },
    { "MetaGraphDef", "meta_info_def 1 m MetaGraphDef_MetaInfoDef|graph_def 2 m GraphDef|saver_def 3 m SaverDef|"
                      "collection_def 4 m MetaGraphDef_CollectionDefEntry|signature_def 5 m MetaGraphDef_SignatureDefEntry|"
                      "asset_file_def 6 m AssetFileDef|object_graph_def 7 m SavedObjectGraph" },
    { "MetaGraphDef_CollectionDefEntry", "key 1 s|value 2 m CollectionDef" },
    { "MetaGraphDef_MetaInfoDef",
      "meta_graph_version 1 s|stripped_op_list 2 m OpList|any_info 3 m Any|tags 4 s|tensorflow_version 5 s|"
      "tensorflow_git_version 6 s|stripped_default_attrs 7 b|"
      "function_aliases 8 m MetaGraphDef_MetaInfoDef_FunctionAliasesEntry" },
    { "MetaGraphDef_MetaInfoDef_FunctionAliasesEntry", "key 1 s|value 2 s" },
    { "MetaGraphDef_SignatureDefEntry", "key 1 s|value 2 m SignatureDef" },
    { "NameAttrList", "name 1 s|attr 2 m NameAttrList_AttrEntry" },
    { "NameAttrList_AttrEntry", "key 1 s|value 2 m AttrValue" },
    { "NamedTupleValue", "name 1 s|values 2 m PairValue" },
    { "NodeDef", "name 1 s|op 2 s|input 3 s|device 4 s|attr 5 m NodeDef_AttrEntry|"
                 "experimental_debug_info 6 m NodeDef_ExperimentalDebugInfo|experimental_type 7 m FullTypeDef" },
    { "NodeDef_AttrEntry", "key 1 s|value 2 m AttrValue" },
    { "NodeDef_ExperimentalDebugInfo", "original_node_names 1 s|original_func_names 2 s" },
    { "NoneValue", "" },
    { "OpDef", "name 1 s|input_arg 2 m OpDef_ArgDef|output_arg 3 m OpDef_ArgDef|attr 4 m OpDef_AttrDef|summary 5 s|"
               "description 6 s|deprecation 8 m OpDeprecation|is_aggregate 16 b|is_stateful 17 b|is_commutative 18 b|"
               "allows_uninitialized_input 19 b|control_output 20 s|is_distributed_communication 21 b" },
    { "OpDef_ArgDef", "name 1 s|description 2 s|type 3 e DataType|type_attr 4 s|number_attr 5 s|type_list_attr 6 s|"
                      "handle_data 7 m ResourceHandleProto_DtypeAndShape|is_ref 16 b|experimental_full_type 17 m FullTypeDef" },
    { "OpDef_AttrDef", "name 1 s|type 2 s|default_value 3 m AttrValue|description 4 s|has_minimum 5 b|minimum 6 i|"
                       "allowed_values 7 m AttrValue" },
    { "OpDeprecation", "version 1 i|explanation 2 s" },
    { "OpList", "op 1 m OpDef" },
    { "PairValue", "key 1 s|value 2 m StructuredValue" },
    { "RegisteredGradient", "gradient_func 1 s|registered_op_type 2 s" },
    { "ResourceHandleProto", "device 1 s|container 2 s|name 3 s|hash_code 4 i|maybe_type_name 5 s|"
                             "dtypes_and_shapes 6 m ResourceHandleProto_DtypeAndShape" },
    { "ResourceHandleProto_DtypeAndShape", "dtype 1 e DataType|shape 2 m TensorShapeProto" },
    { "SaveableObject", "save_function 2 i|restore_function 3 i" },
    { "SavedAsset", "asset_file_def_index 1 i" },
    { "SavedBareConcreteFunction", "concrete_function_name 1 s|argument_keywords 2 s|allowed_positional_arguments 3 i|"
                                   "function_spec 4 m FunctionSpec" },
    { "SavedConcreteFunction",
      "bound_inputs 2 i|canonicalized_input_signature 3 m StructuredValue|output_signature 4 m StructuredValue" },
    { "SavedConstant", "operation 1 s" },
    { "SavedFunction", "concrete_functions 1 s|function_spec 2 m FunctionSpec" },
    { "SavedModel", "saved_model_schema_version 1 i|meta_graphs 2 m MetaGraphDef" },
    { "SavedObject",
      "children 1 m TrackableObjectGraph_TrackableObject_ObjectReference|"
      "slot_variables 3 m TrackableObjectGraph_TrackableObject_SlotVariableReference|user_object 4 m SavedUserObject|"
      "asset 5 m SavedAsset|function 6 m SavedFunction|variable 7 m SavedVariable|"
      "bare_concrete_function 8 m SavedBareConcreteFunction|constant 9 m SavedConstant|resource 10 m SavedResource|"
      "saveable_objects 11 m SavedObject_SaveableObjectsEntry|captured_tensor 12 m CapturedTensor|"
      "registered_name 13 s|serialized_user_proto 14 m Any|"
      "dependencies 15 m TrackableObjectGraph_TrackableObject_ObjectReference|registered_saver 16 s" },
    { "SavedObjectGraph", "nodes 1 m SavedObject|concrete_functions 2 m SavedObjectGraph_ConcreteFunctionsEntry" },
    { "SavedObjectGraph_ConcreteFunctionsEntry", "key 1 s|value 2 m SavedConcreteFunction" },
    { "SavedObject_SaveableObjectsEntry", "key 1 s|value 2 m SaveableObject" },
    { "SavedResource", "device 1 s" },
    { "SavedUserObject", "identifier 1 s|version 2 m VersionDef|metadata 3 s" },
    { "SavedVariable", "dtype 1 e DataType|shape 2 m TensorShapeProto|trainable 3 b|synchronization 4 e VariableSynchronization|"
                       "aggregation 5 e VariableAggregation|name 6 s|device 7 s|"
                       "experimental_distributed_variable_components 8 m SavedVariable" },
    { "SaverDef", "filename_tensor_name 1 s|save_tensor_name 2 s|restore_op_name 3 s|max_to_keep 4 i|sharded 5 b|"
                  "keep_checkpoint_every_n_hours 6 f|version 7 e SaverDef_CheckpointFormatVersion" },
    { "SignatureDef", "inputs 1 m SignatureDef_InputsEntry|outputs 2 m SignatureDef_OutputsEntry|method_name 3 s|"
                      "defaults 4 m SignatureDef_DefaultsEntry" },
    { "SignatureDef_DefaultsEntry", "key 1 s|value 2 m TensorProto" },
    { "SignatureDef_InputsEntry", "key 1 s|value 2 m TensorInfo" },
    { "SignatureDef_OutputsEntry", "key 1 s|value 2 m TensorInfo" },
    { "StructuredValue",
      "none_value 1 m NoneValue|float64_value 11 d|int64_value 12 z|string_value 13 s|bool_value 14 b|"
      "tensor_shape_value 31 m TensorShapeProto|tensor_dtype_value 32 e DataType|"
      "tensor_spec_value 33 m TensorSpecProto|type_spec_value 34 m TypeSpecProto|"
      "bounded_tensor_spec_value 35 m BoundedTensorSpecProto|list_value 51 m ListValue|tuple_value 52 m TupleValue|"
      "dict_value 53 m DictValue|named_tuple_value 54 m NamedTupleValue|tensor_value 55 m TensorProto|"
      "numpy_value 56 m TensorProto" },
    { "TensorInfo", "name 1 s|dtype 2 e DataType|tensor_shape 3 m TensorShapeProto|coo_sparse 4 m TensorInfo_CooSparse|"
                    "composite_tensor 5 m TensorInfo_CompositeTensor" },
    { "TensorInfo_CompositeTensor", "type_spec 1 m TypeSpecProto|components 2 m TensorInfo" },
    { "TensorInfo_CooSparse", "values_tensor_name 1 s|indices_tensor_name 2 s|dense_shape_tensor_name 3 s" },
    { "TensorProto", "dtype 1 e DataType|tensor_shape 2 m TensorShapeProto|version_number 3 i|tensor_content 4 s|float_val 5 f|"
                     "double_val 6 d|int_val 7 i|string_val 8 s|scomplex_val 9 f|int64_val 10 i|bool_val 11 b|dcomplex_val 12 d|"
                     "half_val 13 i|resource_handle_val 14 m ResourceHandleProto|variant_val 15 m VariantTensorDataProto|"
                     "uint32_val 16 i|uint64_val 17 i|float8_val 18 s" },
    { "TensorShapeProto", "dim 2 m TensorShapeProto_Dim|unknown_rank 3 b" },
    { "TensorShapeProto_Dim", "size 1 i|name 2 s" },
    { "TensorSpecProto", "name 1 s|shape 2 m TensorShapeProto|dtype 3 e DataType" },
    { "TrackableObjectGraph_TrackableObject_ObjectReference", "node_id 1 i|local_name 2 s" },
    { "TrackableObjectGraph_TrackableObject_SlotVariableReference",
      "original_variable_node_id 1 i|slot_name 2 s|slot_variable_node_id 3 i" },
    { "TupleValue", "values 1 m StructuredValue" },
    { "TypeSpecProto", "type_spec_class 1 e TypeSpecProto_TypeSpecClass|type_state 2 m StructuredValue|type_spec_class_name 3 s|"
                       "num_flat_components 4 i" },
    { "VariantTensorDataProto", "type_name 1 s|metadata 2 s|tensors 3 m TensorProto" },
    { "VersionDef", "producer 1 i|min_consumer 2 i|bad_consumers 3 i" },
};

/* Full types (FullTypeId) are read by nobody here, so that they have no table. */
static const tw__text_type enums[] = {
    { "DataType", "DT_INVALID 0|DT_FLOAT 1|DT_DOUBLE 2|DT_INT32 3|DT_UINT8 4|DT_INT16 5|DT_INT8 6|DT_STRING 7|DT_COMPLEX64 8|"
                  "DT_INT64 9|DT_BOOL 10|DT_QINT8 11|DT_QUINT8 12|DT_QINT32 13|DT_BFLOAT16 14|DT_QINT16 15|DT_QUINT16 16|"
                  "DT_UINT16 17|DT_COMPLEX128 18|DT_HALF 19|DT_RESOURCE 20|DT_VARIANT 21|DT_UINT32 22|DT_UINT64 23|"
                  "DT_FLOAT8_E5M2 24|DT_FLOAT8_E4M3FN 25|DT_INT4 29|DT_UINT4 30|DT_FLOAT_REF 101|DT_DOUBLE_REF 102|"
                  "DT_INT32_REF 103|DT_UINT8_REF 104|DT_INT16_REF 105|DT_INT8_REF 106|DT_STRING_REF 107|DT_COMPLEX64_REF 108|"
                  "DT_INT64_REF 109|DT_BOOL_REF 110|DT_QINT8_REF 111|DT_QUINT8_REF 112|DT_QINT32_REF 113|DT_BFLOAT16_REF 114|"
                  "DT_QINT16_REF 115|DT_QUINT16_REF 116|DT_UINT16_REF 117|DT_COMPLEX128_REF 118|DT_HALF_REF 119|"
                  "DT_RESOURCE_REF 120|DT_VARIANT_REF 121|DT_UINT32_REF 122|DT_UINT64_REF 123|DT_FLOAT8_E5M2_REF 124|"
                  "DT_FLOAT8_E4M3FN_REF 125|DT_INT4_REF 129|DT_UINT4_REF 130" },
    { "FunctionSpec_JitCompile", "DEFAULT 0|ON 1|OFF 2" },
    { "SaverDef_CheckpointFormatVersion", "LEGACY 0|V1 1|V2 2" },
    { "TypeSpecProto_TypeSpecClass",
      "UNKNOWN 0|SPARSE_TENSOR_SPEC 1|INDEXED_SLICES_SPEC 2|RAGGED_TENSOR_SPEC 3|TENSOR_ARRAY_SPEC 4|"
      "DATA_DATASET_SPEC 5|DATA_ITERATOR_SPEC 6|OPTIONAL_SPEC 7|PER_REPLICA_SPEC 8|VARIABLE_SPEC 9|"
      "ROW_PARTITION_SPEC 10|REGISTERED_TYPE_SPEC 12|EXTENSION_TYPE_SPEC 13" },
    { "VariableAggregation", "VARIABLE_AGGREGATION_NONE 0|VARIABLE_AGGREGATION_SUM 1|VARIABLE_AGGREGATION_MEAN 2|"
                             "VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA 3" },
    { "VariableSynchronization",
      "VARIABLE_SYNCHRONIZATION_AUTO 0|VARIABLE_SYNCHRONIZATION_NONE 1|VARIABLE_SYNCHRONIZATION_ON_WRITE 2|"
      "VARIABLE_SYNCHRONIZATION_ON_READ 3" },
};

char *tw__saved_model_from_text(const char *path, size_t *size)
{
    static const tw__text_types types = { messages, sizeof messages / sizeof *messages, enums, sizeof enums / sizeof *enums };
    size_t length = 0;
    char *text = tw__file_read_all(path, (size_t)1 << 31, &length);
    if (!text)
        return NULL;
    tw__text bytes = { 0 };
    int line = 0;
    const char *wrong = tw__proto_from_text(&bytes, &types, "SavedModel", text, length, &line);
    tw__free(text);
    if (wrong || bytes.failed) {
        tw__text_free(&bytes);
        tw__fail(TW_DATA_LOSS, "%s: line %d: %s", path, line, wrong ? wrong : "out of memory");
        return NULL;
    }
    *size = bytes.size;
    return bytes.data ? tw__text_take(&bytes) : tw__strdup("");
}

TW_API(saved_model_bytes, "saved_model._bytes(path: str) -> value<numpy>",
       "The bytes of the message in saved_model.pb or saved_model.pbtxt.")
{
    size_t size = 0;
    char *bytes = tw__ends_with(args->path, ".pbtxt") ? tw__saved_model_from_text(args->path, &size)
                                                      : tw__file_read_all(args->path, (size_t)1 << 31, &size);
    tw_value result = tw__value_of_tensor(bytes ? tw_tensor_string(bytes, size) : NULL);
    tw__free(bytes);
    return result;
}
