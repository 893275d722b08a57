"""thalweg serve: TensorFlow Serving's REST API. Values come from TensorFlow's own signatures (tests/golden/serve.py)."""
import concurrent.futures
import json
import math
import os

import pytest

from serving import MODELS, Server
from test_command import thalweg

with open(os.path.join(MODELS, "cases.json")) as file:
    CASES = json.load(file)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    config = tmp_path_factory.mktemp("serve") / "models.config"
    config.write_text("""
# Two models
model_config_list {
  config { name: "half", base_path: "%s/half" model_platform: "tensorflow"
           model_version_policy { all {} }
           version_labels { key: "stable" value: 1 } version_labels { key: 'canary' value: 2 } }
  config: { name: "kinds" base_path: "%s/kinds" }
}
""" % (MODELS, MODELS))
    with Server("--model_config_file", config) as made:
        yield made


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= 1e-6 * abs(b)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["path"][11:] + json.dumps(case["request"])[:40])
def test_values(server, case):
    got = server.json(case["path"], case["request"])
    assert same(got, case["answer"]), got


def test_layout(server):
    """To the letter."""
    ask = lambda body, path="/v1/models/half:predict": server.ask(path, body)[1]
    assert ask({"instances": [1, 2.5]}) == '{\n    "predictions": [3.5, 4.25\n    ]\n}'
    assert ask({"inputs": [1, 2.5]}) == '{\n    "outputs": [\n        3.5,\n        4.25\n    ]\n}'
    assert ask('{"instances": [NaN, -Infinity, 1e-30, 1e8]}') == (
        '{\n    "predictions": [NaN, -Infinity, 3.0, 50000004.0\n    ]\n}')
    assert ask({"instances": [{"a": [1, 2], "s": "x"}]}, "/v1/models/kinds:predict") == """{
    "predictions": [
        {
            "raw_bytes": {
                "b64": "eP8A"
            },
            "sum": 3.0,
            "text": "x!",
            "twice": [2.0, 4.0]
        }
    ]
}"""
    assert ask({"signature_name": "regress", "examples": [{"x": 1.0}, {"x": 0.2}]}, "/v1/models/half:regress") == '{\n    "results": [3.5, 3.1]\n}'
    assert ask({"signature_name": "classify", "examples": [{"x": 1.0, "s": "a"}] * 2}, "/v1/models/half:classify") == (
        '{\n    "results": [[["wa", 1.0], ["other", 3.0]], [["wa", 1.0], ["other", 3.0]]\n    ]\n}')
    assert server.ask("/v1/models/half/versions/1")[1] == """{
 "model_version_status": [
  {
   "version": "1",
   "state": "AVAILABLE",
   "status": {
    "error_code": "OK",
    "error_message": ""
   }
  }
 ]
}
"""


