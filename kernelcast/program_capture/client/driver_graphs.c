/* Graphs and the capture of streams: the server keeps graphs as the requests that their nodes make. */
#include <string.h>

#include "driver_types.h"

typedef struct { device_pointer to; size_t pitch; unsigned value, element_bytes; size_t width, height; }
driver_fill_node;

API status cuStreamBeginCapture_v2(stream_handle stream, int mode) {
  (void)mode;
  return done(KC_ASK(KC_CAPTURE_BEGIN, number(stream), 0));
}
WITH_THREAD_STREAMS(cuStreamBeginCapture_v2)
API status cuStreamBeginCapture(stream_handle stream) { return cuStreamBeginCapture_v2(stream, 0); }
WITH_THREAD_STREAMS(cuStreamBeginCapture)
API status cuStreamEndCapture(stream_handle stream, graph_handle *to) {
  return done(kc_make(to, KC_CAPTURE_END, number(stream), 0));
}
WITH_THREAD_STREAMS(cuStreamEndCapture)
API status cuStreamIsCapturing(stream_handle stream, int *is_capturing) {
  return done(kc_capture_status(number(stream), is_capturing, NULL));
}
WITH_THREAD_STREAMS(cuStreamIsCapturing)
/* Of a stream that is not captured there is nothing more to tell; of another one only the number. */
static status capture_info(stream_handle stream, int *is_capturing, unsigned long long *id, void **graph,
                           void *dependencies, size_t *count) {
  if (graph) *graph = NULL;
  if (count) *count = 0;
  status failure = kc_capture_status(number(stream), is_capturing, id);
  if (!failure && *is_capturing && (graph || dependencies || count))
    return kc_refuse("cuStreamGetCaptureInfo of the graph");
  return done(failure);
}
API status cuStreamGetCaptureInfo(stream_handle stream, int *is_capturing, unsigned long long *id) {
  return capture_info(stream, is_capturing, id, NULL, NULL, NULL);
}
WITH_THREAD_STREAMS(cuStreamGetCaptureInfo)
API status cuStreamGetCaptureInfo_v2(stream_handle stream, int *is_capturing, unsigned long long *id,
                                     void **graph, void *dependencies, size_t *count) {
  return capture_info(stream, is_capturing, id, graph, dependencies, count);
}
WITH_THREAD_STREAMS(cuStreamGetCaptureInfo_v2)
API status cuStreamGetCaptureInfo_v3(stream_handle stream, int *is_capturing, unsigned long long *id,
                                     void **graph, void *dependencies, void *edges, size_t *count) {
  (void)edges;
  return capture_info(stream, is_capturing, id, graph, dependencies, count);
}
WITH_THREAD_STREAMS(cuStreamGetCaptureInfo_v3)
API status cuThreadExchangeStreamCaptureMode(int *mode) {
  (void)mode;
  return 0;
}

API status cuGraphCreate(graph_handle *to, unsigned flags) {
  return done(kc_make(to, KC_GRAPH_CREATE, flags, 0));
}
API status cuGraphClone(graph_handle *to, graph_handle graph) {
  return done(kc_make(to, KC_GRAPH_CREATE, 0, number(graph)));
}
API status cuGraphDestroy(graph_handle graph) { return done(KC_ASK(KC_GRAPH_DESTROY, number(graph))); }
API status cuGraphInstantiateWithFlags(exec_handle *to, graph_handle graph, unsigned long long flags) {
  (void)flags;
  return done(kc_make(to, KC_GRAPH_INSTANTIATE, number(graph), 0));
}
API status cuGraphInstantiate_v2(exec_handle *to, graph_handle graph, node_handle *failed, char *log,
                                 size_t size) {
  if (failed) *failed = NULL;
  if (log && size) *log = 0;
  return cuGraphInstantiateWithFlags(to, graph, 0);
}
ALSO(cuGraphInstantiate_v2, cuGraphInstantiate)
API status cuGraphInstantiateWithParams(exec_handle *to, graph_handle graph, void *parameters) {
  (void)parameters;
  return cuGraphInstantiateWithFlags(to, graph, 0);
}
WITH_THREAD_STREAMS(cuGraphInstantiateWithParams)
API status cuGraphExecDestroy(exec_handle graph) {
  return done(KC_ASK(KC_GRAPH_EXEC_DESTROY, number(graph)));
}
API status cuGraphUpload(exec_handle graph, stream_handle stream) {
  (void)graph, (void)stream;
  return 0;
}
WITH_THREAD_STREAMS(cuGraphUpload)
API status cuGraphLaunch(exec_handle graph, stream_handle stream) {
  return done(KC_ASK(KC_GRAPH_LAUNCH, number(graph), number(stream)));
}
WITH_THREAD_STREAMS(cuGraphLaunch)

typedef struct { int result; node_handle node, from; } update_result;
API status cuGraphExecUpdate_v2(exec_handle executable, graph_handle graph, update_result *result) {
  status failure = KC_ASK(KC_GRAPH_SET, number(executable), number(graph), 0);
  if (result) memset(result, 0, sizeof *result), result->result = failure ? 1 : 0;
  return done(failure);
}
API status cuGraphExecUpdate(exec_handle executable, graph_handle graph, node_handle *node, int *result) {
  status failure = KC_ASK(KC_GRAPH_SET, number(executable), number(graph), 0);
  if (node) *node = NULL;
  if (result) *result = failure ? 1 : 0;
  return done(failure);
}

/* ---- nodes ---- */

