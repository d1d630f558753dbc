// Linear kernel of a support vector machine: products of all pairs of samples, one pair a thread.
// A sample is a row of features.

extern "C" __global__ void support_vector(
    const float *features, float *products, int samples, int count)
{
    const int first = blockIdx.y * blockDim.y + threadIdx.y;
    const int second = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= samples || second >= samples)
        return;
    float sum = 0.0f;
#pragma unroll 1
    for (int i = 0; i < count; ++i)
        sum += features[first * count + i] * features[second * count + i];
    products[first * samples + second] = sum;
}
