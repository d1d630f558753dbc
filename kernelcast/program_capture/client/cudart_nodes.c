/* Nodes of graphs: each is sent as the request that it stands for, when it is added or changed. */
#include "cudart.h"
#include "launches.h"

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

/* The three ways to a node: to add it, to change it in its graph or in an executable graph. */
#define ADDED node_handle *to, graph_handle graph, const node_handle *dependencies, size_t count
#define TO_ADD to, KC_GRAPH_ADD, number(graph), dependencies, count
#define TO_CHANGE NULL, KC_GRAPH_SET, 0, &changed, 1
#define TO_CHANGE_IN NULL, KC_GRAPH_SET, number(executable), &changed, 1
#define SENT node_handle *to, uint32_t how, uint64_t graph, const node_handle *dependencies, size_t count

static status send_line(SENT, uint64_t into, uint64_t from, size_t size, int kind) {
  kc_copy rows = {into, size, size, from, size, size, size, 1, 1, (uint64_t)kind, 0, 1};
  return send_node(to, how, graph, KC_COPY, dependencies, count, &rows, sizeof rows);
}
API status cudaGraphAddMemcpyNode1D(ADDED, void *into, const void *from, size_t size, int kind) {
  return send_line(TO_ADD, number(into), number(from), size, kind);
}
API status cudaGraphMemcpyNodeSetParams1D(node_handle changed, void *into, const void *from, size_t size,
                                          int kind) {
  return send_line(TO_CHANGE, number(into), number(from), size, kind);
}
API status cudaGraphExecMemcpyNodeSetParams1D(exec_handle executable, node_handle changed, void *into,
                                              const void *from, size_t size, int kind) {
  return send_line(TO_CHANGE_IN, number(into), number(from), size, kind);
}

static status place_in(const void *symbol, size_t size, size_t offset, uint64_t *address) {
  size_t whole;
  status failure = variable_of(symbol, address, &whole);
  if (!failure && (offset > whole || size > whole - offset)) failure = KC_INVALID_VALUE;
  *address += offset;
  return done(failure);
}
API status cudaGraphAddMemcpyNodeToSymbol(ADDED, const void *symbol, const void *from, size_t size,
                                          size_t offset, int kind) {
  uint64_t address = 0;
  status failure = place_in(symbol, size, offset, &address);
  return failure ? failure : send_line(TO_ADD, address, number(from), size, kind);
}
API status cudaGraphAddMemcpyNodeFromSymbol(ADDED, void *into, const void *symbol, size_t size,
                                            size_t offset, int kind) {
  uint64_t address = 0;
  status failure = place_in(symbol, size, offset, &address);
  return failure ? failure : send_line(TO_ADD, number(into), address, size, kind);
}
API status cudaGraphExecMemcpyNodeSetParamsToSymbol(exec_handle executable, node_handle changed,
                                                    const void *symbol, const void *from, size_t size,
                                                    size_t offset, int kind) {
  uint64_t address = 0;
  status failure = place_in(symbol, size, offset, &address);
  return failure ? failure : send_line(TO_CHANGE_IN, address, number(from), size, kind);
}
API status cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec_handle executable, node_handle changed,
                                                      void *into, const void *symbol, size_t size,
                                                      size_t offset, int kind) {
  uint64_t address = 0;
  status failure = place_in(symbol, size, offset, &address);
  return failure ? failure : send_line(TO_CHANGE_IN, number(into), address, size, kind);
}

static status send_box(SENT, const copy_3d *what) {
  kc_copy rows = box_rows(what);
  return send_node(to, how, graph, KC_COPY, dependencies, count, &rows, sizeof rows);
}
API status cudaGraphAddMemcpyNode(ADDED, const copy_3d *what) { return send_box(TO_ADD, what); }
API status cudaGraphMemcpyNodeSetParams(node_handle changed, const copy_3d *what) {
  return send_box(TO_CHANGE, what);
}
API status cudaGraphExecMemcpyNodeSetParams(exec_handle executable, node_handle changed,
                                            const copy_3d *what) {
  return send_box(TO_CHANGE_IN, what);
}

static status send_fill(SENT, const fill_node *what) {
  uint64_t words[] = {number(what->to), what->pitch, what->value, what->element_bytes, what->width,
                      what->height, 0, 1};
  return send_node(to, how, graph, KC_FILL, dependencies, count, words, sizeof words);
}
API status cudaGraphAddMemsetNode(ADDED, const fill_node *what) { return send_fill(TO_ADD, what); }
API status cudaGraphMemsetNodeSetParams(node_handle changed, const fill_node *what) {
  return send_fill(TO_CHANGE, what);
}
API status cudaGraphExecMemsetNodeSetParams(exec_handle executable, node_handle changed,
                                            const fill_node *what) {
  return send_fill(TO_CHANGE_IN, what);
}

static status send_host(SENT, const host_node *what) {
  uint64_t words[] = {(uint64_t)(uintptr_t)what->function, number(what->data), 0};
  return send_node(to, how, graph, KC_CALL, dependencies, count, words, sizeof words);
}
API status cudaGraphAddHostNode(ADDED, const host_node *what) { return send_host(TO_ADD, what); }
API status cudaGraphHostNodeSetParams(node_handle changed, const host_node *what) {
  return send_host(TO_CHANGE, what);
}
API status cudaGraphExecHostNodeSetParams(exec_handle executable, node_handle changed,
                                          const host_node *what) {
  return send_host(TO_CHANGE_IN, what);
}

API status cudaGraphAddEmptyNode(ADDED) {
  return send_node(to, KC_GRAPH_ADD, number(graph), KC_DONE, dependencies, count, NULL, 0);
}

static status send_child(SENT, graph_handle child) {
  uint64_t words[] = {number(child)};
  return send_node(to, how, graph, KC_GRAPH_CREATE, dependencies, count, words, sizeof words);
}
API status cudaGraphAddChildGraphNode(ADDED, graph_handle child) { return send_child(TO_ADD, child); }
API status cudaGraphExecChildGraphNodeSetParams(exec_handle executable, node_handle changed,
                                                graph_handle child) {
  return send_child(TO_CHANGE_IN, child);
}
