// Prices of European calls and puts by the formula of Black and Scholes, one option a work-item:
// the algorithm and the data of black_scholes.cu.

float normal_distribution(float x)
{
    return 0.5f * erfc(-x * M_SQRT1_2_F);
}

__kernel void black_scholes(
    __global const float *prices, __global const float *strikes, __global const float *years,
    __global float *calls, __global float *puts, float rate, float volatility, int options)
{
    const int i = get_global_id(0);
    if (i >= options)
        return;
    const float price = prices[i];
    const float strike = strikes[i];
    const float time = years[i];

    const float deviation = volatility * sqrt(time);
    const float drift = (rate + 0.5f * volatility * volatility) * time;
    const float d1 = (log(price / strike) + drift) / deviation;
    const float d2 = d1 - deviation;
    const float discounted = strike * exp(-rate * time);
    calls[i] = price * normal_distribution(d1) - discounted * normal_distribution(d2);
    puts[i] = discounted * normal_distribution(-d2) - price * normal_distribution(-d1);
}
