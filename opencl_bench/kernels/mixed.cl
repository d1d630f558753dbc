/* Each element is loaded once and goes through a chain of multiply-adds.
 *
 * REAL: float or double; ELEMENT: a vector of it. CONTIGUOUS as in stream.cl. */

#ifdef USE_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define CHAINS 8

#ifdef CONTIGUOUS
#define INDEX(k) (get_global_id(0) * per_item + (k))
#else
#define INDEX(k) ((get_group_id(0) * per_item + (k)) * get_local_size(0) + get_local_id(0))
#endif

/* `per_item`: elements of a work-item, a multiple of CHAINS. */
__kernel void mixed_read(__global const ELEMENT *restrict data, __global ELEMENT *restrict sums,
                         REAL factor, REAL term, uint iterations, uint per_item)
{
    ELEMENT sum = (ELEMENT)(0);
    for (uint k = 0; k < per_item; k += CHAINS) {
        ELEMENT t[CHAINS];
        __attribute__((opencl_unroll_hint(CHAINS)))
        for (uint j = 0; j < CHAINS; ++j)
            t[j] = data[INDEX(k + j)];
        for (uint i = 0; i < iterations; ++i) {
            __attribute__((opencl_unroll_hint(CHAINS)))
            for (uint j = 0; j < CHAINS; ++j)
                t[j] = t[j] * factor + term;
        }
        __attribute__((opencl_unroll_hint(CHAINS)))
        for (uint j = 0; j < CHAINS; ++j)
            sum += t[j];
    }
    sums[get_global_id(0)] = sum;
}
