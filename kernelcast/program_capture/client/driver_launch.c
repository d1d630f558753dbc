/* Launches, what is known of functions, and how many blocks fit. */
#include <stdlib.h>
#include <string.h>

#include "driver_types.h"

enum { END_OF_EXTRA, BUFFER, BUFFER_BYTES, COOPERATIVE = 2, CLUSTER = 4 };

status parameters_of(kc_launch_request *to, const function *called, void **arguments, void **extra) {
  if (arguments || !extra) return kc_set_arguments(to, &called->facts, arguments);
  const void *buffer = NULL;
  size_t bytes = 0;
  for (; *extra != handle(END_OF_EXTRA); extra += 2) {
    if (extra[0] == handle(BUFFER)) buffer = extra[1];
    else if (extra[0] == handle(BUFFER_BYTES)) bytes = *(size_t *)extra[1];
    else return KC_INVALID_VALUE;
  }
  return kc_set_buffer(to, &called->facts, buffer, buffer ? bytes : 0);
}

static status launch(kc_launch_request *request, const function *called, void **arguments,
                     void **extra) {
  if (!called) return INVALID_HANDLE;
  status failure = parameters_of(request, called, arguments, extra);
  if (!failure) failure = kc_check_launch(&request->words, &called->facts);
  return done(kc_do_launch(request, failure));
}

API status cuLaunchKernel(const function *called, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                          stream_handle stream, void **arguments, void **extra) {
  kc_launch_request request;
  request.words = (kc_launch){.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z},
                              .shared_bytes = shared_bytes, .stream = number(stream)};
  return launch(&request, called, arguments, extra);
}
WITH_THREAD_STREAMS(cuLaunchKernel)

API status cuLaunchCooperativeKernel(const function *called, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, stream_handle stream,
                                     void **arguments) {
  kc_launch_request request;
  request.words = (kc_launch){.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z},
                              .shared_bytes = shared_bytes, .stream = number(stream),
                              .is_cooperative = 1};
  return launch(&request, called, arguments, NULL);
}
WITH_THREAD_STREAMS(cuLaunchCooperativeKernel)

API status cuLaunchKernelEx(const driver_launch *how, const function *called, void **arguments,
                            void **extra) {
  kc_launch_request request;
  request.words = (kc_launch){.shared_bytes = how->shared_bytes, .stream = number(how->stream)};
  for (int i = 0; i < 3; i++)
    request.words.grid[i] = how->grid[i], request.words.block[i] = how->block[i];
  for (unsigned i = 0; i < how->attribute_count; i++) {
    const launch_attribute *given = &how->attributes[i];
    const unsigned size[] = {given->value.cluster.x, given->value.cluster.y, given->value.cluster.z};
    if (given->id == COOPERATIVE) request.words.is_cooperative = given->value.value != 0;
    for (int axis = 0; given->id == CLUSTER && axis < 3; axis++) request.words.cluster[axis] = size[axis];
  }
  return launch(&request, called, arguments, extra);
}
WITH_THREAD_STREAMS(cuLaunchKernelEx)

/* ---- launches whose parameters are set one by one ---- */

API status cuFuncSetBlockShape(function *of, int x, int y, int z) {
  of->block[0] = (unsigned)x, of->block[1] = (unsigned)y, of->block[2] = (unsigned)z;
  return 0;
}
API status cuFuncSetSharedSize(function *of, unsigned bytes) {
  of->shared_bytes = bytes;
  return 0;
}
API status cuParamSetSize(function *of, unsigned bytes) {
  return bytes <= of->facts.end ? 0 : KC_INVALID_VALUE;
}
API status cuParamSetv(function *of, int offset, const void *value, unsigned bytes) {
  if (offset < 0 || (uint64_t)offset + bytes > of->facts.end) return KC_INVALID_VALUE;
  if (!of->parameters) of->parameters = calloc(1, of->facts.end);
  memcpy(of->parameters + offset, value, bytes);
  return 0;
}
API status cuParamSeti(function *of, int offset, unsigned value) {
  return cuParamSetv(of, offset, &value, sizeof value);
}
API status cuParamSetf(function *of, int offset, float value) {
  return cuParamSetv(of, offset, &value, sizeof value);
}
API status cuLaunchGridAsync(function *called, int width, int height, stream_handle stream) {
  size_t bytes = called->parameters ? called->facts.end : 0;
  void *extra[] = {handle(BUFFER), called->parameters, handle(BUFFER_BYTES), &bytes,
                   handle(END_OF_EXTRA)};
  return cuLaunchKernel(called, (unsigned)width, (unsigned)height, 1, called->block[0],
                        called->block[1], called->block[2], called->shared_bytes, stream, NULL, extra);
}
API status cuLaunchGrid(function *called, int width, int height) {
  return cuLaunchGridAsync(called, width, height, NULL);
}
API status cuLaunch(function *called) { return cuLaunchGrid(called, 1, 1); }