static status kernel_request(kc_launch_request *to, const driver_kernel_node *node, int has_kernel) {
  const function *called = node->called || !has_kernel ? node->called : node->kernel;
  if (!called) return INVALID_HANDLE;
  to->words = (kc_launch){.shared_bytes = node->shared_bytes};
  for (int i = 0; i < 3; i++) to->words.grid[i] = node->grid[i], to->words.block[i] = node->block[i];
  return parameters_of(to, called, node->arguments, node->extra);
}

static status send_kernel(node_handle *to, uint32_t how, uint64_t graph, const node_handle *dependencies,
                          size_t count, const driver_kernel_node *node, int has_kernel) {
  kc_launch_request request;
  status failure = kernel_request(&request, node, has_kernel);
  return failure ? failure
                 : done(kc_send_node(to, how, graph, KC_LAUNCH, dependencies, count, request.all,
                                     request.bytes));
}

API status cuGraphAddKernelNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                size_t count, const driver_kernel_node *node) {
  return send_kernel(to, KC_GRAPH_ADD, number(graph), dependencies, count, node, 0);
}
API status cuGraphAddKernelNode_v2(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                   size_t count, const driver_kernel_node *node) {
  return send_kernel(to, KC_GRAPH_ADD, number(graph), dependencies, count, node, 1);
}
API status cuGraphExecKernelNodeSetParams(exec_handle executable, node_handle changed,
                                          const driver_kernel_node *node) {
  return send_kernel(NULL, KC_GRAPH_SET, number(executable), &changed, 1, node, 0);
}
API status cuGraphExecKernelNodeSetParams_v2(exec_handle executable, node_handle changed,
                                             const driver_kernel_node *node) {
  return send_kernel(NULL, KC_GRAPH_SET, number(executable), &changed, 1, node, 1);
}
API status cuGraphKernelNodeSetParams(node_handle changed, const driver_kernel_node *node) {
  return cuGraphExecKernelNodeSetParams(NULL, changed, node);
}
API status cuGraphKernelNodeSetParams_v2(node_handle changed, const driver_kernel_node *node) {
  return cuGraphExecKernelNodeSetParams_v2(NULL, changed, node);
}

static status send_copy(node_handle *to, uint32_t how, uint64_t graph, const node_handle *dependencies,
                        size_t count, const box_copy *box) {
  kc_copy rows = rows_of(box);
  rows.is_async = 1;
  return done(kc_send_node(to, how, graph, KC_COPY, dependencies, count, &rows, sizeof rows));
}
API status cuGraphAddMemcpyNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                size_t count, const box_copy *how, void *context) {
  (void)context;
  return send_copy(to, KC_GRAPH_ADD, number(graph), dependencies, count, how);
}
API status cuGraphExecMemcpyNodeSetParams(exec_handle executable, node_handle changed,
                                          const box_copy *how, void *context) {
  (void)context;
  return send_copy(NULL, KC_GRAPH_SET, number(executable), &changed, 1, how);
}

static status send_fill(node_handle *to, uint32_t kind, uint64_t graph, const node_handle *dependencies,
                        size_t count, const driver_fill_node *how) {
  uint64_t words[] = {how->to, how->pitch, how->value, how->element_bytes, how->width, how->height, 0, 1};
  return done(kc_send_node(to, kind, graph, KC_FILL, dependencies, count, words, sizeof words));
}
API status cuGraphAddMemsetNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                size_t count, const driver_fill_node *how, void *context) {
  (void)context;
  return send_fill(to, KC_GRAPH_ADD, number(graph), dependencies, count, how);
}
API status cuGraphExecMemsetNodeSetParams(exec_handle executable, node_handle changed,
                                          const driver_fill_node *how, void *context) {
  (void)context;
  return send_fill(NULL, KC_GRAPH_SET, number(executable), &changed, 1, how);
}

API status cuGraphAddHostNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                              size_t count, const host_node *how) {
  uint64_t words[] = {(uint64_t)(uintptr_t)how->function, number(how->data), 0};
  return done(kc_send_node(to, KC_GRAPH_ADD, number(graph), KC_CALL, dependencies, count, words,
                           sizeof words));
}
API status cuGraphAddEmptyNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                               size_t count) {
  return done(kc_send_node(to, KC_GRAPH_ADD, number(graph), KC_DONE, dependencies, count, NULL, 0));
}
API status cuGraphAddChildGraphNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                    size_t count, graph_handle child) {
  uint64_t words[] = {number(child)};
  return done(kc_send_node(to, KC_GRAPH_ADD, number(graph), KC_GRAPH_CREATE, dependencies, count, words,
                           sizeof words));
}
API status cuGraphAddDependencies(graph_handle graph, const node_handle *from, const node_handle *to,
                                  size_t count) {
  for (size_t i = 0; i < count; i++) {
    status failure = KC_ASK(KC_GRAPH_DEPEND, number(graph), number(from[i]), number(to[i]));
    if (failure) return done(failure);
  }
  return 0;
}
API status cuGraphAddDependencies_v2(graph_handle graph, const node_handle *from, const node_handle *to,
                                     const void *edges, size_t count) {
  (void)edges;
  return cuGraphAddDependencies(graph, from, to, count);
}
API status cuGraphGetNodes(graph_handle graph, node_handle *to, size_t *count) {
  return done(kc_graph_nodes(number(graph), 0, to, count));
}
API status cuGraphGetRootNodes(graph_handle graph, node_handle *to, size_t *count) {
  return done(kc_graph_nodes(number(graph), 1, to, count));
}
