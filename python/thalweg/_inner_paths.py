"""tensorflow.python.* and tensorflow.core.*: paths that programs import although they are not public. Each module of the table below stands
for public ones: what it is asked for is looked up in them, in their order."""
import importlib
import sys
from importlib.machinery import ModuleSpec

import thalweg as tf
from thalweg import _core, _inner_keras

V1, ROOT = "compat.v1", ""
_OPS = (V1, ROOT)  # where most functions are
_GENERATED = "raw"

# Module: the places to look, and names that are others there.
_FRAMEWORK = {
    "ops": (_OPS + ("errors",), {"EagerTensor": "Tensor", "get_default_session": "compat.v1.get_default_session",
                                 "register_tensor_conversion_function": "register_tensor_conversion_function", "GraphKeys": "compat.v1.GraphKeys",
                                 "IndexedSlices": "IndexedSlices", "name_scope": "compat.v1.name_scope", "name_scope_v2": "name_scope",
                                 "NullContextmanager": "_inner.null_context", "get_name_scope": "get_current_name_scope",
                                 "control_dependencies": "control_dependencies", "device": "device", "convert_to_tensor_v2": "convert_to_tensor",
                                 "executing_eagerly_outside_functions": "compat.v1.executing_eagerly_outside_functions",
                                 "inside_function": "inside_function", "init_scope": "init_scope", "Tensor": "Tensor"}),
    "dtypes": (("dtypes", ROOT), {"as_dtype": "as_dtype", "DType": "DType"}),
    "tensor": ((ROOT, "_inner_types"), {}), "tensor_shape": ((V1, ROOT, "_inner_ops"), {"as_shape": "TensorShape"}), "tensor_spec": ((ROOT, "_inner_types"), {}), "type_spec": ((ROOT, "_inner_types"), {}),
    "tensor_util": (_OPS + ("_inner_ops",), {"constant_value": "get_static_value", "is_tf_type": "is_tensor", "MakeNdarray": "make_ndarray"}),
    "tensor_conversion": ((ROOT,), {"convert_to_tensor_v2": "convert_to_tensor", "convert_to_tensor_v2_with_dispatch": "convert_to_tensor"}),
    "constant_op": ((ROOT,), {}), "errors": (("errors",), {}), "errors_impl": (("errors",), {}), "sparse_tensor": (_OPS, {}),
    "indexed_slices": (_OPS, {}), "random_seed": (("random", V1), {"set_seed": "random.set_seed", "set_random_seed": "compat.v1.set_random_seed"}),
    "graph_util": (("compat.v1.graph_util",), {}), "graph_util_impl": (("compat.v1.graph_util",), {}), "importer": (_OPS, {}),
    "graph_io": (("io", "compat.v1.train"), {}), "meta_graph": (("compat.v1.train",), {}), "config": (("config", "config.experimental", "_inner_ops"), {}),
    "device": ((ROOT,), {}), "device_spec": ((ROOT,), {"DeviceSpecV2": "DeviceSpec", "DeviceSpecV1": "compat.v1.DeviceSpec"}), "versions": (("version",), {"__version__": "version.VERSION", "VERSION": "version.VERSION"}),
    "load_library": ((ROOT,), {}), "smart_cond": (("_inner",), {}), "test_util": (("test",), {}), "composite_tensor": (("_inner_types",), {}), "type_spec_registry": (("_inner_types",), {}),
    "func_graph": (("_func_graph",), {}), "op_def_registry": (("_inner",), {"get": "_inner.get_op_def"}), "function": (_OPS, {}), "extension_type": (("experimental",), {}), "python_memory_checker": ((), {}),
    "convert_to_constants": (("_inner",), {}), "common_shapes": (("_inner",), {}), "c_api_util": ((), {}),
}
_OPS_MODULES = {
    "math_ops": (("math", "compat.v1.math", V1, ROOT, "_inner_ops"), {"linspace_nd": "linspace"}), "array_ops": (_OPS + ("_inner_ops",), {"placeholder": "compat.v1.placeholder"}),
    "nn_ops": (("compat.v1.nn", "nn"), {"softmax_v2": "nn.softmax", "dropout_v2": "nn.dropout"}), "nn": (("compat.v1.nn", "nn"), {}),
    "nn_impl": (("compat.v1.nn", "nn"), {}), "nn_impl_distribute": (("nn",), {}), "control_flow_ops": (_OPS + ("_inner",), {"case_v2": "case", "while_loop_v2": "while_loop"}),
    "cond": (_OPS, {}), "control_flow_case": (_OPS + ("_inner_ops",), {}), "while_loop": (_OPS, {}), "control_flow_assert": (("debugging", ROOT), {}),
    "control_flow_switch_case": ((ROOT,), {}), "control_flow_util": (("_inner", "_inner_ops"), {}), "control_flow_v2_toggles": ((V1,), {}),
    "variable_scope": ((V1, ROOT), {}), "variables": ((V1, ROOT, "_inner_types"), {"RefVariable": "compat.v1.Variable", "VariableV1": "compat.v1.Variable"}),
    "variable_v1": ((V1,), {"VariableV1": "compat.v1.Variable"}), "ref_variable": ((V1,), {"RefVariable": "compat.v1.Variable"}),
    "init_ops": (("compat.v1.initializers", V1), {"Zeros": "compat.v1.zeros_initializer", "Ones": "compat.v1.ones_initializer",
                 "Constant": "compat.v1.constant_initializer", "RandomUniform": "compat.v1.random_uniform_initializer",
                 "RandomNormal": "compat.v1.random_normal_initializer", "TruncatedNormal": "compat.v1.truncated_normal_initializer",
                 "VarianceScaling": "compat.v1.variance_scaling_initializer", "Orthogonal": "compat.v1.orthogonal_initializer",
                 "GlorotUniform": "compat.v1.glorot_uniform_initializer", "GlorotNormal": "compat.v1.glorot_normal_initializer"}),
    "init_ops_v2": (("initializers", "keras.initializers", ROOT), {}), "rnn_cell_impl": (("compat.v1.nn.rnn_cell",), {}),
    "rnn_cell": (("compat.v1.nn.rnn_cell",), {}), "rnn": (("compat.v1.nn",), {}), "state_ops": (_OPS, {}),
    "resource_variable_ops": ((ROOT, "_inner", "_inner_types"), {"ResourceVariable": "Variable", "BaseResourceVariable": "Variable"}),
    "random_ops": (("compat.v1.random", "random", V1, "_inner_ops"), {}), "stateless_random_ops": (("random",), {}), "stateful_random_ops": (("random",), {}),
    "clip_ops": (_OPS, {}), "gradients_impl": (_OPS + ("_inner_ops",), {}), "gradients": (_OPS, {}), "gradients_util": (_OPS, {}), "gradient_checker": (("compat.v1.test",), {}),
    "gradient_checker_v2": (("test",), {}), "linalg_ops": (("linalg", V1), {}), "logging_ops": (_OPS + ("compat.v1.summary",), {"print_v2": "print"}),
    "lookup_ops": (("lookup", "lookup.experimental", V1), {"tables_initializer": "compat.v1.tables_initializer"}), "sparse_ops": (("sparse", V1), {}),
    "string_ops": (("strings", V1), {}), "io_ops": (("io", V1), {}), "data_flow_ops": (("queue", V1, ROOT), {}), "tensor_array_ops": ((ROOT,), {}),
    "embedding_ops": (("compat.v1.nn", "nn"), {}), "summary_ops_v2": (("summary", "summary.experimental", "compat.v2.summary"), {}),
    "script_ops": (_OPS, {"eager_py_func": "py_function", "py_func_common": "compat.v1.py_func"}), "image_ops": (("image", "compat.v1.image"), {"resize_images": "compat.v1.image.resize", "resize_images_v2": "image.resize"}),
    "image_ops_impl": (("image",), {}), "metrics_impl": (("compat.v1.metrics",), {}), "metrics": (("compat.v1.metrics",), {}),
    "check_ops": (("debugging", V1), {"assert_equal_v2": "debugging.assert_equal"}), "standard_ops": (_OPS, {}), "functional_ops": (_OPS, {}),
    "map_fn": ((ROOT,), {"map_fn_v2": "map_fn"}), "special_math_ops": (("math", ROOT), {}), "parsing_ops": (("io", V1), {}), "bitwise_ops": (("bitwise",), {}),
    "custom_gradient": ((ROOT,), {}), "template": ((V1,), {}), "partitioned_variables": ((V1,), {}), "candidate_sampling_ops": (("nn",), {}),
    "ctc_ops": (("compat.v1.nn", "nn"), {}), "confusion_matrix": (("math", "_inner_ops"), {}), "weights_broadcast_ops": (("_inner_ops",), {}), "histogram_ops": ((ROOT,), {}), "manip_ops": ((ROOT,), {}),
    "numerics": (("debugging", V1), {}), "sort_ops": ((ROOT,), {}), "spectral_ops": (("signal",), {}), "session_ops": ((V1,), {}),
    "batch_norm_util": ((), {}), "clustering_ops": ((), {}), "list_ops": (("_inner_ops",), {}), "sets": (("sets",), {}), "sets_impl": (("sets",), {}),
    "array_ops_stack": ((ROOT,), {}), "tensor_getitem_override": ((), {}), "inplace_ops": ((V1,), {}), "cudnn_rnn_ops": ((), {}),
    "unconnected_gradients": ((ROOT,), {}), "window_ops": (("signal",), {}), "array_grad": ((), {}), "math_grad": ((), {}),
    "losses.losses": (("compat.v1.losses",), {}), "losses.losses_impl": (("compat.v1.losses",), {}), "losses.util": (("compat.v1.losses",), {}),
    "losses.loss_reduction": (("keras.losses",), {"ReductionV2": "keras.losses.Reduction"}), "linalg.linalg": (("linalg",), {}),
    "linalg.linalg_impl": (("linalg",), {}), "linalg.linear_operator": (("linalg", "_inner_types", "_inner_ops"), {}), "linalg.sparse.sparse": (("_inner_sparse",), {}),
    "linalg.linear_operator_addition": (("linalg",), {}), "signal.signal": (("signal",), {}), "signal.fft_ops": (("signal",), {}),
    "signal.spectral_ops": (("signal",), {}), "signal.window_ops": (("signal",), {}), "signal.mel_ops": (("signal",), {}), "signal.dct_ops": (("signal",), {}),
    "ragged.ragged_tensor": (("ragged", ROOT), {}), "ragged.ragged_factory_ops": (("ragged",), {}), "ragged.ragged_math_ops": (("ragged", ROOT), {}),
    "ragged.ragged_array_ops": (("ragged", ROOT), {}), "ragged.ragged_concat_ops": ((ROOT,), {}), "ragged.ragged_functional_ops": (("ragged",), {}),
    "ragged.ragged_string_ops": (("strings",), {}), "ragged.row_partition": (("experimental",), {}), "ragged.ragged_gather_ops": ((ROOT,), {}),
    "ragged.ragged_util": (("ragged",), {}), "structured.structured_tensor": (("experimental",), {}), "distributions.distributions": (("compat.v1.distributions",), {}),
    "numpy_ops.np_config": (("experimental.numpy",), {}), "numpy_ops.np_array_ops": (("experimental.numpy",), {}), "parallel_for.gradients": ((ROOT,), {}),
    "parallel_for.control_flow_ops": ((ROOT, "_inner_ops"), {}),
}
for _name in ("normal", "bernoulli", "categorical", "beta", "gamma", "uniform", "student_t", "laplace", "dirichlet", "multinomial", "exponential", "distribution",
              "kullback_leibler"):
    _OPS_MODULES["distributions." + _name] = (("compat.v1.distributions",), {})
