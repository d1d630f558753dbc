// Red phase of a local modified SOR sweep (LMSOR, a relaxation factor for each mesh point) for
//     u_xx + u_yy - f u_x - g u_y = rho
// on a rectangular mesh of spacings h and k. The coefficients of the four neighbours are computed
// again in every sweep from f' = h f / 2 and g' = k g / 2, which trades arithmetic for traffic:
//     l = k^2 s (1 + f')   r = k^2 s (1 - f')   t = h^2 s (1 - g')   b = h^2 s (1 + g')
// with s = 1 / (2 (h^2 + k^2)).
//
// Matrices are split by colour as in the SOR example: (n + 2) rows, n / 2 + 1 columns and padding.
// The grid covers the red interior exactly: n / 2 threads in x, n in y. Everything that this phase
// only reads goes through the read-only cache; black elements are shared by a thread block.

constexpr int kWidth = 64;
constexpr int kHeight = 4;

extern "C" __global__ void lmsor_red(
    double *__restrict__ red, const double *__restrict__ black, const double *__restrict__ omega,
    const double *__restrict__ f_prime, const double *__restrict__ g_prime,
    double h_squared, double k_squared, double s, double minus_rho_h_squared, int pitch)
{
    // Columns first .. first + kWidth: of the interior, even rows have all but the first, odd rows
    // all but the last.
    __shared__ double tile[kHeight + 2][kWidth + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first = blockIdx.x * kWidth;
    const int row = blockIdx.y * kHeight + y + 1;
    const int is_even = ~row & 1;
    const int mine = x + is_even;
    const int position = row * pitch + first + mine;

    tile[y + 1][mine] = black[position];
    if (y == 0)
        tile[y][mine] = black[position - pitch];
    if (y == kHeight - 1)
        tile[y + 2][mine] = black[position + pitch];
    if (x == 0) {
        const int beside = is_even ? 0 : kWidth;
        tile[y + 1][beside] = black[row * pitch + first + beside];
    }
    __syncthreads();

    const double horizontal = k_squared * s;
    const double vertical = h_squared * s;
    const double f = f_prime[position];
    const double g = g_prime[position];
    const double l = horizontal * (1.0 + f);
    const double r = horizontal * (1.0 - f);
    const double t = vertical * (1.0 - g);
    const double b = vertical * (1.0 + g);

    // In mesh order an element's own column of the black matrix is the right neighbour in even
    // rows and the left one in odd rows.
    const double jacobi = minus_rho_h_squared * horizontal + l * tile[y + 1][x] +
                          r * tile[y + 1][x + 1] + t * tile[y + 2][mine] + b * tile[y][mine];
    const double relaxation = omega[position];
    red[position] = (1.0 - relaxation) * red[position] + relaxation * jacobi;
}
