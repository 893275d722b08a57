/* Schur's form by Householder's reflections to Hessenberg form and QR steps with Wilkinson's shifts; see schur.h. */
#include "op/linalg/schur.h"

#include <float.h>
#include <math.h>

#include "op/linalg/linalg.h"

typedef double complex number;

static double square(number x)
{
    return creal(x) * creal(x) + cimag(x) * cimag(x);
}

/* Zeros below the first diagonal under the main one. */
static void hessenberg(number *a, int64_t n, number *q)
{
    for (int64_t i = 0; i < n * n; i++)
        q[i] = i % (n + 1) == 0;
    for (int64_t k = 0; k + 2 < n && !tw__matrix_stopped(); k++) {
        double size = 0;
        for (int64_t i = k + 1; i < n; i++)
            size += square(a[i * n + k]);
        double below = size - square(a[(k + 1) * n + k]);
        if (below <= 0)
            continue;
        /* The reflection's vector is column k of a: it stays there while it acts on the other columns. */
        number first = a[(k + 1) * n + k];
        double length = sqrt(size), own = cabs(first);
        number phase = own > 0 ? first / own : 1;
        first += phase * length;
        double norm = below + square(first);
        a[(k + 1) * n + k] = first;
        for (int64_t j = k + 1; j < n; j++) { /* from the left */
            number sum = 0;
            for (int64_t i = k + 1; i < n; i++)
                sum += conj(a[i * n + k]) * a[i * n + j];
            sum *= 2 / norm;
            for (int64_t i = k + 1; i < n; i++)
                a[i * n + j] -= sum * a[i * n + k];
        }
        for (int64_t i = 0; i < n; i++) { /* from the right, of Q too */
            number sum = 0, other = 0;
            for (int64_t j = k + 1; j < n; j++) {
                sum += a[i * n + j] * a[j * n + k];
                other += q[i * n + j] * a[j * n + k];
            }
            for (int64_t j = k + 1; j < n; j++) {
                a[i * n + j] -= sum * (2 / norm) * conj(a[j * n + k]);
                q[i * n + j] -= other * (2 / norm) * conj(a[j * n + k]);
            }
        }
        a[(k + 1) * n + k] = -phase * length;
        for (int64_t i = k + 2; i < n; i++)
            a[i * n + k] = 0;
    }
}

/* The eigenvalue of the last two rows of the block that is nearer to the last element. */
static number shift_of(const number *a, int64_t n, int64_t last)
{
    number p = a[(last - 1) * n + last - 1], s = a[last * n + last], off = a[(last - 1) * n + last] * a[last * n + last - 1];
    number half = (p - s) / 2, root = csqrt(half * half + off);
    number one = half + root, two = half - root;
    return s + (square(one) < square(two) ? one : two);
}

/* One QR step of the rows and columns first … last. */
static void step(number *a, int64_t n, number *q, int64_t first, int64_t last, number shift, number *turns)
{
    for (int64_t i = first; i <= last; i++)
        a[i * n + i] -= shift;
    for (int64_t k = first; k < last; k++) {
        number x = a[k * n + k], y = a[(k + 1) * n + k];
        double length = hypot(cabs(x), cabs(y));
        number c = length > 0 ? x / length : 1, s = length > 0 ? y / length : 0;
        turns[2 * k] = c;
        turns[2 * k + 1] = s;
        for (int64_t j = k; j < n; j++) {
            number up = a[k * n + j], down = a[(k + 1) * n + j];
            a[k * n + j] = conj(c) * up + conj(s) * down;
            a[(k + 1) * n + j] = c * down - s * up;
        }
    }
    for (int64_t k = first; k < last; k++) {
        number c = turns[2 * k], s = turns[2 * k + 1];
        for (int64_t i = 0; i < n; i++) {
            number *rows[2] = { a, q };
            for (int m = i <= (k + 1 < last ? k + 1 : last) ? 0 : 1; m < 2; m++) {
                number left = rows[m][i * n + k], right = rows[m][i * n + k + 1];
                rows[m][i * n + k] = left * c + right * s;
                rows[m][i * n + k + 1] = right * conj(c) - left * conj(s);
            }
        }
    }
    for (int64_t i = first; i <= last; i++)
        a[i * n + i] += shift;
}

bool tw__schur(number *a, int64_t n, number *q)
{
    hessenberg(a, n, q);
    tw__owned number *turns = tw__alloc_array(2 * (size_t)n + 1, sizeof *turns);
    if (!turns)
        return false;
    int64_t last = n - 1;
    int tries = 0;
    while (last > 0 && !tw__matrix_stopped()) {
        int64_t first = last;
        while (first > 0) {
            double near = cabs(a[(first - 1) * n + first - 1]) + cabs(a[first * n + first]);
            if (!(cabs(a[first * n + first - 1]) > DBL_EPSILON * near)) {
                a[first * n + first - 1] = 0;
                break;
            }
            first--;
        }
        if (first == last) {
            last--;
            tries = 0;
            continue;
        }
        if (++tries > 300 || !isfinite(cabs(a[last * n + last])))
            return false;
        number shift = tries % 10 ? shift_of(a, n, last) : a[last * n + last] + cabs(a[last * n + last - 1]);
        step(a, n, q, first, last, shift, turns);
    }
    return true;
}
