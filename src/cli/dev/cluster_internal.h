/*
 * cluster_internal.h: the steps of cluster_open, for the cluster*.c files only. Each says by itself
 * why it fails.
 */
#ifndef CLI_CLUSTER_INTERNAL_H
#define CLI_CLUSTER_INTERNAL_H

#include "cli/dev/cluster.h"

/* Where PostgreSQL's programs are, of the version that made the data. */
bool cluster_find_programs(cluster *c);

/* Who runs them. */
bool cluster_find_user(cluster *c);

/* Makes the data folder with the database cardbox if there is none. */
bool cluster_make(cluster *c);

/* The log, opened for a child to write to; -1: failed. */
int cluster_open_log(const cluster *c);

#endif
