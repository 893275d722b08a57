"""Programs of the ops behind lists, branches, loops and calls, by their own names (tf.raw_ops), whose results in TensorFlow are in control.json; see
tests/golden/control.py. Each takes the library and gives tensors, eagerly and inside a tf.function."""
from control_cases import gradient

EAGER, GRAPH = {}, {}


def both(case):
    EAGER["raw " + case.__name__] = GRAPH["raw " + case.__name__] = case
    return case


def stack(tf, handle, shape=(2,), dtype="float32", count=-1):
    shape = tf.constant(list(shape), tf.int32)
    return tf.raw_ops.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.as_dtype(dtype), num_elements=count)


def from_rows(tf, x, shape=(2,)):
    return tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=list(shape))


ROWS = [[1.0, 2.0], [3.0, 5.0], [8.0, 13.0]]


# ---- lists ----

@both
def list_empty_push_pop(tf):
    handle = tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
    lengths = [tf.raw_ops.TensorListLength(input_handle=handle)]
    for row in ROWS:
        handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tf.constant(row))
    lengths.append(tf.raw_ops.TensorListLength(input_handle=handle))
    rest, last = tf.raw_ops.TensorListPopBack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)
    return lengths, last, stack(tf, rest), stack(tf, handle)


@both
def list_pop_empty(tf):
    handle = tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
    return tf.raw_ops.TensorListPopBack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)[1]


@both
def list_push_too_many(tf):
    handle = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=1, element_dtype=tf.int32)
    for i in range(2):
        handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tf.constant(i))
    return tf.raw_ops.TensorListLength(input_handle=handle)


@both
def list_push_gradient(tf):
    def f(x, y):
        handle = tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
        for value in (x, x * y, y):
            handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=value)
        handle, last = tf.raw_ops.TensorListPopBack(input_handle=handle, element_shape=[2], element_dtype=tf.float32)
        return tf.reduce_sum(stack(tf, handle) * tf.constant([[1.0, 2.0], [3.0, 4.0]])) + tf.reduce_sum(last * last)
    return gradient(tf, f, [1.0, 2.0], [3.0, -4.0])


@both
def list_reserve_set_get(tf):
    handle = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=4, element_dtype=tf.float32)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=2, item=tf.constant([7.0, 9.0]))
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=0, item=tf.constant([1.0, -1.0]))
    got = [tf.raw_ops.TensorListGetItem(input_handle=handle, index=i, element_shape=[2], element_dtype=tf.float32) for i in (2, 1)]
    return got, stack(tf, handle), tf.raw_ops.TensorListElementShape(input_handle=handle, shape_type=tf.int64)


