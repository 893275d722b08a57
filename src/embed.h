/* What the extension of an embedding language may use of the library's inside: this header and no other. What the library asks of
 * the language in turn is base/language.h. */
#ifndef TW_EMBED_H
#define TW_EMBED_H

#include "base/circles.h"
#include "base/environment.h"
#include "base/language.h"
#include "base/pause.h"
#include "base/trackable.h"
#include "codec/message.h"
#include "rows.h"
#include "spec/spec.h"

/* ops, graphs and functions */
#include "api/numpy/numpy.h"
#include "api/operators.h"
#include "eager/eager.h"
#include "eager/tape.h"
#include "function/control.h"
#include "function/function.h"
#include "function/library.h"
#include "function/noted.h"
#include "function/tensor_array.h"
#include "function/tracer.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "op/host/host.h"
#include "op/refused.h"
#include "op/slices.h"
#include "op/wording.h"
#include "session/session.h"

/* classes that Python subclasses, or whose values are no tensors */
#include "api/ragged/ragged.h"
#include "api/ragged/ragged_call.h"
#include "api/tensor_spec.h"
#include "data/data.h"
#include "data/element_spec.h"
#include "distribute/distribute.h"
#include "keras/callable.h"
#include "keras/callbacks/callbacks.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"
#include "keras/layers/layers.h"
#include "keras/losses/losses.h"
#include "keras/models/functional.h"
#include "keras/models/training.h"
#include "keras/optimizers/optimizers.h"
#include "keras/regularizers/regularizers.h"
#include "saving/saved_model.h"

#endif
