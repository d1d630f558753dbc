/* A libcuda.so.1 that is no driver: memory of the host, and one kernel written in C.

   It lets the measuring tool call every driver function through the real bindings. Kernels other
   than saxpy do nothing. Each elapsed time is one more microsecond than the one before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef struct {
    char name[64];
    int allowed_shared_bytes;
} Function;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_PTX = 218, UNSUPPORTED_PTX_VERSION = 222, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700 };

static char loaded[1 << 20];
static int launches;

CUresult cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags,
                             int *status)
{
    char versioned[128];
    snprintf(versioned, sizeof versioned, "%s_v2", symbol);
    *found = dlsym(RTLD_DEFAULT, versioned);
    if (!*found)
        *found = dlsym(RTLD_DEFAULT, symbol);
    if (status)
        *status = *found ? 0 : 1;
    return *found ? SUCCESS : NOT_FOUND;
}

CUresult cuInit(unsigned flags) { return SUCCESS; }
CUresult cuDriverGetVersion(int *version) { *version = 12080; return SUCCESS; }
CUresult cuDeviceGetCount(int *count) { *count = 1; return SUCCESS; }
CUresult cuDeviceGet(int *device, int ordinal) { *device = ordinal; return SUCCESS; }

CUresult cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, length, "NVIDIA Stub 80GB-X");
    return SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, int device)
{
    snprintf(text, length, "0000:01:00.0");
    return SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, int device)
{
    switch (attribute) {
    case 13: *value = 1500000; return SUCCESS; /* kHz */
    case 16: *value = 7; return SUCCESS;       /* multiprocessors */
    case 36: *value = 2000000; return SUCCESS; /* memory clock in kHz */
    case 37: *value = 512; return SUCCESS;     /* bus width */
    case 38: *value = 65536; return SUCCESS;   /* L2 */
    case 75: *value = 9; return SUCCESS;
    case 76: *value = 1; return SUCCESS;
    }
    return INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &loaded;
    return SUCCESS;
}

CUresult cuCtxSetCurrent(void *context) { return context == &loaded ? SUCCESS : INVALID_VALUE; }

CUresult cuModuleLoadDataEx(void **module, const char *image, unsigned options, int *names,
                            void **values)
{
    snprintf(loaded, sizeof loaded, "%s", image);
    *module = loaded;
    if (getenv("STUB_OLD") && strstr(image, ".version 9."))
        return UNSUPPORTED_PTX_VERSION;
    if (strstr(image, ".version"))
        return SUCCESS;
    if (options == 2 && names[0] == 5 && names[1] == 6)
        snprintf(values[0], (size_t)values[1], "ptxas: no version\nsecond line");
    return INVALID_PTX;
}

CUresult cuModuleUnload(void *module) { return SUCCESS; }

CUresult cuModuleGetFunction(Function **function, void *module, const char *name)
{
    if (!strstr(loaded, name))
        return NOT_FOUND;
    *function = calloc(1, sizeof **function);
    snprintf((*function)->name, sizeof (*function)->name, "%s", name);
    return SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, int attribute, Function *function)
{
    *value = attribute == 4 ? 12 : attribute == 1 ? 256 : attribute == 3 ? 8 : -1;
    return *value < 0 ? INVALID_VALUE : SUCCESS;
}

CUresult cuFuncSetAttribute(Function *function, int attribute, int value)
{
    function->allowed_shared_bytes = value;
    return attribute == 8 ? SUCCESS : INVALID_VALUE;
}

CUresult cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    *address = (uint64_t)malloc(bytes);
    return *address ? SUCCESS : OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(uint64_t address) { free((void *)address); return SUCCESS; }

CUresult cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (void *)from, bytes);
    return SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    memcpy((void *)to, (void *)from, bytes);
    return SUCCESS;
}

CUresult cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    memset((void *)to, value, bytes);
    return SUCCESS;
}

/* saxpy(n, a, x, y): y += a x */
static void saxpy(void **parameters, unsigned threads)
{
    const int n = *(int *)parameters[0];
    const float a = *(float *)parameters[1];
    const float *x = *(float **)parameters[2];
    float *y = *(float **)parameters[3];
    for (int i = 0; i < n && i < (int)threads; i++)
        y[i] += a * x[i];
}

/* chain_N(cycles, memory, rounds): 30 cycles and 4 for each step; more in earlier rounds */
static void chain(void **parameters, int steps)
{
    int64_t *cycles = *(int64_t **)parameters[0];
    const int rounds = *(int *)parameters[2];
    for (int i = 0; i < rounds; i++)
        cycles[i] = 30 + 4 * steps + 100 * (rounds - 1 - i);
}

CUresult cuLaunchKernel(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        void *stream, void **parameters, void **extra)
{
    launches++;
    if (getenv("STUB_FAULT") && strcmp(function->name, "empty"))
        return ILLEGAL_ADDRESS;
    if (!strcmp(function->name, "saxpy"))
        saxpy(parameters, grid_x * grid_y * grid_z * block_x * block_y * block_z);
    if (!strncmp(function->name, "chain_", 6))
        chain(parameters, atoi(function->name + 6));
    return SUCCESS;
}

CUresult cuEventCreate(void **event, unsigned flags)
{
    *event = malloc(1);
    return SUCCESS;
}

CUresult cuEventRecord(void *event, void *stream) { return SUCCESS; }
CUresult cuEventSynchronize(void *event) { return SUCCESS; }

CUresult cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
    *milliseconds = 1e-3f * launches;
    return SUCCESS;
}
