// Hooking step of connected components: one edge a thread.
//
// `roots` names every vertex's root, the least vertex of the component found so far. The edge hooks
// the greater of its two roots onto the lesser: of all that are offered a root takes the least.
// `hooked` starts as a copy of `roots`.

extern "C" __global__ void hook_components(
    const int *sources, const int *targets, const int *roots, int *hooked, int edges)
{
    const int edge = blockIdx.x * blockDim.x + threadIdx.x;
    if (edge >= edges)
        return;
    const int a = roots[sources[edge]];
    const int b = roots[targets[edge]];
    if (a != b)
        atomicMin(&hooked[max(a, b)], min(a, b));
}
