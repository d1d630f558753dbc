/* Numbers, names and texts of CUDA's errors; the runtime and the driver share the numbers. */
#ifndef KERNELCAST_ERRORS_H
#define KERNELCAST_ERRORS_H
#include "client.h"

typedef struct { int number; const char *runtime_name, *driver_name, *text; } kc_error;
KC_PUBLIC const kc_error *kc_error_of(int number);
#endif
