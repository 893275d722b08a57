"""Makes tests/golden/v1train_messages/v1_messages.json: messages as TensorFlow 2.15.1 makes, writes and prints them, and the numbers of all their fields.

An entry is the Python that makes the message m from the class C, the class's name, the bytes in hex and the text."""
import importlib
import json
import os
import re

from google.protobuf.descriptor import FieldDescriptor

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ["tensorflow.core.protobuf.config_pb2", "tensorflow.core.protobuf.saver_pb2", "tensorflow.core.protobuf.meta_graph_pb2", "tensorflow.core.protobuf.saved_model_pb2",
           "tensorflow.core.protobuf.rewriter_config_pb2", "tensorflow.core.framework.graph_pb2", "tensorflow.core.framework.node_def_pb2",
           "tensorflow.core.framework.attr_value_pb2", "tensorflow.core.framework.tensor_pb2", "tensorflow.core.framework.tensor_shape_pb2",
           "tensorflow.core.framework.function_pb2", "tensorflow.core.framework.versions_pb2", "tensorflow.core.framework.variable_pb2",
           "tensorflow.core.framework.op_def_pb2", "tensorflow.core.framework.step_stats_pb2", "tensorflow.core.framework.summary_pb2", "tensorflow.core.util.event_pb2",
           "tensorflow.core.example.example_pb2", "tensorflow.core.example.feature_pb2", "tensorflow.python.training.checkpoint_state_pb2", "google.protobuf.any_pb2",
           "google.protobuf.wrappers_pb2", "tensorflow.core.framework.full_type_pb2", "tensorflow.core.framework.graph_debug_info_pb2",
           "tensorflow.core.framework.reader_base_pb2", "tensorflow.core.framework.resource_handle_pb2", "tensorflow.core.framework.tensor_slice_pb2", "tensorflow.core.protobuf.fingerprint_pb2",
           "tensorflow.core.protobuf.saved_object_graph_pb2", "tensorflow.core.protobuf.snapshot_pb2", "tensorflow.core.protobuf.struct_pb2",
           "tensorflow.core.protobuf.tensor_bundle_pb2", "tensorflow.core.protobuf.trackable_object_graph_pb2", "keras.protobuf.saved_metadata_pb2",
           "tensorflow.tsl.profiler.protobuf.xplane_pb2"]
# Messages of other packages, which stand below the one that holds them in src/codec/messages.txt.
ELSEWHERE = {"SavedMetadata.SavedObject": "keras.protobuf.saved_metadata_pb2"}
modules = [importlib.import_module(m) for m in MODULES]


def find(name):
    if name in ELSEWHERE:
        return getattr(importlib.import_module(ELSEWHERE[name]), name.split(".")[-1])
    head, *rest = name.split(".")
    found = next(getattr(m, head) for m in modules if hasattr(m, head))
    for part in rest:
        found = getattr(found, part)
    return found


