/*
 * dev_server.h: cardboxd as the child of `cardbox dev`.
 */
#ifndef CLI_DEV_SERVER_H
#define CLI_DEV_SERVER_H

#include <signal.h>
#include <stdio.h>
#include "cli/dev/process.h"

typedef struct dev_server {
    char log[PATH_MAX]; /* where its standard error goes */
    char url[128];      /* once it serves: "http://127.0.0.1:8099" */
    pid_t pid;          /* 0: not running */
    FILE *lines;        /* its standard output */
} dev_server;

/* Reports an error unless `listen` is an ADDR:PORT that only this machine reaches. */
bool dev_check_listen(const char *listen);

/* False: the address is in use, which is reported. */
bool dev_is_free(const char *listen);

typedef struct dev_server_options {
    const char *dir; /* the folder of its log */
    const char *dsn;
    const char *listen;
    bool auth; /* it asks for tokens */
} dev_server_options;

/* Starts it and waits until it serves, or *stop is set. False: why was said, if not for *stop. */
bool dev_server_start(dev_server *s, const dev_server_options *options,
                      const volatile sig_atomic_t *stop);

/* Waits a little, taking what it prints, so that no full pipe holds it up. */
void dev_server_listen(dev_server *s);

/* Lets it answer what it has begun; does not wait for that if *stop grows. */
void dev_server_stop(dev_server *s, const volatile sig_atomic_t *stop);

/* Prints on stderr that it ended, and the end of its log. */
void dev_server_say_end(const dev_server *s, const char *how);

#endif
