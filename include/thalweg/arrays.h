/* Arrays in NumPy's files. */
#ifndef THALWEG_ARRAYS_H
#define THALWEG_ARRAYS_H

#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The array of an .npy file, and one of those in an .npz file. NULL: an error. */
TW_API_FUNCTION tw_tensor *tw_npy_read(const char *path);
TW_API_FUNCTION tw_tensor *tw_npz_read(const char *path, const char *member);
/* Writes a tensor of numbers or booleans as numpy.save does. */
TW_API_FUNCTION tw_status tw_npy_write(const char *path, const tw_tensor *tensor);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_npy_read(...) TW_MADE(tw_tensor *, tw_npy_read(__VA_ARGS__))
#define tw_npz_read(...) TW_MADE(tw_tensor *, tw_npz_read(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