def test_status_labels_and_metadata(server):
    states = server.json("/v1/models/half")["model_version_status"]
    assert [(v["version"], v["state"]) for v in states] == [("2", "AVAILABLE"), ("1", "AVAILABLE")]
    assert server.json("/V1/models/half/labels/stable")["model_version_status"][0]["version"] == "1"
    assert server.json("/v1/models/half/labels/stable:predict", {"instances": [0]}) == {"predictions": [2.0]}
    assert server.json("/v1/models/half/labels/canary:PREDICT", {"instances": [0]}) == {"predictions": [3.0]}
    found = server.json("/v1/models/half/labels/stable/metadata")
    assert found["model_spec"] == {"name": "half", "signature_name": "", "version": "1"}
    signature = found["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["method_name"] == "tensorflow/serving/predict"
    x = signature["inputs"]["x"]
    assert x["dtype"] == "DT_FLOAT" and x["tensor_shape"] == {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False} and x["name"].endswith(":0")
    kinds = server.json("/v1/models/kinds/metadata")["metadata"]["signature_def"]["signature_def"]
    assert kinds["any"]["inputs"]["x"]["tensor_shape"] == {"dim": [], "unknown_rank": True}
    assert {i["dtype"] for i in kinds["numbers"]["inputs"].values()} == {
        "DT_BOOL", "DT_INT8", "DT_UINT8", "DT_INT16", "DT_INT32", "DT_UINT32", "DT_INT64", "DT_UINT64", "DT_DOUBLE"}


HALF, KINDS = "/v1/models/half:predict", "/v1/models/kinds:predict"
ERRORS = [
    ("/v1/models/nope:predict", {"instances": [1]}, 404, "Servable not found for request: Latest(nope)"),
    ("/v1/models/half/versions/9:predict", {"instances": [1]}, 404, "Servable not found for request: Specific(half, 9)"),
    ("/v1/models/half/labels/nope:predict", {"instances": [1]}, 400, "Unrecognized servable version label: nope"),
    ("/v1/models/nope", None, 404, "Could not find any versions of model nope"),
    ("/v1/models/half/versions/9", None, 404, "Could not find version 9 of model half"),
    ("/v1/models/half/versions/x", None, 400, "Malformed request: GET /v1/models/half/versions/x"),
    ("/v1/models/half:predict", None, 400, "Malformed request: GET /v1/models/half:predict"),
    ("/v1/models/half", "{}", 400, "Malformed request: POST /v1/models/half"),
    ("/v1/models/half:other", "{}", 400, "Malformed request: POST /v1/models/half:other"),
    ("/v1/models", None, 400, "Missing model name in request."),
    ("/v2/models/half", None, 404, "nothing at this path"),
    (HALF, "", 400, "JSON Parse error: The document is empty"),
    (HALF, "[1]", 400, "Is not object"),
    (HALF, "{}", 400, "Missing 'inputs' or 'instances' key"),
    (HALF, {"inputs": [1], "instances": [1]}, 400, "expecting only one of 'inputs' or 'instances'"),
    (HALF, {"instances": 1}, 400, "'instances' to be an list/array"),
    (HALF, {"instances": []}, 400, "No values in 'instances' array"),
    (HALF, {"instances": [1], "signature_name": 1}, 400, "'signature_name' key must be a string value"),
    (HALF, {"instances": [1], "signature_name": "nope"}, 400, 'Serving signature name: "nope" not found in signature def'),
    (HALF, {"instances": [1, "a"]}, 400, 'Failed to process element: 1 of \'instances\' list. Error: JSON Value: "a" Type: String is not of expected type: float'),
    (HALF, {"instances": [1, True]}, 400, "Type: True is not of expected type: float"),
    (HALF, {"instances": [1, None]}, 400, "Type: Null is not of expected type: float"),
    (HALF, {"instances": [1, [2]]}, 400, "Expecting shape [] but got: [1]"),
    (HALF, {"instances": [[1], [2, 3]]}, 400, "Expecting tensor size: 1 but got: 2"),
    (HALF, {"instances": [[1]]}, 400, "input 'x'"),
    (HALF, {"instances": [{"x": 1}, 2]}, 400, "Expecting object but got list at item 1 of input list"),
    (HALF, {"instances": [1, {"x": 2}]}, 400, "Expecting value/list but got object at item 1 of input list"),
    (HALF, {"instances": [{"z": 1}]}, 400, "does not have named input"),
    (HALF, '{"instances": [{"x": 1, "x": 2}]}', 400, "given twice"),
    (HALF, {"instances": [16777217]}, 400, "Cannot convert JSON value: 16777217 to float without loss of precision."),
    (HALF, {"instances": [1e39]}, 400, "without loss of precision"),
    (HALF, '{"instances": [1e999]}', 400, "JSON Parse error: the number is too large at offset: 15"),
    (HALF, '{"instances": [%s]}' % ("9" * 5000), 400, "JSON Parse error: the number is too large"),
    (HALF, {"inputs": [[1, 2], [3]]}, 400, "Encountered list at unexpected size: 1 at level: 1 expected size: 2"),
    (HALF, {"inputs": [[1, 2], 3]}, 400, "found at incorrect level: 2 in the JSON DOM. Expected at level: 2"),
    (HALF, {"inputs": [1, [2]]}, 400, "Encountered list at unexpected level: 1 expected < 1"),
    (HALF, {"inputs": {"y": [1]}}, 400, "Missing named input: x in 'inputs' object."),
    (HALF, '{"instances": ' + "[" * 100000, 400, "too many brackets"),
    (HALF, '{"instances": ' + "[" * 30 + "1" + "]" * 30 + "}", 400, "more than 8 dimensions"),
    (HALF, '{"instances": [1]', 400, "JSON Parse error: a comma or a } is expected at offset: 17"),
    (HALF, '{"instances": [1,]}', 400, "a value is expected"),
    (HALF, '{"instances": [01]}', 400, "a value is expected"),
    (HALF, '{"instances": [1.]}', 400, "digits are expected behind the point"),
    (HALF, '{"instances": [1]} x', 400, "something follows the value"),
    (HALF, '{"instances": ["\\x"]}', 400, "there is no such escape"),
    (HALF, b'{"instances": [1]}\0', 400, "a zero byte"),
    (KINDS, {"instances": [[1, 2]]}, 400, "instances is a plain list, but expecting list of objects"),
    (KINDS, {"inputs": [1]}, 400, "inputs is a plain value/list, but expecting an object"),
    (KINDS, {"instances": [{"a": [1, 2]}]}, 400, "must only have keys: a,s"),
    (KINDS, {"instances": [{"a": [1, 2], "s": {"b64": "***"}}]}, 400, "Unable to base64 decode"),
    (KINDS, {"instances": [{"a": [1, 2], "s": {"b65": "aa"}}]}, 400, "not formatted correctly for base64 data"),
    (KINDS, {"instances": [{"a": [1, 2], "s": 1}]}, 400, "is not of expected type: string"),
    (KINDS, {"signature_name": "any", "instances": [1, 2]}, 400, "Tensor name: top has no shape information"),
    ("/v1/models/half:classify", {"examples": [{"x": 1.0}]}, 400, "\"inputs\" is expected"),
    ("/v1/models/half:classify", {"signature_name": "classify"}, 400, "key 'examples' is expected and was not found"),
    ("/v1/models/half:classify", {"signature_name": "classify", "examples": []}, 400, "'examples' value is an empty array"),
    ("/v1/models/half:classify", {"signature_name": "classify", "examples": [1]}, 400, "Example must be JSON object but got JSON Number"),
    ("/v1/models/half:classify", {"signature_name": "classify", "examples": [{"x": [1.0, 2]}]}, 400, "Unexpected element type in feature: x expecting type: float"),
    ("/v1/models/half:classify", {"signature_name": "classify", "examples": [{"x": None}]}, 400, "Feature: x has element with unexpected JSON type: Null"),
    ("/v1/models/half:classify", {"signature_name": "regress", "examples": [{"x": 1.0}]}, 400, '"classes" or "scores"'),
    ("/v1/models/half:regress", {"signature_name": "classify", "examples": [{"x": 1.0}]}, 400, "\"outputs\" is expected"),
    ("/v1/models/half:regress", {"signature_name": "regress", "examples": [{"y": 1.0}]}, 400, ""),
]


@pytest.mark.parametrize("path,body,code,words", ERRORS, ids=range(len(ERRORS)))
def test_errors(server, path, body, code, words):
    found, text = server.error(path, body)
    assert found == code and words in text, (found, text)
    assert len(text) < 700


@pytest.mark.parametrize("name,values", [("int8", 128), ("int8", -129), ("uint8", -1), ("uint8", 256), ("int16", 40000), ("int32", 2 ** 31), ("uint32", -1),
                                         ("int64", 2 ** 63), ("uint64", 2 ** 64), ("int32", 1.5), ("int32", 1e3), ("bool", 1), ("float64", 2 ** 53 + 1)])
def test_values_that_a_dtype_cannot_hold(server, name, values):
    request = next(case["request"] for case in CASES if case["request"].get("signature_name") == "numbers")
    inputs = dict(request["inputs"], **{name: values})
    code, text = server.error(KINDS, {"signature_name": "numbers", "inputs": inputs})
    assert code == 400 and (str(values)[:3] in text)


def test_health_metrics_and_log():
    with Server(os.path.join(MODELS, "half"), "--access_log") as server:
        assert server.ask("/healthz") == (200, "ok\n") and server.ask("/livez")[0] == 200 and server.ask("/healthz", "x")[0] == 405
        for body in ('{"instances": [1]}', '{"instances": [1]}', "x"):
            server.ask(HALF, body)
        server.ask("/v1/models/%1b[31mnope:predict", "{}")
        code, text = server.ask("/monitoring/prometheus/metrics")
        assert code == 200 and text == server.ask("/metrics")[1] or code == 200
        assert ':tensorflow:serving:request_count{model_name="half",status="200"} 2\n' in text
        assert ':tensorflow:serving:request_count{model_name="half",status="400"} 1\n' in text
        assert ':tensorflow:serving:request_latency_count{model_name="half",API="Predict",entrypoint="REST"} 3\n' in text
        assert 'thalweg_model_version_loaded{model_name="half",version="2"} 1\n' in text and "nope" not in text
    assert any(line.startswith("POST %s 200 " % HALF) for line in server.log)


def test_clients_at_once(server):
    """64 of them, each with a connection that stays."""
    def client(number):
        connection = server.connect()
        for i in range(20):
            x = number * 100 + i
            assert server.json(HALF, {"instances": [x, -x]}, connection=connection) == {"predictions": [x / 2 + 3, -x / 2 + 3]}
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        for done in [pool.submit(client, i) for i in range(64)]:
            done.result()


def test_batches_give_the_same_numbers(tmp_path):
    parameters = tmp_path / "batching.config"
    parameters.write_text("max_batch_size { value: 32 }\nbatch_timeout_micros { value: 3000 }\nnum_batch_threads { value: 2 }\nmax_enqueued_batches { value: 99 }\n")
    with Server("--model", "half=" + os.path.join(MODELS, "half"), "--model", "kinds=" + os.path.join(MODELS, "kinds"), "--enable_batching=true",
                "--batching_parameters_file", parameters, "--rest_api_num_threads=32") as server:
        def client(number):
            x = [number + 0.25 * i for i in range(1 + number % 3)]
            if number % 7 == 0:  # a bad one in between
                assert server.error(HALF, {"instances": [[v] for v in x]})[0] == 400
            if number % 5 == 0:  # outputs that are not rows are computed by themselves
                return server.json(KINDS, {"signature_name": "any", "inputs": x})["outputs"]["top"] == x[-1]
            if number % 5 == 1:
                got = server.json(KINDS, {"instances": [{"a": [v, number], "s": str(v)} for v in x]})["predictions"]
                return [(row["sum"], row["text"]) for row in got] == [(v + number, "%s!" % v) for v in x]
            return server.json(HALF, {"instances": x}) == {"predictions": [v / 2 + 3 for v in x]}
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            assert all(done.result() for done in [pool.submit(client, i) for i in range(400)])


@pytest.mark.parametrize("arguments,code,words", [
    ([], 2, "DIR is expected"),
    (["/nope"], 1, "no versions of model nope found at /nope"),
    ([os.path.join(MODELS, "cases.json")], 1, "a SavedModel, a .keras or .h5 file, or a folder of them whose names are numbers is expected"),
    (["/tmp", "--rest_api_port=99999"], 2, "there is no port 99999"),
    (["/tmp", "--rest_api_prot=1"], 2, "did you mean '--rest_api_port'?"),
    (["/tmp", "/tmp"], 2, "the model 'tmp' is given twice"),
    (["/tmp", "--enable_batching=maybe"], 2, "must be true or false, got 'maybe'"),
    (["/tmp", "--max_batch_size=4"], 2, "need --enable_batching"),
    (["a/b=c"], 2, "'a/b' is no name of a model"),
    (["--model_name=x"], 2, "--model_name names the model of --model_base_path"),
    (["--model_config_file=/nope"], 1, "/nope"),
    (["/nope", "--port=8500", "--grpc_max_threads=4"], 1, "--port has no meaning here"),
])
def test_wrong_calls(arguments, code, words):
    found, out, err = thalweg("serve", *arguments)
    assert (found, out) == (code, "") and words in err


@pytest.mark.parametrize("text,words", [
    ("model_config_list { config { name: 'a' } }", "line 1: a model needs a name and a base_path"),
    ("model_config_list {\n config { name: 'a' base_path: '/x' policy {} } }", "line 2: there is no such field of a model"),
    ("model_config_list {", "} is expected"), ("models {}", "model_config_list is expected"),
    ("model_config_list { config { name: 'a }", "the text has no end"),
    ("model_config_list { config { name: 'a' base_path: '/x' } config { name: 'a' base_path: '/y' } }", "of that name already"),
    ("model_config_list { config { name: 'a' base_path: '/x' model_version_policy { latest { num_versions: x } } } }", "a whole number is expected"),
])
def test_wrong_files_of_models(tmp_path, text, words):
    path = tmp_path / "models.config"
    path.write_text(text)
    code, out, err = thalweg("serve", "--model_config_file", str(path))
    assert (code, out) == (1, "") and words in err
