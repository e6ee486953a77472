/*
 * metrics.c: the table of metrics, and their text format. No label contains text of a client, so
 * the number of series is bounded and operators see no project's name.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include "base/clock.h"
#include "cardbox/version.h"
#include "server/api/handlers.h"
#include "server/response/http_error.h"
#include "server/server.h"

typedef struct metric metric;

typedef struct metric_source {
    const server_state *server;
    const stats *sum; /* the sums of the numbers of all loops and helper threads */
} metric_source;

struct metric {
    const char *name;
    const char *type;
    const char *help;
    void (*write)(buf *out, const metric *m, const metric_source *of);
    size_t offset; /* for write_tally: offset of the tally in struct stats */
    double (*value)(const metric_source *of); /* for write_value */
};

#define US_PER_S 1e6

/* --- numbers that are counted --- */

static void write_tally(buf *out, const metric *m, const metric_source *of)
{
    const tally *t = (const tally *)((const void *)((const char *)of->sum + m->offset));
    buf_printf(out, "%s %llu\n", m->name, (unsigned long long)tally_get(t));
}

static void write_requests(buf *out, const metric *m, const metric_source *of)
{
    static const char *const STATUSES[STATS_STATUSES] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
    size_t last = 0;
    while (ROUTES[last].method != NULL)
        last++;
    for (size_t i = 0; i <= last; i++) {
        const tally *counts = of->sum->requests[i == last ? STATS_NO_ROUTE : i];
        const char *name = i == last ? "none" : ROUTES[i].name;
        for (size_t s = 0; s < STATS_STATUSES; s++) {
            uint64_t count = tally_get(&counts[s]);
            if (count > 0)
                buf_printf(out, "%s{operation=\"%s\",status=\"%s\"} %llu\n", m->name, name,
                           STATUSES[s], (unsigned long long)count);
        }
    }
}

/* Writes a histogram. `label` is written before the label `le`: it is "", or name="value" and a
 * comma. */
static void write_histogram(buf *out, const metric *m, const char *label, const tally *buckets,
                            const int64_t *bounds, size_t bound_count, const tally *sum_us)
{
    char braces[64] = "";
    unsigned long long count = 0;
    if (*label != '\0')
        snprintf(braces, sizeof(braces), "{%.*s}", (int)strlen(label) - 1, label);
    for (size_t i = 0; i <= bound_count; i++) {
        char bound[32] = "+Inf";
        count += tally_get(&buckets[i]);
        if (i < bound_count)
            snprintf(bound, sizeof(bound), "%g", (double)bounds[i] / US_PER_S);
        buf_printf(out, "%s_bucket{%sle=\"%s\"} %llu\n", m->name, label, bound, count);
    }
    buf_printf(out, "%s_sum%s %.6f\n", m->name, braces, (double)tally_get(sum_us) / US_PER_S);
    buf_printf(out, "%s_count%s %llu\n", m->name, braces, count);
}

static void write_durations(buf *out, const metric *m, const metric_source *of)
{
    static const int64_t BOUNDS[] = {STATS_BOUNDS};
    static const char *const LABELS[ROUTE_CLASSES] = {[CLASS_READ] = "class=\"read\",",
                                                      [CLASS_WRITE] = "class=\"write\",",
                                                      [CLASS_LIST] = "class=\"list\",",
                                                      [CLASS_OTHER] = "class=\"other\","};
    for (int class = 0; class < ROUTE_CLASSES; class ++)
        write_histogram(out, m, LABELS[class], of->sum->durations[class], BOUNDS, STATS_BUCKETS - 1,
                        &of->sum->duration_us[class]);
}

static void write_turns(buf *out, const metric *m, const metric_source *of)
{
    static const int64_t BOUNDS[] = {STATS_TURN_BOUNDS};
    write_histogram(out, m, "", of->sum->turns, BOUNDS, STATS_TURN_BUCKETS - 1, &of->sum->turn_us);
}

static void write_errors(buf *out, const metric *m, const metric_source *of)
{
    const char *code, *reason;
    for (size_t i = 0; (code = http_error_code(i, &reason)) != NULL; i++)
        buf_printf(out, "%s{error_code=\"%s\",reason=\"%s\"} %llu\n", m->name, code, reason,
                   (unsigned long long)tally_get(&of->sum->errors[i]));
}

