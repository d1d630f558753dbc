// Interface tracking of a two-phase fluid: one step of the conservative Allen-Cahn equation by lattice
// Boltzmann on D3Q15, pull, then collide (the second kernel of Ernst et al. 2022, section 5.3; the
// method: Geier, Fakhari and Lee, Phys. Rev. E 91, 063309, 2015). The normal of the interface comes
// from central differences of the phase field, a star of seven points.
//
// Structure of arrays: populations[direction][z][y][x], directions 2 i + 1 and 2 i + 2 opposite.
// width x height x depth cells lie in lattices with a halo of one row and plane. Rows have `pitch`
// doubles, of which the first cell is number kLead: rows begin at multiples of 128 bytes where
// `pitch` is a multiple of 16. One thread computes one cell, or two that follow each other in y or in
// z (thread folding); height and depth are multiples of that. A thread block has any shape.

constexpr int kDirections = 15;
constexpr int kLead = 16;

template <int kFoldY, int kFoldZ, bool kLoadsFlow>
__device__ void step(
    double *__restrict__ to, const double *__restrict__ from,
    double *__restrict__ phase_to, const double *__restrict__ phase,
    const double *__restrict__ flow, double flow_x, double flow_y, double flow_z,
    double omega, double thickness, int width, int height, int depth, int pitch)
{
    constexpr int cx[kDirections] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, -1, 1};
    constexpr int cy[kDirections] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, -1, 1, 1, -1};
    constexpr int cz[kDirections] = {0, 0, 0, 0, 0, 1, -1, 1, -1, -1, 1, 1, -1, 1, -1};

    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kFoldY;
    const int z = (blockIdx.z * blockDim.z + threadIdx.z) * kFoldZ;
    if (x >= width || y >= height || z >= depth)
        return;
    const long long plane = (long long)(height + 2) * pitch;
    const long long cells = (depth + 2) * plane;
    const long long first = (z + 1) * plane + (long long)(y + 1) * pitch + x + kLead;

    // The same sums for the same cell, so that the compiler loads what two cells share once.
    const auto place = [&](int dx, int dy, int dz) { return first + dz * plane + dy * pitch + dx; };

#pragma unroll
    for (int fold = 0; fold < kFoldY * kFoldZ; ++fold) {
        const int j = kFoldY > 1 ? fold : 0;
        const int l = kFoldZ > 1 ? fold : 0;
        const long long i = place(0, j, l);
        const double c = phase[i];
        const double slope_x = 0.5 * (phase[place(1, j, l)] - phase[place(-1, j, l)]);
        const double slope_y = 0.5 * (phase[place(0, j + 1, l)] - phase[place(0, j - 1, l)]);
        const double slope_z = 0.5 * (phase[place(0, j, l + 1)] - phase[place(0, j, l - 1)]);
        const double slope =
            sqrt(slope_x * slope_x + slope_y * slope_y + slope_z * slope_z) + 1e-9;
        const double sharpening = 4.0 * c * (1.0 - c) / (thickness * slope);
        const double ux = kLoadsFlow ? flow[i] : flow_x;
        const double uy = kLoadsFlow ? flow[cells + i] : flow_y;
        const double uz = kLoadsFlow ? flow[2 * cells + i] : flow_z;
        const double at_rest = 1.0 - 1.5 * (ux * ux + uy * uy + uz * uz);

        double phase_sum = 0.0;
#pragma unroll
        for (int q = 0; q < kDirections; ++q) {
            const double weight = q == 0 ? 2.0 / 9 : q < 7 ? 1.0 / 9 : 1.0 / 72;
            const double pulled = from[q * cells + place(-cx[q], j - cy[q], l - cz[q])];
            const double along = cx[q] * ux + cy[q] * uy + cz[q] * uz;
            const double across = cx[q] * slope_x + cy[q] * slope_y + cz[q] * slope_z;
            const double equilibrium =
                weight * (c * (at_rest + along * (3.0 + 4.5 * along)) + sharpening * across);
            const double relaxed = pulled + omega * (equilibrium - pulled);
            to[q * cells + i] = relaxed;
            phase_sum += relaxed;
        }
        phase_to[i] = phase_sum;
    }
}

#define INTERFACE_TRACKING(NAME, FOLD_Y, FOLD_Z)                                           \
    extern "C" __global__ void NAME(                                                       \
        double *__restrict__ to, const double *__restrict__ from,                          \
        double *__restrict__ phase_to, const double *__restrict__ phase,                   \
        double flow_x, double flow_y, double flow_z, double omega, double thickness,       \
        int width, int height, int depth, int pitch)                                       \
    {                                                                                      \
        step<FOLD_Y, FOLD_Z, false>(to, from, phase_to, phase, nullptr, flow_x, flow_y,    \
                                    flow_z, omega, thickness, width, height, depth, pitch);\
    }

INTERFACE_TRACKING(interface_tracking, 1, 1)
INTERFACE_TRACKING(interface_tracking_2y, 2, 1)
INTERFACE_TRACKING(interface_tracking_2z, 1, 2)

// The same in a flow that is loaded: three more arrays, one after the other.
extern "C" __global__ void interface_tracking_in_flow(
    double *__restrict__ to, const double *__restrict__ from,
    double *__restrict__ phase_to, const double *__restrict__ phase,
    const double *__restrict__ flow, double omega, double thickness,
    int width, int height, int depth, int pitch)
{
    step<1, 1, true>(to, from, phase_to, phase, flow, 0.0, 0.0, 0.0, omega, thickness,
                     width, height, depth, pitch);
}
