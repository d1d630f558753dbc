/* What the runtime tells of kernels and what may be set of them; how many thread blocks fit. */
#include <string.h>

#include "cudart.h"
#include "launches.h"

API status cudaFuncGetAttributes(function_attributes *to, const void *host) {
  status failure;
  function *called = function_of(host, &failure);
  if (failure) return done(failure);
  memset(to, 0, sizeof *to);
  to->shared_bytes = called->facts.shared_bytes;
  to->constant_bytes = called->facts.constant_bytes;
  to->local_bytes = called->facts.local_bytes;
  to->max_threads = (int)called->facts.max_threads;
  to->registers = (int)called->facts.registers;
  to->ptx_version = (int)called->facts.ptx_version;
  to->binary_version = (int)called->facts.binary_version;
  to->max_dynamic_shared_bytes = (int)called->facts.max_dynamic_shared_bytes;
  to->carveout = -1;
  return 0;
}

API status cudaFuncSetAttribute(const void *host, int attribute, int value) {
  status failure;
  function *called = function_of(host, &failure);
  if (failure) return done(failure);
  return done(kc_set_function(&called->facts, attribute, value));
}

API status cudaFuncSetCacheConfig(const void *host, int configuration) {
  (void)configuration;
  status failure;
  function_of(host, &failure);
  return done(failure);
}

API status cudaFuncSetSharedMemConfig(const void *host, int configuration) {
  return cudaFuncSetCacheConfig(host, configuration);
}

API status cudaFuncGetName(const char **name, const void *host) {
  status failure;
  function *called = function_of(host, &failure);
  if (!failure) *name = called->name;
  return done(failure);
}

API status cudaFuncGetParamCount(const void *host, size_t *count) {
  status failure;
  function *called = function_of(host, &failure);
  if (!failure) *count = called->facts.parameters;
  return done(failure);
}

API status cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *size) {
  status failure;
  function *called = function_of(host, &failure);
  if (!failure && index >= called->facts.parameters) failure = KC_INVALID_VALUE;
  if (failure) return done(failure);
  *offset = called->facts.places[2 * index];
  if (size) *size = called->facts.places[2 * index + 1];
  return 0;
}

API status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const void *host,
                                                                  int threads, size_t shared_bytes,
                                                                  unsigned flags) {
  (void)flags;
  status failure;
  function *called = function_of(host, &failure);
  if (failure) return done(failure);
  uint64_t found = 0;
  failure = KC_ASK_FOR(found, KC_OCCUPANCY, called->facts.id, (uint64_t)threads, shared_bytes);
  *count = (int)found;
  return done(failure);
}

API status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *host, int threads,
                                                         size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, host, threads, shared_bytes, 0);
}

API status cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks,
                                                     int threads) {
  for (*bytes = kc_connected()->max_shared_bytes; *bytes; *bytes -= 1024) {
    int found;
    status failure = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, host, threads, *bytes);
    if (failure || found >= blocks) return failure;
  }
  return 0;
}
