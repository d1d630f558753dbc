/* Graphs: the server keeps them as the requests that their nodes make. */
#include <string.h>

#include "cudart.h"
#include "launches.h"

API status cudaStreamBeginCapture(stream_handle stream, int mode) {
  (void)mode;
  return done(KC_ASK(KC_CAPTURE_BEGIN, number(stream), 0));
}
API status cudaStreamEndCapture(stream_handle stream, graph_handle *to) {
  return done(kc_make(to, KC_CAPTURE_END, number(stream), 0));
}
API status cudaStreamIsCapturing(stream_handle stream, int *is_capturing) {
  return done(kc_capture_status(number(stream), is_capturing, NULL));
}
/* Of a stream that is not captured there is nothing more to tell; of another one only the number. */
static status capture_info(stream_handle stream, int *is_capturing, unsigned long long *id, void **graph,
                           void *dependencies, size_t *count) {
  if (graph) *graph = NULL;
  if (count) *count = 0;
  status failure = kc_capture_status(number(stream), is_capturing, id);
  if (!failure && *is_capturing && (graph || dependencies || count))
    failure = kc_refuse("cudaStreamGetCaptureInfo of the graph");
  return done(failure);
}
#if CUDART_MAJOR >= 13
API status cudaStreamGetCaptureInfo(stream_handle stream, int *is_capturing, unsigned long long *id,
                                    void **graph, void *dependencies, void *edges, size_t *count) {
  (void)edges;
  return capture_info(stream, is_capturing, id, graph, dependencies, count);
}
#else
API status cudaStreamGetCaptureInfo(stream_handle stream, int *is_capturing, unsigned long long *id) {
  return capture_info(stream, is_capturing, id, NULL, NULL, NULL);
}
API status cudaStreamGetCaptureInfo_v2(stream_handle stream, int *is_capturing, unsigned long long *id,
                                       void **graph, void *dependencies, size_t *count) {
  return capture_info(stream, is_capturing, id, graph, dependencies, count);
}
WITH_THREAD_STREAMS(cudaStreamGetCaptureInfo_v2)
API status cudaStreamGetCaptureInfo_v3(stream_handle stream, int *is_capturing, unsigned long long *id,
                                       void **graph, void *dependencies, void *edges, size_t *count) {
  (void)edges;
  return capture_info(stream, is_capturing, id, graph, dependencies, count);
}
WITH_THREAD_STREAMS(cudaStreamGetCaptureInfo_v3)
#endif
WITH_THREAD_STREAMS(cudaStreamGetCaptureInfo)
API status cudaThreadExchangeStreamCaptureMode(int *mode) {
  (void)mode;
  return 0;
}

API status cudaGraphCreate(graph_handle *to, unsigned flags) {
  return done(kc_make(to, KC_GRAPH_CREATE, flags, 0));
}
API status cudaGraphDestroy(graph_handle graph) { return done(KC_ASK(KC_GRAPH_DESTROY, number(graph))); }
API status cudaGraphClone(graph_handle *to, graph_handle graph) {
  return done(kc_make(to, KC_GRAPH_CREATE, 0, number(graph)));
}
API status cudaGraphInstantiateWithFlags(exec_handle *to, graph_handle graph, unsigned long long flags) {
  (void)flags;
  return done(kc_make(to, KC_GRAPH_INSTANTIATE, number(graph), 0));
}
#if CUDART_MAJOR >= 12
API status cudaGraphInstantiate(exec_handle *to, graph_handle graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(to, graph, flags);
}
#else
API status cudaGraphInstantiate(exec_handle *to, graph_handle graph, node_handle *failed, char *log,
                                size_t size) {
  (void)failed;
  if (log && size) *log = 0;
  return cudaGraphInstantiateWithFlags(to, graph, 0);
}
#endif
#if CUDART_MAJOR >= 12
typedef struct { unsigned long long flags; stream_handle stream; node_handle failed; int result; }
instantiation;
API status cudaGraphInstantiateWithParams(exec_handle *to, graph_handle graph, instantiation *how) {
  how->failed = NULL;
  status failure = cudaGraphInstantiateWithFlags(to, graph, how->flags);
  how->result = failure ? 1 : 0;
  return failure;
}
WITH_THREAD_STREAMS(cudaGraphInstantiateWithParams)
#endif
API status cudaGraphExecDestroy(exec_handle graph) {
  return done(KC_ASK(KC_GRAPH_EXEC_DESTROY, number(graph)));
}
API status cudaGraphUpload(exec_handle graph, stream_handle stream) {
  (void)graph, (void)stream;
  return 0;
}
WITH_THREAD_STREAMS(cudaGraphUpload)
API status cudaGraphLaunch(exec_handle graph, stream_handle stream) {
  return done(KC_ASK(KC_GRAPH_LAUNCH, number(graph), number(stream)));
}

/* The graph's nodes take the place of those of the executable graph. */
#if CUDART_MAJOR >= 12
typedef struct { int result; node_handle node, from; } update_result;
API status cudaGraphExecUpdate(exec_handle executable, graph_handle graph, update_result *result) {
  status failure = KC_ASK(KC_GRAPH_SET, number(executable), number(graph), 0);
  if (result) memset(result, 0, sizeof *result), result->result = failure ? 1 : 0;
  return done(failure);
}
#else
API status cudaGraphExecUpdate(exec_handle executable, graph_handle graph, node_handle *node, int *result) {
  status failure = KC_ASK(KC_GRAPH_SET, number(executable), number(graph), 0);
  if (node) *node = NULL;
  if (result) *result = failure ? 1 : 0;
  return done(failure);
}
#endif

API status cudaGraphAddDependencies(graph_handle graph, const node_handle *from, const node_handle *to,
#if CUDART_MAJOR >= 13
                                    const void *edges,
#endif
                                    size_t count) {
#if CUDART_MAJOR >= 13
  (void)edges;
#endif
  for (size_t i = 0; i < count; i++) {
    status failure = KC_ASK(KC_GRAPH_DEPEND, number(graph), number(from[i]), number(to[i]));
    if (failure) return done(failure);
  }
  return 0;
}

#if CUDART_MAJOR == 12
API status cudaGraphAddDependencies_v2(graph_handle graph, const node_handle *from,
                                       const node_handle *to, const void *edges, size_t count) {
  (void)edges;
  return cudaGraphAddDependencies(graph, from, to, count);
}
#endif

API status cudaGraphGetNodes(graph_handle graph, node_handle *to, size_t *count) {
  return done(kc_graph_nodes(number(graph), 0, to, count));
}
API status cudaGraphGetRootNodes(graph_handle graph, node_handle *to, size_t *count) {
  return done(kc_graph_nodes(number(graph), 1, to, count));
}
