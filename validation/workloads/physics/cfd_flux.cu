// Residual of the Euler equations of an ideal gas on an unstructured mesh of tetrahedra: the sum
// over a cell's four faces of the local Lax-Friedrichs (Rusanov) flux,
// (F(U) + F(U_n)) / 2 . normal - |normal| / 2 * (fastest wave of the two cells) * (U_n - U).
//
// Everything is stored field by field, so that neighbouring threads read neighbouring elements:
// state[5][n] is density, momentum (3) and energy per volume; neighbour[4][n] is the cell beyond a
// face; normal[4][3][n] points outwards and is as long as the face is large. Beyond a wall (kWall)
// only pressure acts; beyond the outer boundary (kFarField) the gas has the state far_field. One
// thread per cell.

constexpr int kFaces = 4;
constexpr int kFields = 5;
constexpr int kWall = -1;
constexpr int kFarField = -2;
constexpr float kGamma = 1.4f;

struct State {
    float field[kFields];
};

struct Gas {
    State state;
    float velocity[3];
    float pressure;
    float fastest;
};

__device__ __forceinline__ Gas gas_of(const State &state)
{
    Gas gas;
    gas.state = state;
    const float per_density = 1.0f / state.field[0];
    float speed_squared = 0.0f;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        gas.velocity[axis] = state.field[1 + axis] * per_density;
        speed_squared += gas.velocity[axis] * gas.velocity[axis];
    }
    gas.pressure =
        (kGamma - 1.0f) * (state.field[4] - 0.5f * state.field[0] * speed_squared);
    gas.fastest = sqrtf(speed_squared) + sqrtf(kGamma * gas.pressure * per_density);
    return gas;
}

__device__ __forceinline__ State loaded(const float *state, int cell, int n)
{
    State result;
#pragma unroll
    for (int f = 0; f < kFields; ++f)
        result.field[f] = state[f * n + cell];
    return result;
}

// The flux of the gas through a face, added to `flux` with a factor.
__device__ __forceinline__ void add_flux(
    State &flux, const Gas &gas, const float (&normal)[3], float factor)
{
    const float through = gas.velocity[0] * normal[0] + gas.velocity[1] * normal[1]
        + gas.velocity[2] * normal[2];
    flux.field[0] += factor * gas.state.field[0] * through;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis)
        flux.field[1 + axis] +=
            factor * (gas.state.field[1 + axis] * through + gas.pressure * normal[axis]);
    flux.field[4] += factor * (gas.state.field[4] + gas.pressure) * through;
}

extern "C" __global__ void cfd_flux(
    const float *state, const int *neighbour, const float *normals, float *residual,
    State far_field, int n)
{
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= n)
        return;
    const Gas home = gas_of(loaded(state, cell, n));
    State flux = {};

#pragma unroll 1
    for (int face = 0; face < kFaces; ++face) {
        float normal[3];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis)
            normal[axis] = normals[(face * 3 + axis) * n + cell];
        const int other = neighbour[face * n + cell];
        if (other == kWall) {
#pragma unroll
            for (int axis = 0; axis < 3; ++axis)
                flux.field[1 + axis] += home.pressure * normal[axis];
            continue;
        }
        const Gas beyond = gas_of(other == kFarField ? far_field : loaded(state, other, n));
        const float area =
            sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
        const float damping = 0.5f * area * fmaxf(home.fastest, beyond.fastest);
        add_flux(flux, home, normal, 0.5f);
        add_flux(flux, beyond, normal, 0.5f);
#pragma unroll
        for (int f = 0; f < kFields; ++f)
            flux.field[f] -= damping * (beyond.state.field[f] - home.state.field[f]);
    }
#pragma unroll
    for (int f = 0; f < kFields; ++f)
        residual[f * n + cell] = flux.field[f];
}
