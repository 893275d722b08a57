/* Layers and models whose `call` is written in Python. */
#include "extension.h"

PyType_Slot tw__py_layer_slots[] = { { 0 } };
