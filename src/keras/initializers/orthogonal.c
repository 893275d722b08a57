/* Orthogonal: the Q of the QR decomposition of a normal matrix. Signs are chosen so that R's diagonal is positive, which makes Q
 * unique. */
#include <thalweg/api.h>

#include "eager/eager.h"
#include "keras/initializers/initializers.h"
#include "op/calls.h"

static tw_tensor *orthogonal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "Expected floating point type, got <dtype: '%s'>.", tw_dtype_name(dtype));
        return NULL;
    }
    if (shape->rank < 2) {
        tw__fail(TW_VALUE_ERROR, "The tensor to initialize must be at least two-dimensional. Received: shape=%s of rank %d.",
                 tw__shape_text(shape), shape->rank);
        return NULL;
    }
    int64_t rows = 1, columns = shape->dims[shape->rank - 1];
    for (int i = 0; i < shape->rank - 1; i++)
        rows *= shape->dims[i];
    bool wide = rows < columns;
    tw_shape flat = wide ? TW_SHAPE(columns, rows) : TW_SHAPE(rows, columns);
    double gain = ((const tw_initializers_orthogonal_args *)self->object.config)->gain;
    tw_auto tw_tensor *normal = tw__initial_normal(self, &flat, dtype, 0, 1, false);
    tw_tensor *factors[2] = { NULL, NULL };
    int count = 2;
    if (!normal || tw__apply(&tw__op_Qr, TW_IN(normal), 1, NULL, 0, factors, &count) != TW_OK)
        return NULL;
    tw_auto tw_tensor *q = factors[0], *r = factors[1];
    tw_auto tw_tensor *diagonal = TW_CALL(DiagPart, r);
    tw_auto tw_tensor *signs = TW_CALL(Sign, diagonal);
    tw_auto tw_tensor *unique = TW_CALL(Mul, q, signs);
    tw_auto tw_tensor *turned = unique && wide ? tw_linalg_matrix_transpose(unique) : tw_retain(unique);
    tw_auto tw_tensor *dims = turned ? tw__tensor_of_shape(shape, TW_INT32) : NULL,
                      *factor = dims ? tw__float_scalar(dtype, gain) : NULL;
    tw_auto tw_tensor *shaped = factor ? TW_CALL(Reshape, turned, dims) : NULL;
    return shaped ? TW_CALL(Mul, factor, shaped) : NULL;
}
static const tw__initializer_methods orthogonal_methods = { orthogonal_make };

static tw_status orthogonal_init(void *self, const void *given)
{
    tw_initializer *initializer = self;
    initializer->seed = ((const tw_initializers_orthogonal_args *)given)->seed;
    initializer->seeded = initializer->seed != TW_NO_INT;
    return TW_OK;
}

TW_CLASS(initializers_orthogonal,
         "keras.initializers.Orthogonal|keras.initializers.orthogonal|initializers.Orthogonal|initializers.orthogonal"
         "(gain: float = 1.0, seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = orthogonal_init,
         .methods = &orthogonal_methods, .doc = "gain times a random matrix with orthonormal rows or columns.");