_OPS_MODULES["distributions.util"] = (("_inner_ops",), {})
for _name in ("math", "array", "nn", "control_flow", "state", "random", "string", "sparse", "data_flow", "io", "image", "linalg", "parsing", "resource_variable",
              "logging", "lookup", "dataset", "functional", "bitwise", "ctc", "summary", "user", "list", "candidate_sampling", "ragged_array", "ragged_conversion",
              "ragged_math", "set", "spectral", "script", "stateless_random", "stateful_random", "batch", "boosted_trees", "manip", "training", "audio"):
    _OPS_MODULES["gen_%s_ops" % _name] = (_GENERATED, {})
_TRAIN = ("compat.v1.train", "train")
_TRAINING = {name: (_TRAIN, {}) for name in (
    "training saver checkpoint_management moving_averages learning_rate_decay optimizer adam gradient_descent momentum adagrad adadelta rmsprop ftrl "
    "proximal_adagrad proximal_gradient_descent adagrad_da session_run_hook basic_session_run_hooks monitored_session coordinator queue_runner queue_runner_impl input "
    "session_manager supervisor slot_creator training_ops py_checkpoint_reader warm_starting_util server_lib device_setter device_util "
    "checkpoint_utils checkpoint_state_pb2 checkpoint_ops sync_replicas_optimizer distribute summary_io evaluation").split()}
