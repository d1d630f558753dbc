/* Logarithm, sine, cosine and exponential by series, and normal numbers by Box and Muller (1958):
   included once for each precision. */

typedef union { REAL value; BITS bits; } OF(number);

/* Of a number in (0, 1]. */
FUNCTION REAL OF(logarithm)(REAL of) {
  OF(number) part;
  part.value = of;
  BITS exponent = (part.bits - (BITS)ROOT_HALF) >> FRACTION_BITS;
  part.bits -= exponent * ((BITS)1 << FRACTION_BITS);
  REAL ratio = (part.value - 1) / (part.value + 1), square = ratio * ratio, sum = 0;
  UNROLLED
  for (int i = LOG_TERMS - 1; i >= 0; i--) sum = sum * square + (REAL)(1.0 / (2 * i + 1));
  return (REAL)exponent * (REAL)0.693147180559945309 + 2 * ratio * sum;
}

/* Sine and cosine of `turns` in (0, 1] whole turns. */
FUNCTION void OF(circle)(REAL turns, REAL *sine, REAL *cosine) {
  int quarter = (int)(4 * turns + (REAL)0.5);
  REAL angle = (4 * turns - (REAL)quarter) * (REAL)1.57079632679489662, square = angle * angle;
  REAL s = 1, c = 1;
  UNROLLED
  for (int i = SINE_TERMS; i > 0; i--) {
    s = 1 - s * square * (REAL)(1.0 / (2 * i * (2 * i + 1)));
    c = 1 - c * square * (REAL)(1.0 / (2 * i * (2 * i - 1)));
  }
  s *= angle;
  REAL swapped_s = quarter & 1 ? c : s, swapped_c = quarter & 1 ? s : c;
  *sine = quarter & 2 ? -swapped_s : swapped_s;
  *cosine = (quarter + 1) & 2 ? -swapped_c : swapped_c;
}

FUNCTION REAL OF(power_of_two)(int exponent) {
  OF(number) made;
  made.bits = (BITS)ONE + exponent * ((BITS)1 << FRACTION_BITS);
  return made.value;
}

FUNCTION REAL OF(exponential)(REAL of) {
  REAL scaled = of * (REAL)1.44269504088896341;
  if (scaled > MOST_EXPONENT) scaled = MOST_EXPONENT;
  if (scaled < -MOST_EXPONENT) scaled = -MOST_EXPONENT;
  int whole = (int)(scaled + (scaled < 0 ? (REAL)-0.5 : (REAL)0.5));
  REAL rest = of - (REAL)whole * (REAL)LOG2_HIGH - (REAL)whole * (REAL)LOG2_LOW, sum = 1;
  UNROLLED
  for (int i = EXP_TERMS; i > 0; i--) sum = 1 + sum * rest * (REAL)(1.0 / i);
  return sum * OF(power_of_two)(whole / 2) * OF(power_of_two)(whole - whole / 2);
}

/* Two normal numbers of two uniform ones, or their exponentials. */
FUNCTION void OF(normal_pair)(REAL first, REAL second, REAL mean, REAL deviation, int is_log, REAL to[2]) {
  REAL radius = SQUARE_ROOT(-2 * OF(logarithm)(first)), sine, cosine;
  OF(circle)(second, &sine, &cosine);
  to[0] = mean + deviation * radius * cosine;
  to[1] = mean + deviation * radius * sine;
  if (is_log) to[0] = OF(exponential)(to[0]), to[1] = OF(exponential)(to[1]);
}
#undef REAL
#undef BITS
#undef OF
#undef FRACTION_BITS
#undef ROOT_HALF
#undef ONE
#undef LOG_TERMS
#undef SINE_TERMS
#undef EXP_TERMS
#undef MOST_EXPONENT
#undef LOG2_HIGH
#undef LOG2_LOW
#undef SQUARE_ROOT
