// Nearest-neighbour search, first step: the Euclidean distance of every record to the query point.
//
// Records are pairs (latitude, longitude), one float2 each; one thread per record.

extern "C" __global__ void nn_distance(
    const float2 *records, float *distances, int n, float latitude, float longitude)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float2 record = records[i];
    const float north = record.x - latitude;
    const float east = record.y - longitude;
    distances[i] = sqrtf(north * north + east * east);
}
