"""TensorFlow's protocol buffer messages that programs meet: ConfigProto, GraphDef, Summary, Event, SaverDef, Example and their parts.

A message is a name and its fields, an enum a name and its values; thalweg._message makes classes of them. tests/python/test_v1_messages.py compares
with what TensorFlow says (tests/golden/v1train_messages.py)."""
from thalweg._message import Message

_MESSAGES = """
ConfigProto
    1 map<string,int32> device_count; 2 int32 intra_op_parallelism_threads; 5 int32 inter_op_parallelism_threads; 9 bool
    use_per_session_threads; 12 repeated ThreadPoolOptionProto session_inter_op_thread_pool; 3 int32 placement_period; 4 repeated string
    device_filters; 6 GPUOptions gpu_options; 7 bool allow_soft_placement; 8 bool log_device_placement; 10 GraphOptions graph_options; 11
    int64 operation_timeout_in_ms; 15 bool isolate_session_state; 17 bool share_cluster_devices_in_session
ThreadPoolOptionProto
    1 int32 num_threads; 2 string global_name
GPUOptions
    1 double per_process_gpu_memory_fraction; 4 bool allow_growth; 2 string allocator_type; 3 int64 deferred_deletion_bytes; 5 string
    visible_device_list; 6 int32 polling_active_delay_usecs; 7 int32 polling_inactive_delay_msecs; 8 bool force_gpu_compatible
GraphOptions
    2 bool enable_recv_scheduling; 3 OptimizerOptions optimizer_options; 4 int64 build_cost_model; 9 int64 build_cost_model_after; 5 bool
    infer_shapes; 6 bool place_pruned_graph; 7 bool enable_bfloat16_sendrecv; 8 int32 timeline_step; 10 RewriterConfig rewrite_options
OptimizerOptions
    1 bool do_common_subexpression_elimination; 2 bool do_constant_folding; 6 int64 max_folded_constant_in_bytes; 4 bool
    do_function_inlining; 3 enum OptimizerOptions.Level opt_level; 5 enum OptimizerOptions.GlobalJitLevel global_jit_level; 7 bool
    cpu_global_jit
RewriterConfig
    50 enum RewriterConfig.CpuLayout cpu_layout_conversion; 1 enum RewriterConfig.Toggle layout_optimizer; 3 enum RewriterConfig.Toggle
    constant_folding; 13 enum RewriterConfig.Toggle shape_optimization; 14 enum RewriterConfig.Toggle remapping; 24 enum
    RewriterConfig.Toggle common_subgraph_elimination; 7 enum RewriterConfig.Toggle arithmetic_optimization; 8 enum RewriterConfig.Toggle
    dependency_optimization; 9 enum RewriterConfig.Toggle loop_optimization; 10 enum RewriterConfig.Toggle function_optimization; 11 enum
    RewriterConfig.Toggle debug_stripper; 2 bool disable_model_pruning; 15 enum RewriterConfig.Toggle scoped_allocator_optimization; 18 enum
    RewriterConfig.Toggle pin_to_host_optimization; 22 enum RewriterConfig.Toggle implementation_selector; 23 enum RewriterConfig.Toggle
    auto_mixed_precision; 25 enum RewriterConfig.Toggle auto_mixed_precision_mkl; 31 enum RewriterConfig.Toggle
    auto_mixed_precision_onednn_bfloat16; 29 enum RewriterConfig.Toggle auto_mixed_precision_cpu; 19 bool disable_meta_optimizer; 32 bool
    disable_tfg_optimizer; 28 enum RewriterConfig.Toggle use_plugin_optimizers; 30 enum RewriterConfig.Toggle
    experimental_conditional_code_motion; 12 enum RewriterConfig.NumIterationsType meta_optimizer_iterations; 17 int32 min_graph_nodes; 26
    bool experimental_disable_compressed_tensor_optimization; 27 bool experimental_disable_folding_quantization_emulation; 4 enum
    RewriterConfig.MemOptType memory_optimization; 6 string memory_optimizer_target_node_name_scope; 20 int64 meta_optimizer_timeout_ms; 21
    bool fail_on_optimizer_errors; 100 repeated string optimizers
RunOptions
    1 enum RunOptions.TraceLevel trace_level; 2 int64 timeout_in_ms; 3 int32 inter_op_thread_pool; 5 bool output_partition_graphs; 7 bool
    report_tensor_allocations_upon_oom
RunMetadata
    1 StepStats step_stats; 2 bytes cost_graph; 3 repeated GraphDef partition_graphs; 4 repeated RunMetadata.FunctionGraphs function_graphs
StepStats
    1 repeated DeviceStepStats dev_stats
DeviceStepStats
    1 string device; 2 repeated NodeExecStats node_stats; 3 map<uint32,string> thread_names
NodeExecStats
    1 string node_name; 2 int64 all_start_micros; 3 int64 op_start_rel_micros; 4 int64 op_end_rel_micros; 5 int64 all_end_rel_micros; 6
    repeated bytes memory; 7 repeated bytes output; 8 string timeline_label; 9 int64 scheduled_micros; 10 uint32 thread_id; 11 repeated bytes
    referenced_tensor; 12 bytes memory_stats; 13 int64 all_start_nanos; 14 int64 op_start_rel_nanos; 15 int64 op_end_rel_nanos; 16 int64
    all_end_rel_nanos; 17 int64 scheduled_nanos
RunMetadata.FunctionGraphs
    1 repeated GraphDef partition_graphs; 2 GraphDef pre_optimization_graph; 3 GraphDef post_optimization_graph
GraphDef
    1 repeated NodeDef node; 4 VersionDef versions; 3 int32 version; 2 FunctionDefLibrary library
NodeDef
    1 string name; 2 string op; 3 repeated string input; 4 string device; 5 map<string,AttrValue> attr
AttrValue
    2 bytes s oneof value; 3 int64 i oneof value; 4 float f oneof value; 5 bool b oneof value; 6 enum DataType type oneof value; 7
    TensorShapeProto shape oneof value; 8 TensorProto tensor oneof value; 1 AttrValue.ListValue list oneof value; 10 NameAttrList func oneof
    value; 9 string placeholder oneof value
AttrValue.ListValue
    2 repeated bytes s; 3 repeated int64 i; 4 repeated float f; 5 repeated bool b; 6 repeated enum DataType type; 7 repeated
    TensorShapeProto shape; 8 repeated TensorProto tensor; 9 repeated NameAttrList func
NameAttrList
    1 string name; 2 map<string,AttrValue> attr
TensorShapeProto
    2 repeated TensorShapeProto.Dim dim; 3 bool unknown_rank
TensorShapeProto.Dim
    1 int64 size; 2 string name
TensorProto
    1 enum DataType dtype; 2 TensorShapeProto tensor_shape; 3 int32 version_number; 4 bytes tensor_content; 13 repeated int32 half_val; 5
    repeated float float_val; 6 repeated double double_val; 7 repeated int32 int_val; 8 repeated bytes string_val; 9 repeated float
    scomplex_val; 10 repeated int64 int64_val; 11 repeated bool bool_val; 12 repeated double dcomplex_val; 14 repeated bytes
    resource_handle_val; 15 repeated bytes variant_val; 16 repeated uint32 uint32_val; 17 repeated uint64 uint64_val; 18 bytes float8_val
VersionDef
    1 int32 producer; 2 int32 min_consumer; 3 repeated int32 bad_consumers
FunctionDefLibrary
    1 repeated FunctionDef function; 2 repeated GradientDef gradient
FunctionDef
    1 OpDef signature; 5 map<string,AttrValue> attr; 7 map<uint32,FunctionDef.ArgAttrs> arg_attr; 8 map<uint32,uint32>
    resource_arg_unique_id; 3 repeated NodeDef node_def; 4 map<string,string> ret; 6 map<string,string> control_ret
FunctionDef.ArgAttrs
    1 map<string,AttrValue> attr
GradientDef
    1 string function_name; 2 string gradient_func
MetaGraphDef
    1 MetaGraphDef.MetaInfoDef meta_info_def; 2 GraphDef graph_def; 3 SaverDef saver_def; 4 map<string,CollectionDef> collection_def;
    5 map<string,SignatureDef> signature_def; 6 repeated AssetFileDef asset_file_def; 7 bytes object_graph_def
SavedModel
    1 int64 saved_model_schema_version; 2 repeated MetaGraphDef meta_graphs
SignatureDef
    1 map<string,TensorInfo> inputs; 2 map<string,TensorInfo> outputs; 3 string method_name
TensorInfo
    1 string name; 2 enum DataType dtype; 3 TensorShapeProto tensor_shape
Any
    1 string type_url; 2 bytes value
AssetFileDef
    1 TensorInfo tensor_info; 2 string filename
MetaGraphDef.MetaInfoDef
    1 string meta_graph_version; 2 OpList stripped_op_list; 4 repeated string tags; 5 string tensorflow_version; 6 string
    tensorflow_git_version; 7 bool stripped_default_attrs; 8 map<string,string> function_aliases
OpList
    1 repeated OpDef op
OpDef
    1 string name; 2 repeated OpDef.ArgDef input_arg; 3 repeated OpDef.ArgDef output_arg; 20 repeated string control_output; 4 repeated
    OpDef.AttrDef attr; 8 OpDeprecation deprecation; 5 string summary; 6 string description; 18 bool is_commutative; 16 bool is_aggregate;
    17 bool is_stateful; 19 bool allows_uninitialized_input; 21 bool is_distributed_communication
OpDef.ArgDef
    1 string name; 2 string description; 3 enum DataType type; 4 string type_attr; 5 string number_attr; 6 string type_list_attr; 7
    repeated bytes handle_data; 16 bool is_ref; 17 bytes experimental_full_type
OpDef.AttrDef
    1 string name; 2 string type; 3 AttrValue default_value; 4 string description; 5 bool has_minimum; 6 int64 minimum; 7 AttrValue
    allowed_values
OpDeprecation
    1 int32 version; 2 string explanation
SaverDef
    1 string filename_tensor_name; 2 string save_tensor_name; 3 string restore_op_name; 4 int32 max_to_keep; 5 bool sharded; 6 float
    keep_checkpoint_every_n_hours; 7 enum SaverDef.CheckpointFormatVersion version
CollectionDef
    1 CollectionDef.NodeList node_list oneof kind; 2 CollectionDef.BytesList bytes_list oneof kind; 3 CollectionDef.Int64List int64_list
    oneof kind; 4 CollectionDef.FloatList float_list oneof kind; 5 CollectionDef.AnyList any_list oneof kind
CollectionDef.NodeList
    1 repeated string value
CollectionDef.BytesList
    1 repeated bytes value
CollectionDef.Int64List
    1 repeated int64 value
CollectionDef.FloatList
    1 repeated float value
CollectionDef.AnyList
    1 repeated bytes value
VariableDef
    1 string variable_name; 6 string initial_value_name; 2 string initializer_name; 3 string snapshot_name; 4 SaveSliceInfoDef
    save_slice_info_def; 5 bool is_resource; 7 bool trainable; 8 enum VariableSynchronization synchronization; 9 enum VariableAggregation
    aggregation
SaveSliceInfoDef
    1 string full_name; 2 repeated int64 full_shape; 3 repeated int64 var_offset; 4 repeated int64 var_shape
CheckpointState
    1 string model_checkpoint_path; 2 repeated string all_model_checkpoint_paths; 3 repeated double all_model_checkpoint_timestamps; 4
    double last_preserved_timestamp
Event
    1 double wall_time; 2 int64 step; 3 string file_version oneof what; 4 bytes graph_def oneof what; 5 Summary summary oneof what; 6
    LogMessage log_message oneof what; 7 SessionLog session_log oneof what; 8 TaggedRunMetadata tagged_run_metadata oneof what; 9 bytes
    meta_graph_def oneof what; 10 SourceMetadata source_metadata
LogMessage
    1 enum LogMessage.Level level; 2 string message
SessionLog
    1 enum SessionLog.SessionStatus status; 2 string checkpoint_path; 3 string msg
TaggedRunMetadata
    1 string tag; 2 bytes run_metadata
SourceMetadata
    1 string writer
Summary
    1 repeated Summary.Value value
Summary.Value
    7 string node_name; 1 string tag; 9 SummaryMetadata metadata; 2 float simple_value oneof value; 3 bytes obsolete_old_style_histogram
    oneof value; 4 Summary.Image image oneof value; 5 HistogramProto histo oneof value; 6 Summary.Audio audio oneof value; 8 TensorProto
    tensor oneof value
Summary.Image
    1 int32 height; 2 int32 width; 3 int32 colorspace; 4 bytes encoded_image_string
Summary.Audio
    1 float sample_rate; 2 int64 num_channels; 3 int64 length_frames; 4 bytes encoded_audio_string; 5 string content_type
SummaryMetadata
    1 SummaryMetadata.PluginData plugin_data; 2 string display_name; 3 string summary_description; 4 enum DataClass data_class
SummaryMetadata.PluginData
    1 string plugin_name; 2 bytes content
SummaryDescription
    1 string type_hint
HistogramProto
    1 double min; 2 double max; 3 double num; 4 double sum; 5 double sum_squares; 6 repeated double bucket_limit; 7 repeated double bucket
Example
    1 Features features
SequenceExample
    1 Features context; 2 FeatureLists feature_lists
Features
    1 map<string,Feature> feature
Feature
    1 BytesList bytes_list oneof kind; 2 FloatList float_list oneof kind; 3 Int64List int64_list oneof kind
BytesList
    1 repeated bytes value
FloatList
    1 repeated float value
Int64List
    1 repeated int64 value
FeatureLists
    1 map<string,FeatureList> feature_list
FeatureList
    1 repeated Feature feature
"""

