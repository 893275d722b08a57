/* Orthogonal: the Q of the QR decomposition of a normal matrix, by Householder's reflections in double. Signs are chosen so that R's diagonal is
 * positive, which makes Q unique. */
#include <math.h>

#include "eager/eager.h"
#include "kernel/kernel.h"
#include "keras/initializers/initializers.h"

/* a [rows, columns], rows >= columns, becomes Q with the signs of R's diagonal multiplied in. `space` has room for 2 * columns. */
static void orthogonalize(double *a, int64_t rows, int64_t columns, double *space)
{
    double *factors = space, *signs = space + columns;
    for (int64_t j = 0; j < columns; j++) {
        double norm = 0;
        for (int64_t i = j; i < rows; i++)
            norm += a[i * columns + j] * a[i * columns + j];
        norm = sqrt(norm);
        double head = a[j * columns + j], r = head > 0 ? -norm : norm;
        signs[j] = r < 0 ? -1 : 1;
        factors[j] = 0;
        if (norm == 0)
            continue;
        /* The reflection I - factor v v', v = (1, rest / (head - r)), sends the column to (r, 0, …). */
        factors[j] = (r - head) / r;
        for (int64_t i = j + 1; i < rows; i++)
            a[i * columns + j] /= head - r;
        for (int64_t c = j + 1; c < columns; c++) {
            double product = a[j * columns + c];
            for (int64_t i = j + 1; i < rows; i++)
                product += a[i * columns + j] * a[i * columns + c];
            product *= factors[j];
            a[j * columns + c] -= product;
            for (int64_t i = j + 1; i < rows; i++)
                a[i * columns + c] -= product * a[i * columns + j];
        }
    }
    /* The reflections applied to the identity's columns, last one first. */
    for (int64_t j = columns; j-- > 0;) {
        for (int64_t c = j + 1; c < columns; c++) {
            double product = 0; /* row j of the columns behind is still zero */
            for (int64_t i = j + 1; i < rows; i++)
                product += a[i * columns + j] * a[i * columns + c];
            product *= factors[j];
            a[j * columns + c] = -product;
            for (int64_t i = j + 1; i < rows; i++)
                a[i * columns + c] -= product * a[i * columns + j];
        }
        for (int64_t i = j + 1; i < rows; i++)
            a[i * columns + j] *= -factors[j];
        a[j * columns + j] = 1 - factors[j];
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++)
            a[i * columns + j] *= signs[j];
    }
}

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
    tw__outside outside = tw__outside_begin(); /* in a graph it is a constant: the decomposition is done here */
    tw_auto tw_tensor *normal = tw__initial_normal(self, &flat, dtype, 0, 1, false);
    tw__outside_end(outside);
    tw_tensor *values = normal ? tw__tensor_empty(dtype, shape) : NULL;
    int64_t count = rows * columns, less = flat.dims[1];
    double *matrix = values ? tw__alloc((size_t)(count + 2 * less) * sizeof *matrix) : NULL;
    if (!matrix) {
        tw_release(values);
        return NULL;
    }
    double gain = ((const tw_initializers_orthogonal_args *)self->object.config)->gain;
    tw__cast_run(dtype, TW_FLOAT64, normal->data, matrix, count, false);
    orthogonalize(matrix, flat.dims[0], less, matrix + count);
    size_t size = tw__element_size(dtype);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            double number = gain * (wide ? matrix[j * less + i] : matrix[i * less + j]);
            tw__cast_run(TW_FLOAT64, dtype, &number, (char *)values->data + (size_t)(i * columns + j) * size, 1, false);
        }
    }
    tw__free(matrix);
    return values;
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
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = orthogonal_init, .methods = &orthogonal_methods,
    .doc = "gain times a random matrix with orthonormal rows or columns.");
