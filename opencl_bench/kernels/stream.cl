/* Arrays far larger than every cache, each element touched once.
 *
 * ELEMENT: a vector of unsigned int. CONTIGUOUS: a work-item takes neighbouring elements, which
 * suits CPUs; otherwise neighbouring work-items do, which GPUs coalesce. INT_INDICES: their numbers
 * go through an int, as in most kernels for GPUs; a compiler that makes vectors of work-items must
 * then allow for numbers that wrap, and may gather single words. */

#ifdef CONTIGUOUS
#define PLACE(k) (get_global_id(0) * per_item + (k))
#else
#define PLACE(k) ((get_group_id(0) * per_item + (k)) * get_local_size(0) + get_local_id(0))
#endif
#ifdef INT_INDICES
#define INDEX(k) ((int)PLACE(k))
#else
#define INDEX(k) PLACE(k)
#endif

__kernel void stream_read(__global const ELEMENT *restrict source, __global ELEMENT *restrict sums,
                          uint per_item)
{
    ELEMENT sum = (ELEMENT)(0);
    for (uint k = 0; k < per_item; ++k)
        sum += source[INDEX(k)];
    sums[get_global_id(0)] = sum;
}

__kernel void stream_write(__global ELEMENT *restrict destination, uint seed, uint per_item)
{
    for (uint k = 0; k < per_item; ++k)
        destination[INDEX(k)] = (ELEMENT)(seed + (uint)INDEX(k));
}

__kernel void stream_copy(__global const ELEMENT *restrict source,
                          __global ELEMENT *restrict destination, uint per_item)
{
    for (uint k = 0; k < per_item; ++k)
        destination[INDEX(k)] = source[INDEX(k)];
}

__kernel void stream_triad(__global const ELEMENT *restrict first,
                           __global const ELEMENT *restrict second,
                           __global ELEMENT *restrict destination, uint factor, uint per_item)
{
    for (uint k = 0; k < per_item; ++k)
        destination[INDEX(k)] = first[INDEX(k)] + factor * second[INDEX(k)];
}