_ENUMS = """
OptimizerOptions.Level
    L1 0, L0 -1
OptimizerOptions.GlobalJitLevel
    DEFAULT 0, OFF -1, ON_1 1, ON_2 2
RewriterConfig.CpuLayout
    NO_CONVERSION_ON_CPU 0, NCHW_TO_NHWC 1, NHWC_TO_NCHW 2
RewriterConfig.Toggle
    DEFAULT 0, ON 1, OFF 2, AGGRESSIVE 3, EXPERIMENTAL_MLIR 4, EXPERIMENTAL_BOTH 5
RewriterConfig.NumIterationsType
    DEFAULT_NUM_ITERS 0, ONE 1, TWO 2
RewriterConfig.MemOptType
    DEFAULT_MEM_OPT 0, NO_MEM_OPT 1, MANUAL 2, SWAPPING_HEURISTICS 4, RECOMPUTATION_HEURISTICS 5, SCHEDULING_HEURISTICS 6, HEURISTICS 3
DataType
    DT_INVALID 0, DT_FLOAT 1, DT_DOUBLE 2, DT_INT32 3, DT_UINT8 4, DT_INT16 5, DT_INT8 6, DT_STRING 7, DT_COMPLEX64 8, DT_INT64 9, DT_BOOL
    10, DT_QINT8 11, DT_QUINT8 12, DT_QINT32 13, DT_BFLOAT16 14, DT_QINT16 15, DT_QUINT16 16, DT_UINT16 17, DT_COMPLEX128 18, DT_HALF 19,
    DT_RESOURCE 20, DT_VARIANT 21, DT_UINT32 22, DT_UINT64 23, DT_FLOAT8_E5M2 24, DT_FLOAT8_E4M3FN 25, DT_INT4 29, DT_UINT4 30
RunOptions.TraceLevel
    NO_TRACE 0, SOFTWARE_TRACE 1, HARDWARE_TRACE 2, FULL_TRACE 3
DataClass
    DATA_CLASS_UNKNOWN 0, DATA_CLASS_SCALAR 1, DATA_CLASS_TENSOR 2, DATA_CLASS_BLOB_SEQUENCE 3
LogMessage.Level
    UNKNOWN 0, DEBUGGING 10, INFO 20, WARN 30, ERROR 40, FATAL 50
SessionLog.SessionStatus
    STATUS_UNSPECIFIED 0, START 1, STOP 2, CHECKPOINT 3
SaverDef.CheckpointFormatVersion
    LEGACY 0, V1 1, V2 2
VariableSynchronization
    VARIABLE_SYNCHRONIZATION_AUTO 0, VARIABLE_SYNCHRONIZATION_NONE 1, VARIABLE_SYNCHRONIZATION_ON_WRITE 2, VARIABLE_SYNCHRONIZATION_ON_READ
    3
VariableAggregation
    VARIABLE_AGGREGATION_NONE 0, VARIABLE_AGGREGATION_SUM 1, VARIABLE_AGGREGATION_MEAN 2, VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA 3
"""


