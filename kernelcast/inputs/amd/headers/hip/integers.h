// Functions on integers and on the bits of numbers.
#ifndef KERNELCAST_HIP_INTEGERS_H
#define KERNELCAST_HIP_INTEGERS_H
KC_HIP int __popc(unsigned x) { return __builtin_popcount(x); }
KC_HIP int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KC_HIP int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KC_HIP int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KC_HIP int __ffs(int x) { return x ? __builtin_ctz((unsigned)x) + 1 : 0; }
KC_HIP int __ffsll(long long x) { return x ? __builtin_ctzll((unsigned long long)x) + 1 : 0; }
KC_HIP int __ffsll(unsigned long long x) { return __ffsll((long long)x); }
KC_HIP unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KC_HIP unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KC_HIP int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
KC_HIP unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
KC_HIP long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
KC_HIP unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
KC_HIP int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
KC_HIP unsigned __umul24(unsigned x, unsigned y) { return (x & 0xFFFFFFu) * (y & 0xFFFFFFu); }
KC_HIP unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
KC_HIP unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
KC_HIP unsigned __byte_perm(unsigned x, unsigned y, unsigned select) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned found = 0;
  for (int byte = 0; byte < 4; ++byte)
    found |= (unsigned)(both >> (8 * (select >> 4 * byte & 7)) & 0xFF) << 8 * byte;
  return found;
}
KC_HIP unsigned __sad(int x, int y, unsigned z) { return z + (unsigned)(x > y ? x - y : y - x); }
KC_HIP unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x > y ? x - y : y - x); }
KC_HIP int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
KC_HIP int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }

#define KC_HIP_BITS(name, From, To) \
  KC_HIP To name(From x) {          \
    To found;                       \
    __builtin_memcpy(&found, &x, sizeof found); \
    return found;                   \
  }
KC_HIP_BITS(__float_as_int, float, int)
KC_HIP_BITS(__float_as_uint, float, unsigned)
KC_HIP_BITS(__int_as_float, int, float)
KC_HIP_BITS(__uint_as_float, unsigned, float)
KC_HIP_BITS(__double_as_longlong, double, long long)
KC_HIP_BITS(__longlong_as_double, long long, double)
KC_HIP int __double2loint(double x) { return (int)__double_as_longlong(x); }
KC_HIP int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KC_HIP double __hiloint2double(int high, int low) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

#define KC_HIP_ORDER(T)                              \
  KC_HIP T min(T x, T y) { return y < x ? y : x; }   \
  KC_HIP T max(T x, T y) { return x < y ? y : x; }
KC_HIP_ORDER(int)
KC_HIP_ORDER(unsigned)
KC_HIP_ORDER(long)
KC_HIP_ORDER(unsigned long)
KC_HIP_ORDER(long long)
KC_HIP_ORDER(unsigned long long)
#undef KC_HIP_ORDER
// Of a number with a sign and one without, both are taken as without.
#define KC_HIP_MIXED(S, U)                                         \
  KC_HIP U min(S x, U y) { return min((U)x, y); }                  \
  KC_HIP U min(U x, S y) { return min(x, (U)y); }                  \
  KC_HIP U max(S x, U y) { return max((U)x, y); }                  \
  KC_HIP U max(U x, S y) { return max(x, (U)y); }
KC_HIP_MIXED(int, unsigned)
KC_HIP_MIXED(long, unsigned long)
KC_HIP_MIXED(long long, unsigned long long)
#undef KC_HIP_MIXED
KC_HIP int abs(int x) { return x < 0 ? -x : x; }
KC_HIP long labs(long x) { return x < 0 ? -x : x; }
KC_HIP long long llabs(long long x) { return x < 0 ? -x : x; }
#endif
