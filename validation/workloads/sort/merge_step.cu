// One step of a bitonic network on keys in global memory, one pair a thread.
//
// Keys `distance` apart are put in ascending order in stretches of `length` keys of even number,
// in descending order in those of odd number. All are powers of two; there are `pairs` pairs.

extern "C" __global__ void bitonic_merge_step(unsigned *keys, int pairs, int length, int distance)
{
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs)
        return;
    const int low = 2 * pair - (pair & (distance - 1));
    const int high = low + distance;
    const bool is_descending = (low & length) != 0;
    const unsigned a = keys[low];
    const unsigned b = keys[high];
    if ((a > b) != is_descending) {
        keys[low] = b;
        keys[high] = a;
    }
}