/* ---- functions ---- */

API status cuFuncGetAttribute(int *value, int attribute, const function *of) {
  if (!of) return INVALID_HANDLE;
  const kc_function *facts = &of->facts;
  const uint64_t known[] = {facts->max_threads, facts->shared_bytes, facts->constant_bytes,
                            facts->local_bytes, facts->registers,    facts->ptx_version,
                            facts->binary_version, 0, facts->max_dynamic_shared_bytes,
                            (uint64_t)-1,          0, 0, 0, 0, 0, 0};
  if (attribute < 0 || (size_t)attribute >= sizeof known / sizeof *known) return KC_INVALID_VALUE;
  *value = (int)known[attribute];
  return 0;
}
API status cuFuncSetAttribute(function *of, int attribute, int value) {
  return of ? done(kc_set_function(&of->facts, attribute, value)) : INVALID_HANDLE;
}
API status cuKernelGetAttribute(int *value, int attribute, const function *of, int device) {
  return device ? NO_DEVICE_OF_NUMBER : cuFuncGetAttribute(value, attribute, of);
}
API status cuKernelSetAttribute(int attribute, int value, function *of, int device) {
  return device ? NO_DEVICE_OF_NUMBER : cuFuncSetAttribute(of, attribute, value);
}
API status cuFuncSetCacheConfig(const function *of, int configuration) {
  (void)configuration;
  return of ? 0 : INVALID_HANDLE;
}
ALSO(cuFuncSetCacheConfig, cuFuncSetSharedMemConfig)
API status cuKernelSetCacheConfig(const function *of, int configuration, int device) {
  return device ? NO_DEVICE_OF_NUMBER : cuFuncSetCacheConfig(of, configuration);
}

/* ---- occupancy ---- */

API status cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const function *of, int threads,
                                                       size_t shared_bytes) {
  if (!of) return INVALID_HANDLE;
  uint64_t found = 0;
  status failure = KC_ASK_FOR(found, KC_OCCUPANCY, of->facts.id, (uint64_t)threads, shared_bytes);
  *count = (int)found;
  return done(failure);
}
API status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, const function *of,
                                                                int threads, size_t shared_bytes,
                                                                unsigned flags) {
  (void)flags;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(count, of, threads, shared_bytes);
}

/* The largest block with which the most threads run, and the blocks that fill the device. */
API status cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads, const function *of,
                                            size_t (*shared_bytes_of)(int), size_t shared_bytes,
                                            int limit) {
  enum { WARP = 32, PROCESSORS = 16 };
  if (!of) return INVALID_HANDLE;
  uint64_t processors = 0;
  status failure = KC_ASK_FOR(processors, KC_ATTRIBUTE, (uint64_t)PROCESSORS);
  int most = (int)of->facts.max_threads, best = 0;
  if (limit > 0 && limit < most) most = limit;
  for (int size = (most + WARP - 1) / WARP * WARP; !failure && size > 0; size -= WARP) {
    int tried = size < most ? size : most, count = 0;
    size_t bytes = shared_bytes_of ? shared_bytes_of(tried) : shared_bytes;
    failure = cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, of, tried, bytes);
    if (count * tried <= best) continue;
    best = count * tried;
    *threads = tried, *blocks = count * (int)processors;
  }
  return done(failure);
}
API status cuOccupancyMaxPotentialBlockSizeWithFlags(int *blocks, int *threads, const function *of,
                                                     size_t (*shared_bytes_of)(int),
                                                     size_t shared_bytes, int limit, unsigned flags) {
  (void)flags;
  return cuOccupancyMaxPotentialBlockSize(blocks, threads, of, shared_bytes_of, shared_bytes, limit);
}
API status cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const function *of, int blocks,
                                                   int threads) {
  for (*bytes = kc_connected()->max_shared_bytes; *bytes; *bytes -= 1024) {
    int found;
    status failure = cuOccupancyMaxActiveBlocksPerMultiprocessor(&found, of, threads, *bytes);
    if (failure || found >= blocks) return failure;
  }
  return 0;
}
