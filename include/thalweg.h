#include <thalweg/thalweg.h>
