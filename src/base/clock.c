/*
 * clock.c: the clocks of the system, and delays between retries.
 */
#include "base/clock.h"
#include <sys/random.h>

int64_t clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct timespec clock_timespec(int64_t us)
{
    return (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
}

int64_t clock_ms(void)
{
    return clock_us() / 1000;
}

void clock_sleep_ms(int64_t ms)
{
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    if (ms > 0)
        nanosleep(&pause, NULL);
}

/* If getrandom has no entropy yet, the nanoseconds of the clock suffice for delays. */
static uint64_t some_number(void)
{
    uint64_t number;
    struct timespec now;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
        return number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec;
}

int64_t clock_backoff_ms(unsigned attempt, int64_t base_ms, int64_t cap_ms)
{
    int64_t delay = base_ms, half;

    if (base_ms <= 0 || cap_ms <= 0)
        return 0;
    for (unsigned i = 0; i < attempt && delay < cap_ms; i++)
        delay = delay > cap_ms / 2 ? cap_ms : delay * 2;
    if (delay > cap_ms)
        delay = cap_ms;
    half = delay / 2;
    return delay - half + (int64_t)(some_number() % (uint64_t)(half + 1));
}

int64_t clock_wall_micros(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
