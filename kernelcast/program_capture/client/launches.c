#include "launches.h"

#include <string.h>

enum { INVALID_CONFIGURATION = 9, OUT_OF_RESOURCES = 701, MOST_DEPENDENCIES = 1024, MOST_NODES = 4096 };

static int make_room(kc_launch_request *to, const kc_function *called) {
  to->words.function = called->id;
  to->bytes = sizeof to->words + called->end;
  if (to->bytes > sizeof to->all) return KC_INVALID_VALUE;
  memset(to->all + sizeof to->words, 0, called->end);
  return KC_SUCCESS;
}

int kc_set_arguments(kc_launch_request *to, const kc_function *called, void **arguments) {
  int failure = make_room(to, called);
  if (!failure && called->parameters && !arguments) failure = KC_INVALID_VALUE;
  for (uint64_t i = 0; !failure && i < called->parameters; i++)
    memcpy(to->all + sizeof to->words + called->places[2 * i], arguments[i], called->places[2 * i + 1]);
  return failure;
}

int kc_set_buffer(kc_launch_request *to, const kc_function *called, const void *buffer, size_t bytes) {
  int failure = make_room(to, called);
  if (!failure)
    memcpy(to->all + sizeof to->words, buffer, bytes < called->end ? bytes : called->end);
  return failure;
}

int kc_check_launch(const kc_launch *words, const kc_function *called) {
  const kc_session *facts = kc_connected();
  for (int i = 0; i < 3; i++)
    if (!words->grid[i] || words->grid[i] > facts->max_grid[i] || !words->block[i] ||
        words->block[i] > facts->max_block[i])
      return INVALID_CONFIGURATION;
  uint64_t threads = words->block[0] * words->block[1] * words->block[2];
  if (threads > facts->max_threads) return INVALID_CONFIGURATION;
  if (threads > called->max_threads) return OUT_OF_RESOURCES;
  if (words->shared_bytes > called->max_dynamic_shared_bytes) return KC_INVALID_VALUE;
  return KC_SUCCESS;
}

int kc_set_function(kc_function *called, int attribute, int value) {
  enum { MAX_DYNAMIC_SHARED_BYTES = 8 };
  int failure = KC_ASK(KC_FUNCTION_SET, called->id, (uint64_t)attribute, (uint64_t)value);
  if (!failure && attribute == MAX_DYNAMIC_SHARED_BYTES)
    called->max_dynamic_shared_bytes = (uint64_t)value;
  return failure;
}

int kc_do_launch(const kc_launch_request *request, int failure) {
  if (failure) {
    KC_POST(KC_LAUNCH_FAILED, request->words.function, (uint64_t)failure);
    return failure;
  }
  if (request->words.is_cooperative) /* it may be too large, which the program is told at once */
    return kc_ask(KC_LAUNCH, request->all, request->bytes, NULL, 0, NULL, 0, NULL);
  kc_post(KC_LAUNCH, request->all, request->bytes, NULL, 0);
  return KC_SUCCESS;
}

int kc_make(void **to, uint32_t kind, uint64_t first, uint64_t second) {
  uint64_t made = 0;
  int failure = KC_ASK_FOR(made, kind, first, second);
  if (!failure && to) *to = (void *)(uintptr_t)made;
  return failure;
}

int kc_send_node(void **to, uint32_t how, uint64_t graph, uint32_t kind, void *const *dependencies,
                 size_t count, const void *request, size_t bytes) {
  uint64_t words[3 + MOST_DEPENDENCIES] = {graph, kind, count}, made = 0;
  if (count > MOST_DEPENDENCIES) return KC_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) words[3 + i] = (uint64_t)(uintptr_t)dependencies[i];
  int failure = kc_ask(how, words, (3 + count) * sizeof *words, request, bytes, &made, sizeof made, NULL);
  if (!failure && to) *to = (void *)(uintptr_t)made;
  return failure;
}

int kc_graph_nodes(uint64_t graph, int is_root, void **to, size_t *count) {
  uint64_t found[MOST_NODES], words[] = {graph, (uint64_t)is_root};
  size_t bytes = 0;
  int failure = kc_ask(KC_GRAPH_NODES, words, sizeof words, NULL, 0, found, sizeof found, &bytes);
  size_t known = bytes / sizeof *found;
  if (known > MOST_NODES) known = MOST_NODES;
  for (size_t i = 0; to && i < known && i < *count; i++) to[i] = (void *)(uintptr_t)found[i];
  *count = known;
  return failure;
}

int kc_capture_status(uint64_t stream, int *is_capturing, unsigned long long *id) {
  uint64_t found[2] = {0, 0};
  int failure = KC_ASK_FOR(found, KC_CAPTURE_STATUS, stream);
  *is_capturing = (int)found[0];
  if (id) *id = found[1];
  return failure;
}
