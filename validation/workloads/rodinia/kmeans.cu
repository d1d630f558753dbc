// K-means of points with kFeatures features, two steps.
//
// kmeans_transpose: [points][features] to [features][points], a point a thread.
//
// kmeans_assign: the number of the nearest centre, the first of several equally near ones. A thread
// fetches the features of its point through the texture cache again for each centre; the centres are
// in constant memory.

constexpr int kMostCentres = 5;
constexpr int kFeatures = 34;

struct Centres {
    float of[kMostCentres * kFeatures];
};

extern "C" __global__ void kmeans_transpose(float *given, float *transposed, int points, int features)
{
    const int point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point < points)
        for (int f = 0; f < features; ++f)
            transposed[point + points * f] = given[point * features + f];
}

extern "C" __global__ void kmeans_assign(
    cudaTextureObject_t features, const __grid_constant__ Centres centres, int *nearest, int points,
    int feature_count, int centre_count)
{
    const unsigned point = (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x + threadIdx.x;
    if (point >= points)
        return;
    int best = -1;
    float least = 3.402823466e38f;
    for (int c = 0; c < centre_count; ++c) {
        float distance = 0.0f;
        for (int f = 0; f < feature_count; ++f) {
            const int place = point + f * points;
            const float difference =
                tex1Dfetch<float>(features, place) - centres.of[c * feature_count + f];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[point] = best;
}
