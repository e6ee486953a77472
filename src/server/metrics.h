/*
 * metrics.h: what the server tells a Prometheus of itself. A table names each metric; what is told
 * of requests, connections and statements was counted by the loops in their stats.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "server/shared.h"
#include "base/buf.h"

/* Writes all of them in Prometheus' text format 0.0.4. `sum` is room for one stats. */
void metrics_write(buf *out, const shared *house, stats *sum);

#endif
