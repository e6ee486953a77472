/*
 * cpus.h: how many CPUs this process may use: not how many the machine has. Knows no threads.
 */
#ifndef APP_CPUS_H
#define APP_CPUS_H

/* By its affinity and its cgroup's limit of CPU time; at least 1. */
long cpus_usable(void);

/* The limit of CPU time in CPUs, rounded up; 0: no limit. `membership` is a file such as
 * /proc/self/cgroup, and `root` the folder where cgroup v2 is mounted. Limits of parent
 * groups apply too. */
long cpus_of_cgroup(const char *membership, const char *root);

#endif
