/* Every element once, in an order that is random within windows. CONTIGUOUS as in stream.cl. */

#ifdef CONTIGUOUS
#define INDEX(k) (get_global_id(0) * per_item + (k))
#else
#define INDEX(k) ((get_group_id(0) * per_item + (k)) * get_local_size(0) + get_local_id(0))
#endif

/* A one-to-one map of the numbers below 2^bits: odd multipliers and right shifts can be undone. */
uint scattered(uint i, uint bits)
{
    const uint mask = (1u << bits) - 1u;
    const uint shift = (bits + 1u) / 2u;
    uint x = (i * 0x9E3779B1u) & mask;
    x ^= x >> shift;
    x = (x * 0x85EBCA6Bu) & mask;
    x ^= x >> shift;
    return (i & ~mask) | x;
}

/* Windows of 2^window_bits elements; 2^31 elements at most. */
__kernel void gather_read(__global const uint *restrict data, __global uint *restrict sums,
                          uint window_bits, uint per_item)
{
    uint sum = 0;
    for (uint k = 0; k < per_item; ++k)
        sum += data[scattered((uint)INDEX(k), window_bits)];
    sums[get_global_id(0)] = sum;
}
