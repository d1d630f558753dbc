// y[r][c] = gelu(x[r][c] + bias[c]), the exact GELU: gelu(v) = v (1 + erf(v / sqrt 2)) / 2.
//
// Matrices are row-major. A thread takes four neighbouring elements, loaded and stored as one
// float4; the number of columns is 4 * column_quads.

__device__ __forceinline__ float gelu(float v)
{
    return 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

extern "C" __global__ void gelu_bias(
    const float4 *x, const float4 *bias, float4 *y, int column_quads, int quads)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    const float4 value = x[i];
    const float4 shift = bias[i % column_quads];
    y[i] = make_float4(
        gelu(value.x + shift.x), gelu(value.y + shift.y), gelu(value.z + shift.z),
        gelu(value.w + shift.w));
}
