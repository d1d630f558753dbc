/* Graphs: the server keeps them as the requests that their nodes make. */
#include <string.h>

#include "cudart.h"
#include "launches.h"

API status cudaStreamBeginCapture(stream_handle stream, int mode) {
  (void)mode;
  return done(KC_ASK(KC_CAPTURE_BEGIN, number(stream), 0));
}
WITH_THREAD_STREAMS(cudaStreamBeginCapture)
API status cudaStreamEndCapture(stream_handle stream, graph_handle *to) {
  return done(kc_make(to, KC_CAPTURE_END, number(stream), 0));
}
WITH_THREAD_STREAMS(cudaStreamEndCapture)
API status cudaStreamIsCapturing(stream_handle stream, int *is_capturing) {
  return done(kc_capture_status(number(stream), is_capturing, NULL));
}
WITH_THREAD_STREAMS(cudaStreamIsCapturing)
API status cudaStreamGetCaptureInfo(stream_handle stream, int *is_capturing, unsigned long long *id) {
  return done(kc_capture_status(number(stream), is_capturing, id));
}
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
WITH_THREAD_STREAMS(cudaGraphLaunch)

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

static status send_node(node_handle *to, uint32_t how, uint64_t graph, uint32_t kind,
                        const node_handle *dependencies, size_t count, const void *request,
                        size_t bytes) {
  return done(kc_send_node(to, how, graph, kind, dependencies, count, request, bytes));
}

static status send_kernel(node_handle *to, uint32_t how, uint64_t graph, const node_handle *dependencies,
                          size_t count, const kernel_node *node) {
  kc_launch_request request;
  status failure;
  function *called = function_of(node->function, &failure);
  if (failure) return done(failure);
  if (!node->arguments && node->extra) return done(kc_refuse("a kernel node with `extra`"));
  request.words = (kc_launch){.grid = {node->grid.x, node->grid.y, node->grid.z},
                              .block = {node->block.x, node->block.y, node->block.z},
                              .shared_bytes = node->shared_bytes};
  failure = kc_set_arguments(&request, &called->facts, node->arguments);
  return failure ? done(failure)
                 : send_node(to, how, graph, KC_LAUNCH, dependencies, count, request.all, request.bytes);
}

API status cudaGraphAddKernelNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                  size_t count, const kernel_node *node) {
  return send_kernel(to, KC_GRAPH_ADD, number(graph), dependencies, count, node);
}
API status cudaGraphExecKernelNodeSetParams(exec_handle executable, node_handle changed,
                                            const kernel_node *node) {
  return send_kernel(NULL, KC_GRAPH_SET, number(executable), &changed, 1, node);
}
API status cudaGraphKernelNodeSetParams(node_handle changed, const kernel_node *node) {
  return cudaGraphExecKernelNodeSetParams(NULL, changed, node);
}

API status cudaGraphAddMemcpyNode1D(node_handle *to, graph_handle graph,
                                    const node_handle *dependencies, size_t count, void *into,
                                    const void *from, size_t size, int kind) {
  kc_copy rows = {number(into), size, size, number(from), size, size, size, 1, 1, (uint64_t)kind, 0, 1};
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_COPY, dependencies, count, &rows, sizeof rows);
}

static uint64_t corner(const array *in, const pitched_pointer *plain, position at, size_t element) {
  if (in) return kc_in_array(in, at.x * element, at.y, at.z);
  return number(plain->ptr) + at.z * plain->pitch * plain->ysize + at.y * plain->pitch + at.x;
}

API status cudaGraphAddMemcpyNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                  size_t count, const copy_3d *how) {
  size_t element = how->src_array   ? how->src_array->element_bytes
                   : how->dst_array ? how->dst_array->element_bytes
                                    : 1;
  kc_copy rows = {corner(how->dst_array, &how->dst, how->dst_pos, element),
                  how->dst_array ? how->dst_array->pitch : how->dst.pitch,
                  how->dst_array ? how->dst_array->slice : how->dst.pitch * how->dst.ysize,
                  corner(how->src_array, &how->src, how->src_pos, element),
                  how->src_array ? how->src_array->pitch : how->src.pitch,
                  how->src_array ? how->src_array->slice : how->src.pitch * how->src.ysize,
                  how->size.width * element, how->size.height, how->size.depth, (uint64_t)how->kind,
                  0, 1};
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_COPY, dependencies, count, &rows, sizeof rows);
}

API status cudaGraphAddMemsetNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                  size_t count, const fill_node *how) {
  uint64_t words[] = {number(how->to), how->pitch, how->value, how->element_bytes, how->width,
                      how->height, 0, 1};
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_FILL, dependencies, count, words, sizeof words);
}
API status cudaGraphAddHostNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                size_t count, const host_node *how) {
  uint64_t words[] = {(uint64_t)(uintptr_t)how->function, number(how->data), 0};
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_CALL, dependencies, count, words, sizeof words);
}
API status cudaGraphAddEmptyNode(node_handle *to, graph_handle graph, const node_handle *dependencies,
                                 size_t count) {
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_DONE, dependencies, count, NULL, 0);
}
API status cudaGraphAddChildGraphNode(node_handle *to, graph_handle graph,
                                      const node_handle *dependencies, size_t count,
                                      graph_handle child) {
  uint64_t words[] = {number(child)};
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_GRAPH_CREATE, dependencies, count, words,
                   sizeof words);
}
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

API status cudaGraphGetNodes(graph_handle graph, node_handle *to, size_t *count) {
  return done(kc_graph_nodes(number(graph), to, count));
}
API status cudaGraphGetRootNodes(graph_handle graph, node_handle *to, size_t *count) {
  (void)graph, (void)to, (void)count;
  return done(kc_refuse("cudaGraphGetRootNodes"));
}
