/* The bodies of linalg.h's tw__matrices. The file that includes this says: `element` (double or double complex), CONJ(x),
 * MODULUS(x), REAL(x), SPEED (clones for the innermost loops, or nothing) and KIT, the name of the table. Textbook methods:
 * partial pivoting, Householder's reflections, implicit QR steps, Jacobi's rotations. */
#include <float.h>
#include <math.h>

#include "kernel/simd.h"
#include "op/linalg/linalg.h"

/* The sum of products, in several sums at once, which may run side by side. */
static inline __attribute__((always_inline)) element sum_of(const element *x, const element *y, int64_t count, bool conjugate)
{
    element sums[8] = { 0 };
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int k = 0; k < 8; k++)
            sums[k] += (conjugate ? CONJ(x[i + k]) : x[i + k]) * y[i + k];
    }
    for (; i < count; i++)
        sums[0] += (conjugate ? CONJ(x[i]) : x[i]) * y[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static SPEED element plain_product(const element *x, const element *y, int64_t count)
{
    return sum_of(x, y, count, false);
}

/* x^H y */
static SPEED element product_of(const element *x, const element *y, int64_t count)
{
    return sum_of(x, y, count, true);
}

static double square_norm(const element *x, int64_t count)
{
    return REAL(product_of(x, x, count));
}

/* y -= factor * x */
static SPEED void subtract(element *restrict y, const element *restrict x, element factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] -= factor * x[i];
}

/* ---- elimination ---- */

static bool lu(void *matrix, int64_t n, int64_t *order, int *sign)
{
    element *a = matrix;
    bool regular = true;
    *sign = 1;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t k = 0; k < n && !tw__matrix_stopped(); k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++) {
            if (MODULUS(a[i * n + k]) > MODULUS(a[best * n + k]))
                best = i;
        }
        if (best != k) {
            for (int64_t j = 0; j < n; j++) {
                element t = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = t;
            }
            int64_t t = order[k];
            order[k] = order[best];
            order[best] = t;
            *sign = -*sign;
        }
        if (!(MODULUS(a[k * n + k]) > 0)) {
            regular = false;
            continue;
        }
        for (int64_t i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            subtract(&a[i * n + k + 1], &a[k * n + k + 1], a[i * n + k], n - k - 1);
        }
    }
    return regular;
}

/* Substitution in a triangle of `a`; `unit`: its diagonal counts as ones. The columns of b need nothing of each other. */
typedef struct substitution {
    const element *a;
    element *b;
    int64_t n, k;
    bool lower, adjoint, unit;
    tw__stopper *stopper; /* or NULL */
} substitution;

enum { TOGETHER = 64 }; /* columns that stay in the first cache */

static void substitute_columns(void *context, int64_t begin, int64_t end)
{
    const substitution *s = context;
    const element *a = s->a;
    int64_t n = s->n;
    bool down = s->lower != s->adjoint;
    for (int64_t first = begin * TOGETHER; first < end * TOGETHER && first < s->k; first += TOGETHER) {
        int64_t count = s->k - first < TOGETHER ? s->k - first : TOGETHER;
        element *b = s->b + first;
        for (int64_t step = 0; step < n && !(s->stopper && tw__stopper_asked(s->stopper)); step++) {
            int64_t i = down ? step : n - 1 - step;
            for (int64_t done = 0; done < step; done++) {
                int64_t j = down ? done : n - 1 - done;
                element factor = s->adjoint ? CONJ(a[j * n + i]) : a[i * n + j];
                subtract(&b[i * s->k], &b[j * s->k], factor, count);
            }
            element pivot = s->adjoint ? CONJ(a[i * n + i]) : a[i * n + i];
            for (int64_t c = 0; !s->unit && c < count; c++)
                b[i * s->k + c] /= pivot;
        }
    }
}

static void substitute(const element *a, int64_t n, bool lower, bool adjoint, bool unit, element *b, int64_t k)
{
    substitution s = { a, b, n, k, lower, adjoint, unit, tw__matrix_stopper };
    tw__parallel((k + TOGETHER - 1) / TOGETHER, n > 32 ? 1 : k + 1, substitute_columns, &s);
}

