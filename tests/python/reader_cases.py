"""Readers of TensorFlow 1, variables that begin with a checkpoint's values, and critical sections. tests/golden/readers.py runs the cases under TensorFlow
and writes readers.json; test_readers.py runs them here. Ops: raw_ops.TextLineReaderV2 raw_ops.WholeFileReaderV2 raw_ops.IdentityReaderV2
raw_ops.TFRecordReaderV2 raw_ops.FixedLengthRecordReaderV2 raw_ops.ReaderReadV2 raw_ops.ReaderReadUpToV2 raw_ops.ReaderNumRecordsProducedV2
raw_ops.ReaderNumWorkUnitsCompletedV2 raw_ops.ReaderResetV2 raw_ops.ReaderSerializeStateV2 raw_ops.ReaderRestoreStateV2 raw_ops.MutexV2
raw_ops.MutexLock raw_ops.ConsumeMutexLock."""
import os


def plain(value, folder):
    """A result as lists and texts, without the folder's name."""
    if isinstance(value, (list, tuple)):
        return [plain(v, folder) for v in value]
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list):
        return plain(value, folder)
    return value.decode("latin-1").replace(folder, "") if isinstance(value, bytes) else value


def files(tf, folder):
    """Files to read, by name."""
    def file(name, data):
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
    file("a.txt", b"h1\nh2\nline1\r\nline2\n\nlast")
    file("b.txt", b"x\ny\n")
    file("empty", b"")
    file("bytes", bytes(range(20)))
    file("noise", b"this is no file of records, and long enough to have a head")
    for name, kind in (("r", ""), ("rz", "GZIP"), ("rl", "ZLIB")):
        with tf.io.TFRecordWriter(os.path.join(folder, name), kind) as writer:
            for record in (b"one", b"two", b"", b"x" * 300):
                writer.write(record)


# A name: the class, its arguments, the files (or bare names), how many records at once.
READERS = {
    "lines": ("TextLineReader", {}, ["a.txt", "b.txt"], None),
    "lines behind heads": ("TextLineReader", {"skip_header_lines": 2}, ["a.txt", "empty", "b.txt"], None),
    "several lines": ("TextLineReader", {}, ["a.txt", "empty", "b.txt"], 3),
    "whole files": ("WholeFileReader", {}, ["b.txt", "empty", "bytes"], None),
    "several files": ("WholeFileReader", {}, ["b.txt", "empty"], 5),
    "names": ("IdentityReader", {}, ["p", "q"], None),
    "several names": ("IdentityReader", {}, ["p", "q", "r"], 2),
    "records": ("TFRecordReader", {}, ["r", "empty", "r"], None),
    "several records": ("TFRecordReader", {}, ["r", "r"], 3),
    "gzip": ("TFRecordReader", {"options": "GZIP"}, ["rz"], None),
    "zlib": ("TFRecordReader", {"options": "ZLIB"}, ["rl"], 9),
    "no records": ("TFRecordReader", {}, ["noise"], None),
    "pieces": ("FixedLengthRecordReader", {"record_bytes": 4}, ["bytes", "bytes"], None),
    "pieces inside": ("FixedLengthRecordReader", {"record_bytes": 4, "header_bytes": 3, "footer_bytes": 1}, ["bytes"], None),
    "pieces that overlap": ("FixedLengthRecordReader", {"record_bytes": 6, "hop_bytes": 2}, ["bytes"], 4),
    "pieces and a rest": ("FixedLengthRecordReader", {"record_bytes": 4, "header_bytes": 1}, ["bytes"], None),
    "no file": ("TextLineReader", {}, ["nothing"], None),
    "no whole file": ("WholeFileReader", {}, ["nothing"], None),
    "no head": ("TextLineReader", {"skip_header_lines": -1}, ["a.txt"], None),
}


def reading(tf, folder, case):
    """What a reader gives until it fails, and its counts."""
    kind, arguments, names, several = READERS[case]
    v1 = tf.compat.v1
    if "options" in arguments:
        arguments = {"options": tf.io.TFRecordOptions(arguments["options"])}
    with tf.Graph().as_default(), v1.Session() as session:
        reader, queue = getattr(v1, kind)(**arguments), v1.FIFOQueue(9, tf.string, shapes=[[]])
        session.run(queue.enqueue_many([[name if kind == "IdentityReader" else os.path.join(folder, name) for name in names]]))
        session.run(queue.close())
        record = reader.read_up_to(queue, several) if several else reader.read(queue)
        out = [[t.op.type for t in (reader.reader_ref, record[0])], record[0].shape.as_list(), reader.supports_serialize]
        for _ in range(12):
            try:
                out.append(plain(list(session.run(record)), folder))
            except Exception as error:
                return out + [type(error).__name__]
            out.append(plain(session.run([reader.num_records_produced(), reader.num_work_units_completed()]), folder))
        return out


