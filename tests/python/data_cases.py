"""Small programs over datasets whose results in TensorFlow are in data.json; see tests/golden/data.py. Each takes the library and gives anything
that tests/python/data_values.py can write down."""

# The ops that the programs run.
OPS = ["TensorDataset", "TensorSliceDataset", "RangeDataset", "MapDataset", "ParallelMapDatasetV2", "BatchDatasetV2", "ParallelBatchDataset",
       "TakeDataset", "SkipDataset", "RepeatDataset", "ShardDataset", "DatasetCardinality", "AnonymousIteratorV3", "MakeIterator",
       "IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalFromValue", "OptionalNone", "OptionalHasValue",
       "OptionalGetValue"]
