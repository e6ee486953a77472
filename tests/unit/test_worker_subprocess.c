/*
 * test_worker_subprocess.c: commands that end normally, and commands that write too much, hang,
 * ignore SIGTERM, leave their process group or outlive the worker. All of them are short scripts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "worker/process/subprocess.h"
#include "worker/process/supervisor.h"

enum { PATIENCE_MS = 30000, OUTPUT_MAX = 100000 };

static char PATH[] = "PATH=/usr/bin:/bin", ONLY[] = "ONLY=this";
static char *const ENVIRONMENT[] = {PATH, ONLY, NULL};

static subprocess_result run(buf *output, const char *script, slice input, long time_ms,
                             atomic_int *stop)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *argv[] = {shell, option, NULL, NULL};
    subprocess_result result;
    subprocess_spec spec = {argv, ENVIRONMENT, input, time_ms, stop};

    argv[2] = strdup(script);
    buf_reset(output, 0);
    subprocess_run(&result, output, &spec);
    free(argv[2]);
    return result;
}

#define RUN(output, script) run((output), (script), SLICE(""), PATIENCE_MS, NULL)

/* Doubles *time_ms. Returns true if a script was ended before it could say its process id: then the
 * caller runs it again, with the new time. */
static bool was_too_short(const buf *output, long *time_ms)
{
    *time_ms *= 2;
    return output->failure == BUF_FINE && output->len == 0 && *time_ms < 4 * (long)PATIENCE_MS;
}

/* Runs a script that says its process id and does not end, until its time is over. */
static subprocess_result run_too_long(buf *output, const char *script)
{
    subprocess_result result;
    long time_ms = 1000;

    do
        result = run(output, script, SLICE(""), time_ms, NULL);
    while (was_too_short(output, &time_ms));
    return result;
}

static bool is_alive(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static void expect_gone(const buf *output)
{
    long pid = strtol(buf_str(output), NULL, 10);
    assert_true(pid > 1);
    assert_false(is_alive((pid_t)pid));
}

/* The same for a process that the kernel kills later. */
static void await_gone(const buf *output)
{
    pid_t pid = (pid_t)strtol(buf_str(output), NULL, 10);
    for (int64_t end_ms = clock_ms() + PATIENCE_MS; is_alive(pid) && clock_ms() < end_ms;)
        clock_sleep_ms(5);
    expect_gone(output);
}

static void runs(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    (void)state;
    subprocess_result r =
        run(&output, "cat; echo oops >&2; exit 3", SLICE("{\"a\":1}"), PATIENCE_MS, NULL);
    assert_int_equal(r.end, SUBPROCESS_EXITED);
    assert_int_equal(r.number, 3);
    assert_string_equal(buf_str(&output), "{\"a\":1}");
    assert_string_equal(r.errors, "oops\n");
    r = RUN(&output, "kill -9 $$");
    assert_int_equal(r.end, SUBPROCESS_KILLED);
    assert_int_equal(r.number, SIGKILL);
    buf_free(&output);
}

static void says_what_it_cannot_start(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    char program[] = "/no/such/program";
    char *argv[] = {program, NULL};
    subprocess_result r;
    subprocess_spec spec = {argv, ENVIRONMENT, SLICE(""), PATIENCE_MS, NULL};
    (void)state;
    subprocess_run(&r, &output, &spec);
    assert_int_equal(r.end, SUBPROCESS_NOT_STARTED);
    assert_int_equal(r.number, ENOENT);
    buf_free(&output);
}

static void gives_nothing_away(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    (void)state;
    int secret = dup(0);
    setenv("CARDBOX_DSN", "password=secret", 1);
    RUN(&output, "env | grep -v -e PWD -e SHLVL -e ^_=; ls /proc/self/fd | tr '\\n' ' '");
    assert_string_equal(buf_str(&output), "PATH=/usr/bin:/bin\nONLY=this\n0 1 2 3 ");
    close(secret);
    buf_free(&output);
}

static void gives_much_input(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX), input = BUF_INIT(4 << 20);
    (void)state;
    while (input.len < 3 << 20)
        buf_text(&input, "0123456789abcdef");
    slice text = buf_as_slice(&input);
    subprocess_result r = run(&output, "wc -c", text, PATIENCE_MS, NULL);
    assert_int_equal(r.end, SUBPROCESS_EXITED);
    assert_int_equal(strtol(buf_str(&output), NULL, 10), 3 << 20);
    r = run(&output, "exit 0", text, PATIENCE_MS, NULL); /* one that reads nothing */
    assert_int_equal(r.end, SUBPROCESS_EXITED);
    buf_free(&input);
    buf_free(&output);
}

static void stops_floods(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    (void)state;
    subprocess_result r = RUN(&output, "yes | head -c 100000000; sleep 1000");
    assert_int_equal(r.end, SUBPROCESS_OUTPUT_LIMIT);
    r = RUN(&output, "yes | head -c 5000000 >&2; echo last >&2; echo fine");
    assert_int_equal(r.end, SUBPROCESS_EXITED);
    assert_string_equal(buf_str(&output), "fine\n");
    assert_string_equal(r.errors + r.errors_len - 5, "last\n");
    assert_int_equal(r.errors_len, SUBPROCESS_ERRORS_MAX - 1);
    buf_free(&output);
}

static void stops_what_hangs(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    (void)state;
    subprocess_result r = run_too_long(&output, "echo $$; exec sleep 1000");
    assert_int_equal(r.end, SUBPROCESS_TIMEOUT);
    expect_gone(&output);
    r = run_too_long(&output, "trap '' TERM INT HUP; echo $$; while :; do sleep 0.05; done");
    assert_int_equal(r.end, SUBPROCESS_TIMEOUT);
    expect_gone(&output);
    buf_free(&output);
}

