/*
 * main.c: the start of `cardbox`.
 */
#include "cli/cli.h"
#include <locale.h>

int main(int argc, char **argv)
{
    /* For wcwidth(): our text is UTF-8, also if the locale of the user is not. */
    setlocale(LC_CTYPE, "C.UTF-8");
    return (int)cli_finish(cli_run(argc - 1, argv + 1));
}
