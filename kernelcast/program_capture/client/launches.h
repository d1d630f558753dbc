/* Launches and graphs as requests, which the runtime and the driver make alike. */
#ifndef KERNELCAST_LAUNCHES_H
#define KERNELCAST_LAUNCHES_H
#include "client.h"

enum { KC_MOST_LAUNCH_BYTES = sizeof(kc_launch) + 32768 };

/* Words and parameters of a launch as a request, of as many bytes. */
typedef struct {
  size_t bytes;
  union {
    kc_launch words;
    char all[KC_MOST_LAUNCH_BYTES];
  };
} kc_launch_request;

/* Puts parameters behind the words, from the places where they lie or as a buffer of all of them. */
KC_PUBLIC int kc_set_arguments(kc_launch_request *to, const kc_function *called, void **arguments);
KC_PUBLIC int kc_set_buffer(kc_launch_request *to, const kc_function *called, const void *buffer,
                            size_t bytes);
/* Whether the device can run it: 0 or an error of the runtime. */
KC_PUBLIC int kc_check_launch(const kc_launch *words, const kc_function *called);
/* Sets what the program may set of a kernel, as a CUfunction_attribute. */
KC_PUBLIC int kc_set_function(kc_function *called, int attribute, int value);
/* Launches what `failure` lets; else the program's time line gets the failed launch. */
KC_PUBLIC int kc_do_launch(const kc_launch_request *request, int failure);

/* A node for a graph or executable graph: `how` is KC_GRAPH_ADD or KC_GRAPH_SET, the request that
   the node stands for follows. */
KC_PUBLIC int kc_send_node(void **to, uint32_t how, uint64_t graph, uint32_t kind,
                           void *const *dependencies, size_t count, const void *request, size_t bytes);
/* The graph's nodes, or only those that come after no other; `*count` is the room, and then how many
   there are. */
KC_PUBLIC int kc_graph_nodes(uint64_t graph, int is_root, void **to, size_t *count);
/* Asks for something that is made, of two words. */
KC_PUBLIC int kc_make(void **to, uint32_t kind, uint64_t first, uint64_t second);
/* Whether a stream is being captured, and what numbers the capture. */
KC_PUBLIC int kc_capture_status(uint64_t stream, int *is_capturing, unsigned long long *id);
#endif
