// One kernel for each group of instructions. spirv_tour_translator.spv is its output of clang 15 -O2
// and llvm-spirv 15, spirv_tour_llvm.spv that of the SPIR-V back end of LLVM 22.
kernel void saxpy(global float* y, global const float* x, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
kernel void reduce(global const float* in, global float* out, local float* tmp) {
  local float extra[64];
  uint l = get_local_id(0);
  tmp[l] = in[get_global_id(0)]; extra[l & 63] = 1.0f;
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < s) tmp[l] += tmp[l + s];
  }
  if (l == 0) out[get_group_id(0)] = tmp[0] + extra[0];
}
kernel void vec4(global float4* a, global const float4* b, float k) {
  size_t i = get_global_id(0);
  float4 v = fma(a[i], b[i], (float4)(k));
  v.xy = v.wz;
  v = clamp(v, 0.0f, 10.0f) + native_sqrt(fabs(b[i]));
  a[i] = v + dot(v, b[i]) + vload4(i, (global const float*)b);
}
kernel void choose(global int* a, int mode) {
  size_t i = get_global_id(0);
  int v = a[i];
  switch (mode) { case 0: v = v * 3; break; case 1: v = v - 7; break; case 5: v ^= 0x55; break; default: v = -v; }
  a[i] = v > 100 ? convert_char_sat(v) : abs(v) + (v != 3);
}
typedef struct { int key; float weight[3]; short2 pair; } item;
constant float table[4] = {1.0f, 2.5f, -3.0f, 4.0f};
kernel void structs(global item* items, item extra, global float* out) {
  size_t i = get_global_id(0);
  item t = items[i];
  t.weight[1] += table[i & 3] + extra.weight[2];
  t.pair.x = t.pair.y + (short)t.key;
  items[i] = t;
  out[i] = t.weight[0] + t.weight[1] + extra.key;
}
kernel void histogram(global const uchar* data, global uint* bins, volatile global int* top) {
  local uint mine[16];
  uint l = get_local_id(0);
  if (l < 16) mine[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&mine[data[get_global_id(0)] & 15]);
  atomic_max(top, (int)data[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (l < 16) atomic_add(&bins[l], mine[l]);
}
