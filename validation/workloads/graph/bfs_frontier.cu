// One level of a breadth-first search by masks, without atomics and without a queue.
//
// A thread for each vertex looks whether it is in the frontier. If so, it leaves it and gives every
// neighbour that was not visited the next distance and a place in the next frontier. Several threads
// may write the same value there. Vertex v's neighbours are elements row_starts[v] to
// row_starts[v + 1] - 1 of `columns`.

extern "C" __global__ void bfs_frontier(
    const int *row_starts, const int *columns, int *frontier, const int *visited, int *distances,
    int *next_frontier, int vertices)
{
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || !frontier[vertex])
        return;
    frontier[vertex] = 0;
    const int end = row_starts[vertex + 1];
    for (int edge = row_starts[vertex]; edge < end; ++edge) {
        const int neighbour = columns[edge];
        if (!visited[neighbour]) {
            distances[neighbour] = distances[vertex] + 1;
            next_frontier[neighbour] = 1;
        }
    }
}
