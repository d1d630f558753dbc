/* The same elements again and again: as many as the footprint under test holds.
 *
 * ELEMENT: a vector of unsigned int. UPDATES: how many of each eight elements are overwritten.
 *
 * Indices have 64 bits: those of 32 bits may wrap, so that a compiler that makes vectors of
 * work-items could not tell that these load neighbours. */

#define AT(k) own[i + (k) * width]

/* Teams of `team` work-groups use parts of the data `apart` elements from each other; the work-groups
 * of a team begin `step` elements from each other. `count`: elements that a work-group goes through
 * in each of `passes`, a multiple of 8 x work-group size. */
#define OWN                                                                                        \
    (data + get_group_id(0) / team * (size_t)apart + get_group_id(0) % team * (size_t)step)

__kernel void cache_read(__global const ELEMENT *restrict data, __global ELEMENT *restrict sums,
                         uint team, uint apart, uint step, uint count, uint passes)
{
    const size_t width = get_local_size(0);
    __global const ELEMENT *own = OWN;
    ELEMENT s0 = (ELEMENT)(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (uint pass = 0; pass < passes; ++pass)
        for (size_t i = get_local_id(0); i < count; i += 8 * width) {
            s0 += AT(0);
            s1 += AT(1);
            s2 += AT(2);
            s3 += AT(3);
            s4 += AT(4);
            s5 += AT(5);
            s6 += AT(6);
            s7 += AT(7);
        }
    sums[get_global_id(0)] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;
}

#ifdef UPDATES
#define UPDATE(k)                                                                                  \
    {                                                                                              \
        sum += AT(k);                                                                              \
        if ((k) < UPDATES)                                                                         \
            AT(k) = (ELEMENT)(seed + (uint)(own - data) + i + (k) * width);                        \
    }

/* Work-groups that meet in a part store the same numbers. */
__kernel void cache_update(__global ELEMENT *data, __global ELEMENT *restrict sums, uint team,
                           uint apart, uint step, uint count, uint passes, uint seed)
{
    const size_t width = get_local_size(0);
    __global ELEMENT *own = OWN;
    ELEMENT sum = (ELEMENT)(0);
    for (uint pass = 0; pass < passes; ++pass)
        for (size_t i = get_local_id(0); i < count; i += 8 * width) {
            UPDATE(0)
            UPDATE(1)
            UPDATE(2)
            UPDATE(3)
            UPDATE(4)
            UPDATE(5)
            UPDATE(6)
            UPDATE(7)
        }
    sums[get_global_id(0)] = sum;
}
#endif
