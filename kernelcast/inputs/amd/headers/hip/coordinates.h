// Where a thread is: threadIdx, blockIdx, blockDim, gridDim.
#ifndef KERNELCAST_HIP_COORDINATES_H
#define KERNELCAST_HIP_COORDINATES_H
KC_HIP_CONST unsigned long __ockl_get_local_size(unsigned);
KC_HIP_CONST unsigned long __ockl_get_num_groups(unsigned);

#define KC_HIP_COORDINATE(name, of_x, of_y, of_z)                                    \
  struct kc_hip_##name {                                                             \
    __declspec(property(get = get_x)) unsigned x;                                    \
    __declspec(property(get = get_y)) unsigned y;                                    \
    __declspec(property(get = get_z)) unsigned z;                                    \
    __device__ __forceinline__ unsigned get_x() const { return (unsigned)(of_x); }   \
    __device__ __forceinline__ unsigned get_y() const { return (unsigned)(of_y); }   \
    __device__ __forceinline__ unsigned get_z() const { return (unsigned)(of_z); }   \
    __device__ operator dim3() const { return dim3(x, y, z); }                       \
    __device__ operator uint3() const { return make_uint3(x, y, z); }                \
  };                                                                                 \
  extern const __device__ __attribute__((weak)) kc_hip_##name name;
KC_HIP_COORDINATE(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                  __builtin_amdgcn_workitem_id_z())
KC_HIP_COORDINATE(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                  __builtin_amdgcn_workgroup_id_z())
KC_HIP_COORDINATE(blockDim, __ockl_get_local_size(0), __ockl_get_local_size(1),
                  __ockl_get_local_size(2))
KC_HIP_COORDINATE(gridDim, __ockl_get_num_groups(0), __ockl_get_num_groups(1),
                  __ockl_get_num_groups(2))
#undef KC_HIP_COORDINATE

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

// The width of a wavefront: not a constant of the compiler, as in ROCm 7, but of the device.
KC_HIP_CONST int __kernelcast_wavefront_size(void);
struct kc_hip_warp_size {
  __device__ __forceinline__ operator int() const { return __kernelcast_wavefront_size(); }
};
extern const __device__ __attribute__((weak)) kc_hip_warp_size warpSize;
#endif