static void triangular_solve(const void *a, int64_t n, bool lower, bool adjoint, void *b, int64_t k)
{
    substitute(a, n, lower, adjoint, false, b, k);
}

static void lu_solve(const void *matrix, const int64_t *order, int64_t n, void *right, int64_t k, bool adjoint, void *room)
{
    element *b = right, *work = room;
    if (adjoint) {
        substitute(matrix, n, false, true, false, b, k);
        substitute(matrix, n, true, true, true, b, k);
        memcpy(work, b, (size_t)(n * k) * sizeof *b);
        for (int64_t i = 0; i < n; i++)
            memcpy(&b[order[i] * k], &work[i * k], (size_t)k * sizeof *b);
        return;
    }
    memcpy(work, b, (size_t)(n * k) * sizeof *b);
    for (int64_t i = 0; i < n; i++)
        memcpy(&b[i * k], &work[order[i] * k], (size_t)k * sizeof *b);
    substitute(matrix, n, true, false, true, b, k);
    substitute(matrix, n, false, false, false, b, k);
}

static void lu_determinant(const void *matrix, int64_t n, int sign, void *phase, double *log_size)
{
    const element *a = matrix;
    element unit = sign;
    *log_size = 0;
    for (int64_t i = 0; i < n; i++) {
        double size = MODULUS(a[i * n + i]);
        if (!(size > 0)) {
            unit = 0;
            *log_size = -INFINITY;
            break;
        }
        unit *= size < INFINITY ? a[i * n + i] / size : 0;
        *log_size += log(size);
    }
    *(element *)phase = unit;
}

static bool cholesky(void *matrix, int64_t n, void *room)
{
    element *a = matrix, *column = room;
    for (int64_t k = 0; k < n && !tw__matrix_stopped(); k++) {
        double pivot = REAL(a[k * n + k]);
        if (pivot <= 0)
            return false;
        pivot = sqrt(pivot);
        a[k * n + k] = pivot;
        for (int64_t i = k + 1; i < n; i++) {
            a[i * n + k] /= pivot;
            column[i] = CONJ(a[i * n + k]);
        }
        for (int64_t i = k + 1; i < n; i++)
            subtract(&a[i * n + k + 1], &column[k + 1], a[i * n + k], i - k);
        for (int64_t j = k + 1; j < n; j++)
            a[k * n + j] = 0;
    }
    return true;
}

/* ---- reflections ---- */

/* Makes v of x: H = 1 - tau v v^H maps x to beta in its first place; v[0] is 1. */
static element reflect(element *v, int64_t count, double *beta)
{
    element first = v[0];
    double tail = square_norm(v + 1, count - 1), size = MODULUS(first);
    double imaginary = size * size - REAL(first) * REAL(first);
    v[0] = 1;
    if (tail <= DBL_MIN && !(imaginary > DBL_MIN)) {
        *beta = REAL(first);
        for (int64_t i = 1; i < count; i++)
            v[i] = 0;
        return 0;
    }
    double length = sqrt(size * size + tail);
    *beta = REAL(first) >= 0 ? -length : length;
    for (int64_t i = 1; i < count; i++)
        v[i] /= first - *beta;
    return CONJ((*beta - first) / *beta);
}

/* Rows of a (its rows lie `stride` apart, `columns` of them are changed) become (1 - tau v v^H) a; room for `columns`. */
static void apply_reflection(element *a, int64_t stride, const element *v, int64_t count, element tau, int64_t columns,
                             element *sums)
{
    if (tau == 0)
        return;
    memset(sums, 0, (size_t)columns * sizeof *sums);
    for (int64_t i = 0; i < count; i++)
        subtract(sums, &a[i * stride], -CONJ(v[i]), columns);
    for (int64_t i = 0; i < count; i++)
        subtract(&a[i * stride], sums, tau * v[i], columns);
}

