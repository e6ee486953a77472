/*
 * main.c: where `cardbox` begins. Sets up the process; what it does then is cli_run's.
 */
#include "cli/cli.h"
#include <locale.h>

int main(int argc, char **argv)
{
    /* For wcwidth alone: text is UTF-8 whatever the terminal's locale says. */
    setlocale(LC_CTYPE, "C.UTF-8");
    return (int)cli_finish(cli_run(argc - 1, argv + 1));
}
