// One step of PageRank, pulled: a vertex adds up what the vertices that point to it give.
//
// Vertex v is pointed to by elements row_starts[v] to row_starts[v + 1] - 1 of `columns`. A vertex
// gives its rank divided by its number of outgoing edges, computed before.

extern "C" __global__ void pagerank_step(
    const int *row_starts, const int *columns, const float *given, float *ranks, int vertices,
    float damping)
{
    const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices)
        return;
    float sum = 0.0f;
    const int end = row_starts[vertex + 1];
    for (int edge = row_starts[vertex]; edge < end; ++edge)
        sum += given[columns[edge]];
    ranks[vertex] = (1.0f - damping) / vertices + damping * sum;
}
