/* The table by which a loader finds the functions of an object. */
#ifndef KERNELCAST_OPENCL_FUNCTIONS_H
#define KERNELCAST_OPENCL_FUNCTIONS_H
typedef void (*cl_function)(void);
extern const cl_function cl_functions[];
/* The address of a function by its name; NULL where there is none. */
extern cl_function cl_function_named(const char *name);
#endif
