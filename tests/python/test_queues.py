"""Queues give what TensorFlow's give (tests/golden/queues.py); threads wait for them, and stop waiting when they shall."""
import json
import threading
import time

import pytest

from golden_files import golden_file
import queue_cases
import thalweg as tf

with open(golden_file("queues", "queues.json")) as f:
    EXPECTED = json.load(f)
v1 = tf.compat.v1


@pytest.mark.parametrize("name", EXPECTED["eager"])
def test_eager(name):
    assert queue_cases.shown(tf, "eager", name) == EXPECTED["eager"][name]


@pytest.mark.parametrize("name", EXPECTED["graph"])
def test_graph(name):
    assert queue_cases.shown(tf, "graph", name) == EXPECTED["graph"][name]


def in_thread(call):
    """Calls it in a thread; gives the thread and a list with its result or error."""
    found = []

    def body():
        try:
            found.append(call())
        except Exception as error:
            found.append(error)
    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    return thread, found


def test_waiting():
    """Who takes waits for who puts in, and the other way round."""
    queue = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]])
    thread, found = in_thread(lambda: [int(queue.dequeue()) for _ in range(3)])
    for i in range(3):
        queue.enqueue(i)
    thread.join(30)
    assert found == [[0, 1, 2]]
    thread, found = in_thread(lambda: queue.dequeue_many(4).numpy().tolist())  # more than fit at once
    queue.enqueue_many([[5, 6, 7, 8]])
    thread.join(30)
    assert found == [[5, 6, 7, 8]]


def test_close_ends_waiting():
    queue = tf.queue.FIFOQueue(3, tf.int32)
    thread, found = in_thread(queue.dequeue)
    time.sleep(.05)
    queue.close()
    thread.join(30)
    assert isinstance(found[0], tf.errors.OutOfRangeError)


def test_closed_session_cancels():
    with tf.Graph().as_default():
        queue = v1.FIFOQueue(1, tf.int32, shapes=[[]])
        put, get = queue.enqueue(1), queue.dequeue()
        for operation, first in ((get, 0), (put, 1)):
            session = v1.Session()
            for _ in range(first):
                session.run(put)
            thread, found = in_thread(lambda: session.run(operation))
            time.sleep(.1)
            session.close()
            thread.join(30)
            assert not thread.is_alive() and isinstance(found[0], (tf.errors.CancelledError, tf.errors.OutOfRangeError))


def test_interrupt():
    """Ctrl-C ends a thread that waits."""
    import signal
    queue = tf.queue.FIFOQueue(1, tf.int32)
    main, before = threading.main_thread().ident, signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it may be ignored
    threading.Timer(.2, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            queue.dequeue()
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_function():
    queue = tf.queue.FIFOQueue(5, tf.int32, shapes=[[]])

    @tf.function
    def step(x):
        queue.enqueue(x)
        queue.enqueue(x + 1)
        return queue.dequeue() * 10
    assert int(step(tf.constant(3))) == 30 and int(queue.dequeue()) == 4


def test_runner_reports_errors():
    with tf.Graph().as_default():
        bad = tf.constant([1, 2])
        queue = v1.FIFOQueue(3, tf.int32)
        with tf.control_dependencies([v1.Assert(tf.constant(False), [bad])]):
            runner = v1.train.QueueRunner(queue, [queue.enqueue(tf.constant(1))])
        with v1.Session() as session:
            coordinator = v1.train.Coordinator()
            threads = runner.create_threads(session, coordinator, start=True)
            with pytest.raises(tf.errors.InvalidArgumentError):
                coordinator.join(threads)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: tf.queue.FIFOQueue(3, [tf.int32, tf.int32], shapes=[[1]]), ValueError, "same length as dtypes"),
    (lambda: tf.queue.FIFOQueue(3, tf.int32).enqueue({"a": 1}), ValueError, "Queue must have names"),
    (lambda: v1.train.batch([tf.constant(1)], 2), ValueError, "not supported when eager execution is enabled"),
    (lambda: tf.raw_ops.QueueSizeV2(handle=tf.Variable(1.).handle), tf.errors.InvalidArgumentError, "no queue"),
])
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_close_cancels_what_waits():
    """An enqueue that waits for room ends when the queue is closed so; timeouts are refused, not ignored."""
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    queue.enqueue(1)
    problems = []

    def wait():
        try:
            queue.enqueue(2)
        except tf.errors.CancelledError as error:
            problems.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    queue.close(cancel_pending_enqueues=True)
    thread.join(30)
    assert not thread.is_alive() and len(problems) == 1 and queue.dequeue() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Timeout not supported yet"):
        tf.raw_ops.QueueDequeueV2(handle=queue.queue_ref, component_types=[tf.int32], timeout_ms=5)