static void qr(void *matrix, int64_t m, int64_t n, void *basis, int64_t columns, void *room)
{
    element *a = matrix, *q = basis, *v = room, *sums = v + m, *taus = sums + m + n;
    int64_t least = m < n ? m : n;
    for (int64_t k = 0; k < least && !tw__matrix_stopped(); k++) {
        double beta;
        for (int64_t i = k; i < m; i++)
            v[i] = a[i * n + k];
        taus[k] = reflect(&v[k], m - k, &beta);
        apply_reflection(&a[k * n + k + 1], n, &v[k], m - k, taus[k], n - k - 1, sums);
        a[k * n + k] = beta;
        for (int64_t i = k + 1; i < m; i++)
            a[i * n + k] = v[i];
    }
    memset(q, 0, (size_t)(m * columns) * sizeof *q);
    for (int64_t i = 0; i < m && i < columns; i++)
        q[i * columns + i] = 1;
    for (int64_t k = least - 1; k >= 0 && !tw__matrix_stopped(); k--) {
        v[k] = 1;
        for (int64_t i = k + 1; i < m; i++) {
            v[i] = a[i * n + k];
            a[i * n + k] = 0;
        }
        if (k < columns)
            apply_reflection(&q[k * columns + k], columns, &v[k], m - k, CONJ(taus[k]), columns - k, sums);
    }
}

/* ---- eigenvalues of Hermitian matrices ---- */

/* The rotations of one step, and the vectors that they turn: rows of q, of which `columns` columns are done at a time. */
typedef struct turning {
    element *q;
    int64_t n, start, count; /* the first row, and the rotations: of rows start and start + 1, start + 1 and start + 2, … */
    double *cosines, *sines;
} turning;

/* Rows x and y become c x - s y and s x + c y. */
static SPEED void turn_rows(element *restrict x, element *restrict y, int64_t count, double c, double s)
{
    for (int64_t i = 0; i < count; i++) {
        element old = x[i], other = y[i];
        x[i] = c * old - s * other;
        y[i] = s * old + c * other;
    }
}

static void turn_columns(void *context, int64_t begin, int64_t end)
{
    const turning *t = context;
    for (int64_t first = begin * TOGETHER; first < end * TOGETHER && first < t->n; first += TOGETHER) {
        element *row = t->q + t->start * t->n + first;
        for (int64_t k = 0; k < t->count; k++, row += t->n)
            turn_rows(row, row + t->n, t->n - first < TOGETHER ? t->n - first : TOGETHER, t->cosines[k], t->sines[k]);
    }
}

/* The rotation with which (x, z) becomes (r, 0). */
static void rotation(double x, double z, double *c, double *s)
{
    if (z == 0) {
        *c = x < 0 ? -1 : 1;
        *s = 0;
    } else if (x == 0) {
        *c = 0;
        *s = z < 0 ? 1 : -1;
    } else if (fabs(x) > fabs(z)) {
        double t = z / x, u = copysign(sqrt(1 + t * t), x);
        *c = 1 / u;
        *s = -t * *c;
    } else {
        double t = x / z, u = copysign(sqrt(1 + t * t), z);
        *s = -1 / u;
        *c = -t * *s;
    }
}

/* One implicit QR step on rows start … end of a tridiagonal matrix, with the shift that its last two rows suggest. */
static void tridiagonal_step(double *d, double *e, int64_t start, int64_t end, turning *turned)
{
    double half = (d[end - 1] - d[end]) * 0.5, last = e[end - 1], shift = d[end];
    if (half == 0)
        shift -= fabs(last);
    else
        shift -= last / ((half + copysign(hypot(half, last), half)) / last);
    double x = d[start] - shift, z = e[start];
    turned->start = start;
    turned->count = 0;
    for (int64_t k = start; k < end && z != 0; k++) {
        double c, s;
        rotation(x, z, &c, &s);
        double low = s * d[k] + c * e[k], next = s * e[k] + c * d[k + 1];
        d[k] = c * (c * d[k] - s * e[k]) - s * (c * e[k] - s * d[k + 1]);
        d[k + 1] = s * low + c * next;
        e[k] = c * low - s * next;
        if (k > start)
            e[k - 1] = c * e[k - 1] - s * z;
        x = e[k];
        if (k < end - 1) {
            z = -s * e[k + 1];
            e[k + 1] = c * e[k + 1];
        }
        turned->cosines[turned->count] = c;
        turned->sines[turned->count++] = s;
    }
    tw__parallel((turned->n + TOGETHER - 1) / TOGETHER, turned->n * turned->count > 16384 ? 1 : turned->n, turn_columns, turned);
}

