// One level of a breadth-first search by masks of bytes, in two kernels, a thread for each vertex.
//
// bfs_visit: a vertex of the frontier leaves it and gives all neighbours that were not visited the
// next distance and a mark. bfs_advance: marked vertices become the frontier and are visited.

struct Vertex {
    int first_edge, edges;
};

extern "C" __global__ void bfs_visit(
    Vertex *vertex, int *neighbours, bool *frontier, bool *marked, bool *visited, int *distance,
    int vertices)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || !frontier[v])
        return;
    frontier[v] = false;
    for (int edge = vertex[v].first_edge; edge < vertex[v].edges + vertex[v].first_edge; ++edge) {
        const int neighbour = neighbours[edge];
        if (!visited[neighbour]) {
            distance[neighbour] = distance[v] + 1;
            marked[neighbour] = true;
        }
    }
}

extern "C" __global__ void bfs_advance(
    bool *frontier, bool *marked, bool *visited, bool *is_unfinished, int vertices)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices && marked[v]) {
        frontier[v] = true;
        visited[v] = true;
        *is_unfinished = true;
        marked[v] = false;
    }
}