_TRAINING.update({"training_util": (_TRAIN, {}), "moving_averages": (_TRAIN + ("_inner_ops",), {}), "distribution_strategy_context": (("distribute",), {}), "training_ops": (_GENERATED, {}),
                  "tracking.tracking": (("__internal__.tracking", "_inner"), {}), "tracking.base": (("__internal__.tracking", "_inner"), {"Trackable": "_inner.Trackable"}),
                  "tracking.util": (("train",), {"CheckpointV1": "compat.v1.train.Checkpoint"}), "tracking.data_structures": (("_containers",), {}),
                  "experimental.loss_scale": (("mixed_precision.experimental", "keras.mixed_precision"), {}),
                  "experimental.mixed_precision": (("compat.v1.mixed_precision",), {}), "saving.saveable_object_util": ((), {}),
                  "saving.saveable_object": ((), {}), "tracking.autotrackable": (("_inner",), {"AutoTrackable": "Module"})})
_UTIL = {
    "nest": (("nest", "_inner_nest"), {"is_sequence": "nest.is_nested", "is_sequence_or_composite": "_inner.is_sequence_or_composite", "is_nested_or_composite": "_inner.is_sequence_or_composite"}), "tf_export": (("_inner",), {}), "deprecation": (("_inner",), {}), "tf_inspect": (("_inner.inspect",), {}),
    "tf_decorator": (("_inner",), {}), "compat": (("compat",), {}), "lazy_loader": (("_inner",), {}), "keras_deps": (("_inner",), {}),
    "object_identity": (("_inner", "_inner_types"), {}), "tf_contextlib": (("_inner",), {}), "dispatch": (("experimental", "_inner"), {}), "function_utils": (("_inner",), {}),
    "is_in_graph_mode": (("_inner",), {}), "all_util": (("_inner",), {}), "serialization": ((), {}), "module_wrapper": ((), {}), "tf_stack": ((), {}),
    "protobuf.compare": ((), {}), "_pywrap_util_port": ((), {}), "tf_should_use": (("_inner",), {}), "variable_utils": (("_inner_ops",), {}),
}
_KERAS_LAYERS = "core convolutional pooling recurrent recurrent_v2 normalization normalization_v2 merge merging embeddings wrappers local noise advanced_activations " \
                "dense_attention multi_head_attention convolutional_recurrent cudnn_recurrent kernelized einsum_dense serialization rnn attention regularization " \
                "reshaping activation normalization.batch_normalization normalization.layer_normalization normalization.batch_normalization_v1 core.dense"
