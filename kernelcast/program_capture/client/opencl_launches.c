/* Launches of kernels. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

#define USUAL_GROUP 256
#define FAILED_CONFIGURATION 9

typedef struct { size_t items[3], group[3], offset[3]; } range;

/* A size that divides the items, where the program leaves it open: as many along x as there may be. */
static void choose_group(range *of, const kernel *called) {
  if (called->required[0]) {
    for (int i = 0; i < 3; i++) of->group[i] = called->required[i];
    return;
  }
  size_t left = called->max_threads < USUAL_GROUP ? called->max_threads : USUAL_GROUP;
  for (int i = 0; i < 3; i++) {
    size_t size = left < of->items[i] ? left : of->items[i];
    while (of->items[i] % size) size--;
    of->group[i] = size;
    left /= size;
  }
}

static status check_range(const range *it, const kernel *called) {
  const kc_session *facts = kc_connected();
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (!it->group[i] || it->group[i] > facts->max_block[i]) return CL_INVALID_WORK_ITEM_SIZE;
    if (it->items[i] % it->group[i]) return CL_INVALID_WORK_GROUP_SIZE;
    if (called->required[0] && it->group[i] != called->required[i])
      return CL_INVALID_WORK_GROUP_SIZE;
    if (it->items[i] / it->group[i] > facts->max_grid[i]) return CL_INVALID_GLOBAL_WORK_SIZE;
    threads *= it->group[i];
  }
  return threads > called->max_threads ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static status range_of(range *to, uint32_t dimensions, const size_t *const *given,
                       const kernel *called) {
  const size_t *offset = given[0], *items = given[1], *group = given[2];
  if (dimensions < 1 || dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (!items) return CL_INVALID_GLOBAL_WORK_SIZE;
  *to = (range){{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  for (uint32_t i = 0; i < dimensions; i++) {
    if (!items[i]) return CL_INVALID_GLOBAL_WORK_SIZE;
    to->items[i] = items[i];
    if (group) to->group[i] = group[i];
    if (offset) to->offset[i] = offset[i];
  }
  if (!group) choose_group(to, called);
  return check_range(to, called);
}

/* The function for a global offset, which is part of its code. */
static status function_for(kernel *called, const range *sizes, uint64_t *id) {
  *id = called->id;
  if (!sizes->offset[0] && !sizes->offset[1] && !sizes->offset[2]) return CL_SUCCESS;
  if (!called->offset_id || memcmp(called->offset, sizes->offset, sizeof called->offset)) {
    uint64_t words[] = {called->of->module, sizes->offset[0], sizes->offset[1], sizes->offset[2]};
    status failure =
        error_of(kc_ask(KC_CL_KERNEL, words, sizeof words, called->name, strlen(called->name),
                        &called->offset_id, sizeof called->offset_id, NULL));
    if (failure) return failure;
    memcpy(called->offset, sizes->offset, sizeof called->offset);
  }
  *id = called->offset_id;
  return CL_SUCCESS;
}

static status launch(queue *on, const kernel *called, uint64_t id, const range *sizes) {
  kc_launch words = {.function = id, .stream = on->stream};
  for (int i = 0; i < 3; i++) {
    words.grid[i] = sizes->items[i] / sizes->group[i];
    words.block[i] = sizes->group[i];
  }
  status failure =
      error_of(kc_ask(KC_LAUNCH, &words, sizeof words, called->block, called->end, NULL, 0, NULL));
  return failure == CL_INVALID_VALUE ? CL_OUT_OF_RESOURCES : failure;
}

API status clEnqueueNDRangeKernel(queue *on, kernel *called, uint32_t dimensions,
                                  const size_t *offset, const size_t *items, const size_t *group,
                                  uint32_t count, event *const *before, event **to) {
  if (!is(called, KERNEL)) return CL_INVALID_KERNEL;
  status failure = begin_command(on, (waits){count, before});
  if (!failure && on->in != called->of->in) failure = CL_INVALID_CONTEXT;
  for (uint64_t i = 0; !failure && i < called->count; i++)
    if (!called->arguments[i].is_set) failure = CL_INVALID_KERNEL_ARGS;
  range sizes;
  uint64_t id = 0;
  if (!failure) failure = range_of(&sizes, dimensions, (const size_t *[]){offset, items, group}, called);
  if (!failure) failure = function_for(called, &sizes, &id);
  if (failure) {
    KC_POST(KC_LAUNCH_FAILED, called->id, FAILED_CONFIGURATION);
    return failure;
  }
  failure = launch(on, called, id, &sizes);
  return failure ? failure : end_command(on, CL_COMMAND_NDRANGE_KERNEL, 0, to);
}

API status clEnqueueTask(queue *on, kernel *called, uint32_t count, event *const *before, event **to) {
  return clEnqueueNDRangeKernel(on, called, 1, NULL, (const size_t[]){1}, (const size_t[]){1}, count,
                                before, to);
}

API status clEnqueueNativeKernel(queue *on, void (*function)(void *), void *arguments, size_t bytes,
                                 uint32_t objects, memory *const *list, const void **places,
                                 uint32_t count, event *const *before, event **to) {
  (void)on, (void)function, (void)arguments, (void)bytes, (void)objects, (void)list, (void)places,
      (void)count, (void)before, (void)to;
  return refuse("clEnqueueNativeKernel", CL_INVALID_OPERATION);
}
