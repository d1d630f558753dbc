/* Swaps within local memory, by width of the access, and reads of it with a stride.
 *
 * All accesses are volatile, so that no compiler keeps words in registers. WORDS: a power of two.
 */

/* Six places of each work-item, neighbours of those of the next one; an iteration makes five swaps,
 * which are ten loads and ten stores. */
#define PLACE(k) tile[(k) * size + item]
#define SWAP(TYPE, j, k)        \
  {                             \
    const TYPE kept = PLACE(j); \
    PLACE(j) = PLACE(k);        \
    PLACE(k) = kept;            \
  }

#define SWAP_KERNEL(NAME, TYPE)                                                              \
  kernel void NAME(global TYPE *sums, volatile local TYPE *tile, uint iterations) {          \
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);                 \
    const uint first = 6 * (uint)get_global_id(0);                                           \
    for (uint k = 0; k < 6; k++) PLACE(k) = (TYPE)(first + k);                               \
    for (uint n = 0; n < iterations; n++) {                                                  \
      SWAP(TYPE, 0, 1) SWAP(TYPE, 2, 3) SWAP(TYPE, 4, 5) SWAP(TYPE, 1, 2) SWAP(TYPE, 3, 4)   \
    }                                                                                        \
    TYPE sum = (TYPE)(0);                                                                    \
    for (uint k = 0; k < 6; k++) sum += (TYPE)(k + 1) * PLACE(k);                            \
    sums[get_global_id(0)] = sum;                                                            \
  }

SWAP_KERNEL(local_swap_32_bit, uint)
SWAP_KERNEL(local_swap_64_bit, uint2)
SWAP_KERNEL(local_swap_128_bit, uint4)
SWAP_KERNEL(local_swap_256_bit, uint8)
SWAP_KERNEL(local_swap_512_bit, uint16)

/* Each word of the tile holds its index; 8 more let an iteration read ahead without wrapping. */
kernel void local_stride(global uint *sums, volatile local uint *tile, uint stride, uint iterations) {
  const uint item = (uint)get_local_id(0);
  for (uint i = item; i < WORDS + 8; i += (uint)get_local_size(0)) tile[i] = i % WORDS;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint base = (item * stride) % WORDS;
  uint a = 0, b = 0, c = 0, d = 0;
  /* The same for all, but unknown to be: compilers for CPUs else run the work-items in lockstep,
   * with their variables in memory. */
  const uint end = iterations + item / WORDS;
  for (uint n = 0; n < end; n++) {
    a += tile[base + 0];
    b += tile[base + 1];
    c += tile[base + 2];
    d += tile[base + 3];
    a += tile[base + 4];
    b += tile[base + 5];
    c += tile[base + 6];
    d += tile[base + 7];
    base = (base + 8) % WORDS;
  }
  sums[get_global_id(0)] = a + b + c + d;
}
