/* Every work-item adds up a part of a table in constant memory, in rising order.
 *
 * LANE_STEP: how many entries a work-item begins after its neighbour; 0: all read the same entry at
 * a time. */

#define FIRST ((uint)get_local_id(0) * LANE_STEP)

/* Each work-item adds `count` entries. */
__kernel void constant_read(__constant uint *restrict table, __global uint *restrict sums,
                            uint count, uint passes)
{
    uint sum = (uint)get_global_id(0);
    for (uint pass = 0; pass < passes; ++pass)
        for (uint j = 0; j < count; ++j)
            sum += table[FIRST + j];
    sums[get_global_id(0)] = sum;
}
