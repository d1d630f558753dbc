/* Rounds of one load and 1 + MIX integer multiply-adds, every step waiting for the one before.
 *
 * `next`: PLACES words, the place after each place. `factor` is 6, so that a result depends on the
 * last 32 steps only; `none` is 0, and makes the next place wait for x. */
__kernel void mixed_chain(__global const uint *restrict next, __global uint *restrict result,
                          uint factor, uint none, uint rounds)
{
    uint at = (uint)get_global_id(0) & (PLACES - 1);
    uint x = 1;
    for (uint round = 0; round < rounds; ++round) {
        at = next[at] + (x & none);
        uint v = at;
        x = x * factor + v;
#pragma unroll 16
        for (uint i = 0; i < MIX; ++i) {
            x = x * factor + v;
        }
    }
    result[get_global_id(0)] = x;
}
