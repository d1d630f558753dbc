// A fully connected layer in training. weights is [inputs][outputs], row-major.
//
// backprop_forward: partial[t][o] = sum of input[i] * weights[i][o] over the 16 inputs i of tile t.
// A thread block of 16 x 16 threads takes 16 inputs and 16 outputs and adds the products up in
// shared memory; the sums over tiles and the activation are another kernel's.
//
// backprop_adjust: one step of gradient descent with momentum. The change of a weight is
// rate * delta[o] * input[i] + momentum * (change of the step before), which it replaces.

constexpr int kTile = 16;

extern "C" __global__ void backprop_forward(
    const float *input, const float *weights, float *partial, int inputs, int outputs)
{
    __shared__ float staged[kTile];
    __shared__ float product[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int o = blockIdx.x * kTile + x;
    const int i = blockIdx.y * kTile + y;

    if (x == 0)
        staged[y] = i < inputs ? input[i] : 0.0f;
    __syncthreads();
    const size_t position = static_cast<size_t>(i) * outputs + o;
    product[y][x] = i < inputs && o < outputs ? staged[y] * weights[position] : 0.0f;
    __syncthreads();

#pragma unroll 1
    for (int active = kTile / 2; active > 0; active /= 2) {
        if (y < active)
            product[y][x] += product[y + active][x];
        __syncthreads();
    }
    if (y == 0 && o < outputs)
        partial[static_cast<size_t>(blockIdx.y) * outputs + o] = product[0][x];
}

extern "C" __global__ void backprop_adjust(
    const float *input, const float *delta, float *weights, float *changes, int inputs,
    int outputs, float rate, float momentum)
{
    const int o = blockIdx.x * kTile + threadIdx.x;
    const int i = blockIdx.y * kTile + threadIdx.y;
    if (i >= inputs || o >= outputs)
        return;
    const size_t position = static_cast<size_t>(i) * outputs + o;
    const float change = rate * delta[o] * input[i] + momentum * changes[position];
    weights[position] += change;
    changes[position] = change;
}
