// One level of a breadth-first search from a queue of vertices.
//
// Vertex v's neighbours are elements row_starts[v] to row_starts[v + 1] - 1 of `columns`. A thread
// takes a vertex of the queue and gives all its neighbours that have no distance yet the next one.
// Who is first puts the neighbour into the next queue.

constexpr int kUnreached = -1;

extern "C" __global__ void bfs_level(
    const int *row_starts, const int *columns, int *distances, const int *queue, int queued,
    int *next_queue, int *next_queued, int level)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queued)
        return;
    const int vertex = queue[i];
    const int end = row_starts[vertex + 1];
    for (int edge = row_starts[vertex]; edge < end; ++edge) {
        const int neighbour = columns[edge];
        if (distances[neighbour] == kUnreached
            && atomicCAS(&distances[neighbour], kUnreached, level + 1) == kUnreached)
            next_queue[atomicAdd(next_queued, 1)] = neighbour;
    }
}
