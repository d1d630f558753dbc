/* The clocks of a program tell predicted time from its first call to the GPU on: this library comes
   before the C library (LD_PRELOAD) when `kernelcast capture --clock` asks for it. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define SECOND_NS 1000000000ull

static int read_clock(clockid_t clock, struct timespec *to) {
  return (int)syscall(SYS_clock_gettime, clock, to);
}

static uint64_t in_ns(const struct timespec *time) {
  return (uint64_t)time->tv_sec * SECOND_NS + (uint64_t)time->tv_nsec;
}

/* How far a clock is ahead of the monotonic one, in nanoseconds: found once, so that it stays. */
static uint64_t ahead_of_monotonic(clockid_t clock) {
  static uint64_t known[16];
  if (clock == CLOCK_MONOTONIC) return 0;
  if (!known[clock]) {
    struct timespec this, monotonic;
    read_clock(clock, &this), read_clock(CLOCK_MONOTONIC, &monotonic);
    known[clock] = in_ns(&this) - in_ns(&monotonic);
  }
  return known[clock];
}

KC_PUBLIC int clock_gettime(clockid_t clock, struct timespec *to) {
  int status = read_clock(clock, to);
  uint64_t began, predicted = 0;
  int is_of_walls = clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                    clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_REALTIME ||
                    clock == CLOCK_REALTIME_COARSE || clock == CLOCK_BOOTTIME;
  if (status || !is_of_walls || !kc_began(&began)) return status;
  if (kc_ask(KC_TIME, NULL, 0, NULL, 0, &predicted, sizeof predicted, NULL)) return 0;
  uint64_t now = began + ahead_of_monotonic(clock) + predicted;
  to->tv_sec = (time_t)(now / SECOND_NS), to->tv_nsec = (long)(now % SECOND_NS);
  return 0;
}

KC_PUBLIC int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  struct timespec time;
  int status = clock_gettime(CLOCK_REALTIME, &time);
  to->tv_sec = time.tv_sec, to->tv_usec = time.tv_nsec / 1000;
  return status;
}

KC_PUBLIC time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

KC_PUBLIC int timespec_get(struct timespec *to, int base) {
  if (base != TIME_UTC) return 0;
  return clock_gettime(CLOCK_REALTIME, to) ? 0 : base;
}
