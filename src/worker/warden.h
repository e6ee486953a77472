/*
 * warden.h: the process between the worker and a program that it runs: starts the program, tells
 * how it ended, and lets nothing of it live on. Runs after fork in a program of many threads: only
 * system calls, no memory is taken.
 */
#ifndef WORKER_WARDEN_H
#define WORKER_WARDEN_H

/* What the warden and the program before it is one send over the report's pipe. */
typedef enum warden_news { WARDEN_EXITED = 1, WARDEN_KILLED, WARDEN_NOT_STARTED } warden_news;

typedef struct warden_report {
    int news;
    int number; /* exit status, signal or errno */
} warden_report;

/* Orders to the warden, one byte each. The end of the orders' pipe is one too: kill at once. */
#define WARDEN_ORDER_TERM 'T'

typedef struct warden_start {
    char *const *argv;
    char *const *environment;
    int input, output, complaints; /* the program's standard descriptors */
    int orders;                    /* to be read */
    int report;                    /* to be written */
} warden_start;

/* Never returns. */
_Noreturn void warden_main(const warden_start *start);

#endif