@both
def list_get_outside(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    return tf.raw_ops.TensorListGetItem(input_handle=handle, index=3, element_shape=[2], element_dtype=tf.float32)


@both
def list_set_outside(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    return stack(tf, tf.raw_ops.TensorListSetItem(input_handle=handle, index=3, item=tf.constant([1.0, 2.0])))


@both
def list_set_gradient(tf):
    def f(x, y):
        handle = from_rows(tf, x)
        handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=1, item=y * 2.0)
        got = tf.raw_ops.TensorListGetItem(input_handle=handle, index=2, element_shape=[2], element_dtype=tf.float32)
        return tf.reduce_sum(tf.square(stack(tf, handle))) + tf.reduce_sum(got * y)
    return gradient(tf, f, ROWS, [0.5, -2.0])


@both
def list_from_and_stack(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    numbers = tf.raw_ops.TensorListFromTensor(tensor=tf.constant([[1, 2, 3], [4, 5, 6]], tf.int64), element_shape=[3])
    return (stack(tf, handle, count=3), stack(tf, numbers, (3,), "int64"), tf.raw_ops.TensorListLength(input_handle=numbers),
            tf.raw_ops.TensorListElementShape(input_handle=numbers, shape_type=tf.int32))


@both
def list_stack_wrong_count(tf):
    return stack(tf, from_rows(tf, tf.constant(ROWS)), count=2)


@both
def list_strings(tf):
    handle = tf.raw_ops.TensorListFromTensor(tensor=tf.constant(["a", "bc", ""]), element_shape=tf.constant([], tf.int32))
    handle = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tf.constant("last"))
    return stack(tf, handle, (), "string")


@both
def list_resize(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    more, fewer = (tf.raw_ops.TensorListResize(input_handle=handle, size=n) for n in (5, 1))
    return stack(tf, more), stack(tf, fewer), tf.raw_ops.TensorListLength(input_handle=more)


@both
def list_resize_gradient(tf):
    def f(x):
        handle = tf.raw_ops.TensorListResize(input_handle=from_rows(tf, x), size=2)
        return tf.reduce_sum(tf.square(stack(tf, handle)))
    return gradient(tf, f, ROWS)


@both
def list_gather(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    return tf.raw_ops.TensorListGather(input_handle=handle, indices=[2, 0, 2], element_shape=[2], element_dtype=tf.float32)


@both
def list_gather_outside(tf):
    handle = from_rows(tf, tf.constant(ROWS))
    return tf.raw_ops.TensorListGather(input_handle=handle, indices=[0, 7], element_shape=[2], element_dtype=tf.float32)


@both
def list_gather_gradient(tf):
    def f(x):
        rows = tf.raw_ops.TensorListGather(input_handle=from_rows(tf, x), indices=[2, 0], element_shape=[2], element_dtype=tf.float32)
        return tf.reduce_sum(rows * tf.constant([[1.0, 2.0], [3.0, 4.0]]) * rows)
    return gradient(tf, f, ROWS)


@both
def list_scatter(tf):
    handle = tf.raw_ops.TensorListScatterV2(tensor=tf.constant(ROWS), indices=[3, 0, 1], element_shape=[2], num_elements=-1)
    sized = tf.raw_ops.TensorListScatterV2(tensor=tf.constant(ROWS), indices=[3, 0, 1], element_shape=[2], num_elements=6)
    into = tf.raw_ops.TensorListScatterIntoExistingList(input_handle=handle, tensor=tf.constant([[-1.0, -2.0]]), indices=[0])
    return stack(tf, handle), stack(tf, sized), stack(tf, into)


@both
def list_scatter_gradient(tf):
    def f(x, y):
        handle = tf.raw_ops.TensorListScatterV2(tensor=x, indices=[3, 0, 1], element_shape=[2], num_elements=-1)
        handle = tf.raw_ops.TensorListScatterIntoExistingList(input_handle=handle, tensor=y, indices=[2])
        return tf.reduce_sum(tf.square(stack(tf, handle)) * tf.constant([[1.0], [2.0], [3.0], [4.0]]))
    return gradient(tf, f, ROWS, [[2.0, 1.0]])


@both
def list_concat_split(tf):
    handle = tf.raw_ops.TensorListSplit(tensor=tf.constant([[1.0], [2.0], [3.0], [4.0]]), element_shape=[-1, 1], lengths=tf.constant([3, 0, 1], tf.int64))
    first = tf.raw_ops.TensorListGetItem(input_handle=handle, index=0, element_shape=[-1, 1], element_dtype=tf.float32)
    whole, lengths = tf.raw_ops.TensorListConcatV2(input_handle=handle, element_shape=[-1, 1], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)
    return first, whole, lengths


@both
def list_split_wrong(tf):
    handle = tf.raw_ops.TensorListSplit(tensor=tf.constant([[1.0], [2.0]]), element_shape=[-1, 1], lengths=tf.constant([3], tf.int64))
    return tf.raw_ops.TensorListLength(input_handle=handle)


@both
def list_concat_gradient(tf):
    def f(x):
        handle = tf.raw_ops.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=tf.constant([1, 2], tf.int64))
        whole, _ = tf.raw_ops.TensorListConcatV2(input_handle=handle, element_shape=[-1, 2], leading_dims=tf.constant([], tf.int64), element_dtype=tf.float32)
        return tf.reduce_sum(whole * whole * whole)
    return gradient(tf, f, ROWS)


# ---- functions as attrs ----

def concrete(tf, body, count=1, shape=()):
    return tf.function(body, autograph=False).get_concrete_function(*[tf.TensorSpec(list(shape), tf.float32)] * count)


@both
def call_function(tf):
    f = concrete(tf, lambda x, y: (x * 2.0, x + y), 2)
    return [call(args=[tf.constant(3.0), tf.constant(4.0)], Tout=[tf.float32, tf.float32], f=f)
            for call in (tf.raw_ops.PartitionedCall, tf.raw_ops.StatefulPartitionedCall)]


@both
def if_branches(tf):
    f, g = concrete(tf, lambda x: x * 2.0), concrete(tf, lambda x: x - 1.0)
    return [branch(cond=c, input=[tf.constant(3.0)], Tout=[tf.float32], then_branch=f, else_branch=g)[0]
            for branch in (tf.raw_ops.If, tf.raw_ops.StatelessIf) for c in (tf.constant(True), tf.constant(False), tf.constant(0), tf.constant(2.5))]


@both
def case_branches(tf):
    branches = [concrete(tf, lambda x, k=k: x * 2.0 + k) for k in (0.0, 10.0, 20.0)]
    return [case(branch_index=i, input=[tf.constant(3.0)], Tout=[tf.float32], branches=branches)[0]
            for case in (tf.raw_ops.Case, tf.raw_ops.StatelessCase) for i in (0, 1, 2, 3, -1)]


@both
def while_loops(tf):
    cond, body = concrete(tf, lambda x, y: x < 10.0, 2), concrete(tf, lambda x, y: (x + 3.0, y * x), 2)
    return [loop(input=[tf.constant(start), tf.constant(2.0)], cond=cond, body=body)
            for loop in (tf.raw_ops.While, tf.raw_ops.StatelessWhile) for start in (1.0, 9.5, 20.0)]


@both
def nested_functions(tf):
    inner = concrete(tf, lambda x: tf.tanh(x) * x, 1, (3,))

    def body(x):
        once = tf.raw_ops.PartitionedCall(args=[x], Tout=[tf.float32], f=inner)[0]
        return tf.raw_ops.PartitionedCall(args=[once], Tout=[tf.float32], f=inner)[0] + once
    return tf.raw_ops.PartitionedCall(args=[tf.constant([0.5, -1.0, 2.0])], Tout=[tf.float32], f=concrete(tf, body, 1, (3,)))


@both
def assert_holds(tf):
    tf.raw_ops.Assert(condition=tf.constant(True), data=[tf.constant([1, 2])])
    return tf.constant(1)


@both
def assert_fails(tf):
    tf.raw_ops.Assert(condition=tf.constant([True, False])[1], data=[tf.constant([1, 2, 3, 4]), tf.constant("text")], summarize=2)
    return tf.constant(1)
