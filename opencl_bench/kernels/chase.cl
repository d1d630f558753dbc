/* Chains in which every step waits for the one before; one work-item. */

#define FOUR(step) step step step step

/* `state`: where the chain stands, and how many steps it has made; it goes on from there, so that
 * repetitions do not visit the same part of a large cycle. `steps`: a multiple of 8. */
__kernel void chase_pointers(__global const uint *restrict next, __global uint *restrict state,
                             uint steps)
{
    uint at = state[0];
    for (uint i = 0; i < steps; i += 8) {
        FOUR(at = next[at];)
        FOUR(at = next[at];)
    }
    state[0] = at;
    state[1] += steps;
}

/* One exclusive or and one addition a step. `steps`: a multiple of 16. */
__kernel void chase_arithmetic(__global uint *restrict result, uint mask, uint term, uint steps)
{
    uint x = 0;
    for (uint i = 0; i < steps; i += 16) {
        FOUR(FOUR(x = (x ^ mask) + term;))
    }
    result[0] = x;
}
