/* Barriers, each with a value handed on to the next work-item, in two tiles by turns. */
kernel void barriers(global uint *values, local uint *tiles, uint iterations) {
  const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
  uint value = item;
  for (uint n = 0; n < iterations; n++) {
    local uint *tile = tiles + (n & 1) * size;
    tile[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = tile[item + 1 == size ? 0 : item + 1];
  }
  values[get_global_id(0)] = value;
}
