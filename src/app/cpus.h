/*
 * cpus.h: returns the number of CPUs that this process may use, which can be less than the machine
 * has.
 */
#ifndef APP_CPUS_H
#define APP_CPUS_H

/* Returns the smaller of the process's CPU affinity and its cgroup's limit of CPU time (cgroup v2),
 * at least 1. */
long cpus_usable(void);

/* Returns the cgroup's limit of CPU time as a number of CPUs, rounded up; 0: no limit. Limits of
 * parent groups apply too. `membership` is a file such as /proc/self/cgroup, and `root` the folder
 * where cgroup v2 is mounted. */
long cpus_of_cgroup(const char *membership, const char *root);

#endif
