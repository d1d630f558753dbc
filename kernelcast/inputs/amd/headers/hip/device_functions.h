// Part of what hip/hip_runtime.h declares.
#include <hip/hip_runtime.h>
