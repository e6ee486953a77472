/*
 * test_outbound_net.c: requests to a host that is resolved slowly, and which texts are URLs. This
 * program replaces getaddrinfo(), which libcurl calls in a thread of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "base/clock.h"
#include "outbound/net.h"

enum { SLOW_MS = 1500 }; /* longer than the time from the deadline to libcurl's own */

static atomic_int resolvers_running, resolvers_started;
static atomic_bool is_held; /* true: resolvers run until it is false */
static atomic_int stop;

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)out;
    atomic_fetch_add(&resolvers_running, 1);
    atomic_fetch_add(&resolvers_started, 1);
    clock_sleep_ms(SLOW_MS);
    while (atomic_load(&is_held))
        clock_sleep_ms(1);
    atomic_fetch_sub(&resolvers_running, 1);
    return EAI_AGAIN;
}

static net_sink_result take_nothing(void *arg, long status, slice bytes)
{
    (void)arg;
    (void)status;
    (void)bytes;
    return NET_CONTINUE;
}

/* Begins the exit when libcurl's own time limit has passed. */
static void exit_later(void *arg)
{
    if (arg != NULL && clock_ms() >= *(int64_t *)arg)
        net_exit();
}

static net_answer post(long total_ms, int64_t *exit_ms)
{
    static const char *const NO_HEADERS[] = {NULL};
    const net_request request = {.url = "http://slow.test/",
                                 .headers = NO_HEADERS,
                                 .body = SLICE("{}"),
                                 .connect_ms = total_ms,
                                 .idle_ms = total_ms,
                                 .total_ms = total_ms,
                                 .sink = take_nothing,
                                 .arg = exit_ms,
                                 .on_tick = exit_later,
                                 .stop = &stop,
                                 .is_client_url = true};
    net_answer answer;
    net *n = net_new();
    assert_non_null(n);
    net_post(&answer, n, &request);
    net_free(n);
    return answer;
}

static void test_no_resolver_is_left_behind(void **state)
{
    (void)state;
    net_answer answer = post(1, NULL);
    assert_int_equal(atomic_load(&resolvers_started), 1);
    assert_int_equal(atomic_load(&resolvers_running), 0);
    assert_int_equal(answer.end, NET_FAILED);
    assert_true(answer.is_timeout);
}

static void test_stopped_request_waits_too(void **state)
{
    (void)state;
    atomic_store(&stop, 1);
    atomic_store(&resolvers_started, 0);
    assert_int_equal(post(60000, NULL).end, NET_STOPPED);
    assert_int_equal(atomic_load(&resolvers_started), 1);
    assert_int_equal(atomic_load(&resolvers_running), 0);
    atomic_store(&stop, 0);
}

/* The last test: net_exit holds for the rest of the process. */
static void test_exit_does_not_wait(void **state)
{
    (void)state;
    int64_t exit_ms = clock_ms() + SLOW_MS;
    atomic_store(&is_held, true);
    assert_true(post(1, &exit_ms).is_timeout);
    assert_int_equal(atomic_load(&resolvers_running), 1);
    atomic_store(&is_held, false);
    while (atomic_load(&resolvers_running) > 0)
        clock_sleep_ms(1);
}

static void test_urls(void **state)
{
    static const char *const GOOD[] = {"http://a", "HTTPS://a.test:8443/b?c=d#e", "http://[::1]/"};
    static const char *const BAD[] = {"",        "http",      "http:a",      "http:/a",
                                      "http://", "http:///a", "https:////a", "httpx://a",
                                      "ftp://a", "//a",       "http://u@a/", "http://?a"};
    (void)state;
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++)
        if (!net_is_url(GOOD[i], false))
            fail_msg("%s", GOOD[i]);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        if (net_is_url(BAD[i], false))
            fail_msg("%s", BAD[i]);
    assert_true(net_is_url("http://u:p@a/", true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_resolver_is_left_behind),
        cmocka_unit_test(test_stopped_request_waits_too),
        cmocka_unit_test(test_exit_does_not_wait),
        cmocka_unit_test(test_urls),
    };
    return net_global_init() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