def _read(text, separator):
    """{name: [parts]} of the texts above: a name at a line's start, what belongs to it below."""
    made, name = {}, None
    for line in text.splitlines():
        if line and line[0] != " ":
            name = line
            made[name] = ""
        elif name:
            made[name] += line.strip() + " "
    return {n: [part.strip() for part in body.split(separator) if part.strip()] for n, body in made.items()}


enums = {name: {value.split()[0]: int(value.split()[1]) for value in values} for name, values in _read(_ENUMS, ",").items()}
classes = {}
for _name, _fields in _read(_MESSAGES, ";").items():
    _own = {"FIELDS": "; ".join(_fields), "__module__": __name__, "__qualname__": _name, "__doc__": "TensorFlow's message %s." % _name, "__slots__": ()}
    classes[_name] = _made = type(Message)(_name.split(".")[-1], (Message,), _own)
    if "." in _name:
        setattr(classes[_name.rsplit(".", 1)[0]], _name.split(".")[-1], _made)
    else:
        globals()[_name] = _made
for _name, _values in enums.items():  # an enum's values stand in the message that it belongs to
    _place = _name.rsplit(".", 1)[0] if "." in _name else None
    for _value, _number in _values.items():
        if _place:
            setattr(classes[_place], _value, _number)
        else:
            globals()[_value] = _number
Message._class = staticmethod(classes.__getitem__)
Message._enum = staticmethod(enums.__getitem__)
for _made in classes.values():
    _made._describe()
del _name, _fields, _own, _made, _values, _place, _value, _number
