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

/* What stands before the first kernel, and one of the kernels: a module of its own, so that nothing is
   made of those that nobody launches. NULL without such a kernel. */
static char *text_of(const char *all, const char *name) {
  static const char opening[] = "\n.visible .entry ", closing[] = "\n}\n";
  const char *first = strstr(all, opening), *begin = first, *end = NULL;
  size_t length = strlen(name);
  for (; begin; begin = strstr(begin + 1, opening)) {
    const char *at = begin + sizeof opening - 1;
    if (!strncmp(at, name, length) && at[length] == '(') break;
  }
  if (begin) end = strstr(begin, closing);
  if (!end) return NULL;
  size_t head = (size_t)(first - all), body = (size_t)(end - begin) + sizeof closing - 1;
  char *made = calloc(1, head + body + 1);
  memcpy(made, all, head);
  memcpy(made + head, begin, body);
  return made;
}

static int describe(kc_kernel **to, kc_kernels *of, const char *name) {
  kc_function facts;
  uint64_t module = 0;
  char *text = text_of(of->text, name);
  if (!text) return KC_NOT_SUPPORTED;
  int failure = kc_ask(KC_MODULE, NULL, 0, text, strlen(text), &module, sizeof module, NULL);
  free(text);
  if (!failure) failure = kc_describe(module, name, &facts);
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
