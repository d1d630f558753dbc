#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void values(__global const float *x, __global float *f, __global int *n, __global double *d) {
  int i = get_global_id(0);
  float a = x[i], b = x[i + 1];
  __global float *o = f + 64 * i;
  int k = 0;
  o[k++] = fabs(a); o[k++] = floor(a); o[k++] = ceil(a); o[k++] = trunc(a); o[k++] = rint(a); o[k++] = sqrt(fabs(a));
  o[k++] = round(a); o[k++] = fmin(a, b); o[k++] = fmax(a, b); o[k++] = copysign(a, b); o[k++] = fma(a, b, a);
  o[k++] = exp(a); o[k++] = exp2(a); o[k++] = log(fabs(a) + 1); o[k++] = pow(fabs(a) + 1, b); o[k++] = sin(a); o[k++] = cos(a);
  o[k++] = tan(a); o[k++] = atan2(a, b); o[k++] = tanh(a); o[k++] = fmod(a, b); o[k++] = hypot(a, b); o[k++] = cbrt(a);
  o[k++] = erf(a); o[k++] = pown(a, 3); o[k++] = ldexp(a, 3); o[k++] = rsqrt(fabs(a) + 1);
  o[k++] = max(a, b); o[k++] = min(a, 0.5f); o[k++] = clamp(a, -1.0f, 1.0f); o[k++] = mix(a, b, 0.25f);
  o[k++] = step(a, b); o[k++] = smoothstep(-3.0f, 3.0f, a); o[k++] = sign(a); o[k++] = degrees(a); o[k++] = radians(a);
  float4 v = vload4(0, x + i), w = (float4)(b, a, 1, 2);
  o[k++] = dot(v, w); o[k++] = length(v.xyz); o[k++] = distance(v.xy, w.xy);
  vstore4(normalize(v), 0, o + k); k += 4;
  vstore3(cross(v.xyz, w.xyz), 0, o + k); k += 3;
  vstore2(exp(v.xy), 0, o + k); k += 2;
  float c; o[k++] = sincos(a, &c); o[k++] = c; o[k++] = native_exp(a); o[k++] = native_divide(a, 3.0f);
  o[k++] = select(a, b, i & 1); o[k++] = convert_float(i); o[k++] = fast_length(v);
  __global int *p = n + 48 * i;
  int s = i * 77777 - 300000, t = i * 3 - 11;
  k = 0;
  p[k++] = abs(s); p[k++] = abs_diff(s, t); p[k++] = max(s, t); p[k++] = min(s, t); p[k++] = clamp(s, -5, 5);
  p[k++] = rotate(s, i); p[k++] = hadd(s, t); p[k++] = rhadd(s, t); p[k++] = mul_hi(s, t * 9999); p[k++] = mad_hi(s, t * 9999, 3);
  p[k++] = popcount(s); p[k++] = clz(i); p[k++] = mul24(t, i); p[k++] = mad24(t, i, 7);
  p[k++] = isnan(a); p[k++] = isinf(a); p[k++] = signbit(a) != 0; p[k++] = convert_int_rte(a); p[k++] = convert_int_rtp(a); p[k++] = convert_int(a);
  char4 h = convert_char4((int4)(s, t, i, 3)); p[k++] = h.x; p[k++] = h.w; p[k++] = clz((uchar)i); p[k++] = popcount((short)s); p[k++] = clz((short)(i+1));
  p[k++] = any(v > w); p[k++] = all(v > w); p[k++] = mul_hi((ulong)s << 20, (ulong)t << 30) & 0xffff;
  p[k++] = get_local_size(0); p[k++] = get_num_groups(0); p[k++] = get_global_size(0); p[k++] = get_group_id(0); p[k++] = get_global_id(1); p[k++] = get_local_size(1);
  p[k++] = rotate((char)s, (char)i); p[k++] = clamp((uchar4)(s), (uchar)3, (uchar)9).x; p[k++]=get_global_offset(0);
  d[8 * i] = exp((double)a); d[8 * i + 1] = sqrt(fabs((double)a)); d[8 * i + 2] = pow(fabs((double)a) + 1, (double)b); d[8*i+3] = mix((double)a, (double)b, 0.5); d[8*i+4]=rsqrt((double)i+1); d[8*i+5]=floor((double)a);
}
__kernel void atomics(__global int *g, __global uint *u, __local int *l, __global long *w) {
  int i = get_local_id(0);
  if (i == 0) l[0] = l[1] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&l[0], i); atomic_max(&l[1], i);
  atomic_add(&g[0], i); atomic_sub(&g[1], i); atomic_inc(&g[2]); atomic_dec(&g[3]); atomic_min(&g[4], -i); atomic_max(&g[5], i);
  atomic_and(&g[6], ~(1 << (i & 7))); atomic_or(&g[7], 1 << (i & 7)); atomic_xor(&g[8], i);
  atomic_cmpxchg(&g[9], 0, 5); atomic_min(&u[0], (uint)i + 7); atomic_max(&u[1], (uint)i << 27); atomic_xchg(&g[10], 3);
  atom_add(&w[0], (long)i << 33);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < 2) atomic_add(&g[11 + i], l[i]);
}
