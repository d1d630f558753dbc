// A fully connected layer of kTile outputs in training; weights are [1 + inputs][1 + kTile], and the
// first row and column belong to the biases.
//
// backprop_forward: the products of kTile inputs and their weights are added up over the inputs by a
// tree in shared memory, whose strides are powers computed in floating point; what is left of the
// tree replaces the weights, sums of each tile go to `partial`.
//
// backprop_adjust: one step of gradient descent with momentum, in double precision, as its two
// constants are.

constexpr int kTile = 16;

extern "C" __global__ void backprop_forward(
    float *input, float *weights, float *partial, int outputs)
{
    __shared__ float staged[kTile];
    __shared__ float product[kTile][kTile];
    const int tile = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const int position = (outputs + 1) * (kTile * tile + y + 1) + x + 1;

    if (x == 0)
        staged[y] = input[kTile * tile + y + 1];
    __syncthreads();
    product[y][x] = weights[position];
    __syncthreads();
    product[y][x] = product[y][x] * staged[y];
    __syncthreads();
    for (int level = 1; level <= __log2f(kTile); ++level) {
        const int stride = __powf(2, level);
        if (y % stride == 0)
            product[y][x] = product[y][x] + product[y + stride / 2][x];
        __syncthreads();
    }
    weights[position] = product[y][x];
    __syncthreads();
    if (x == 0)
        partial[tile * outputs + y] = product[x][y];
}

extern "C" __global__ void backprop_adjust(
    float *delta, float *input, float *weights, float *changes, int outputs)
{
    const int tile = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    const int position = (outputs + 1) * (kTile * tile + y + 1) + x + 1;
    const int i = kTile * tile + y + 1, o = x + 1;

    weights[position] += 0.3 * delta[o] * input[i] + 0.3 * changes[position];
    changes[position] = 0.3 * delta[o] * input[i] + 0.3 * changes[position];
    __syncthreads();
    if (y == 0 && tile == 0) {
        weights[o] += 0.3 * delta[o] + 0.3 * changes[o];
        changes[o] = 0.3 * delta[o] + 0.3 * changes[o];
    }
}
