/*
 * clock.h: monotonic time for deadlines and measurements, delays between retries, and the time of
 * day that people see.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds of CLOCK_MONOTONIC. */
int64_t clock_ms(void);

/* Microseconds of CLOCK_MONOTONIC. */
int64_t clock_us(void);

/* Converts a time of clock_us for pthread_cond_timedwait. */
struct timespec clock_timespec(int64_t us);

/* Microseconds since 1970 of the time of day, which can be set back: not for measuring. */
int64_t clock_wall_micros(void);

/* Sleeps for `ms` milliseconds. A signal may end the sleep early. */
void clock_sleep_ms(int64_t ms);

/* Returns the delay before a retry. The maximum of the delay is base_ms for attempt 0, and doubles
 * with each attempt up to cap_ms. The delay is a random value between half of the maximum and the
 * maximum, so that many clients do not retry at the same moment. */
int64_t clock_backoff_ms(unsigned attempt, int64_t base_ms, int64_t cap_ms);

#endif
