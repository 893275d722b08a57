"""Small programs over datasets whose results in TensorFlow are in data.json; see tests/golden/data.py. Each takes the library and gives anything
that tests/python/data_values.py can write down."""

# The ops that the programs run.
OPS = ["AnonymousIteratorV3", "AssertCardinalityDataset", "BatchDatasetV2", "CSVDatasetV2", "CacheDatasetV2", "ConcatenateDataset",
       "DatasetCardinality", "DatasetToSingleElement", "DirectedInterleaveDataset", "DummyMemoryCache", "DummySeedGenerator",
       "FilterDataset", "FixedLengthRecordDatasetV2", "FlatMapDataset", "GeneratorDataset", "GroupByWindowDataset", "IgnoreErrorsDataset",
       "InterleaveDataset", "IteratorGetNext", "IteratorGetNextAsOptional", "IteratorGetNextSync", "MakeIterator", "MapDataset",
       "OptionalFromValue", "OptionalGetValue", "OptionalHasValue", "OptionalNone", "OptionsDataset", "PaddedBatchDatasetV2",
       "ParallelBatchDataset", "ParallelInterleaveDatasetV4", "ParallelMapDatasetV2", "PrefetchDataset", "RandomDatasetV2",
       "RangeDataset", "ReduceDataset", "RepeatDataset", "ScanDataset", "ShardDataset", "ShuffleDatasetV3", "SkipDataset",
       "TFRecordDataset", "TakeDataset", "TakeWhileDataset", "TensorDataset", "TensorSliceDataset", "TextLineDataset", "UnbatchDataset",
       "UniqueDataset", "WindowDataset", "ZipDataset"]
