/*
 * main.c: the start of `cardbox`.
 */
#include "cli/cli.h"
#include <locale.h>

int main(int argc, char **argv)
{
    /* wcwidth() needs a UTF-8 locale: the output is UTF-8, whatever the locale of the user is. */
    setlocale(LC_CTYPE, "C.UTF-8");
    return (int)cli_finish(cli_run(argc - 1, argv + 1));
}
