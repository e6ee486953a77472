/*
 * version.c: the version of the library that the program runs with.
 */
#include <cardbox/version.h>

const char *cardbox_version(void)
{
    return CARDBOX_VERSION;
}
