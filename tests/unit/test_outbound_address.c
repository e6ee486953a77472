/*
 * test_outbound_address.c: which addresses are public.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include "outbound/address.h"

static bool is_public(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return address_is_public((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return address_is_public((const struct sockaddr *)&six);
}

static void test_public(void **state)
{
    static const char *const ADDRESSES[] = {
        "1.1.1.1",          "8.8.8.8",         "9.255.255.255",        "11.0.0.0",
        "100.63.255.255",   "100.128.0.0",     "126.255.255.255",      "128.0.0.0",
        "169.253.255.255",  "169.255.0.0",     "172.15.255.255",       "172.32.0.0",
        "192.0.1.0",        "192.167.255.255", "192.169.0.0",          "198.17.255.255",
        "198.20.0.0",       "223.255.255.255", "2606:4700:4700::1111", "2a00::1",
        "3ffe::1",          "2001:200::1",     "2001:db7:ffff::",      "::ffff:8.8.8.8",
        "64:ff9b::808:808", "2002:808:808::1"};
    (void)state;
    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++)
        if (!is_public(ADDRESSES[i]))
            fail_msg("%s", ADDRESSES[i]);
}

static void test_not_public(void **state)
{
    static const char *const ADDRESSES[] = {"0.0.0.0",
                                            "0.1.2.3",
                                            "10.0.0.0",
                                            "10.255.255.255",
                                            "100.64.0.0",
                                            "100.127.255.255",
                                            "127.0.0.1",
                                            "127.255.255.255",
                                            "169.254.169.254",
                                            "172.16.0.0",
                                            "172.31.255.255",
                                            "192.0.0.1",
                                            "192.0.2.1",
                                            "192.88.99.1",
                                            "192.168.0.0",
                                            "192.168.255.255",
                                            "198.18.0.0",
                                            "198.19.255.255",
                                            "198.51.100.1",
                                            "203.0.113.1",
                                            "224.0.0.1",
                                            "239.255.255.255",
                                            "240.0.0.0",
                                            "255.255.255.255",
                                            "::",
                                            "::1",
                                            "::7f00:1",
                                            "::ffff:127.0.0.1",
                                            "::ffff:10.1.2.3",
                                            "::ffff:169.254.169.254",
                                            "64:ff9b::7f00:1",
                                            "64:ff9b::a00:1",
                                            "64:ff9b:1::808:808",
                                            "100::1",
                                            "2001::1",
                                            "2001:1ff::1",
                                            "2001:db8::1",
                                            "2002:7f00:1::",
                                            "2002:a9fe:a9fe::",
                                            "3fff::1",
                                            "3fff:fff::1",
                                            "4000::1",
                                            "fc00::1",
                                            "fd00:ec2::254",
                                            "fe80::1",
                                            "febf::1",
                                            "fec0::1",
                                            "ff02::1"};
    (void)state;
    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++)
        if (is_public(ADDRESSES[i]))
            fail_msg("%s", ADDRESSES[i]);
}

static void test_other_families(void **state)
{
    const struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/tmp/x"};
    (void)state;
    assert_false(address_is_public((const struct sockaddr *)&local));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_public),
        cmocka_unit_test(test_not_public),
        cmocka_unit_test(test_other_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
