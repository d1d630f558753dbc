// Groups of threads that work together: a thread block, tiles of a wavefront, the lanes that are
// active. Thread blocks of a grid that wait for each other are refused.
#ifndef KERNELCAST_HIP_COOPERATIVE_GROUPS_H
#define KERNELCAST_HIP_COOPERATIVE_GROUPS_H
#include <hip/hip_runtime.h>
namespace cooperative_groups {

struct thread_block {
  KC_HIP_MEMBER static void sync() { __syncthreads(); }
  KC_HIP_MEMBER static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  KC_HIP_MEMBER static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
  KC_HIP_MEMBER static unsigned size() { return num_threads(); }
  KC_HIP_MEMBER static dim3 group_index() { return blockIdx; }
  KC_HIP_MEMBER static dim3 thread_index() { return threadIdx; }
  KC_HIP_MEMBER static dim3 group_dim() { return blockDim; }
  KC_HIP_MEMBER static bool is_valid() { return true; }
};
KC_HIP thread_block this_thread_block() { return {}; }

struct grid_group {
  __attribute__((unavailable("thread blocks of a grid that wait for each other are not executed")))
  static __device__ void sync();
  KC_HIP_MEMBER static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  KC_HIP_MEMBER static unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  KC_HIP_MEMBER static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  KC_HIP_MEMBER static unsigned long long num_threads() {
    return num_blocks() * thread_block::size();
  }
  KC_HIP_MEMBER static unsigned long long size() { return num_threads(); }
  KC_HIP_MEMBER static bool is_valid() { return true; }
};
KC_HIP grid_group this_grid() { return {}; }

// Lanes of a wavefront whose numbers share their upper bits.
template <unsigned lanes, typename Parent = void> struct thread_block_tile {
  static_assert(lanes && !(lanes & (lanes - 1)) && lanes <= 64, "tiles have 1, 2, 4, ... 64 lanes");
  KC_HIP_MEMBER static unsigned thread_rank() { return thread_block::thread_rank() & (lanes - 1); }
  KC_HIP_MEMBER static constexpr unsigned num_threads() { return lanes; }
  KC_HIP_MEMBER static constexpr unsigned size() { return lanes; }
  KC_HIP_MEMBER static unsigned meta_group_rank() { return thread_block::thread_rank() / lanes; }
  KC_HIP_MEMBER static unsigned meta_group_size() {
    return (thread_block::size() + lanes - 1) / lanes;
  }
  KC_HIP_MEMBER static void sync() { __syncwarp(); }
  KC_HIP_MEMBER static bool is_valid() { return true; }
  template <typename T> KC_HIP_MEMBER static T shfl(T value, int lane) {
    return __shfl(value, lane, lanes);
  }
  template <typename T> KC_HIP_MEMBER static T shfl_up(T value, unsigned distance) {
    return __shfl_up(value, distance, lanes);
  }
  template <typename T> KC_HIP_MEMBER static T shfl_down(T value, unsigned distance) {
    return __shfl_down(value, distance, lanes);
  }
  template <typename T> KC_HIP_MEMBER static T shfl_xor(T value, unsigned mask) {
    return __shfl_xor(value, (int)mask, lanes);
  }
  KC_HIP_MEMBER static unsigned long long ballot(int predicate) {
    unsigned long long all = __ballot(predicate) >> (__lane_id() & ~(lanes - 1));
    return lanes == 64 ? all : all & ((1ull << (lanes & 63)) - 1);
  }
  KC_HIP_MEMBER static int any(int predicate) { return ballot(predicate) != 0; }
  KC_HIP_MEMBER static int all(int predicate) { return ballot(!predicate) == 0; }
};
template <unsigned lanes, typename Group>
KC_HIP thread_block_tile<lanes, Group> tiled_partition(const Group &) {
  return {};
}

// The lanes that were active when the group was made, in their order.
struct coalesced_group {
  unsigned long long mask;
  KC_HIP_MEMBER unsigned num_threads() const { return (unsigned)__popcll(mask); }
  KC_HIP_MEMBER unsigned size() const { return num_threads(); }
  KC_HIP_MEMBER unsigned thread_rank() const {
    return (unsigned)__popcll(mask & ((1ull << __lane_id()) - 1));
  }
  KC_HIP_MEMBER void sync() const { __syncwarp(mask); }
  KC_HIP_MEMBER bool is_valid() const { return true; }
  template <typename T> KC_HIP_MEMBER T shfl(T value, int rank) const {
    return kc_hip_read(value, lane_of(rank));
  }
  template <typename T> KC_HIP_MEMBER T shfl_up(T value, unsigned distance) const {
    int rank = (int)thread_rank() - (int)distance;
    return kc_hip_read(value, rank < 0 ? (int)__lane_id() : lane_of(rank));
  }
  template <typename T> KC_HIP_MEMBER T shfl_down(T value, unsigned distance) const {
    unsigned rank = thread_rank() + distance;
    return kc_hip_read(value, rank >= size() ? (int)__lane_id() : lane_of((int)rank));
  }
  KC_HIP_MEMBER unsigned long long ballot(int predicate) const {
    unsigned long long all = __ballot(predicate) & mask, found = 0;
    int rank = 0;
    for (unsigned long long left = mask; left; left &= left - 1)
      found |= (all >> __builtin_ctzll(left) & 1) << rank++;
    return found;
  }
  KC_HIP_MEMBER int any(int predicate) const { return (__ballot(predicate) & mask) != 0; }
  KC_HIP_MEMBER int all(int predicate) const { return (__ballot(!predicate) & mask) == 0; }
  KC_HIP_MEMBER int lane_of(int rank) const {
    unsigned long long left = mask;
    for (; rank > 0; --rank) left &= left - 1;
    return __builtin_ctzll(left);
  }
};
KC_HIP coalesced_group coalesced_threads() { return {__activemask()}; }

template <typename Group> KC_HIP void sync(const Group &group) { group.sync(); }
}  // namespace cooperative_groups
#endif
