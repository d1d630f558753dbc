// One step of a lattice Boltzmann fluid, D3Q19 in double precision: pull, then collide (BGK).
//
// Structure of arrays: populations[direction][z][y][x], directions 2 i + 1 and 2 i + 2 opposite.
// The lattice is periodic. What would come from a solid cell comes back from where it was sent
// (halfway bounce-back); solid cells themselves are left alone.

constexpr int kDirections = 19;

extern "C" __global__ void lbm_d3q19(
    double *__restrict__ to, const double *__restrict__ from,
    const unsigned char *__restrict__ is_solid, double omega, int width, int height, int depth)
{
    const int cx[kDirections] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
    const int cy[kDirections] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
    const int cz[kDirections] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= width || y >= height || z >= depth)
        return;
    const int cells = width * height * depth;
    const int here = (z * height + y) * width + x;
    if (is_solid[here])
        return;

    // By component of the velocity plus one: where the fluid comes from.
    const int from_x[3] = {x + 1 < width ? x + 1 : 0, x, x > 0 ? x - 1 : width - 1};
    const int from_y[3] = {y + 1 < height ? y + 1 : 0, y, y > 0 ? y - 1 : height - 1};
    const int from_z[3] = {z + 1 < depth ? z + 1 : 0, z, z > 0 ? z - 1 : depth - 1};

    double f[kDirections];
    double density = 0.0, flow_x = 0.0, flow_y = 0.0, flow_z = 0.0;
#pragma unroll
    for (int q = 0; q < kDirections; ++q) {
        const int source =
            (from_z[cz[q] + 1] * height + from_y[cy[q] + 1]) * width + from_x[cx[q] + 1];
        const int opposite = q == 0 ? 0 : ((q - 1) ^ 1) + 1;
        f[q] = is_solid[source] ? from[opposite * cells + here] : from[q * cells + source];
        density += f[q];
        flow_x += cx[q] * f[q];
        flow_y += cy[q] * f[q];
        flow_z += cz[q] * f[q];
    }
    const double ux = flow_x / density, uy = flow_y / density, uz = flow_z / density;
    const double at_rest = 1.0 - 1.5 * (ux * ux + uy * uy + uz * uz);

#pragma unroll
    for (int q = 0; q < kDirections; ++q) {
        const double weight = q == 0 ? 1.0 / 3 : q < 7 ? 1.0 / 18 : 1.0 / 36;
        const double along = cx[q] * ux + cy[q] * uy + cz[q] * uz;
        const double equilibrium = weight * density * (at_rest + along * (3.0 + 4.5 * along));
        to[q * cells + here] = f[q] + omega * (equilibrium - f[q]);
    }
}