/* Rows of q are turned. `e` has room for 3 n. */
static bool diagonalize(double *d, double *e, int64_t n, element *q)
{
    int64_t end = n - 1, steps = 0;
    turning turned = { .q = q, .n = n, .cosines = e + n, .sines = e + 2 * n };
    while (end > 0 && !tw__matrix_stopped()) {
        for (int64_t i = 0; i < end; i++) {
            if (fabs(e[i]) < DBL_MIN || fabs(e[i]) <= DBL_EPSILON * sqrt(fabs(d[i]) + fabs(d[i + 1])))
                e[i] = 0;
        }
        while (end > 0 && e[end - 1] == 0)
            end--;
        if (end <= 0)
            return true;
        if (++steps > 60 * n)
            return false;
        int64_t start = end - 1;
        while (start > 0 && e[start - 1] != 0)
            start--;
        tridiagonal_step(d, e, start, end, &turned);
    }
    return true;
}

/* y -= v_factor * conj(p) + p_factor * conj(v) */
static SPEED void subtract_pair(element *restrict y, const element *v, const element *p, element v_factor, element p_factor,
                                int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] -= v_factor * CONJ(p[i]) + p_factor * CONJ(v[i]);
}

static void transpose_square(element *q, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            element x = q[i * n + j];
            q[i * n + j] = q[j * n + i];
            q[j * n + i] = x;
        }
    }
}

/* a becomes tridiagonal (diagonal d, beside it e) by reflections; q gets their product. */
static void tridiagonalize(element *a, int64_t n, double *d, double *e, element *q, element *room)
{
    element *v = room, *p = room + n, *taus = room + 2 * n;
    for (int64_t i = 0; i + 1 < n && !tw__matrix_stopped(); i++) {
        int64_t rest = n - i - 1;
        element *corner = &a[(i + 1) * n + i + 1], along = 0;
        for (int64_t k = 0; k < rest; k++)
            v[k] = a[(i + 1 + k) * n + i];
        element tau = taus[i] = reflect(v, rest, &e[i]);
        /* H A H^H is A - v w^H - w v^H, w = p - |tau|^2 (v^H A v) v / 2, p = conj(tau) A v. */
        for (int64_t r = 0; r < rest; r++) {
            element sum = plain_product(&corner[r * n], v, rest);
            p[r] = CONJ(tau) * sum;
            along += CONJ(v[r]) * sum;
        }
        double size = MODULUS(tau), half = 0.5 * size * size * REAL(along);
        subtract(p, v, half, rest);
        for (int64_t r = 0; r < rest; r++)
            subtract_pair(&corner[r * n], v, p, v[r], p[r], rest);
        for (int64_t k = 0; k < rest; k++)
            a[(i + 1 + k) * n + i] = v[k];
    }
    for (int64_t i = 0; i < n; i++)
        d[i] = REAL(a[i * n + i]);
    memset(q, 0, (size_t)(n * n) * sizeof *q);
    for (int64_t i = 0; i < n; i++)
        q[i * n + i] = 1;
    for (int64_t i = n - 2; i >= 0 && !tw__matrix_stopped(); i--) {
        for (int64_t k = 0; k < n - i - 1; k++)
            v[k] = a[(i + 1 + k) * n + i];
        apply_reflection(&q[(i + 1) * n + i + 1], n, v, n - i - 1, CONJ(taus[i]), n - i - 1, p);
    }
}

