// OpenCL twin of kmeans_assign.cu: points is [FEATURES][n], centres is [centre_count][FEATURES].

#define FEATURES 16
#define MOST_CENTRES 64

__kernel void kmeans_assign(
    __global const float *points, __global const float *centres, __global int *nearest,
    __global float *squared_distance, int n, int centre_count)
{
    __local float staged[MOST_CENTRES * FEATURES];
    for (int j = get_local_id(0); j < centre_count * FEATURES; j += get_local_size(0))
        staged[j] = centres[j];
    barrier(CLK_LOCAL_MEM_FENCE);

    const int i = get_global_id(0);
    if (i >= n)
        return;
    float point[FEATURES];
#pragma unroll
    for (int f = 0; f < FEATURES; ++f)
        point[f] = points[f * n + i];

    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < centre_count; ++c) {
        float distance = 0.0f;
#pragma unroll
        for (int f = 0; f < FEATURES; ++f) {
            const float difference = point[f] - staged[c * FEATURES + f];
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
