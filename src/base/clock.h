/*
 * clock.h: monotonic time for deadlines and measures, delays between retries, and the time of day
 * for people.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t clock_ms(void);

/* The same clock, finer. */
int64_t clock_us(void);

/* A time of this clock in the form that pthread_cond_timedwait needs. */
struct timespec clock_timespec(int64_t us);

/* Microseconds since 1970: for people, not for measuring. */
int64_t clock_wall_micros(void);

/* Sleeps; returns early on a signal. */
void clock_sleep_ms(int64_t ms);

/* A delay between retries. It doubles from base_ms with each attempt (from 0) up to cap_ms. Half of
 * it is random, so that many clients do not retry at the same moment. */
int64_t clock_backoff_ms(unsigned attempt, int64_t base_ms, int64_t cap_ms);

#endif
