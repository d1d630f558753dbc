// Pointers in structs, in memory and in arguments: a linked list and an array of rows.
#include "check.h"

struct Node {
  int value;
  Node *next;
};
struct Matrix {
  int rows, columns;
  float **row;
};

__global__ void sum_list(const Node *head, int *sum) {
  for (const Node *at = head; at; at = at->next) *sum += at->value;
}
__global__ void reverse(Node **head) {
  Node *before = nullptr;
  for (Node *at = *head; at;) {
    Node *next = at->next;
    at->next = before;
    before = at, at = next;
  }
  *head = before;
}
__global__ void fill(Matrix m) {
  int column = threadIdx.x, row = blockIdx.x;
  if (column < m.columns) m.row[row][column] = row * 100 + column;
}

int main() {
  const int n = 20;
  Node *nodes;
  CHECK(cudaMalloc(&nodes, n * sizeof(Node)));
  std::vector<Node> host(n);
  for (int i = 0; i < n; i++) host[i] = {i + 1, i + 1 < n ? nodes + i + 1 : nullptr};
  CHECK(cudaMemcpy(nodes, host.data(), n * sizeof(Node), cudaMemcpyHostToDevice));
  std::vector<Node *> heads(1, nodes);
  Node **head = on_device(heads);
  int *sum = on_device(std::vector<int>(1, 0));
  sum_list<<<1, 1>>>(nodes, sum);
  EXPECT(to_host(sum, 1)[0] == n * (n + 1) / 2);
  reverse<<<1, 1>>>(head);
  Node *first = to_host(head, 1)[0];
  EXPECT(first == nodes + n - 1 && to_host(first, 1)[0].next == first - 1);
  const int rows = 5, columns = 33;
  std::vector<float *> row(rows);
  for (float *&at : row) CHECK(cudaMalloc(&at, columns * sizeof(float)));
  Matrix matrix = {rows, columns, on_device(row)};
  fill<<<rows, 64>>>(matrix);
  for (int r = 0; r < rows; r++) {
    std::vector<float> found = to_host(row[r], columns);
    for (int c = 0; c < columns; c++) EXPECT(found[c] == r * 100 + c);
  }
}
