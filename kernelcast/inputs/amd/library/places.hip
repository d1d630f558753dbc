// Sizes of a launch, which lie behind the arguments of a kernel (LLVM's AMDGPU usage guide, code
// object V5: numbers of work-groups at byte 0, their sizes at byte 12), and of a wavefront.
#define DEFINE extern "C" __attribute__((device, always_inline, const))
typedef const __attribute__((address_space(4))) unsigned char *KcArguments;
static __attribute__((device, always_inline)) KcArguments kc_hidden() {
  return (KcArguments)__builtin_amdgcn_implicitarg_ptr();
}
DEFINE unsigned long __ockl_get_num_groups(unsigned axis) {
  return axis < 3 ? ((const __attribute__((address_space(4))) unsigned *)kc_hidden())[axis] : 1;
}
DEFINE unsigned long __ockl_get_local_size(unsigned axis) {
  return axis < 3 ? ((const __attribute__((address_space(4))) unsigned short *)(kc_hidden() + 12))[axis] : 1;
}
DEFINE unsigned long __ockl_get_local_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workitem_id_x()
         : axis == 1 ? __builtin_amdgcn_workitem_id_y()
         : axis == 2 ? __builtin_amdgcn_workitem_id_z()
                     : 0;
}
DEFINE unsigned long __ockl_get_group_id(unsigned axis) {
  return axis == 0   ? __builtin_amdgcn_workgroup_id_x()
         : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
         : axis == 2 ? __builtin_amdgcn_workgroup_id_z()
                     : 0;
}
DEFINE unsigned long __ockl_get_global_id(unsigned axis) {
  return __ockl_get_group_id(axis) * __ockl_get_local_size(axis) + __ockl_get_local_id(axis);
}
DEFINE unsigned long __ockl_get_global_size(unsigned axis) {
  return __ockl_get_num_groups(axis) * __ockl_get_local_size(axis);
}
DEFINE unsigned long __ockl_get_global_offset(unsigned) { return 0; }
extern "C" __attribute__((device, const)) int kc_wavefront_size() __asm("llvm.amdgcn.wavefrontsize");
DEFINE int __kernelcast_wavefront_size() { return kc_wavefront_size(); }