static bool eigh(void *matrix, int64_t n, double *values, void *vectors, void *room)
{
    element *a = matrix, *q = vectors, *work = room;
    double scale = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double size = MODULUS(a[i * n + j]);
            if (!isfinite(size))
                return false;
            scale = size > scale ? size : scale;
            a[j * n + i] = i == j ? REAL(a[i * n + i]) : CONJ(a[i * n + j]);
        }
    }
    if (scale == 0)
        scale = 1;
    for (int64_t i = 0; i < n * n; i++)
        a[i] /= scale;
    double *beside = tw__alloc((size_t)(3 * n + 1) * sizeof *beside);
    if (!beside)
        return false;
    tridiagonalize(a, n, values, beside, q, work);
    transpose_square(q, n);
    bool good = diagonalize(values, beside, n, q);
    tw__free(beside);
    for (int64_t i = 0; good && i < n; i++) {
        int64_t least = i;
        for (int64_t k = i + 1; k < n; k++)
            least = values[k] < values[least] ? k : least;
        double value = values[least];
        values[least] = values[i];
        values[i] = value * scale;
        for (int64_t r = 0; least != i && r < n; r++) {
            element x = q[i * n + r];
            q[i * n + r] = q[least * n + r];
            q[least * n + r] = x;
        }
    }
    transpose_square(q, n);
    return good;
}

/* ---- singular values ---- */

static SPEED void turn_with_phase(element *restrict a, element *restrict b, int64_t count, double c, double s, element phase)
{
    for (int64_t i = 0; i < count; i++) {
        element old = a[i], turned = phase * b[i];
        a[i] = c * old - s * turned;
        b[i] = s * old + c * turned;
    }
}

/* Turns rows of w (n of them, each `length` long) until all are orthogonal to each other; v, n x n, is turned with them.
 * `squares`, of n, are the rows' square norms: a rotation tells the new ones, but where little is left of one it is summed up
 * again. */
static void orthogonalize(element *w, int64_t n, int64_t length, element *v, double *squares)
{
    bool changed = true;
    double limit = DBL_EPSILON * sqrt((double)length + 1);
    for (int sweep = 0; changed && sweep < 60 && !tw__matrix_stopped(); sweep++) {
        changed = false;
        for (int64_t p = 0; p < n; p++)
            squares[p] = square_norm(&w[p * length], length);
        for (int64_t p = 0; p < n && !tw__matrix_stopped(); p++) {
            for (int64_t q = p + 1; q < n; q++) {
                element *x = &w[p * length], *y = &w[q * length], product = product_of(x, y, length);
                double xx = squares[p], yy = squares[q], size = MODULUS(product);
                if (!(size > limit * sqrt(xx) * sqrt(yy)))
                    continue;
                changed = true;
                double zeta = (yy - xx) / (2 * size), t = copysign(1 / (fabs(zeta) + sqrt(1 + zeta * zeta)), zeta);
                double c = 1 / sqrt(1 + t * t), s = c * t;
                element phase = CONJ(product) / size;
                turn_with_phase(x, y, length, c, s, phase);
                turn_with_phase(&v[p * n], &v[q * n], n, c, s, phase);
                double less = xx - t * size, more = yy + t * size;
                squares[p] = less > 0.25 * xx ? less : square_norm(x, length);
                squares[q] = more > 0.25 * yy ? more : square_norm(y, length);
            }
        }
    }
}

/* Makes row `index` of u (rows of length m, orthonormal before it) a unit vector orthogonal to the rows 0 … index - 1. */
static void complete_row(element *u, int64_t m, int64_t index, int64_t *next)
{
    element *row = &u[index * m];
    for (; *next < m; (*next)++) {
        memset(row, 0, (size_t)m * sizeof *row);
        row[*next] = 1;
        for (int64_t k = 0; k < 2 * index; k++) {
            const element *other = &u[(k % index) * m];
            subtract(row, other, product_of(other, row, m), m);
        }
        double size = sqrt(square_norm(row, m));
        if (size * size * (double)m > 1e-6) {
            for (int64_t i = 0; i < m; i++)
                row[i] /= size;
            (*next)++;
            return;
        }
    }
}