_KERAS = {
    "engine.base_layer": (("keras.layers", "keras"), {}), "engine.base_layer_utils": (("_inner",), {}), "engine.training": (("keras",), {}),
    "engine.training_v1": (("keras",), {}), "engine.sequential": (("keras",), {}), "engine.functional": (("keras",), {"Functional": "keras.Model"}),
    "engine.network": (("keras",), {"Network": "keras.Model"}), "engine.input_layer": (("keras.layers", "keras"), {}),
    "engine.input_spec": (("keras.layers", "_inner"), {}), "engine.base_preprocessing_layer": (("keras.layers.experimental.preprocessing",), {}),
    "engine.data_adapter": (("keras.utils", "_inner"), {}), "engine.keras_tensor": (("_inner_keras",), {}), "engine.node": ((), {}),
    "engine.topology": (("keras.layers", "keras"), {}), "engine.training_utils": (("_inner",), {}), "engine.compile_utils": ((), {}),
    "utils.tf_utils": (("_inner", "keras.utils"), {}), "utils.generic_utils": (("keras.utils", "_inner"), {}), "utils.conv_utils": (("_inner.convolution",), {}),
    "utils.layer_utils": (("keras.utils", "_inner"), {}), "utils.np_utils": (("keras.utils",), {}), "utils.data_utils": (("keras.utils",), {}),
    "utils.vis_utils": (("keras.utils",), {}), "utils.losses_utils": (("_inner", "keras.losses"), {"ReductionV2": "keras.losses.Reduction"}),
    "utils.io_utils": (("keras.utils", "_inner"), {}), "utils.control_flow_util": (("_inner",), {}), "utils.metrics_utils": (("_inner",), {}),
    "utils.multi_gpu_utils": ((), {}), "utils.all_utils": (("keras.utils",), {}), "saving.hdf5_format": (("keras.models", "_inner"), {}),
    "saving.save": (("keras.models",), {}), "saving.model_config": (("keras.models",), {}), "saving.saving_utils": (("_inner",), {}),
    "saving.saved_model.load": (("keras.models",), {}), "optimizer_v2.optimizer_v2": (("keras.optimizers",), {"OptimizerV2": "keras.optimizers.Optimizer"}),
    "optimizer_v2.learning_rate_schedule": (("keras.optimizers.schedules",), {}), "optimizer_v1": (("keras.optimizers",), {}),
    "mixed_precision.policy": (("keras.mixed_precision",), {}), "mixed_precision.loss_scale_optimizer": (("keras.mixed_precision",), {}),
    "mixed_precision.autocast_variable": ((), {}), "distribute.distributed_training_utils": ((), {}), "initializers.initializers_v2": (("keras.initializers",), {}),
    "initializers.initializers_v1": (("compat.v1.keras.initializers", "keras.initializers"), {}), "backend_config": (("keras.backend",), {}),
    "callbacks_v1": (("keras.callbacks",), {}), "applications.imagenet_utils": (("keras.applications.imagenet_utils",), {}),
    "feature_column.dense_features": (("keras.layers",), {}), "feature_column.dense_features_v2": (("keras.layers",), {}),
    "feature_column.sequence_feature_column": (("keras.experimental",), {}), "utils.version_utils": (("_inner",), {}), "utils.tf_inspect": (("_inner.inspect",), {}),
    "layers.preprocessing.text_vectorization": (("keras.layers",), {}), "layers.preprocessing.image_preprocessing": (("keras.layers",), {}),
    "layers.preprocessing.normalization": (("keras.layers",), {}), "wrappers.scikit_learn": ((), {}), "layers.legacy_rnn.rnn_cell_impl": (("compat.v1.nn.rnn_cell",), {}),
    "legacy_tf_layers.core": (("compat.v1.layers",), {}), "legacy_tf_layers.convolutional": (("compat.v1.layers",), {}),
    "legacy_tf_layers.base": (("compat.v1.layers",), {}),
}
_KERAS.update({"layers." + name: (("keras.layers", "_inner_keras"), {}) for name in _KERAS_LAYERS.split()})
_KERAS.update({"optimizer_v2." + name: (("keras.optimizers",), {}) for name in "adam adadelta adagrad adamax ftrl gradient_descent nadam rmsprop utils".split()})
_PYTHON = {
    "client.session": ((V1,), {}), "client.device_lib": (("_inner",), {}), "client.timeline": (("_inner",), {}), "client.client_lib": ((V1,), {}),
    "eager.context": (("_inner_ops", "_inner.context", "config", "config.experimental", ROOT, V1), {}), "eager.backprop": ((ROOT, "_inner"), {}),
    "eager.def_function": ((ROOT,), {"Function": "types.experimental.GenericFunction"}), "eager.function": ((ROOT,), {}), "eager.polymorphic_function.def_function": ((ROOT,), {}),
    "eager.polymorphic_function.polymorphic_function": ((ROOT,), {}), "eager.wrap_function": ((V1,), {}), "eager.tape": (("_inner",), {}),
    "eager.execute": (("_inner",), {}), "eager.remote": (("config",), {}), "eager.profiler": (("profiler.experimental",), {}), "eager.monitoring": (("_inner_types",), {}),
    "eager.forwardprop": (("autodiff",), {}), "eager.test": (("test",), {}),
    "platform.gfile": (("compat.v1.gfile", "io.gfile"), {}), "platform.tf_logging": (("compat.v1.logging",), {}), "platform.test": (("compat.v1.test", "test"), {}),
    "platform.googletest": (("compat.v1.test", "test"), {}), "platform.flags": (("compat.v1.flags",), {}), "platform.app": (("compat.v1.app",), {}),
    "platform.resource_loader": (("compat.v1.resource_loader",), {}), "platform.sysconfig": (("sysconfig",), {}), "platform.build_info": (("_inner",), {}),
    "saved_model.tag_constants": (("compat.v1.saved_model.tag_constants", "saved_model"), {}),
    "saved_model.signature_constants": (("compat.v1.saved_model.signature_constants", "saved_model"), {}),
    "saved_model.builder": (("compat.v1.saved_model.builder",), {}), "saved_model.builder_impl": (("compat.v1.saved_model.builder",), {}),
    "saved_model.loader": (("compat.v1.saved_model.loader",), {}), "saved_model.loader_impl": (("compat.v1.saved_model", "_inner"), {}),
    "saved_model.main_op": (("compat.v1.saved_model.main_op",), {}), "saved_model.simple_save": (("compat.v1.saved_model",), {}),
    "saved_model.signature_def_utils": (("compat.v1.saved_model.signature_def_utils",), {}),
    "saved_model.signature_def_utils_impl": (("compat.v1.saved_model.signature_def_utils",), {}), "saved_model.utils": (("compat.v1.saved_model.utils",), {}),
    "saved_model.utils_impl": (("compat.v1.saved_model.utils",), {}), "saved_model.load": (("saved_model",), {}), "saved_model.save": (("saved_model",), {}),
    "saved_model.saved_model": (("compat.v1.saved_model",), {}), "saved_model.constants": (("saved_model", "_inner"), {}), "saved_model.load_options": (("saved_model",), {}),
    "saved_model.save_options": (("saved_model",), {}), "saved_model.nested_structure_coder": ((), {}),
    "summary.summary": (("compat.v1.summary",), {}), "summary.summary_iterator": (("compat.v1.train",), {}), "summary.writer.writer": (("compat.v1.summary",), {}),
    "summary.writer.writer_cache": (("compat.v1.summary",), {}), "summary.writer.event_file_writer": ((), {}),
    "data.ops.dataset_ops": (("data", "compat.v1.data"), {"get_legacy_output_types": "compat.v1.data.get_output_types",
                             "get_legacy_output_shapes": "compat.v1.data.get_output_shapes", "get_legacy_output_classes": "compat.v1.data.get_output_classes",
                             "DatasetV2": "data.Dataset", "DatasetV1": "compat.v1.data.Dataset", "DatasetV1Adapter": "compat.v1.data.Dataset"}),
    "data.ops.iterator_ops": (("data", "compat.v1.data"), {"OwnedIterator": "data.Iterator"}), "data.ops.readers": (("data",), {}), "data.ops.options": (("data",), {}), "data.util.nest": (("nest",), {}),
    "data.ops.multi_device_iterator_ops": ((), {}), "data.util.structure": (("_inner",), {}), "data.experimental.ops.prefetching_ops": (("data.experimental",), {}),
    "data.experimental.ops.interleave_ops": (("data.experimental",), {}), "data.experimental.ops.batching": (("data.experimental",), {}),
    "data.experimental.ops.cardinality": (("data.experimental",), {}), "data.experimental.ops.distribute_options": (("data.experimental",), {}),
    "data.experimental.ops.shuffle_ops": (("data.experimental",), {}),
    "distribute.distribution_strategy_context": (("distribute",), {"get_strategy": "distribute.get_strategy"}), "distribute.distribute_lib": (("distribute",), {}),
    "distribute.mirrored_strategy": (("distribute",), {}), "distribute.one_device_strategy": (("distribute",), {}), "distribute.reduce_util": (("distribute",), {}),
    "distribute.parameter_server_strategy": (("distribute.experimental",), {}), "distribute.collective_all_reduce_strategy": (("distribute",), {}),
    "distribute.tpu_strategy": (("distribute",), {}), "distribute.cross_device_ops": (("distribute",), {}), "distribute.values": (("distribute", "_inner_types"), {}), "distribute.ps_values": (("_inner_types",), {}),
    "distribute.cluster_resolver.tpu_cluster_resolver": (("distribute.cluster_resolver",), {}), "distribute.cluster_resolver.cluster_resolver": (("distribute.cluster_resolver",), {}),
    "distribute.multi_worker_util": ((), {}), "distribute.sharded_variable": (("distribute.experimental.partitioners",), {}),
    "lib.io.file_io": (("_inner.files", "io.gfile"), {}), "lib.io.tf_record": (("io", "compat.v1.io"), {}), "lib.core.error_codes_pb2": ((), {}),
    "tools.freeze_graph": (("_inner",), {}), "tools.inspect_checkpoint": (("_inner",), {}), "tools.saved_model_utils": ((), {}),
    "tools.optimize_for_inference_lib": ((), {}),
    "feature_column.feature_column": (("compat.v1.feature_column", "feature_column", "feature_column._columns", "_inner_types"), {}),
    "feature_column.feature_column_v2": (("feature_column", "feature_column._columns", "_inner_types"), {}), "feature_column.feature_column_lib": (("feature_column", "feature_column._columns", "_inner_types"), {}),
    "autograph.impl.api": (("autograph",), {}), "autograph.core.converter": (("autograph.experimental",), {}), "autograph.core.ag_ctx": ((), {}),
    "autograph.operators.control_flow": ((), {}), **{"autograph." + name: ((), {}) for name in (
        "converters.break_statements converters.continue_statements converters.return_statements core.naming pyct.anno pyct.inspect_utils pyct.parser "
        "pyct.qual_names pyct.templates pyct.naming pyct.loader pyct.common_transformers.anf pyct.static_analysis.activity").split()},
    "autograph.pyct.transformer": (("_inner_types",), {"Base": "_inner_types.Transformer"}), "autograph.utils.ag_logging": (("autograph",), {}),
    "layers.core": (("compat.v1.layers",), {}), "layers.convolutional": (("compat.v1.layers",), {"Convolution1D": "compat.v1.layers.Conv1D", "Convolution2D": "compat.v1.layers.Conv2D", "Convolution3D": "compat.v1.layers.Conv3D",
                              "Convolution2DTranspose": "compat.v1.layers.Conv2DTranspose", "Convolution3DTranspose": "compat.v1.layers.Conv3DTranspose",
                              "SeparableConvolution2D": "compat.v1.layers.SeparableConv2D"}), "layers.base": (("compat.v1.layers",), {}),
    "layers.layers": (("compat.v1.layers",), {}), "layers.normalization": (("compat.v1.layers",), {}), "layers.pooling": (("compat.v1.layers",), {}),
    "layers.utils": (("_inner.convolution", "_inner"), {}), "module.module": ((ROOT,), {}), "profiler.option_builder": (("compat.v1.profiler",), {}),
    "profiler.model_analyzer": (("compat.v1.profiler",), {}), "profiler.profiler_v2": (("profiler.experimental",), {}), "profiler.trace": (("profiler.experimental",), {}),
    "trackable.base": (("_inner", "_inner_types"), {}), "trackable.autotrackable": (("_inner",), {"AutoTrackable": "Module"}), "trackable.data_structures": (("_containers", "_inner", "_inner_types"), {}),
    "trackable.resource": (("saved_model.experimental", "_inner"), {}), "trackable.asset": (("saved_model", ), {}), "checkpoint.checkpoint": (("train",), {}),
    "checkpoint.checkpoint_management": (_TRAIN, {}), "checkpoint.checkpoint_options": (("train",), {}), "types.core": (("_inner_types", "types.experimental"), {}), "types.trace": (("_inner_types",), {}),
    "ops": (_OPS, {}), "framework": ((), {}), "tf2": (("_inner",), {}), "pywrap_tensorflow": (("_inner", "compat.v1.train", "train"), {}), "tpu.tpu_optimizer": (("compat.v1.tpu",), {}),
    "tpu.tpu_config": (("compat.v1.estimator.tpu",), {}), "debug.cli": ((), {}), "debug.lib.check_numerics_callback": (("debugging",), {}),
    "estimator.estimator": (("compat.v1.estimator",), {}), "estimator.model_fn": (("compat.v1.estimator",), {}), "estimator.run_config": (("compat.v1.estimator",), {}),
    "compiler.xla.xla": (("xla.experimental",), {}), "compiler.tensorrt.trt_convert": ((), {}), "compat.v2_compat": ((V1,), {}), "compat.compat": (("compat",), {}),
    "user_ops.user_ops": ((), {}), "modules_with_exports": (_OPS, {}),
}
for _group, _table in (("framework", _FRAMEWORK), ("ops", _OPS_MODULES), ("training", _TRAINING), ("util", _UTIL), ("keras", _KERAS)):
    for _name, _row in _table.items():
        _PYTHON[_group + "." + _name] = _row