static void write_db_conns(buf *out, const metric *m, const metric_source *of)
{
    static const char *const GROUPS[DB_GROUPS] = {[DB_READS] = "reads",
                                                  [DB_LISTS] = "lists",
                                                  [DB_WRITES] = "writes",
                                                  [DB_STANDBY] = "standby"};
    static const char *const STATES[DB_CONN_STATES] = {[DB_CONN_DOWN] = "down",
                                                       [DB_CONN_CHECKING] = "checking",
                                                       [DB_CONN_INCOMPATIBLE] = "incompatible",
                                                       [DB_CONN_USABLE] = "usable"};
    size_t groups = of->server->set->standby_dsn == NULL ? DB_STANDBY : DB_GROUPS;
    for (size_t group = 0; group < groups; group++)
        for (size_t state = 0; state < DB_CONN_STATES; state++)
            buf_printf(out, "%s{group=\"%s\",state=\"%s\"} %llu\n", m->name, GROUPS[group],
                       STATES[state],
                       (unsigned long long)tally_get(&of->sum->db_conns[group][state]));
}

/* --- statements --- */

/* The name of a statement is the name of its file in sql/statements. */
static const char *statement_name(size_t id)
{
    return statement_get((statement_id)id)->name + sizeof("cardbox_") - 1;
}

static void write_statements(buf *out, const metric *m, const metric_source *of)
{
    for (size_t id = 0; id < STATEMENT_COUNT; id++) {
        uint64_t count = tally_get(&of->sum->statements[id]);
        if (count > 0)
            buf_printf(out, "%s{statement=\"%s\"} %llu\n", m->name, statement_name(id),
                       (unsigned long long)count);
    }
}

static void write_members(buf *out, const metric *m, const metric_source *of)
{
    for (size_t id = 0; id < STATEMENT_COUNT; id++) {
        uint64_t count = tally_get(&of->sum->batched[id]);
        if (count == 0)
            continue;
        buf_printf(out, "%s_sum{statement=\"%s\"} %llu\n", m->name, statement_name(id),
                   (unsigned long long)tally_get(&of->sum->members[id]));
        buf_printf(out, "%s_count{statement=\"%s\"} %llu\n", m->name, statement_name(id),
                   (unsigned long long)count);
    }
}

/* --- the process --- */

static void write_value(buf *out, const metric *m, const metric_source *of)
{
    buf_printf(out, "%s %.15g\n", m->name, m->value(of));
}

static void write_build(buf *out, const metric *m, const metric_source *of)
{
    (void)of;
    buf_printf(out, "%s{version=\"%s\"} 1\n", m->name, CARDBOX_VERSION);
}

static double ready(const metric_source *of)
{
    return handler_is_ready(of->server) ? 1 : 0;
}

static double bodies_bytes(const metric_source *of)
{
    return (double)atomic_load(&of->server->bodies);
}

static double memory_bytes(const metric_source *of)
{
    return (double)memory_used(&of->server->memory);
}

static double loops(const metric_source *of)
{
    return (double)of->server->set->loops;
}

static double resident_bytes(const metric_source *of)
{
    (void)of;
    return (double)memory_resident();
}

static double open_descriptors(const metric_source *of)
{
    double count = 0;
    DIR *all = opendir("/proc/self/fd");
    (void)of;
    if (all == NULL)
        return 0;
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all))
        count += one->d_name[0] != '.';
    closedir(all);
    return count - 1; /* the folder itself */
}

