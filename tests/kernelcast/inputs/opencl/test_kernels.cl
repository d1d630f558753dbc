struct Mixed { char a; int b; float c[3]; double d; };
typedef struct __attribute__((packed)) { char a; int b; } Packed;
__constant int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant struct Mixed fixed = {1, 2, {1.5f, 2.5f, 3.5f}, 4.25};
__constant char text[6] = "hello";

__kernel void stencil(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i > 0 && i < n - 1) b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
  else b[i] = a[i];
}

__kernel void gemm(__global const float *a, __global const float *b, __global float *c, int n) {
  __local float ta[8][8], tb[8][8];
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  float s = 0;
  for (int k = 0; k < n; k += 8) {
    ta[ly][lx] = a[y * n + k + lx];
    tb[ly][lx] = b[(k + ly) * n + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 8; j++) s += ta[ly][j] * tb[j][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[y * n + x] = s;
}

__kernel void reduce(__global const float *in, __global float *out, __local float *part) {
  int l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) part[l] += part[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = part[0];
}

__kernel void scan(__global const int *in, __global int *out, __local int *a, __local int *b) {
  int l = get_local_id(0), n = get_local_size(0);
  a[l] = in[get_global_id(0)];
  for (int d = 1; d < n; d *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    b[l] = l >= d ? a[l] + a[l - d] : a[l];
    __local int *t = a; a = b; b = t;
  }
  out[get_global_id(0)] = a[l];
}

__kernel void collatz(__global int *steps) {
  ulong v = get_global_id(0) + 1;
  int n = 0;
  while (v != 1) { v = (v & 1) ? 3 * v + 1 : v / 2; n++; }
  steps[get_global_id(0)] = n;
}

__kernel void vectors(__global float4 *a, __global const float4 *b, float k) {
  int i = get_global_id(0);
  float4 v = a[i] * k + b[i].wzyx;
  v.x = v.y > 1.0f ? v.z : v.w;
  a[i] = v;
}

__kernel void bytes(__global uchar *a, __global const char *b, __global short *c) {
  int i = get_global_id(0);
  uchar x = a[i]; char y = b[i];
  a[i] = (x * 3 + y) >> 1;
  c[i] = (short)(y >> 2) * (short)x + (y < -5) + (x > 200) + y / 3 + x % 7;
}

__kernel void wide(__global double *a, __global long *b) {
  int i = get_global_id(0);
  double d = a[i]; long v = b[i];
  a[i] = d * d / 3.0;
  b[i] = v * v / 7 + (v % 5) + (long)d + (v << (i & 15)) + (v >> 3) + ((ulong)v >> 60);
}

__kernel void structs(__global struct Mixed *s, __global Packed *p, __global int *o) {
  int i = get_global_id(0);
  struct Mixed t = s[i];
  t.a += 1; t.b *= 2; t.c[1] += fixed.c[2]; t.d -= fixed.d;
  s[i] = t;
  p[i].b = p[i].b + p[i].a;
  o[i] = table[i & 7] + text[i % 5];
}

__kernel void histogram(__global const uint *a, __global uint *h) {
  __local uint l[16];
  int i = get_local_id(0);
  if (i < 16) l[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&l[a[get_global_id(0)] & 15]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < 16) atomic_add(&h[i], l[i]);
}

int helper(int x, __global int *p) {
  if (x > 5) return x * 2;
  p[x] = 7;
  return x - 1;
}
__kernel void calls(__global int *p, __global int *q) {
  int i = get_global_id(0);
  q[i] = helper(i, p) + helper(i + 3, p);
}

__kernel void choice(__global int *p) {
  int i = get_global_id(0), r = 2;
  switch (p[i]) {
    case 0: r = 11; break;
    case 5: r = i; break;
    case -3: r = i * i;
    case 9: r += 4; break;
    default: r = -1;
  }
  p[i] = r;
}

__kernel void values(__global int *o, struct Mixed s, float4 f, char c) {
  int i = get_global_id(0);
  o[i] = s.a + s.b * i + (int)(s.c[i % 3] * 2) + (int)s.d + (int)f.z + c;
}

__kernel void own(__global int *o, int n) {
  int a[16], i = get_global_id(0), s = 0;
  for (int j = 0; j < 16; j++) a[j] = j * i;
  for (int j = 0; j < n; j++) s += a[(j * 7 + i) & 15];
  o[i] = s;
}

__kernel void transpose(__global const float *a, __global float *b, int n) {
  __local float t[8][9];
  int lx = get_local_id(0), ly = get_local_id(1);
  t[ly][lx] = a[get_global_id(1) * n + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  b[(get_group_id(0) * 8 + ly) * n + get_group_id(1) * 8 + lx] = t[lx][ly];
}

__kernel void nbody(__global const float4 *p, __global float4 *v, int n) {
  int i = get_global_id(0);
  float4 me = p[i];
  float3 sum = (float3)(0);
  for (int j = 0; j < n; j++) {
    float3 d = p[j].xyz - me.xyz;
    float r = dot(d, d) + 0.01f;
    sum += d * (p[j].w / (r * sqrt(r)));
  }
  v[i].xyz += sum;
}

__kernel void spmv(__global const int *row, __global const int *col, __global const float *val,
                   __global const float *x, __global float *y) {
  int i = get_global_id(0);
  float s = 0;
  for (int j = row[i]; j < row[i + 1]; j++) s += val[j] * x[col[j]];
  y[i] = s;
}
