"""Queues: what goes in comes out, in which order, and what fails. tests/golden/queues.py runs the cases under TensorFlow and writes queues.json;
test_queues.py runs them here. Ops: raw_ops.FIFOQueueV2 raw_ops.PaddingFIFOQueueV2 raw_ops.RandomShuffleQueueV2 raw_ops.PriorityQueueV2 raw_ops.QueueEnqueueV2
raw_ops.QueueEnqueueManyV2 raw_ops.QueueDequeueV2 raw_ops.QueueDequeueManyV2 raw_ops.QueueDequeueUpToV2 raw_ops.QueueCloseV2
raw_ops.QueueSizeV2 raw_ops.QueueIsClosedV2."""
import re


def value(x):
    """A tensor, or a structure of them, as lists."""
    if isinstance(x, dict):
        return {key: value(inner) for key, inner in x.items()}
    if isinstance(x, (list, tuple)):
        return [value(inner) for inner in x]
    if not hasattr(x, "dtype"):
        return text(x)
    found = (x.numpy() if hasattr(x, "numpy") else x)
    found = found.tolist() if hasattr(found, "tolist") else found
    return [str(x.dtype.name if hasattr(x.dtype, "name") else x.dtype), text(found)]


def text(found):
    return [text(inner) for inner in found] if isinstance(found, list) else found.decode() if isinstance(found, bytes) else found


def failure(call):
    """The class and the words of an error, without the names of nodes and queues."""
    try:
        call()
    except Exception as error:
        words = re.sub(r"\{\{.*?\}\} ?|\[Op:.*|\[\[.*|'[^']*' |name: .*", "", str(error).split("\n")[0]).strip()
        return [type(error).__name__, words]
    return None


def eager(tf):
    """Queues outside of graphs."""
    q = tf.queue

    def first_in():
        queue = q.FIFOQueue(5, [tf.int32, tf.string], shapes=[[], [2]])
        queue.enqueue([1, ["a", "b"]])
        queue.enqueue_many([[2, 3], [["c", "d"], ["e", "f"]]])
        sizes = [queue.size()]
        made = [queue.dequeue(), queue.dequeue_many(2)]
        return sizes + made + [queue.size(), queue.is_closed()]

    def one_type():
        queue = q.FIFOQueue(2, tf.float32)
        queue.enqueue(1.5)
        queue.enqueue([[2.5, 1.]])
        return [queue.dequeue(), queue.dequeue()]

    def names():
        queue = q.FIFOQueue(2, [tf.int32, tf.float32], names=["a", "b"])
        queue.enqueue({"b": 2., "a": 1})
        return queue.dequeue()

    def closed():
        queue = q.FIFOQueue(9, tf.int32, shapes=[[]])
        queue.enqueue_many([[1, 2, 3]])
        queue.close()
        return [queue.dequeue(), queue.dequeue_up_to(5), queue.is_closed(), failure(queue.dequeue), failure(lambda: queue.enqueue(1)),
                failure(lambda: queue.dequeue_up_to(2))]

    def too_few():
        queue = q.FIFOQueue(9, tf.int32, shapes=[[]])
        queue.enqueue_many([[1, 2, 3]])
        queue.close()
        return [failure(lambda: queue.dequeue_many(5)), queue.dequeue_many(3)]

    def padding():
        queue = q.PaddingFIFOQueue(9, [tf.int32, tf.string], shapes=[[None, 2], [None]])
        queue.enqueue([[[1, 2]], ["a"]])
        queue.enqueue([[[3, 4], [5, 6], [7, 8]], []])
        queue.enqueue([[[9, 9], [8, 8]], ["b", "c"]])
        return [queue.dequeue_many(2), queue.dequeue()]

    def priority():
        queue = q.PriorityQueue(9, [tf.string], shapes=[[]])
        for number, word in ((3, "c"), (-1, "a"), (2, "b"), (9, "d")):
            queue.enqueue([number, word])
        return [queue.dequeue(), queue.dequeue_many(2), queue.size()]

    def shuffled():
        tf.random.set_seed(7)
        queue = q.RandomShuffleQueue(20, 2, tf.int32, shapes=[[]], seed=5)
        queue.enqueue_many([list(range(10))])
        made = [queue.dequeue(), queue.dequeue_many(4)]
        queue.close()
        return made + [queue.dequeue_many(5), failure(queue.dequeue)]

    def shapes():
        queue = q.FIFOQueue(9, tf.int32, shapes=[[2]])
        return [failure(lambda: queue.enqueue([1, 2, 3])), failure(lambda: tf.raw_ops.QueueEnqueueV2(handle=queue.queue_ref, components=[tf.constant([1])])),
                failure(lambda: tf.raw_ops.QueueEnqueueV2(handle=queue.queue_ref, components=[tf.constant([1., 2.])])),
                failure(lambda: q.FIFOQueue(9, tf.int32).dequeue_many(1)), failure(lambda: queue.dequeue_many(-1))]

    def nothing():
        queue = q.FIFOQueue(9, [tf.int32], shapes=[[3]])
        return [queue.dequeue_many(0), failure(lambda: q.RandomShuffleQueue(3, 3, tf.int32))]
    return {function.__name__: function for function in (first_in, one_type, names, closed, too_few, padding, priority, shuffled, shapes, nothing)}


def graphs(tf):
    """Queues in sessions, with threads that fill them."""
    v1 = tf.compat.v1

    def fed():
        queue = v1.FIFOQueue(3, tf.int32, shapes=[[]])
        put, x = queue.enqueue, v1.placeholder(tf.int32, [])
        put, get, size = queue.enqueue(x), queue.dequeue(), queue.size()
        with v1.Session() as one, v1.Session() as two:
            for i in (4, 5):
                one.run(put, {x: i})
            two.run(put, {x: 7})
            return [one.run(size), one.run(get), one.run(get), two.run(get), get.shape.as_list()]

    def batches():
        number = v1.train.range_input_producer(5, num_epochs=2, shuffle=False).dequeue()
        batch = v1.train.batch([number, number * 2], batch_size=4, allow_smaller_final_batch=True)
        return everything(batch, [b.shape.as_list() for b in batch])

    def slices():
        x, y = v1.train.slice_input_producer([tf.constant([[1., 2.], [3., 4.], [5., 6.]]), tf.constant(["a", "b", "c"])], num_epochs=1, shuffle=False)
        made = v1.train.batch({"x": x, "y": y}, batch_size=2)
        return everything(made, made["x"].shape.as_list())

    def shuffled():
        number = v1.train.input_producer(tf.range(8), num_epochs=1, shuffle=False).dequeue()
        made = v1.train.shuffle_batch([number], batch_size=4, capacity=20, min_after_dequeue=4)
        runs, _ = everything(made, None)
        return sorted(n for run in runs for n in run[1])

    def texts():
        made = v1.train.string_input_producer(["a", "b"], shuffle=False, num_epochs=1).dequeue()
        return everything(made, made.shape.as_list())

    def padded():
        number = v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        made = v1.train.batch([tf.range(number)], batch_size=2, dynamic_pad=True, shapes=[[None]])
        return everything(made, made.shape.as_list())

    def everything(fetched, shapes):
        runs = []
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            coordinator = v1.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            try:
                while not coordinator.should_stop():
                    runs.append(value(session.run(fetched)))
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
        return [runs, shapes]
    return {function.__name__: function for function in (fed, batches, slices, shuffled, texts, padded)}


def shown(tf, kind, name):
    """What a case gives, as JSON can hold it."""
    if kind == "eager":
        return value(eager(tf)[name]())
    with tf.Graph().as_default():
        return value(graphs(tf)[name]())
