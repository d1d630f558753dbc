/* What a program sets and asks for again, and what changes nothing. */
#include "client.h"

int kc_has_runtime;

/* The limits by their numbers, and two settings behind them. */
static size_t settings[KC_SETTINGS] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};

size_t *kc_setting(unsigned number) { return number < KC_SETTINGS ? &settings[number] : NULL; }
