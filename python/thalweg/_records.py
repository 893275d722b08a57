"""tf.io's records: what wants Python's own protocols over the library's rows (src/format/record/record_rows.c)."""
import os

import thalweg as tf


class TFRecordCompressionType:
    """How a TFRecord file is compressed."""
    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """How a TFRecord file is written: its compression, and zlib's numbers for it."""
    compression_type_map = {TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP", TFRecordCompressionType.NONE: ""}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None, window_bits=None,
                 compression_level=None, compression_method=None, mem_level=None, compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type, self.flush_mode, self.window_bits, self.mem_level = compression_type, flush_mode, window_bits, mem_level
        self.input_buffer_size, self.output_buffer_size, self.compression_level = input_buffer_size, output_buffer_size, compression_level
        self.compression_method, self.compression_strategy = compression_method, compression_strategy

    @classmethod
    def get_compression_type_string(cls, options):
        """The type's name ("", "ZLIB", "GZIP") of options, of a type or of its name."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError('Not a valid compression_type: "%s"' % (options,))


class TFRecordWriter(tf.io._TFRecordWriter):
    """Writes records to a TFRecord file."""

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        super().__init__(os.fspath(path), TFRecordOptions.get_compression_type_string(options), options.flush_mode, options.window_bits,
                         options.compression_level, options.compression_method, options.mem_level, options.compression_strategy)

    def write(self, record):
        """Adds a record: bytes."""
        super().write(bytes(record) if isinstance(record, (bytearray, memoryview)) else record)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def tf_record_iterator(path, options=None):
    """The records of a file, as bytes."""
    return records_of(path, options, False)


def records_of(path, options, may_grow):
    records = tf.compat.v1.io._RecordIterator(os.fspath(path), TFRecordOptions.get_compression_type_string(options))
    while True:
        data = records._read(may_grow)
        if data is None:
            return
        yield data


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """The newest checkpoint of a directory, and each newer one when it comes; ends after `timeout` seconds without one, if timeout_fn agrees."""
    import time
    last = None
    while True:
        began = time.time()
        found = tf.train.latest_checkpoint(checkpoint_dir)
        while found is None or found == last:
            if timeout is not None and time.time() - began + 1 > timeout:
                break
            time.sleep(1)
            found = tf.train.latest_checkpoint(checkpoint_dir)
        if found is None or found == last:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last, began = found, time.time()
        yield found
        time.sleep(max(0, began + min_interval_secs - time.time()))


IO = {name: globals()[name] for name in ("TFRecordOptions", "TFRecordWriter")}
