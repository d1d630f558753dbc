/* The connection of a captured program to `kernelcast capture`, and the memory that both share.

   The CUDA runtime, the CUDA driver and the OpenCL layer are thin: they turn calls into requests.
   All functions may be called by several threads. */
#ifndef KERNELCAST_CLIENT_H
#define KERNELCAST_CLIENT_H
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

/* What programs are told of the driver: as new as the newest toolkit whose code is known. */
#define KC_DRIVER_VERSION 13050

#define KC_PUBLIC __attribute__((visibility("default")))

enum {
  KC_SUCCESS = 0,
  KC_INVALID_VALUE = 1,
  KC_OUT_OF_MEMORY = 2,
  KC_NOT_SUPPORTED = 801,
};

/* Facts that every call may need: they come with the first answer. */
typedef struct {
  uint64_t base, size, host_base; /* of the shared memory; the host sees what lies from host_base on */
  uint64_t max_threads, max_grid[3], max_block[3], max_shared_bytes;
  int64_t file; /* of the shared memory */
} kc_session;

typedef struct {
  uint64_t id, parameters, max_threads, shared_bytes, constant_bytes, local_bytes, registers,
      ptx_version, binary_version, max_dynamic_shared_bytes, end;
  uint64_t places[2 * 1024]; /* offset and size of each parameter */
} kc_function;

/* Sends a request and waits for its answer: its status. Up to `room` bytes of the answer are put to
   `answer`, the rest is dropped; `*answered` gets how many there were. */
KC_PUBLIC int kc_ask(uint32_t kind, const void *words, size_t word_bytes, const void *bytes,
                     size_t byte_count, void *answer, size_t room, size_t *answered);
/* Sends a request that gets no answer. */
KC_PUBLIC void kc_post(uint32_t kind, const void *words, size_t word_bytes, const void *bytes,
                       size_t byte_count);
KC_PUBLIC const kc_session *kc_connected(void);
/* Whether this process has made its first call, and when by the monotonic clock. */
KC_PUBLIC int kc_began(uint64_t *when_ns);
/* Where this library reads and writes an address of the program, also of memory that only the
   device sees. */
KC_PUBLIC void *kc_visible(uint64_t address);
/* Checks a copy, makes it part of the program's time, and does it. */
KC_PUBLIC int kc_do_copy(const kc_copy *copy);
KC_PUBLIC int kc_describe(uint64_t module, const char *name, kc_function *function);
KC_PUBLIC int kc_register(void *pointer, size_t size);
KC_PUBLIC int kc_unregister(void *pointer);
/* The bytes of an image of code: a fat binary, a cubin or PTX; 0 when it is none of them. */
KC_PUBLIC size_t kc_image_bytes(const void *image);
/* The program asks for a function that there is not: says so once, with the place that `from` returns
   to, and returns KC_NOT_SUPPORTED. */
KC_PUBLIC int kc_refuse_at(const char *name, void *from);
#define kc_refuse(name) kc_refuse_at(name, __builtin_return_address(0))
/* What the program sets and may ask for: the limits by their numbers, and the settings behind them.
   NULL for another number. */
enum { KC_CACHE_CONFIGURATION = 16, KC_BANK_CONFIGURATION, KC_SETTINGS };
KC_PUBLIC size_t *kc_setting(unsigned number);
/* Set by the CUDA runtime when it is in the process. */
KC_PUBLIC extern int kc_has_runtime;
/* Attributes of memory pools by their numbers, which the runtime and the driver share. */
KC_PUBLIC int kc_set_pool(int attribute, const void *value);
KC_PUBLIC int kc_get_pool(int attribute, void *value);
#define KC_WORDS(...) ((const uint64_t[]){__VA_ARGS__})
#define KC_ASK(kind, ...) \
  kc_ask(kind, KC_WORDS(__VA_ARGS__), sizeof KC_WORDS(__VA_ARGS__), NULL, 0, NULL, 0, NULL)
#define KC_ASK_FOR(answer, kind, ...)                                                       \
  kc_ask(kind, KC_WORDS(__VA_ARGS__), sizeof KC_WORDS(__VA_ARGS__), NULL, 0, &(answer), \
         sizeof(answer), NULL)
#define KC_POST(kind, ...) \
  kc_post(kind, KC_WORDS(__VA_ARGS__), sizeof KC_WORDS(__VA_ARGS__), NULL, 0)
#endif
