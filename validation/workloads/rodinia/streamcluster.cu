// What opening one more centre would save. A point would switch to the candidate if its weighted
// squared distance to it is less than what its present centre costs; what that saves, or what the
// point keeps if its centre closes, is added to its row of `lower`.
//
// coordinates is [dimensions][points]; those of the candidate, one of the points, are read from
// global memory again by each thread. Rows of `lower` have a place for each centre and one more.

struct Point {
    float weight;
    float *coordinates;
    long assigned;
    float cost;
};

__device__ float squared_distance(int a, int b, int points, int dimensions, float *coordinates)
{
    float sum = 0.0f;
    for (int d = 0; d < dimensions; ++d) {
        const float difference = coordinates[d * points + a] - coordinates[d * points + b];
        sum += difference * difference;
    }
    return sum;
}

extern "C" __global__ void streamcluster(
    int points, int dimensions, long candidate, Point *point, int centres, float *coordinates,
    float *lower, int *centre_of, bool *switches)
{
    const int i = blockDim.x * (blockIdx.x + gridDim.x * blockIdx.y) + threadIdx.x;
    if (i >= points)
        return;
    float *const row = &lower[i * (centres + 1)];
    const float cost =
        squared_distance(i, candidate, points, dimensions, coordinates) * point[i].weight;
    if (cost < point[i].cost) {
        switches[i] = true;
        row[centres] += cost - point[i].cost;
    } else {
        row[centre_of[point[i].assigned]] += point[i].cost - cost;
    }
}
