// The formula of Black and Scholes with seven intermediate results shifted, each by a number of its
// own from memory.

__device__ __forceinline__ float normal_distribution(float x)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(x));
    const float tail = 0.39894228f * __expf(-0.5f * x * x) * k *
        (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f +
        k * 1.330274429f))));
    return x > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void black_scholes_7(
    const float *prices, const float *strikes, const float *years, const float *shifts,
    float *calls, float *puts, float rate, float volatility, int options)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= options)
        return;
    const float price = prices[i];
    const float strike = strikes[i];
    const float time = years[i];
    const float deviation = volatility * sqrtf(time) + shifts[i];
    const float drift = (rate + 0.5f * volatility * volatility) * time + shifts[options + i];
    const float d1 = (__logf(price / strike) + drift) / deviation + shifts[2 * options + i];
    const float d2 = d1 - deviation + shifts[3 * options + i];
    const float share = normal_distribution(d1) + shifts[4 * options + i];
    const float chance = normal_distribution(d2) + shifts[5 * options + i];
    const float discounted = strike * __expf(-rate * time) + shifts[6 * options + i];
    calls[i] = price * share - discounted * chance;
    puts[i] = discounted * (1.0f - chance) - price * (1.0f - share);
}
