// What lanes of a wavefront, of 64 lanes on GCN and CDNA and 32 or 64 on RDNA, see of each other.
#ifndef KERNELCAST_HIP_LANES_H
#define KERNELCAST_HIP_LANES_H
KC_HIP unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

// 33 is "not equal" (llvm::CmpInst::ICMP_NE).
KC_HIP unsigned long long __ballot(int predicate) { return __builtin_amdgcn_uicmp(predicate, 0, 33); }
KC_HIP unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
KC_HIP unsigned long long __activemask() { return __ballot(1); }
KC_HIP int __any(int predicate) { return __ballot(predicate) != 0; }
KC_HIP int __all(int predicate) { return __ballot(!predicate) == 0; }
KC_HIP unsigned long long __ballot_sync(unsigned long long mask, int predicate) {
  return __ballot(predicate) & mask;
}
KC_HIP int __any_sync(unsigned long long mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
KC_HIP int __all_sync(unsigned long long mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

// The word of another lane; lanes that do not take part give nothing that is defined.
KC_HIP int kc_hip_word(int word, int lane) { return __builtin_amdgcn_ds_bpermute(lane << 2, word); }
template <typename T> KC_HIP T kc_hip_read(T value, int lane) {
  static_assert(sizeof(T) <= 8, "shuffles are of at most 8 bytes");
  if constexpr (sizeof(T) > 4) {
    long long whole;
    __builtin_memcpy(&whole, &value, sizeof(T));
    unsigned low = (unsigned)kc_hip_word((int)whole, lane);
    unsigned high = (unsigned)kc_hip_word((int)(whole >> 32), lane);
    whole = (long long)((unsigned long long)high << 32 | low);
    __builtin_memcpy(&value, &whole, sizeof(T));
  } else {
    int whole = 0;
    __builtin_memcpy(&whole, &value, sizeof(T));
    whole = kc_hip_word(whole, lane);
    __builtin_memcpy(&value, &whole, sizeof(T));
  }
  return value;
}
template <typename T> KC_HIP T __shfl(T value, int lane, int width = warpSize) {
  int self = (int)__lane_id();
  return kc_hip_read(value, (lane & (width - 1)) + (self & ~(width - 1)));
}
template <typename T> KC_HIP T __shfl_up(T value, unsigned distance, int width = warpSize) {
  int self = (int)__lane_id(), lane = self - (int)distance;
  return kc_hip_read(value, lane < (self & ~(width - 1)) ? self : lane);
}
template <typename T> KC_HIP T __shfl_down(T value, unsigned distance, int width = warpSize) {
  int self = (int)__lane_id();
  bool is_out = (int)((self & (width - 1)) + distance) >= width;
  return kc_hip_read(value, is_out ? self : self + (int)distance);
}
template <typename T> KC_HIP T __shfl_xor(T value, int mask, int width = warpSize) {
  int self = (int)__lane_id(), lane = self ^ mask;
  return kc_hip_read(value, lane >= ((self + width) & ~(width - 1)) ? self : lane);
}
// The lanes of `mask` whose value is that of the own one.
template <typename T> KC_HIP unsigned long long kc_hip_match(unsigned long long mask, T value) {
  unsigned long long found = 0;
  for (unsigned long long left = mask; left; left &= left - 1) {
    int lane = __builtin_ctzll(left);
    if (kc_hip_read(value, lane) == value) found |= 1ull << lane;
  }
  return found;
}
template <typename T> KC_HIP unsigned long long __match_any(T value) {
  return kc_hip_match(__activemask(), value);
}
template <typename T> KC_HIP unsigned long long __match_any_sync(unsigned long long mask, T value) {
  return kc_hip_match(mask, value);
}
template <typename T>
KC_HIP unsigned long long __match_all_sync(unsigned long long mask, T value, int *is_same) {
  *is_same = kc_hip_match(mask, value) == mask;
  return *is_same ? mask : 0;
}
template <typename T> KC_HIP unsigned long long __match_all(T value, int *is_same) {
  return __match_all_sync(__activemask(), value, is_same);
}
// A number of all lanes of `mask`, in all of them.
#define KC_HIP_REDUCED(name, joined)                                           \
  template <typename T> KC_HIP T name(unsigned long long mask, T value) {      \
    T found = kc_hip_read(value, __builtin_ctzll(mask));                       \
    for (mask &= mask - 1; mask; mask &= mask - 1) {                           \
      T other = kc_hip_read(value, __builtin_ctzll(mask));                     \
      found = joined;                                                          \
    }                                                                          \
    return found;                                                              \
  }
KC_HIP_REDUCED(__reduce_add_sync, found + other)
KC_HIP_REDUCED(__reduce_min_sync, other < found ? other : found)
KC_HIP_REDUCED(__reduce_max_sync, found < other ? other : found)
KC_HIP_REDUCED(__reduce_and_sync, found & other)
KC_HIP_REDUCED(__reduce_or_sync, found | other)
KC_HIP_REDUCED(__reduce_xor_sync, found ^ other)
#undef KC_HIP_REDUCED
#define KC_HIP_SYNC(name, second)                                                     \
  template <typename M, typename T>                                                   \
  KC_HIP T name##_sync(M, T value, second, int width = warpSize) {                    \
    static_assert(sizeof(M) == 8, "masks of lanes have 64 bits");                     \
    return name(value, other, width);                                                 \
  }
KC_HIP_SYNC(__shfl, int other)
KC_HIP_SYNC(__shfl_up, unsigned other)
KC_HIP_SYNC(__shfl_down, unsigned other)
KC_HIP_SYNC(__shfl_xor, int other)
#undef KC_HIP_SYNC
#endif
