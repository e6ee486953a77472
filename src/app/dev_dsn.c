/*
 * dev_dsn.c: reads the environment and ./var/dsn. If ./var/dsn belongs to another user, the file is
 * ignored.
 */
#include "app/dev_dsn.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_pg_variables(void)
{
    static const char *const NAMES[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE",
                                        "PGPORT"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (getenv(NAMES[i]) != NULL)
            return true;
    }
    return false;
}

dev_found dev_dsn_find(char out[DEV_DSN_SIZE])
{
    struct stat about;

    if (has_pg_variables())
        return DEV_NONE;
    FILE *file = fopen(DEV_FOLDER "/dsn", "re");
    if (file == NULL)
        return errno == ENOENT && lstat(DEV_FOLDER "/pg", &about) == 0 ? DEV_STOPPED : DEV_NONE;
    if (fstat(fileno(file), &about) != 0 || about.st_uid != geteuid() ||
        fgets(out, DEV_DSN_SIZE, file) == NULL)
        *out = '\0';
    fclose(file);
    out[strcspn(out, "\n")] = '\0';
    return *out == '\0' ? DEV_NONE : DEV_DSN;
}
