"""Names that public programs import from tensorflow.python.* and tensorflow.core.*. tests/golden/inner_paths.py looks up under TensorFlow what they are;
test_inner_paths.py imports them here."""

PATHS = """
client.device_lib: list_local_devices
client.session: Session InteractiveSession
client.timeline: Timeline
client: device_lib session timeline
data.ops.dataset_ops: Dataset DatasetV1 DatasetV2 get_legacy_output_types make_one_shot_iterator
data.ops.iterator_ops: Iterator OwnedIterator
data.ops: dataset_ops iterator_ops
distribute.distribute_lib: get_strategy has_strategy in_cross_replica_context
distribute.ps_values: AggregatingVariable
distribute.values: DistributedVariable
distribute: distribute_lib mirrored_strategy
eager.backprop: GradientTape
eager.context: executing_eagerly num_gpus context graph_mode async_wait
eager.def_function: function Function
eager.monitoring: BoolGauge
eager: backprop context def_function
feature_column.feature_column: _DenseColumn _CategoricalColumn
feature_column.feature_column_v2: DenseColumn CategoricalColumn StateManager numeric_column NumericColumn EmbeddingColumn categorical_column_with_hash_bucket
feature_column: feature_column feature_column_v2
framework.composite_tensor: CompositeTensor
framework.config: is_op_determinism_enabled disable_op_determinism
framework.constant_op: constant
framework.device_spec: DeviceSpecV2
framework.dtypes: DType as_dtype float32 int64 string bool
framework.errors: InternalError OpError
framework.errors_impl: InvalidArgumentError NotFoundError OutOfRangeError ResourceExhaustedError UnimplementedError
framework.graph_util: remove_training_nodes extract_sub_graph
framework.op_def_registry: get
framework.ops: Graph GraphKeys Operation control_dependencies convert_to_tensor device get_collection get_default_graph name_scope reset_default_graph executing_eagerly_outside_functions
framework.random_seed: get_seed set_random_seed
framework.smart_cond: smart_cond
framework.sparse_tensor: SparseTensor SparseTensorSpec
framework.tensor_shape: TensorShape Dimension as_shape unknown_shape
framework.tensor_spec: TensorSpec BoundedTensorSpec DenseSpec
framework.tensor_util: constant_value is_tf_type make_tensor_proto MakeNdarray constant_value_as_shape try_evaluate_constant
framework.type_spec: BatchableTypeSpec TypeSpec
framework.type_spec_registry: register lookup get_name
framework.versions: VERSION
framework: constant_op dtypes errors errors_impl graph_util ops random_seed sparse_tensor tensor_shape tensor_spec tensor_util
keras.activations: relu
keras.backend: int_shape
keras.callbacks: Callback
keras.engine.base_layer: Layer
keras.engine.keras_tensor: KerasTensor
keras.engine.sequential: Sequential
keras.engine.training: Model
keras.initializers: glorot_uniform
keras.layers.convolutional: Conv2D Conv
keras.layers.core: Dense Dropout
keras.layers.recurrent: LSTMCell
keras.layers: Dense Layer
keras.losses: MeanSquaredError
keras.metrics: Mean
keras.models: Model Sequential load_model
keras.optimizer_v2.learning_rate_schedule: LearningRateSchedule
keras.optimizer_v2.optimizer_v2: OptimizerV2
keras.optimizers: get
keras.regularizers: l2
keras.utils.conv_utils: normalize_tuple conv_output_length normalize_padding
keras.utils.data_utils: get_file Sequence
keras.utils.generic_utils: Progbar register_keras_serializable
keras.utils.np_utils: to_categorical
keras.utils.tf_utils: is_symbolic_tensor
keras: backend layers models utils
layers.convolutional: Convolution1D Convolution2D Convolution2DTranspose SeparableConvolution2D
layers.core: Dense dense
layers: core
lib.io.file_io: FileIO file_exists read_file_to_string recursive_create_dir get_matching_files
lib.io.tf_record: TFRecordWriter
lib.io: file_io tf_record
module.module: Module
ops.array_ops: concat expand_dims gather identity ones placeholder reshape shape transpose where zeros zeros_like prevent_gradient setdiff1d shape_internal
ops.check_ops: assert_equal assert_rank
ops.clip_ops: clip_by_value clip_by_global_norm
ops.confusion_matrix: remove_squeezable_dimensions
ops.control_flow_ops: group no_op with_dependencies
ops.control_flow_util: ENABLE_CONTROL_FLOW_V2
ops.custom_gradient: custom_gradient
ops.distributions.util: gen_new_seed
ops.gen_math_ops: mat_mul
ops.gradients_impl: gradients gradients_v2
ops.image_ops: resize_images
ops.init_ops: Constant Ones TruncatedNormal VarianceScaling Zeros constant_initializer glorot_uniform_initializer
ops.io_ops: ReaderBase
ops.linalg.sparse.sparse: CSRSparseMatrix matmul
ops.linalg.sparse: sparse
ops.linalg_ops: cholesky
ops.list_ops: empty_tensor_list tensor_list_from_tensor tensor_list_gather tensor_list_length tensor_list_stack
ops.logging_ops: print_v2
ops.lookup_ops: StaticHashTable tables_initializer
ops.losses.losses_impl: Reduction
ops.math_ops: add cast matmul reduce_mean reduce_sum sigmoid sqrt tanh _bucketize
ops.nn: bias_add relu softmax
ops.nn_ops: conv2d dropout softmax
ops.parallel_for.control_flow_ops: pfor
ops.ragged.ragged_tensor: RaggedTensor
ops.random_ops: random_normal random_uniform truncated_normal
ops.resource_variable_ops: ResourceVariable is_resource_variable VariableSpec
ops.rnn: dynamic_rnn
ops.rnn_cell_impl: BasicLSTMCell GRUCell LSTMStateTuple RNNCell
ops.sparse_ops: sparse_tensor_to_dense
ops.state_ops: assign assign_add
ops.string_ops: string_join
ops.tensor_array_ops: TensorArray
ops.variable_scope: AUTO_REUSE get_variable get_variable_scope variable_scope
ops.variables: Variable global_variables_initializer trainable_variables PartitionedVariable
ops.weights_broadcast_ops: broadcast_weights
ops: array_ops check_ops clip_ops control_flow_ops embedding_ops gen_math_ops init_ops io_ops lookup_ops math_ops nn nn_ops random_ops resource_variable_ops rnn rnn_cell_impl sparse_ops state_ops string_ops variable_scope variables
platform.gfile: GFile Exists
platform.tf_logging: info warning set_verbosity
platform: gfile tf_logging
saved_model.builder: SavedModelBuilder
saved_model.loader: load
saved_model.signature_constants: DEFAULT_SERVING_SIGNATURE_DEF_KEY PREDICT_METHOD_NAME
saved_model.signature_def_utils: build_signature_def predict_signature_def
saved_model.tag_constants: SERVING TRAINING
saved_model.utils: build_tensor_info
saved_model: builder loader signature_constants signature_def_utils tag_constants utils
summary.summary: FileWriter merge_all scalar
summary.summary_iterator: summary_iterator
summary: summary
tools.inspect_checkpoint: print_tensors_in_checkpoint_file
trackable.base: TrackableReference no_automatic_dependency_tracking_scope
trackable.data_structures: NoDependency sticky_attribute_assignment
training.adam: AdamOptimizer
training.basic_session_run_hooks: StopAtStepHook LoggingTensorHook
training.checkpoint_management: latest_checkpoint
training.coordinator: Coordinator
training.gradient_descent: GradientDescentOptimizer
training.input: batch shuffle_batch string_input_producer
training.learning_rate_decay: exponential_decay
training.monitored_session: MonitoredTrainingSession Scaffold
training.moving_averages: ExponentialMovingAverage assign_moving_average
training.optimizer: Optimizer
training.queue_runner_impl: QueueRunner start_queue_runners
training.saver: Saver
training.session_run_hook: SessionRunHook SessionRunArgs
training.training_util: get_global_step get_or_create_global_step
training: moving_averages optimizer saver training_util
types.core: Tensor
types.trace: TraceType
util.compat: as_bytes as_str as_text
util.deprecation: deprecated
util.nest: flatten is_nested map_structure pack_sequence_as assert_shallow_structure flatten_up_to flatten_with_joined_string_paths flatten_with_tuple_paths get_traverse_shallow_structure map_structure_up_to map_structure_with_paths yield_flat_paths
util.object_identity: Reference
util.tf_contextlib: contextmanager
util.tf_decorator: make_decorator unwrap
util.tf_export: tf_export keras_export
util.tf_inspect: getfullargspec isclass getframeinfo isframe
util.variable_utils: convert_variables_to_tensors
util: deprecation nest tf_export tf_inspect
"""
CORE = """
example.example_pb2: Example
example.feature_pb2: Feature Features BytesList
framework.attr_value_pb2: AttrValue
framework.graph_pb2: GraphDef
framework.node_def_pb2: NodeDef
framework.summary_pb2: Summary
framework.tensor_pb2: TensorProto
framework.tensor_shape_pb2: TensorShapeProto
framework.variable_pb2: VariableDef
protobuf.config_pb2: ConfigProto GPUOptions RunOptions RunMetadata
protobuf.meta_graph_pb2: MetaGraphDef SignatureDef TensorInfo
protobuf.saved_model_pb2: SavedModel
protobuf.saver_pb2: SaverDef
util.event_pb2: Event
"""


def pairs():
    """(module, name) of all."""
    for top, lines in (("python", PATHS), ("core", CORE)):
        for line in lines.strip().split("\n"):
            module, names = line.split(": ")
            for name in names.split():
                yield top + "." + module, name


def kind(value):
    """What an object is, roughly: implementations may give a class where others have a function."""
    import types
    return "module" if isinstance(value, types.ModuleType) else "callable" if callable(value) else "value"
