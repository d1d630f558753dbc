// Red phase of a local modified SOR sweep (LMSOR, a relaxation factor for each mesh point) for
//     u_xx + u_yy - f u_x - g u_y = rho
// on a rectangular mesh of spacings h and k. The coefficients of the four neighbours are computed
// again in every sweep from f' = h f / 2 and g' = k g / 2, which trades arithmetic for traffic:
//     l = k^2 s (1 + f')   r = k^2 s (1 - f')   t = h^2 s (1 - g')   b = h^2 s (1 + g')
// with s = 1 / (2 (h^2 + k^2)).
//
// Matrices are split by colour as in the SOR example: (n + 2) rows, n / 2 + 1 columns and padding.
// The grid covers the interior exactly: n / 2 threads in x, n in y. Everything that this phase only
// reads goes through the read-only cache.

extern "C" __global__ void lmsor_red(
    double *__restrict__ red, const double *__restrict__ black, const double *__restrict__ omega,
    const double *__restrict__ f_prime, const double *__restrict__ g_prime,
    double h_squared, double k_squared, double s, double minus_rho_h_squared, int pitch)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int is_even = ~row & 1;
    const int position = row * pitch + blockIdx.x * blockDim.x + threadIdx.x + is_even;

    const double horizontal = k_squared * s;
    const double vertical = h_squared * s;
    const double f = f_prime[position];
    const double g = g_prime[position];
    const double l = horizontal * (1.0 + f);
    const double r = horizontal * (1.0 - f);
    const double t = vertical * (1.0 - g);
    const double b = vertical * (1.0 + g);

    // Black neighbours in mesh order: columns x - 1 and x in even rows, x and x + 1 in odd rows.
    const int left = position - is_even;
    const double jacobi = minus_rho_h_squared * horizontal + l * black[left] + r * black[left + 1] +
                          t * black[position + pitch] + b * black[position - pitch];
    const double relaxation = omega[position];
    red[position] = (1.0 - relaxation) * red[position] + relaxation * jacobi;
}