CASES = [
    ("ConfigProto", "m = C()"),
    ("ConfigProto", "m = C(allow_soft_placement=True, log_device_placement=True); m.gpu_options.allow_growth = True"),
    ("ConfigProto", "m = C(intra_op_parallelism_threads=2, inter_op_parallelism_threads=-1, device_count={'GPU': 0, 'CPU': 4})"),
    ("ConfigProto", "m = C(); m.gpu_options.per_process_gpu_memory_fraction = 0.4; m.gpu_options.visible_device_list = '0,1'"),
    ("ConfigProto", "m = C(); m.graph_options.optimizer_options.global_jit_level = -1; m.graph_options.rewrite_options.remapping = 2"),
    ("ConfigProto", "m = C(device_filters=['/job:a', '/job:b']); m.session_inter_op_thread_pool.add(num_threads=3, global_name='x')"),
    ("GPUOptions", "m = C(per_process_gpu_memory_fraction=0.333)"),
    ("RunOptions", "m = C(trace_level=C.FULL_TRACE, timeout_in_ms=10**12)"),
    ("Summary", "m = C(value=[C.Value(tag='loss', simple_value=0.5), C.Value(tag='a/b', simple_value=0)])"),
    ("Summary", "m = C(); m.value.add(tag='\\u00e9 \"q\"', simple_value=0.1); m.value[0].metadata.plugin_data.content = b'\\x00\\xff\\n'"),
    ("Summary", "m = C(); m.value.add(tag='h', histo={'min': -1.5, 'max': 1e300, 'bucket_limit': [0.1, 1, 1e-12], 'bucket': [0, 2, 1]})"),
    ("Summary", "m = C(); m.value.add(tag='i'); m.value[0].image.width = 3; m.value[0].image.encoded_image_string = b'abc'"),
    ("Event", "m = C(wall_time=1.25, step=-3, file_version='brain.Event:2')"),
    ("Event", "m = C(file_version='a'); m.graph_def = b'b'"),
    ("Event", "m = C(wall_time=1700000000.123456, step=2**40); m.summary.value.add(tag='x', simple_value=1e-7)"),
    ("SessionLog", "m = C(status=C.START, checkpoint_path='p')"),
    ("HistogramProto", "m = C(min=float('inf'), max=float('-inf'), sum=0.1, bucket=[float('nan')])"),
    ("NodeDef", "m = C(name='x', op='Placeholder', input=['a:1', '^b']); m.attr['dtype'].type = 1; m.attr['shape'].shape.dim.add(size=-1)"),
    ("NodeDef", "m = C(); m.attr['l'].list.i.extend([1, -2, 3]); m.attr['s'].s = b'x'; m.attr['b'].b = False; m.attr['f'].f = 0.1"),
    ("NodeDef", "m = C(); m.attr['f'].func.name = 'g'; m.attr['u'].shape.unknown_rank = True; m.attr['e'].list.SetInParent()"),
    ("GraphDef", "m = C(); m.node.add(name='a', op='NoOp'); m.versions.producer = 1645; m.library.function.add(ret={'a': 'b'})"),
    ("TensorProto", "m = C(dtype=1, float_val=[0.5, 1.0], tensor_content=b'ab', half_val=[1, 300]); m.tensor_shape.dim.add(size=2)"),
    ("TensorProto", "m = C(dtype=7, string_val=[b'', b'x'], int64_val=[-1], bool_val=[True, False], uint64_val=[2**64 - 1], scomplex_val=[1.5])"),
    ("MetaGraphDef", "m = C(); m.meta_info_def.tags.append('train'); m.collection_def['v'].bytes_list.value.append(b'x'); m.saver_def.version = 2"),
    ("SaverDef", "m = C(filename_tensor_name='save/Const:0', max_to_keep=5, keep_checkpoint_every_n_hours=10000.0, version=C.V2)"),
    ("VariableDef", "m = C(variable_name='w:0', is_resource=True, trainable=True, aggregation=1)"),
    ("Example", "m = C(); m.features.feature['i'].int64_list.value.extend([3, -1]); m.features.feature['b'].bytes_list.value.append(b'xy')"),
    ("Example", "m = C(); m.features.feature['f'].float_list.value[:] = [1.5, -2.5]; m.features.feature['n']"),
    ("CheckpointState", "m = C(model_checkpoint_path='a\\u6a21', all_model_checkpoint_paths=['a', 'b'], last_preserved_timestamp=1561473588.4294684)"),
]
out = []
for name, code in CASES:
    space = {"C": find(name)}
    exec(code, space)
    data = space["m"].SerializeToString(deterministic=True)
    out.append({"class": name, "code": code, "hex": data.hex(), "text": str(space["m"])})

ours, enums = {}, {}


def kind_of(field):
    if field.enum_type:
        enums[field.enum_type.full_name.replace("tensorflow.", "", 1)] = {v.name: v.number for v in field.enum_type.values}
    return "message" if field.message_type else "enum" if field.enum_type else field.type


with open(os.path.join(HERE, "..", "..", "src", "codec", "messages.txt")) as f:
    for name in re.findall(r"^([A-Z][\w.]*)$", f.read(), re.M):
        fields = {}
        for field in find(name).DESCRIPTOR.fields:
            entry = field.message_type and field.message_type.GetOptions().map_entry and field.message_type
            kind = [kind_of(part) for part in entry.fields] if entry else kind_of(field)
            oneof = field.containing_oneof.name if field.containing_oneof else None
            fields[field.name] = [field.number, kind, field.label == FieldDescriptor.LABEL_REPEATED, oneof]
        ours[name] = fields
with open(golden.path(__file__, "v1_messages.json"), "w") as f:
    f.write(json.dumps({"cases": out, "fields": ours, "enums": enums}, indent=0, sort_keys=True) + "\n")
print(len(out), "cases", len(ours), "classes")
