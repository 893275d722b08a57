"""tf.compat.v1's readers: objects over the ops of src/op/queue/reader.c, which take names of files out of a queue."""
import thalweg as tf
from thalweg import _core

_raw = tf.raw_ops


class ReaderBase:
    """What all readers do: records come one after the other, each with a key that says where it stood."""

    def __init__(self, reader_ref, supports_serialize=False):
        if _core.executing_eagerly():
            raise RuntimeError("Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into your model.")
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    reader_ref = property(lambda self: self._reader_ref, doc="The handle.")
    supports_serialize = property(lambda self: self._supports_serialize, doc="Whether the reader can tell where it stands.")

    def read(self, queue, name=None):
        """The key and the value of the next record."""
        return _raw.ReaderReadV2(reader_handle=self._reader_ref, queue_handle=_handle(queue), name=name)

    def read_up_to(self, queue, num_records, name=None):
        """Keys and values of the next records: as many, or fewer at the end of a file."""
        return _raw.ReaderReadUpToV2(reader_handle=self._reader_ref, queue_handle=_handle(queue), num_records=num_records, name=name)

    def num_records_produced(self, name=None):
        """How many records the reader gave."""
        return _raw.ReaderNumRecordsProducedV2(reader_handle=self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        """How many files it is through with."""
        return _raw.ReaderNumWorkUnitsCompletedV2(reader_handle=self._reader_ref, name=name)

    def serialize_state(self, name=None):
        """Where the reader stands, as bytes."""
        return _raw.ReaderSerializeStateV2(reader_handle=self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        """Goes back to where a reader stood."""
        return _raw.ReaderRestoreStateV2(reader_handle=self._reader_ref, state=state, name=name)

    def reset(self, name=None):
        """Begins anew, with the next file."""
        return _raw.ReaderResetV2(reader_handle=self._reader_ref, name=name)


def _handle(queue):
    return queue if _core.is_tensor(queue) else queue.queue_ref


def _made(op, **attrs):
    return None if _core.executing_eagerly() else getattr(_raw, op)(**{name: value for name, value in attrs.items() if value is not None})


class WholeFileReader(ReaderBase):
    """Files as they are; keys are their names."""

    def __init__(self, name=None):
        super().__init__(_made("WholeFileReaderV2", name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """The lines of files; keys are names and numbers of lines."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__(_made("TextLineReaderV2", skip_header_lines=skip_header_lines, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Pieces of a fixed length."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        super().__init__(_made("FixedLengthRecordReaderV2", record_bytes=record_bytes, header_bytes=header_bytes, footer_bytes=footer_bytes,
                               hop_bytes=hop_bytes, encoding=encoding, name=name))


class TFRecordReader(ReaderBase):
    """The records of TFRecord files."""

    def __init__(self, name=None, options=None):
        kind = options if isinstance(options, str) or options is None else tf.io.TFRecordOptions.get_compression_type_string(options)
        super().__init__(_made("TFRecordReaderV2", compression_type=kind, name=name))


class IdentityReader(ReaderBase):
    """The names themselves, as keys and as values."""

    def __init__(self, name=None):
        super().__init__(_made("IdentityReaderV2", name=name), supports_serialize=True)


def install():
    """Puts the names into tf.compat.v1."""
    for made in (ReaderBase, WholeFileReader, TextLineReader, FixedLengthRecordReader, TFRecordReader, IdentityReader):
        setattr(tf.compat.v1, made.__name__, made)