/* Orphans of orphans, in sessions of their own, that keep the pipe of the output open. */
static void ends_descendants(void **state)
{
    static const char script[] = "(setsid sh -c 'trap \"\" TERM; echo $$; sleep 1000 & sleep 1000' "
                                 "&) & sleep %g; %s";
    static const char *const rests[] = {"exit 0", "sleep 1000", "exec yes"};
    buf output = BUF_INIT(OUTPUT_MAX);
    char text[300];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        long time_ms = 1000;
        do {
            snprintf(text, sizeof(text), script, 0.0003 * (double)time_ms, rests[i]);
            run(&output, text, SLICE(""), time_ms, NULL);
        } while (was_too_short(&output, &time_ms));
        if (output.failure == BUF_FINE)
            expect_gone(&output);
    }
    buf_free(&output);
}

typedef struct later {
    atomic_int stop;
    long after_ms;
} later;

static void *set_later(void *arg)
{
    later *what = arg;
    clock_sleep_ms(what->after_ms);
    atomic_store(&what->stop, 1);
    return NULL;
}

static void can_be_stopped(void **state)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    later what = {0, 150};
    pthread_t thread;
    (void)state;
    do {
        atomic_store(&what.stop, 0);
        assert_int_equal(pthread_create(&thread, NULL, set_later, &what), 0);
        subprocess_result r =
            run(&output, "echo $$; exec sleep 1000", SLICE(""), 4 * (long)PATIENCE_MS, &what.stop);
        pthread_join(thread, NULL);
        assert_int_equal(r.end, SUBPROCESS_STOPPED);
    } while (was_too_short(&output, &what.after_ms));
    expect_gone(&output);
    buf_free(&output);
}

/* If the worker is killed, its commands are killed, even those that left its process group. */
static void dies_with_the_worker(void **state)
{
    int fds[2];
    char line[32] = "";
    char script[200];
    (void)state;
    assert_int_equal(pipe(fds), 0);
    pid_t worker = fork();
    assert_true(worker >= 0);
    if (worker == 0) {
        buf output = BUF_INIT(OUTPUT_MAX);
        snprintf(script, sizeof(script), "setsid sleep 1000 & echo $! >/proc/%ld/fd/%d; sleep 1000",
                 (long)getpid(), fds[1]);
        RUN(&output, script);
        _exit(0);
    }
    close(fds[1]);
    assert_true(read(fds[0], line, sizeof(line) - 1) > 0);
    close(fds[0]);
    pid_t left = (pid_t)strtol(line, NULL, 10);
    assert_true(left > 1 && is_alive(left));
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    for (int64_t end_ms = clock_ms() + PATIENCE_MS; is_alive(left) && clock_ms() < end_ms;)
        clock_sleep_ms(5);
    assert_false(is_alive(left));
}

static void *run_some(void *arg)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    for (int i = 0; i < 10; i++) {
        subprocess_result r = run(&output, "sleep 1000 & cat", SLICE("x"), PATIENCE_MS, NULL);
        if (r.end != SUBPROCESS_EXITED || output.len != 1)
            atomic_store((atomic_int *)arg, 1);
    }
    buf_free(&output);
    return NULL;
}

/* A command must not inherit the pipe of another command's input, which would stay open then. */
static void runs_many_at_once(void **state)
{
    pthread_t threads[6];
    atomic_int failed = 0;
    (void)state;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, &failed), 0);
    for (size_t i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&failed), 0);
}

static void *run_beside(void *arg)
{
    buf output = BUF_INIT(OUTPUT_MAX);
    subprocess_result r = RUN(&output, "sleep 1; (sleep 1; echo fine) & wait");
    atomic_store((atomic_int *)arg,
                 r.end == SUBPROCESS_EXITED && strcmp(buf_str(&output), "fine\n") == 0);
    buf_free(&output);
    return NULL;
}

/* The command of a killed supervisor is killed. Other commands continue. */
static void survives_a_killed_supervisor(void **state)
{
    static const struct {
        const char *script;
        long time_ms;
        subprocess_end end;
    } attacks[] = {
        {"sleep 1000 & echo $!; kill -9 $PPID; sleep 1000", PATIENCE_MS, SUBPROCESS_LOST},
        {"echo $$; kill -STOP $PPID; sleep 1000", 5000, SUBPROCESS_TIMEOUT},
    };
    buf output = BUF_INIT(OUTPUT_MAX);
    atomic_int is_fine = 0;
    pthread_t beside;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&beside, NULL, run_beside, &is_fine), 0);
        subprocess_result r = run(&output, attacks[i].script, SLICE(""), attacks[i].time_ms, NULL);
        assert_int_equal(r.end, attacks[i].end);
        await_gone(&output);
        pthread_join(beside, NULL);
        assert_int_equal(atomic_load(&is_fine), 1);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    }
    buf_free(&output);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_a_killed_supervisor),
        cmocka_unit_test(runs),
        cmocka_unit_test(says_what_it_cannot_start),
        cmocka_unit_test(gives_nothing_away),
        cmocka_unit_test(gives_much_input),
        cmocka_unit_test(stops_floods),
        cmocka_unit_test(stops_what_hangs),
        cmocka_unit_test(ends_descendants),
        cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(dies_with_the_worker),
        cmocka_unit_test(runs_many_at_once),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
