/* What a program sets and asks for again, and what changes nothing. */
#include <string.h>

#include "client.h"

int kc_has_runtime;

/* The limits by their numbers, and two settings behind them. */
static size_t settings[KC_SETTINGS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

size_t *kc_setting(unsigned number) { return number < KC_SETTINGS ? &settings[number] : NULL; }

/* Every pool is the memory of the device: attributes that are set are those of all of them. */
enum { POOL_FLAGS = 4, POOL_SIZES = 9 };
static uint64_t pool_attributes[POOL_SIZES] = {0, 1, 1, 1, 0};

int kc_set_pool(int attribute, const void *value) {
  if (attribute < 1 || attribute >= POOL_SIZES) return KC_INVALID_VALUE;
  memcpy(&pool_attributes[attribute], value, attribute < POOL_FLAGS ? sizeof(int) : sizeof(uint64_t));
  return KC_SUCCESS;
}

int kc_get_pool(int attribute, void *value) {
  if (attribute < 1 || attribute >= POOL_SIZES) return KC_INVALID_VALUE;
  uint64_t found[2] = {0, 0}; /* free, all */
  int failure = kc_ask(KC_MEMORY_INFO, NULL, 0, NULL, 0, found, sizeof found, NULL);
  uint64_t told = attribute > POOL_FLAGS ? found[1] - found[0] : pool_attributes[attribute];
  memcpy(value, &told, attribute < POOL_FLAGS ? sizeof(int) : sizeof(uint64_t));
  return failure;
}
