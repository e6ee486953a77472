/*
 * version.c: the version of the library that is running. Knows the header's number and nothing
 * else.
 */
#include <cardbox/version.h>

const char *cardbox_version(void)
{
    return CARDBOX_VERSION;
}