_PYTHON["training"] = (_TRAIN, {})
_MESSAGES = "_messages"
_CORE = {"framework." + name + "_pb2": ((_MESSAGES,), {}) for name in (
    "graph node_def attr_value tensor types summary tensor_shape step_stats op_def function variable versions resource_handle full_type "
    "device_attributes cost_graph allocation_description tensor_slice tensor_description api_def kernel_def log_memory").split()}
_CORE.update({"protobuf." + name + "_pb2": ((_MESSAGES,), {}) for name in (
    "config saved_model meta_graph saver rewriter_config cluster tensorflow_server trackable_object_graph saved_object_graph struct queue_runner "
    "debug device_properties named_tensor verifier_config tensor_bundle control_flow error_codes").split()})
_CORE.update({"util." + name + "_pb2": ((_MESSAGES,), {}) for name in ("event", "saved_tensor_slice", "memmapped_file_system", "test_log")})
_CORE.update({"example." + name + "_pb2": (("train", _MESSAGES), {}) for name in ("example", "feature")})

_HIDDEN = {
    "__internal__": ((ROOT, "_inner", "_inner_types"), {"EagerTensor": "Tensor", "FuncGraph": "_func_graph.FuncGraph", "SymbolicTensor": "_core.SymbolicTensor"}),
    "__internal__.tracking": (("_inner", "_inner_types"), {"AutoTrackable": "Module"}), "__internal__.smart_cond": (("_inner",), {}), "__internal__.types": (("_inner_types",), {}),
    "__internal__.nest": (("nest", "_inner_nest"), {}), "__internal__.distribute": (("distribute",), {}), "__internal__.distribute.interim": (("_inner",), {}),
    "__internal__.eager_context": (("_inner.context",), {}), "__internal__.test": (("test",), {}), "__internal__.monitoring": (("_inner_types",), {}),
    "__internal__.dispatch": (("_inner",), {}), "__internal__.decorator": (("_inner",), {}), "__operators__": ((ROOT,), {"getitem": "_inner.getitem"}),
    "keras.__internal__.layers": (("keras.layers", "_inner_keras"), {}), "keras.__internal__.models": (("keras.models",), {}),
    "keras.__internal__.optimizers": (("_inner_keras",), {}), "keras.__internal__.losses": (("_inner_keras",), {}), "keras.__internal__.utils": (("_inner_keras",), {}),
    "compiler.tf2xla.python.xla": (("_inner_xla",), {}),
}
TABLE = {"python." + name: row for name, row in _PYTHON.items()}
TABLE.update({"core." + name: row for name, row in _CORE.items()})
TABLE.update(_inner_keras.table())
TABLE.update(_HIDDEN)
PACKAGES = {"python", "core"} | {".".join(name.split(".")[:i]) for name in TABLE for i in range(1, len(name.split(".")))}