static void transpose_out(const element *rows, int64_t length, element *out, int64_t columns)
{
    for (int64_t c = 0; out && c < columns; c++) {
        for (int64_t i = 0; i < length; i++)
            out[i * columns + c] = rows[c * length + i];
    }
}

/* Of a matrix with m >= n, given as its rows or, `turned`, as the rows of its adjoint. */
static bool tall_svd(const element *a, int64_t m, int64_t n, bool turned, double *values, element *u, int64_t u_columns,
                     element *v, int64_t v_columns)
{
    int64_t most = u_columns > n ? u_columns : n;
    element *r = tw__alloc_array((size_t)(2 * m * n + n * n + m * most + 3 * (m + n)) + 1, sizeof *r);
    int64_t *order = tw__alloc_array((size_t)n + 1, sizeof *order);
    if (!r || !order) {
        tw__free(r);
        tw__free(order);
        return false;
    }
    element *basis = r + m * n, *right = basis + m * n, *left = right + n * n, *work = left + m * most;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            r[i * n + j] = turned ? CONJ(a[j * m + i]) : a[i * n + j];
    }
    qr(r, m, n, basis, n, work);
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
        for (int64_t j = 0; j < i; j++) { /* columns of R become rows */
            element x = r[i * n + j];
            r[i * n + j] = r[j * n + i];
            r[j * n + i] = x;
        }
        right[i * n + i] = 1;
    }
    orthogonalize(r, n, n, right, values);
    for (int64_t i = 0; i < n; i++)
        values[i] = sqrt(square_norm(&r[i * n], n));
    for (int64_t i = 0; i < n; i++) {
        int64_t best = i;
        for (int64_t k = i + 1; k < n; k++)
            best = values[k] > values[best] ? k : best;
        double value = values[best];
        values[best] = values[i];
        values[i] = value;
        int64_t place = order[best];
        order[best] = order[i];
        order[i] = place;
    }
    int64_t next = 0;
    for (int64_t c = 0; u && c < u_columns && !tw__matrix_stopped(); c++) { /* Q times the turned column, as a row */
        element *row = &left[c * m];
        if (c >= n || !(values[c] > values[0] * 1e-17 && values[c] > DBL_MIN)) {
            complete_row(left, m, c, &next);
            continue;
        }
        for (int64_t i = 0; i < m; i++)
            row[i] = plain_product(&basis[i * n], &r[order[c] * n], n) / values[c];
    }
    transpose_out(left, m, u, u ? u_columns : 0);
    for (int64_t c = 0; v && c < v_columns; c++) {
        for (int64_t i = 0; i < n; i++)
            v[i * v_columns + c] = right[order[c] * n + i];
    }
    tw__free(r);
    tw__free(order);
    return true;
}

static bool svd(const void *a, int64_t m, int64_t n, double *values, void *u, int64_t u_columns, void *v, int64_t v_columns)
{
    int64_t least = m < n ? m : n;
    for (int64_t i = 0; i < m * n; i++) {
        if (isfinite(MODULUS(((const element *)a)[i])))
            continue;
        for (int64_t k = 0; k < least; k++)
            values[k] = NAN;
        for (int64_t k = 0; u && k < m * u_columns; k++)
            ((element *)u)[k] = NAN;
        for (int64_t k = 0; v && k < n * v_columns; k++)
            ((element *)v)[k] = NAN;
        return true;
    }
    if (m >= n)
        return tall_svd(a, m, n, false, values, u, u_columns, v, v_columns);
    return tall_svd(a, n, m, true, values, v, v_columns, u, u_columns);
}

const tw__matrices KIT = { sizeof(element), lu, lu_solve, lu_determinant, cholesky, triangular_solve, qr, eigh, svd };
