#include "kernels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "launches.h"

struct kc_kernel {
  kc_kernel *next;
  char *name;
  kc_function facts; /* with as many places as there are parameters */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int describe(kc_kernel **to, kc_kernels *of, const char *name) {
  kc_function facts;
  if (!of->is_loaded) {
    of->is_loaded = 1;
    of->failure = kc_ask(KC_MODULE, NULL, 0, of->begin, (size_t)(of->end - of->begin), &of->module,
                         sizeof of->module, NULL);
  }
  int failure = of->failure ? of->failure : kc_describe(of->module, name, &facts);
  if (failure) return failure;
  size_t bytes = offsetof(kc_function, places) + 2 * sizeof *facts.places * facts.parameters;
  kc_kernel *made = calloc(1, offsetof(kc_kernel, facts) + bytes);
  memcpy(&made->facts, &facts, bytes);
  made->name = strdup(name);
  made->next = of->kernels, of->kernels = made;
  *to = made;
  return KC_SUCCESS;
}

int kc_run(kc_kernels *of, const char *name, const uint64_t grid[3], uint64_t stream, void **arguments) {
  pthread_mutex_lock(&lock);
  kc_kernel *found = of->kernels;
  while (found && strcmp(found->name, name)) found = found->next;
  int failure = found ? KC_SUCCESS : describe(&found, of, name);
  pthread_mutex_unlock(&lock);
  if (failure) return failure;
  kc_launch_request request;
  request.words = (kc_launch){.grid = {grid[0], grid[1], grid[2]}, .block = {KC_BLOCK_THREADS, 1, 1},
                              .stream = stream};
  failure = kc_set_arguments(&request, &found->facts, arguments);
  if (!failure) failure = kc_check_launch(&request.words, &found->facts);
  return kc_do_launch(&request, failure);
}