static double descriptors_max(const metric_source *of)
{
    struct rlimit limit;
    (void)of;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

static double started(const metric_source *of)
{
    return (double)of->server->started_s;
}

static double cpu_seconds(const metric_source *of)
{
    struct timespec used;
    (void)of;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static double search_waiting(const metric_source *of)
{
    return (double)atomic_load(&of->server->search.waiting);
}

static double search_oldest(const metric_source *of)
{
    int64_t queued = atomic_load(&of->server->search.oldest_micros);
    double age = ((double)clock_wall_micros() - (double)queued) / US_PER_S;
    return queued == 0 || age < 0 ? 0 : age;
}

/* --- the table --- */

#define TALLY(name, type, member, help)                                                            \
    {                                                                                              \
        name, type, help, write_tally, offsetof(stats, member), NULL                               \
    }
#define LABELLED(name, type, write, help)                                                          \
    {                                                                                              \
        name, type, help, write, 0, NULL                                                           \
    }
#define VALUE(name, type, value, help)                                                             \
    {                                                                                              \
        name, type, help, write_value, 0, value                                                    \
    }

/* The section METRICS of cardboxd.8 has the same names, types and texts; a test compares them. */
static const metric METRICS[] = {
    LABELLED("cardbox_requests_total", "counter", write_requests,
             "Finished requests, by operation and class of status."),
    LABELLED("cardbox_request_duration_seconds", "histogram", write_durations,
             "Time from the request line to the last byte of the answer, by class of operation."),
    LABELLED("cardbox_event_loop_iteration_seconds", "histogram", write_turns,
             "Duration of an iteration of an event loop, without its wait."),
    TALLY("cardbox_requests_in_flight", "gauge", in_flight, "Requests in progress."),
    LABELLED("cardbox_errors_total", "counter", write_errors,
             "Answers that report an error, by error_code and reason."),
    TALLY("cardbox_request_body_bytes_total", "counter", body_bytes_in,
          "Bytes of request bodies that were received."),
    TALLY("cardbox_response_body_bytes_total", "counter", body_bytes_out,
          "Bytes of response bodies, counted when they are passed to the HTTP library."),
    VALUE("cardbox_request_bodies_held_bytes", "gauge", bodies_bytes,
          "Memory that request bodies over 64 KiB use now."),
    VALUE("cardbox_memory_used_bytes", "gauge", memory_bytes,
          "Memory that is counted against --memory-max."),
    TALLY("cardbox_client_connections", "gauge", clients, "Open connections of clients."),
    TALLY("cardbox_client_connections_total", "counter", clients_opened,
          "Connections that clients have opened since the start."),
    VALUE("cardbox_ready", "gauge", ready, "1 if /readyz answers 200, else 0."),
    LABELLED("cardbox_database_connections", "gauge", write_db_conns,
             "Database connections of the event loops, by group and state."),
    LABELLED("cardbox_statements_total", "counter", write_statements,
             "Statements sent to the database, by statement."),
    LABELLED("cardbox_batch_requests", "summary", write_members,
             "Requests that one batched statement carried, by statement."),
    TALLY("cardbox_queue_length", "gauge", waiting,
          "Requests that wait to be sent to the database."),
    TALLY("cardbox_jobs", "gauge", jobs_open,
          "Large requests that helper threads work on, or that wait for one."),
    TALLY("cardbox_jobs_total", "counter", jobs,
          "Times that a helper thread began to work on a large request."),
    TALLY("cardbox_ability_calls", "gauge", ability_calls_open,
          "Calls of registered abilities that run."),
    TALLY("cardbox_ability_calls_total", "counter", ability_calls,
          "Calls of registered abilities that were begun."),
    TALLY("cardbox_retries_total", "counter", retries,
          "Times that a request was queued again, to be part of another statement."),
    TALLY("cardbox_rows_total", "counter", rows, "Rows that statements returned."),
    TALLY("cardbox_standby_reads_total", "counter", standby_reads,
          "Reads that a standby of --standby-dsn has answered."),
    TALLY("cardbox_standby_fallback_total", "counter", standby_passed,
          "Reads that were sent to the primary and not to a standby of --standby-dsn."),
    VALUE("cardbox_search_queue_length", "gauge", search_waiting,
          "Changes of documents that wait to be indexed for the search, at most 100000."),
    VALUE("cardbox_search_queue_age_seconds", "gauge", search_oldest,
          "Age of the oldest change that waits to be indexed for the search."),
    VALUE("cardbox_loops", "gauge", loops, "Event loops."),
    VALUE("process_resident_memory_bytes", "gauge", resident_bytes,
          "Memory of the process that is in RAM."),
    VALUE("process_open_fds", "gauge", open_descriptors, "Open file descriptors."),
    VALUE("process_max_fds", "gauge", descriptors_max, "Maximum number of open file descriptors."),
    VALUE("process_start_time_seconds", "gauge", started,
          "When the process started, in seconds since 1970."),
    VALUE("process_cpu_seconds_total", "counter", cpu_seconds,
          "CPU time of the process in user and system mode, in seconds."),
    LABELLED("cardbox_build_info", "gauge", write_build, "Always 1. The label is the version."),
};

static void sum_all(stats *sum, const server_state *server)
{
    tally *total = (tally *)(void *)sum;
    for (size_t one = 0; one < server->stats_count; one++) {
        const tally *of = (const tally *)(const void *)&server->stats[one];
        for (size_t i = 0; i < STATS_COUNT; i++)
            tally_add(&total[i], tally_get(&of[i]));
    }
}

/* Writes all metrics in Prometheus' text format 0.0.4. `sum` must be zeros. */
static void write_metrics(buf *out, const server_state *server, stats *sum)
{
    metric_source of = {server, sum};
    sum_all(sum, server);
    for (size_t i = 0; i < sizeof(METRICS) / sizeof(METRICS[0]); i++) {
        const metric *m = &METRICS[i];
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
        m->write(out, m, &of);
    }
}

void handle_metrics(request *r)
{
    stats *sum = handler_take(r, 1, sizeof(*sum));
    if (sum == NULL)
        return;
    r->answer.type = "text/plain; version=0.0.4; charset=utf-8";
    write_metrics(request_body(r), r->server, sum);
    request_finish(r);
}
