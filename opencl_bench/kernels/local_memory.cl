/* Swaps within local memory, by width of the access, and reads of it with a stride.
 *
 * WORDS: a power of two.
 */

/* Six places of each work-item, `step` elements from each other, so next to those of its
 * neighbours; an iteration makes five swaps, which are ten loads and ten stores. A compiler that
 * does not know `step` must expect places to be one and the same: it keeps none in a register, and
 * is still free to make vectors of work-items, which volatile accesses would forbid. */
#define PLACE(k) tile[at##k]
#define SWAP(j, k)                                                                           \
  kept = PLACE(j);                                                                           \
  PLACE(j) = PLACE(k);                                                                       \
  PLACE(k) = kept;

#define SWAP_KERNEL(NAME, TYPE)                                                              \
  kernel void NAME(global TYPE *sums, local TYPE *tile, uint step, uint iterations) {        \
    const size_t at0 = get_local_id(0), at1 = at0 + step, at2 = at1 + step;                  \
    const size_t at3 = at2 + step, at4 = at3 + step, at5 = at4 + step;                       \
    const uint first = 6 * (uint)get_global_id(0);                                           \
    TYPE kept;                                                                               \
    PLACE(0) = (TYPE)(first);                                                                \
    PLACE(1) = (TYPE)(first + 1);                                                            \
    PLACE(2) = (TYPE)(first + 2);                                                            \
    PLACE(3) = (TYPE)(first + 3);                                                            \
    PLACE(4) = (TYPE)(first + 4);                                                            \
    PLACE(5) = (TYPE)(first + 5);                                                            \
    for (uint n = 0; n < iterations; n++) {                                                  \
      SWAP(0, 1) SWAP(2, 3) SWAP(4, 5) SWAP(1, 2) SWAP(3, 4)                                 \
    }                                                                                        \
    sums[get_global_id(0)] = PLACE(0) + (TYPE)(2) * PLACE(1) + (TYPE)(3) * PLACE(2)          \
                             + (TYPE)(4) * PLACE(3) + (TYPE)(5) * PLACE(4)                   \
                             + (TYPE)(6) * PLACE(5);                                         \
  }

SWAP_KERNEL(local_swap_32_bit, uint)
SWAP_KERNEL(local_swap_64_bit, uint2)
SWAP_KERNEL(local_swap_128_bit, uint4)
SWAP_KERNEL(local_swap_256_bit, uint8)
SWAP_KERNEL(local_swap_512_bit, uint16)

/* Each word of the tile holds its index, and is read as volatile, so one by one; 8 more let an
 * iteration read ahead without wrapping. */
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
