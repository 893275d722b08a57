"""Where a signature is not TensorFlow's (test_signatures.py): most name more arguments than TensorFlow, or show another default that means the same.
The list only gets shorter."""
PATHS = """
DType DType.most_specific_common_supertype DeviceSpec.parse_from_string DeviceSpec.replace Graph.as_graph_def Operation.run RaggedTensor
RaggedTensorSpec SparseTensor.from_value TensorArray TensorSpec.is_compatible_with TypeSpec.cast Variable Variable.eval Variable.from_proto
Variable.initialized_value Variable.load Variable.to_proto constant_initializer constant_initializer.from_config data.Dataset data.Dataset.cache
data.Dataset.cardinality data.Dataset.counter data.Dataset.flat_map data.Dataset.group_by_window data.Dataset.interleave data.Dataset.list_files
data.Dataset.prefetch data.Dataset.range data.Dataset.shuffle data.Iterator data.experimental.AutoShardPolicy.from_bytes data.experimental.Counter
data.experimental.Optional data.experimental.bucket_by_sequence_length data.experimental.dense_to_ragged_batch data.experimental.group_by_window
data.experimental.ignore_errors data.experimental.index_table_from_dataset data.experimental.make_csv_dataset data.experimental.rejection_resample
data.experimental.sample_from_datasets data.experimental.scan data.experimental.service.DispatchServer data.experimental.service.DispatcherConfig
data.experimental.service.ShardingPolicy.from_bytes data.experimental.service.WorkerConfig data.experimental.service.WorkerServer
data.experimental.service.distribute data.experimental.service.from_dataset_id data.experimental.service.register_dataset data.experimental.snapshot
data.experimental.table_from_dataset data.experimental.take_while data.experimental.unbatch data.experimental.unique
debugging.experimental.enable_dump_debug_info distribute.CrossDeviceOps distribute.DistributedDataset.reduce distribute.DistributedIterator
distribute.DistributedValues distribute.InputOptions distribute.MirroredStrategy distribute.Server distribute.Strategy distribute.StrategyExtended
distribute.cluster_resolver.GCEClusterResolver distribute.cluster_resolver.KubernetesClusterResolver distribute.cluster_resolver.SlurmClusterResolver
distribute.coordinator.ClusterCoordinator distribute.coordinator.PerWorkerValue distribute.coordinator.RemoteValue
distribute.experimental.CentralStorageStrategy distribute.experimental.CommunicationOptions distribute.experimental.MultiWorkerMirroredStrategy
distribute.experimental.PreemptionCheckpointHandler distribute.experimental.PreemptionWatcher distribute.experimental.coordinator.ClusterCoordinator
distribute.experimental.coordinator.PerWorkerValues distribute.experimental.coordinator.RemoteValue distribute.experimental.rpc.Client
distribute.experimental.rpc.Server dtypes.DType einsum experimental.ExtensionTypeSpec experimental.Optional experimental.RowPartition
experimental.numpy.broadcast_arrays experimental.numpy.einsum experimental.numpy.float64.fromhex experimental.numpy.logspace
experimental.numpy.meshgrid experimental.numpy.pad experimental.numpy.random.poisson experimental.numpy.random.uniform experimental.numpy.select
experimental.numpy.sign experimental.numpy.string_.fromhex experimental.numpy.tensordot experimental.register_filesystem_plugin
experimental.tensorrt.ConversionParams experimental.tensorrt.Converter feature_column.numeric_column histogram_fixed_width image.adjust_gamma
image.combined_non_max_suppression image.crop_and_resize image.draw_bounding_boxes image.non_max_suppression image.non_max_suppression_overlaps
image.non_max_suppression_padded image.non_max_suppression_with_scores image.sample_distorted_bounding_box image.ssim_multiscale
image.stateless_random_saturation image.stateless_sample_distorted_bounding_box initializers.Constant initializers.Initializer.from_config
initializers.constant io.decode_compressed io.decode_csv io.gfile.GFile.seek keras.Input keras.Model keras.Model.call keras.Model.evaluate_generator
keras.Model.fit_generator keras.Model.predict_generator keras.Sequential.build keras.Sequential.compute_mask keras.backend.abs keras.backend.cast
keras.backend.cos keras.backend.equal keras.backend.exp keras.backend.greater keras.backend.greater_equal keras.backend.less keras.backend.less_equal
keras.backend.log keras.backend.map_fn keras.backend.maximum keras.backend.minimum keras.backend.not_equal keras.backend.round keras.backend.sigmoid
keras.backend.sign keras.backend.sin keras.backend.sparse_categorical_crossentropy keras.backend.sqrt keras.backend.square keras.backend.tanh
keras.callbacks.CSVLogger keras.callbacks.Callback.set_model keras.callbacks.Callback.set_params keras.callbacks.EarlyStopping
keras.callbacks.ProgbarLogger keras.callbacks.ReduceLROnPlateau keras.callbacks.RemoteMonitor keras.callbacks.experimental.BackupAndRestore
keras.constraints.Constraint.from_config keras.constraints.MinMaxNorm keras.constraints.min_max_norm keras.datasets.fashion_mnist.load_data
keras.datasets.mnist.load_data keras.estimator.model_to_estimator keras.experimental.SidecarEvaluator keras.initializers.Constant
keras.initializers.constant keras.layers.AbstractRNNCell keras.layers.AbstractRNNCell.call keras.layers.Activation.call keras.layers.Add.build
keras.layers.Add.call keras.layers.Add.compute_output_shape keras.layers.AdditiveAttention keras.layers.AdditiveAttention.call
keras.layers.AlphaDropout.compute_output_shape keras.layers.Attention keras.layers.Attention.call keras.layers.Average.build keras.layers.Average.call
keras.layers.Average.compute_output_shape keras.layers.AveragePooling1D.call keras.layers.AveragePooling2D.call keras.layers.AveragePooling3D.call
keras.layers.BatchNormalization.call keras.layers.Bidirectional.call keras.layers.Bidirectional.compute_mask
keras.layers.Bidirectional.compute_output_shape keras.layers.CategoryEncoding.call keras.layers.CategoryEncoding.compute_output_signature
keras.layers.CenterCrop.call keras.layers.Concatenate.build keras.layers.Concatenate.call keras.layers.Concatenate.compute_output_shape
keras.layers.Conv1D.call keras.layers.Conv2D.call keras.layers.Conv3D.call keras.layers.ConvLSTM1D keras.layers.ConvLSTM1D.build
keras.layers.ConvLSTM1D.call keras.layers.ConvLSTM1D.compute_output_shape keras.layers.ConvLSTM2D keras.layers.ConvLSTM2D.build
keras.layers.ConvLSTM2D.call keras.layers.ConvLSTM2D.compute_output_shape keras.layers.ConvLSTM3D keras.layers.ConvLSTM3D.build
keras.layers.ConvLSTM3D.call keras.layers.ConvLSTM3D.compute_output_shape keras.layers.Cropping1D.call keras.layers.Cropping2D
keras.layers.Cropping2D.call keras.layers.Cropping3D keras.layers.Cropping3D.call keras.layers.Dense.call keras.layers.DenseFeatures
keras.layers.DenseFeatures.build keras.layers.DenseFeatures.call keras.layers.DepthwiseConv1D.call keras.layers.DepthwiseConv1D.compute_output_shape
keras.layers.DepthwiseConv2D.call keras.layers.DepthwiseConv2D.compute_output_shape keras.layers.Discretization.call
keras.layers.Discretization.compute_output_signature keras.layers.Dot.build keras.layers.Dot.call keras.layers.Dot.compute_output_shape
keras.layers.ELU.call keras.layers.ELU.compute_output_shape keras.layers.EinsumDense.call keras.layers.EinsumDense.compute_output_shape
keras.layers.Embedding.build keras.layers.Embedding.call keras.layers.Embedding.compute_output_shape keras.layers.Flatten keras.layers.Flatten.call
keras.layers.GRU keras.layers.GRU.call keras.layers.GRUCell keras.layers.GRUCell.build keras.layers.GRUCell.call
keras.layers.GaussianDropout.compute_output_shape keras.layers.GaussianNoise.compute_output_shape keras.layers.GlobalAveragePooling1D
keras.layers.GlobalAveragePooling1D.call keras.layers.GlobalAveragePooling2D.call keras.layers.GlobalAveragePooling3D.call
keras.layers.GlobalAvgPool1D keras.layers.GlobalMaxPool1D.call keras.layers.GlobalMaxPool2D.call keras.layers.GlobalMaxPool3D.call
keras.layers.GroupNormalization.call keras.layers.HashedCrossing.call keras.layers.HashedCrossing.compute_output_shape
keras.layers.HashedCrossing.compute_output_signature keras.layers.Hashing.call keras.layers.Hashing.compute_output_signature keras.layers.Identity
keras.layers.Identity.call keras.layers.Input keras.layers.InputLayer keras.layers.IntegerLookup keras.layers.IntegerLookup.call
keras.layers.IntegerLookup.compute_output_signature keras.layers.LSTM keras.layers.LSTM.call keras.layers.LSTMCell keras.layers.LSTMCell.build
keras.layers.LSTMCell.call keras.layers.Lambda keras.layers.Lambda.call keras.layers.Lambda.compute_output_shape keras.layers.Layer
keras.layers.Layer.add_loss keras.layers.Layer.add_metric keras.layers.Layer.add_variable keras.layers.Layer.add_weight keras.layers.Layer.call
keras.layers.Layer.from_config keras.layers.LayerNormalization.call keras.layers.LeakyReLU.call keras.layers.LeakyReLU.compute_output_shape
keras.layers.LocallyConnected1D.build keras.layers.LocallyConnected1D.call keras.layers.LocallyConnected1D.compute_output_shape
keras.layers.LocallyConnected2D.build keras.layers.LocallyConnected2D.call keras.layers.LocallyConnected2D.compute_output_shape
keras.layers.Masking.call keras.layers.MaxPool1D.call keras.layers.MaxPool2D.call keras.layers.MaxPool3D.call keras.layers.Maximum.build
keras.layers.Maximum.call keras.layers.Maximum.compute_output_shape keras.layers.Minimum.build keras.layers.Minimum.call
keras.layers.Minimum.compute_output_shape keras.layers.MultiHeadAttention.call keras.layers.MultiHeadAttention.compute_output_shape
keras.layers.Multiply.build keras.layers.Multiply.call keras.layers.Multiply.compute_output_shape keras.layers.Normalization.call
keras.layers.Normalization.compute_output_signature keras.layers.PReLU.build keras.layers.PReLU.call keras.layers.PReLU.compute_output_shape
keras.layers.Permute.call keras.layers.RNN keras.layers.RNN.call keras.layers.RNN.compute_mask keras.layers.RandomBrightness
keras.layers.RandomBrightness.call keras.layers.RandomContrast.call keras.layers.RandomCrop.call keras.layers.RandomFlip.call
keras.layers.RandomHeight.call keras.layers.RandomRotation.call keras.layers.RandomTranslation.call keras.layers.RandomWidth.call
keras.layers.RandomZoom.call keras.layers.ReLU.call keras.layers.ReLU.compute_output_shape keras.layers.RepeatVector.call keras.layers.Rescaling.call
keras.layers.Reshape.call keras.layers.Resizing.call keras.layers.SeparableConv1D keras.layers.SeparableConv1D.call keras.layers.SeparableConv2D
keras.layers.SeparableConv2D.call keras.layers.SeparableConvolution1D keras.layers.SeparableConvolution2D keras.layers.SimpleRNN
keras.layers.SimpleRNN.call keras.layers.SimpleRNNCell.build keras.layers.SimpleRNNCell.call keras.layers.Softmax.call
keras.layers.Softmax.compute_output_shape keras.layers.SpatialDropout1D keras.layers.SpatialDropout2D keras.layers.SpatialDropout3D
keras.layers.SpectralNormalization.call keras.layers.StackedRNNCells.build keras.layers.StackedRNNCells.call keras.layers.StringLookup.call
keras.layers.StringLookup.compute_output_signature keras.layers.Subtract.build keras.layers.Subtract.call keras.layers.Subtract.compute_output_shape
keras.layers.TextVectorization.call keras.layers.TextVectorization.compute_output_signature keras.layers.ThresholdedReLU.call
keras.layers.ThresholdedReLU.compute_output_shape keras.layers.TimeDistributed.call keras.layers.UnitNormalization.call keras.layers.UpSampling1D.call
keras.layers.UpSampling2D.call keras.layers.UpSampling3D.call keras.layers.Wrapper.build keras.layers.ZeroPadding1D.call
keras.layers.ZeroPadding2D.call keras.layers.ZeroPadding3D.call keras.layers.add keras.layers.average keras.layers.concatenate keras.layers.dot
keras.layers.experimental.RandomFourierFeatures keras.layers.experimental.RandomFourierFeatures.call keras.layers.experimental.SyncBatchNormalization
keras.layers.experimental.SyncBatchNormalization.call keras.layers.experimental.preprocessing.IntegerLookup keras.layers.maximum keras.layers.minimum
keras.layers.multiply keras.layers.subtract keras.losses.Loss.from_config keras.losses.deserialize keras.metrics.BinaryCrossentropy
keras.metrics.CategoricalCrossentropy keras.metrics.FBetaScore.build keras.metrics.Metric keras.metrics.Metric.add_weight keras.metrics.R2Score.build
keras.mixed_precision.LossScaleOptimizer keras.models.Model keras.models.load_model keras.models.save_model keras.optimizers.Adadelta
keras.optimizers.Adadelta.update_step keras.optimizers.Adafactor keras.optimizers.Adagrad keras.optimizers.Adagrad.update_step keras.optimizers.Adam
keras.optimizers.AdamW keras.optimizers.Adamax keras.optimizers.Ftrl keras.optimizers.Lion keras.optimizers.Nadam keras.optimizers.Optimizer
keras.optimizers.Optimizer.apply_gradients keras.optimizers.RMSprop keras.optimizers.SGD keras.optimizers.deserialize
keras.optimizers.experimental.Adadelta keras.optimizers.experimental.Adafactor keras.optimizers.experimental.Adagrad
keras.optimizers.experimental.Adam keras.optimizers.experimental.AdamW keras.optimizers.experimental.Adamax keras.optimizers.experimental.Ftrl
keras.optimizers.experimental.Nadam keras.optimizers.experimental.Optimizer keras.optimizers.experimental.RMSprop keras.optimizers.experimental.SGD
keras.optimizers.get keras.optimizers.legacy.Adadelta keras.optimizers.legacy.Adagrad keras.optimizers.legacy.Adam keras.optimizers.legacy.Adamax
keras.optimizers.legacy.Ftrl keras.optimizers.legacy.Nadam keras.optimizers.legacy.Optimizer keras.optimizers.legacy.Optimizer.add_weight
keras.optimizers.legacy.Optimizer.apply_gradients keras.optimizers.legacy.Optimizer.minimize keras.optimizers.legacy.RMSprop
keras.optimizers.legacy.SGD keras.optimizers.schedules.LearningRateSchedule.from_config keras.preprocessing.image.apply_affine_transform
keras.regularizers.L1 keras.regularizers.L2 keras.regularizers.Regularizer.from_config keras.regularizers.l1 keras.regularizers.l2
keras.saving.deserialize_keras_object keras.saving.load_model keras.saving.save_model keras.utils.deserialize_keras_object keras.utils.get_file
keras.utils.to_categorical keras.utils.to_ordinal linalg.LinearOperatorBlockDiag linalg.LinearOperatorIdentity
linalg.LinearOperatorIdentity.add_to_tensor linalg.LinearOperatorScaledIdentity linalg.LinearOperatorScaledIdentity.add_to_tensor
linalg.LinearOperatorZeros linalg.LinearOperatorZeros.add_to_tensor linalg.diag linalg.diag_part linalg.einsum linalg.norm linalg.normalize
linalg.set_diag load_library load_op_library lookup.StaticHashTable lookup.StaticVocabularyTable lookup.TextFileInitializer
lookup.experimental.DenseHashTable lookup.experimental.MutableHashTable losses.deserialize math.count_nonzero meshgrid metrics.BinaryCrossentropy
metrics.CategoricalCrossentropy metrics.Metric mlir.experimental.convert_function mlir.experimental.convert_graph_def
mlir.experimental.convert_saved_model mlir.experimental.convert_saved_model_v1 mlir.experimental.run_pass_pipeline
mlir.experimental.tflite_to_tosa_bytecode mlir.experimental.write_bytecode nest.is_nested nn.conv2d_transpose nn.conv3d_transpose nn.convolution
nn.embedding_lookup_sparse nn.experimental.stateless_dropout nn.fixed_unigram_candidate_sampler nn.local_response_normalization nn.lrn nn.nce_loss
nn.sampled_softmax_loss norm ones_initializer.from_config optimizers.Adadelta optimizers.Adafactor optimizers.Adagrad optimizers.Adam optimizers.AdamW
optimizers.Adamax optimizers.Ftrl optimizers.Lion optimizers.Nadam optimizers.Optimizer optimizers.RMSprop optimizers.SGD optimizers.deserialize
optimizers.get pad print profiler.experimental.client.monitor profiler.experimental.client.trace profiler.experimental.server.start
quantization.fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args_gradient ragged.range random.Generator.normal
random.Generator.truncated_normal random.experimental.stateless_fold_in random.experimental.stateless_shuffle random.experimental.stateless_split
random.fixed_unigram_candidate_sampler random.fold_in random.normal random.split random.stateless_normal
random.stateless_parameterized_truncated_normal random.stateless_truncated_normal random.stateless_uniform random.truncated_normal random.uniform
random_normal_initializer.from_config random_uniform_initializer.from_config saved_model.LoadOptions saved_model.SaveOptions signal.frame
signal.kaiser_bessel_derived_window signal.kaiser_window signal.linear_to_mel_weight_matrix sparse.add sparse.expand_dims sparse.reduce_max
sparse.reduce_sum sparse.split test.Benchmark.is_abstract test.TestCase.assertDictAlmostEqual test.TestCase.assertDictEqual test.TestCase.assertEquals
test.TestCase.assertIsSubclass test.TestCase.assertMappingEqual test.TestCase.assertNotIsSubclass test.TestCase.assertNotRegexpMatches
test.TestCase.assertRaisesRegexp test.TestCase.assertSameStructure test.TestCase.assertShapeEqual test.TestCase.fail test.TestCase.failIf
test.TestCase.failIfAlmostEqual test.TestCase.failIfEqual test.TestCase.failUnless test.TestCase.failUnlessAlmostEqual test.TestCase.failUnlessEqual
test.TestCase.failUnlessRaises test.TestCase.get_recorded_properties train.Checkpoint.read train.Checkpoint.restore train.Checkpoint.save
train.Checkpoint.write train.CheckpointManager.save train.CheckpointOptions types.experimental.FunctionType types.experimental.SupportsTracingProtocol
types.experimental.distributed.Mirrored types.experimental.distributed.PerReplica zeros_initializer.from_config
"""
