// One step of the Bellman-Ford algorithm for shortest paths from one vertex.
//
// Vertex v's edges are elements row_starts[v] to row_starts[v + 1] - 1 of `columns` and `weights`.
// A vertex whose distance the last step changed offers its neighbours a way through it. Distances
// are read from one array and lowered in another, which starts as its copy.

extern "C" __global__ void sssp_relax(
    const int *row_starts, const int *columns, const int *weights, const int *distances,
    const int *is_active, int *lowered, int *is_active_next, int vertices)
{
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || !is_active[vertex])
        return;
    const int distance = distances[vertex];
    const int end = row_starts[vertex + 1];
    for (int edge = row_starts[vertex]; edge < end; ++edge) {
        const int neighbour = columns[edge];
        const int offer = distance + weights[edge];
        if (offer < distances[neighbour]) {
            atomicMin(&lowered[neighbour], offer);
            is_active_next[neighbour] = 1;
        }
    }
}