def standing(tf, folder):
    """Where a reader stands, told and taken back."""
    v1, out = tf.compat.v1, []
    with tf.Graph().as_default(), v1.Session() as session:
        reader, queue = v1.IdentityReader(), v1.FIFOQueue(9, tf.string, shapes=[[]])
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        session.run(queue.enqueue_many([["a", "b", "c"]]))
        record = reader.read(queue)
        out.append(session.run(list(record)))
        state = session.run(reader.serialize_state())
        out += [state, session.run(list(record)), session.run(counts)]
        session.run(reader.restore_state(state))
        out.append(session.run(counts))
        session.run(reader.reset())
        out.append(session.run(counts))
        wrong = [reader.restore_state("zz"), v1.TextLineReader().serialize_state(), v1.TextLineReader().restore_state("")]
        for dtypes, shapes, element in (([tf.string, tf.string], [[], []], ["a", "b"]), (tf.int32, [[]], [1]), (tf.string, [[2]], [["a", "b"]])):
            other = v1.FIFOQueue(9, dtypes, shapes=shapes)
            session.run(other.enqueue(element))
            wrong.append(reader.read(other))
        for operation in wrong:
            try:
                out.append(session.run(operation))
            except Exception as error:
                out.append(type(error).__name__)
    return plain(out, folder)


def pipeline(tf, folder):
    """A program of the time: names of files, a reader, batches, threads."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        names = v1.train.string_input_producer([os.path.join(folder, "a.txt"), os.path.join(folder, "b.txt")], num_epochs=2, shuffle=False)
        key, value = v1.TextLineReader(skip_header_lines=1).read(names)
        batch = v1.train.batch([key, value], 3, allow_smaller_final_batch=True)
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        out = []
        try:
            while not coordinator.should_stop():
                out.append(session.run(batch))
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
        return plain(out, folder)


MAPS = {
    "scope": lambda v: {"old/": "new/"}, "name": lambda v: {"old/a": "new/a"}, "variable": lambda v: {"old/b": v["new/b"]}, "pairs": lambda v: [("old/a", v["new/a"])],
    "two": lambda v: {"old/a": "new/a", "old/b": v["new/b"]}, "no variable": lambda v: {"old/a": "nope/x"}, "no tensor": lambda v: {"zz": "new/a"},
    "another shape": lambda v: {"old/a": "new/b"}, "no scope": lambda v: {"old/": "nope/"}, "half a scope": lambda v: {"old": "new/"}, "root": lambda v: {"/": "new/"},
    "roots": lambda v: {"/": "/"},
}


def beginning(tf, folder, case):
    """Variables whose first values are a checkpoint's."""
    v1, path = tf.compat.v1, os.path.join(folder, "m")
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("old"):
            v1.get_variable("a", initializer=tf.constant([[3.0, 1.0], [2.0, 5.0]]))
            v1.get_variable("b", initializer=tf.constant([4.0, 7.0, 9.0]))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, path)
    with tf.Graph().as_default() as graph, v1.Session() as session:
        with v1.variable_scope("new"):
            v = {"new/a": v1.get_variable("a", [2, 2], initializer=v1.zeros_initializer()), "new/b": v1.get_variable("b", [3], initializer=v1.zeros_initializer())}
        try:
            v1.train.init_from_checkpoint(folder if case == "two" else path, MAPS[case](v))
        except Exception as error:
            return [type(error).__name__, "" if case == "no tensor" else str(error).replace(folder, "")]
        session.run(v1.global_variables_initializer())
        return [plain(session.run(list(v.values())), folder), [o.name for o in graph.get_operations() if o.type == "RestoreV2"], v["new/a"].initializer.type]


def sections(tf, folder):
    """What critical sections give, and refuse."""
    v1, section, v = tf.compat.v1, tf.CriticalSection(), tf.Variable(0)
    step = tf.function(lambda: section.execute(lambda: v.assign_add(1)))
    out = [section.execute(lambda: v.assign_add(1)).numpy(), section.execute(lambda: None), step().numpy(), section.execute(lambda: (None, tf.constant(2)))[1].numpy(),
           section.execute(lambda: 5).numpy(), [o.type for o in step.get_concrete_function().graph.get_operations() if "Mutex" in o.type]]
    for wrong in (lambda: section.execute(lambda: section.execute(lambda: tf.constant(1))), tf.function(lambda: section.execute(lambda: section.execute(lambda: 1))),
                  lambda: section.execute(3), lambda: section.execute(lambda: 1 // 0), lambda: tf.raw_ops.MutexLock(mutex=v.handle)):
        try:
            out.append(wrong())
        except Exception as error:
            out.append(type(error).__name__)
    out.append(section.execute(lambda: v.assign_add(1)).numpy())
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=tf.constant(1.0))
        added = tf.CriticalSection().execute(lambda: w.assign_add(1.0))
        session.run(w.initializer)
        out += [session.run(added), session.run(added)]
    return plain(out, folder)


def cases():
    """Names of all cases: a kind and, of some, one of its cases."""
    return [["reading", c] for c in READERS] + [["beginning", c] for c in MAPS] + [[kind, ""] for kind in ("standing", "pipeline", "sections")]


def run(tf, folder, kind, case):
    files(tf, folder)
    return globals()[kind](tf, folder, case) if case else globals()[kind](tf, folder)
