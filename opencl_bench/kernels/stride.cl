/* Runs of 4-byte elements at a regular distance. CONTIGUOUS as in stream.cl. */

#ifdef CONTIGUOUS
#define INDEX(k) (get_global_id(0) * per_item + (k))
#else
#define INDEX(k) ((get_group_id(0) * per_item + (k)) * get_local_size(0) + get_local_id(0))
#endif

/* Element i is number i mod run of run i / run; runs of 2^run_bits elements begin `offset` elements
 * after multiples of `pitch`. */
__kernel void stride_read(__global const uint *restrict data, __global uint *restrict sums,
                          uint pitch, uint run_bits, uint offset, uint per_item)
{
    const size_t in_run = ((size_t)1 << run_bits) - 1;
    uint sum = 0;
    for (uint k = 0; k < per_item; ++k) {
        const size_t i = INDEX(k);
        sum += data[(i >> run_bits) * pitch + (i & in_run) + offset];
    }
    sums[get_global_id(0)] = sum;
}