def _at(path):
    """The module or object of a public path; None: there is none. `_inner…` is the module of helpers."""
    found = tf
    if path.startswith("_"):
        first, *rest = path.split(".")
        found = importlib.import_module("thalweg." + ("_inner_helpers" if first == "_inner" else first))
    else:
        rest = path.split(".") if path else []
    for part in rest:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def _generated(name):
    """An op by the name of its generated function: mat_mul is MatMul; arguments may be given by place."""
    names = _generated.__dict__.setdefault("names", {})
    if not names:
        import re
        for op in dir(tf.raw_ops):
            if not op.startswith("_"):
                names[re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("([A-Z]+)([A-Z][a-z])", r"\1_\2", op)).lower().replace("_2_d", "2d").replace("_3_d", "3d")
                      .replace("_v2", "_v2")] = op
    op = names.get(name) or names.get(name.replace("2d", "2_d").replace("3d", "3_d"))
    if op is None:
        raise AttributeError(name)
    function = getattr(tf.raw_ops, op)

    def call(*args, **kwargs):
        import inspect
        order = [p for p in inspect.signature(function).parameters]
        return function(**dict(zip(order, args)), **kwargs)
    call.__name__, call.__doc__ = name, function.__doc__
    return call


def member(module, path, name):
    """A member of a module of the table, which the module has from now on; None if it has none of that name."""
    places, others = TABLE.get(path, ((), {}))
    if name.startswith("__") and name.endswith("__") and name not in others:
        return None
    inside = path + "." + name
    if inside in TABLE or inside in PACKAGES:
        return importlib.import_module("thalweg." + inside)
    if path == "python.keras" or path.startswith("python.keras."):
        found = _keras(path, name)
        if found is not None:
            return found
    value = None
    if places == _GENERATED:
        value = _generated(name)
    elif name in others:
        value = _at(others[name])
    else:
        for place in places:
            value = getattr(_at(place), name, None) if _at(place) is not None else None
            if value is not None:
                break
    if value is not None:
        module.__dict__[name] = value
    return value


