/* A fixed number of work-items walks through an array far larger than every cache.
 *
 * ELEMENT: a vector of unsigned int. LOADS: loads of a work-item that do not wait for each other.
 * ROUND_BARRIER: for CPU devices, which run a work-group's items one after the other: it keeps them
 * in the same part of the array. */

__kernel void occupancy_read(__global const ELEMENT *restrict data, __global ELEMENT *restrict sums,
                             uint rounds)
{
    const size_t width = get_local_size(0);
    ELEMENT sum = (ELEMENT)(0);
    for (uint round = 0; round < rounds; ++round) {
        const size_t first = ((size_t)round * get_num_groups(0) + get_group_id(0)) * LOADS * width
                             + get_local_id(0);
        ELEMENT loaded[LOADS];
        __attribute__((opencl_unroll_hint(LOADS)))
        for (uint j = 0; j < LOADS; ++j)
            loaded[j] = data[first + j * width];
        __attribute__((opencl_unroll_hint(LOADS)))
        for (uint j = 0; j < LOADS; ++j)
            sum += loaded[j];
#ifdef ROUND_BARRIER
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    sums[get_global_id(0)] = sum;
}
