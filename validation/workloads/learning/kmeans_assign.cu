// Assignment step of k-means: for every point the number of the nearest centre, the first of
// several equally near ones, and the squared distance to it.
//
// points is [kFeatures][n], so that neighbouring threads read neighbouring elements; centres is
// [centre_count][kFeatures]. A thread keeps its point in registers; the centres are staged in
// shared memory, at most kMostCentres of them.

constexpr int kFeatures = 16;
constexpr int kMostCentres = 64;

extern "C" __global__ void kmeans_assign(
    const float *points, const float *centres, int *nearest, float *squared_distance, int n,
    int centre_count)
{
    __shared__ float staged[kMostCentres * kFeatures];
    for (int j = threadIdx.x; j < centre_count * kFeatures; j += blockDim.x)
        staged[j] = centres[j];
    __syncthreads();

    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float point[kFeatures];
#pragma unroll
    for (int f = 0; f < kFeatures; ++f)
        point[f] = points[f * n + i];

    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < centre_count; ++c) {
        float distance = 0.0f;
#pragma unroll
        for (int f = 0; f < kFeatures; ++f) {
            const float difference = point[f] - staged[c * kFeatures + f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[i] = best;
    squared_distance[i] = least;
}