def _keras(path, name):
    """tensorflow.python.keras.X is tf.keras.X where that is public."""
    public = _at(path[len("python."):])
    return getattr(public, name, None) if public is not None else None


class Finder:
    """Makes the modules of the table."""

    @staticmethod
    def find_spec(fullname):
        """The spec of such a module, or None."""
        path = fullname[len("thalweg."):]
        known = path in TABLE or path in PACKAGES or (path.startswith("python.keras.") and isinstance(_at(path[len("python."):]), type(sys)))
        return ModuleSpec(fullname, Finder, is_package=True) if known else None

    @staticmethod
    def create_module(spec):
        """A module of its own name."""
        del spec

    @staticmethod
    def exec_module(module):
        """It is filled by being asked."""
        path = module.__name__[len("thalweg."):]
        if module.__name__.startswith("tensorflow."):
            path = module.__name__[len("tensorflow."):]
        module.__doc__ = "Stands for public modules: see thalweg._inner_paths."

        def get(name):
            value = member(module, path, name)
            if value is None:
                raise AttributeError("module %r has no attribute %r" % (module.__name__, name))
            return value
        module.__getattr__ = _core._getter(get, tf._loading)
        if path == "python":
            module.__dict__.update(keras=importlib.import_module("thalweg.python.keras"))
