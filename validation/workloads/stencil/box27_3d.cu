// Box of 27 points on a mesh of depth x height x width floats, x fastest: each inner point becomes
// a sum of all points around it, weighted by whether they share a face, an edge or a corner with
// it. Points at the edge of the mesh are left alone.

extern "C" __global__ void box27_3d(
    float *__restrict__ to, const float *__restrict__ from, float centre, float face, float edge,
    float corner, int width, int height, int depth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (x >= width - 1 || y >= height - 1 || z >= depth - 1)
        return;
    const float weights[4] = {centre, face, edge, corner};
    const int i = (z * height + y) * width + x;
    float sum = 0.0f;
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx)
                sum += weights[dx * dx + dy * dy + dz * dz] *
                       from[i + (dz * height + dy) * width + dx];
    to[i] = sum;
}
