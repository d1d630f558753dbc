/* Atomic additions. `spread`: words from one work-item's word to the next one's; 0: all share one.
 *
 * Each work-item adds a value of its own, from a buffer. The words of `global_atomic` keep their sums
 * from launch to launch, so `launches` counts these. `tile`: a word for each work-item.
 */
kernel void global_atomic(global uint *words, global uint *launches, global const uint *values,
                          uint spread, uint iterations) {
  const uint item = (uint)get_global_id(0);
  const uint value = values[get_local_id(0)];
  if (item == 0) launches[0]++;
  for (uint n = 0; n < iterations; n++) atomic_add(&words[item * spread], value);
}

kernel void local_atomic(global uint *words, global uint *launches, global const uint *values,
                         uint spread, uint iterations, local uint *tile) {
  const uint item = (uint)get_local_id(0);
  const uint value = values[item];
  if (get_global_id(0) == 0) launches[0] = 1;
  tile[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint n = 0; n < iterations; n++) atomic_add(&tile[item * spread], value);
  barrier(CLK_LOCAL_MEM_FENCE);
  words[get_global_id(0)] = tile[item * spread];
}
