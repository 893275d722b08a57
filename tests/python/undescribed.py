"""How many arguments nobody has described yet (test_reference.py): of the public rows in each folder of src, and of public functions that are written in
Python. The numbers only go down; in the end this file is gone."""
ROWS = {
    "api/numpy": 112,
    "api/ragged": 66,
    "api/signal": 30,
    "api/sparse": 63,
    "device": 2,
    "distribute": 1,
    "eager": 20,
    "format": 5,
    "function": 22,
    "graph": 2,
    "keras": 81,
    "keras/features": 31,
    "keras/pictures": 16,
    "linear": 24,
    "lookup": 13,
    "op/io": 35,
    "op/signal": 6,
    "session": 3,
    "v1": 89,
    "v1/optimizers": 14,
}
PYTHON = 2400
