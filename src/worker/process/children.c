/*
 * children.c: reads /proc/self/task/TID/children, numbers with a space behind each.
 */
#include "worker/process/children.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { LIST_SIZE = 4096, PATH_SIZE = 64 };

/* A number that the end of the list cuts is left for the next time. */
bool children_each(void (*see)(void *arg, pid_t child), void *arg)
{
    char path[PATH_SIZE], list[LIST_SIZE];
    pid_t pid = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, list, sizeof(list)) : -1;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < len; i++) {
        if (list[i] >= '0' && list[i] <= '9') {
            pid = pid * 10 + (list[i] - '0');
        } else {
            if (pid > 1)
                see(arg, pid);
            pid = 0;
        }
    }
    return len >= 0;
}
