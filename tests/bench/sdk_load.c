/*
 * sdk_load.c: load through the public SDK, for the benchmark. It uses what a worker would use and
 * nothing else of CardBox. Prints {"operations": N, "seconds": S}; ends with 1 at the first error.
 *
 *   sdk_load DSN append THREADS SECONDS PREFIX BOXES   one id, with a key, to one of the boxes
 *   sdk_load DSN fork   THREADS SECONDS PREFIX BOXES   of one of the boxes
 *   sdk_load DSN add    THREADS SECONDS FILE BATCH     new cards; an operation is a card
 *   sdk_load DSN range  1 0 FILE FIRST COUNT           the cards of these numbers, in calls of 100
 *   sdk_load DSN import 1 0 SESSION_FILE               into a new session; an operation is a byte
 *   sdk_load DSN entries THREADS SECONDS FILE          one entry each to a session of the thread's
 * own sdk_load DSN context THREADS SECONDS SESSION       the context of its head
 *
 * FILE has a content in its first line and a metadata object in its second. Ids are as in data.py.
 */
#include <cardbox.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_NUMBER INT64_C(100000000000)

enum { TENANTS = 4, THREADS_MAX = 64, BATCH_MAX = 1000, RANGE_BATCH = 100, LINE_MAX_BYTES = 65536 };

typedef struct job job;

/* One operation, or a batch; gives how many operations that were, 0 for an error. */
typedef int64_t (*work)(job *j);

struct job {
    work work;
    uint64_t dice; /* of this thread's own */
    int64_t done;
    char session[CARDBOX_UUID_SIZE]; /* that it appends to; empty: none yet */
    pthread_t thread;
};

/* What all threads read. */
static cardbox *db;
static double seconds;
static const char *prefix;
static int64_t boxes, range_first, range_count;
static size_t batch = 1;
static const char *session;
static char content[LINE_MAX_BYTES], metadata[LINE_MAX_BYTES];
static pthread_barrier_t start_line;
static _Atomic bool failed;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* xorshift64 */
static uint64_t roll(job *j)
{
    j->dice ^= j->dice << 13;
    j->dice ^= j->dice >> 7;
    j->dice ^= j->dice << 17;
    return j->dice;
}

static bool succeeded(cardbox_status status, const cardbox_error *err)
{
    if (status == CARDBOX_OK)
        return true;
    fprintf(stderr, "sdk_load: %s: %s\n", cardbox_status_name(status), err->message);
    atomic_store(&failed, true);
    return false;
}

static void tenant_of(char out[16], int64_t number)
{
    snprintf(out, 16, "tenant-%d", (int)(number % TENANTS));
}

/* One of the boxes, by chance. */
static void choose_box(job *j, char tenant[16], char box[CARDBOX_UUID_SIZE])
{
    int64_t number = (int64_t)(roll(j) % (uint64_t)boxes);
    tenant_of(tenant, number);
    snprintf(box, CARDBOX_UUID_SIZE, "%s%" PRId64, prefix, FIRST_NUMBER + number);
}

static int64_t append(job *j)
{
    char tenant[16], box[CARDBOX_UUID_SIZE], id[CARDBOX_UUID_SIZE], key[40];
    const char *ids[] = {id};
    cardbox_append_options options = CARDBOX_APPEND_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    choose_box(j, tenant, box);
    cardbox_uuid7(id);
    snprintf(key, sizeof(key), "%016" PRIx64 "%016" PRIx64, roll(j), roll(j));
    options.key = key;
    return succeeded(cardbox_append_to_box(NULL, db, tenant, box, ids, 1, &options, &err), &err);
}

static int64_t fork_one(job *j)
{
    char tenant[16], box[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    choose_box(j, tenant, box);
    return succeeded(cardbox_box_fork(NULL, db, tenant, box, NULL, &err), &err);
}

static int64_t add(job *j)
{
    cardbox_card cards[BATCH_MAX];
    char ids[BATCH_MAX][CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (size_t i = 0; i < batch; i++) {
        uint64_t high = roll(j), low = roll(j);
        snprintf(ids[i], sizeof(ids[i]), "%08x-%04x-4%03x-8%03x-%012" PRIx64,
                 (unsigned)(high >> 32), (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
                 (unsigned)(low >> 52), low & UINT64_C(0xffffffffffff));
        cards[i] = (cardbox_card)CARDBOX_CARD_INIT;
        cards[i].card_id = ids[i];
        cards[i].content = content;
        cards[i].metadata = metadata;
    }
    bool ok = succeeded(cardbox_add_cards(NULL, db, "tenant-0", cards, batch, NULL, &err), &err);
    return ok ? (int64_t)batch : 0;
}

static int64_t add_range(job *j)
{
    cardbox_card cards[RANGE_BATCH];
    char ids[RANGE_BATCH][CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    size_t count = 0;
    for (; count < RANGE_BATCH && j->done + (int64_t)count < range_count; count++) {
        snprintf(ids[count], sizeof(ids[count]), "range-%" PRId64,
                 range_first + j->done + (int64_t)count);
        cards[count] = (cardbox_card)CARDBOX_CARD_INIT;
        cards[count].card_id = ids[count];
        cards[count].content = content;
        cards[count].metadata = metadata;
    }
    bool ok = succeeded(cardbox_add_cards(NULL, db, "tenant-0", cards, count, NULL, &err), &err);
    return ok ? (int64_t)count : 0;
}

static ptrdiff_t read_file(void *file, char *to, size_t room)
{
    size_t count = fread(to, 1, room, file);
    return ferror((FILE *)file) ? -1 : (ptrdiff_t)count;
}

static int64_t import_file(job *j)
{
    char id[CARDBOX_UUID_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    FILE *file = fopen(session, "r");
    int64_t bytes = 0;
    (void)j;
    if (file == NULL) {
        perror(session);
        atomic_store(&failed, true);
        return 0;
    }
    cardbox_uuid7(id);
    if (succeeded(cardbox_session_import(NULL, db, "tenant-0", id, NULL, read_file, file, &err),
                  &err))
        bytes = ftell(file);
    fclose(file);
    return bytes;
}

static int64_t build_context(job *j)
{
    cardbox_context *context = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)j;
    bool ok = succeeded(
        cardbox_build_context(&context, db, "tenant-0", session, NULL, CARDBOX_FORMAT_OPENAI, &err),
        &err);
    cardbox_context_free(context);
    return ok;
}

/* The content of FILE as a message. */
static int64_t append_entry(job *j)
{
    static const char *const before = "{\"type\":\"user\",\"content\":", *const after = "}";
    char entry[LINE_MAX_BYTES + 64];
    const char *entries[] = {entry};
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (j->session[0] == '\0') {
        cardbox_uuid7(j->session);
        if (!succeeded(cardbox_session_create(NULL, db, "tenant-0", j->session, NULL, &err), &err))
            return 0;
    }
    snprintf(entry, sizeof(entry), "%s%s%s", before, content, after);
    return succeeded(
        cardbox_session_append(NULL, db, "tenant-0", j->session, entries, 1, NULL, &err), &err);
}

static void *run_thread(void *arg)
{
    job *j = arg;
    pthread_barrier_wait(&start_line);
    double end = now() + seconds;
    while (!atomic_load(&failed) && (range_count > 0 ? j->done < range_count : now() < end))
        j->done += j->work(j);
    return NULL;
}

static bool run_threads(work what, unsigned threads)
{
    job jobs[THREADS_MAX] = {{NULL, 0, 0, "", 0}};
    int64_t operations = 0;
    struct timespec t;
    if (clock_gettime(CLOCK_REALTIME, &t) != 0) /* two short runs of one second differ too */
        return false;
    uint64_t seed = (uint64_t)t.tv_sec << 32 ^ (uint64_t)t.tv_nsec;
    if (pthread_barrier_init(&start_line, NULL, threads + 1) != 0)
        return false;
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].work = what;
        jobs[i].dice = (seed + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        if (pthread_create(&jobs[i].thread, NULL, run_thread, &jobs[i]) != 0)
            return false;
    }
    pthread_barrier_wait(&start_line);
    double began = now();
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        operations += jobs[i].done;
    }
    printf("{\"operations\": %" PRId64 ", \"seconds\": %.6f}\n", operations, now() - began);
    return !atomic_load(&failed);
}

static bool read_line(char out[LINE_MAX_BYTES], FILE *file)
{
    if (fgets(out, LINE_MAX_BYTES, file) == NULL)
        return false;
    out[strcspn(out, "\n")] = '\0';
    return true;
}

static bool read_document(const char *path)
{
    FILE *file = fopen(path, "r");
    bool ok = file != NULL && read_line(content, file) && read_line(metadata, file);
    if (file != NULL)
        fclose(file);
    return ok;
}

/* Which work it is, with its own arguments read; NULL: not understood. */
static work read_work(int argc, char **argv)
{
    const char *what = argv[2];
    bool on_boxes = strcmp(what, "append") == 0 || strcmp(what, "fork") == 0;
    if (on_boxes && argc == 7) {
        prefix = argv[5];
        boxes = strtoll(argv[6], NULL, 10);
        return boxes < 1 ? NULL : what[0] == 'a' ? append : fork_one;
    }
    if (strcmp(what, "add") == 0 && argc == 7 && read_document(argv[5])) {
        batch = strtoul(argv[6], NULL, 10);
        return batch >= 1 && batch <= BATCH_MAX ? add : NULL;
    }
    if (strcmp(what, "entries") == 0 && argc == 6 && read_document(argv[5]))
        return append_entry;
    if (argc == 6 && (strcmp(what, "import") == 0 || strcmp(what, "context") == 0)) {
        session = argv[5];
        range_count = what[0] == 'i'; /* one import, however long it takes */
        return range_count > 0 ? import_file : build_context;
    }
    if (strcmp(what, "range") == 0 && argc == 8 && read_document(argv[5])) {
        range_first = strtoll(argv[6], NULL, 10);
        range_count = strtoll(argv[7], NULL, 10);
        return range_count > 0 ? add_range : NULL;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    work what = argc < 6 ? NULL : read_work(argc, argv);
    unsigned long threads = what == NULL ? 0 : strtoul(argv[3], NULL, 10);
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: see the top of sdk_load.c\n");
        return 2;
    }
    seconds = strtod(argv[4], NULL);
    options.conninfo = argv[1];
    options.pool_min = options.pool_max = (unsigned)threads;
    if (!succeeded(cardbox_open(&db, &options, &err), &err))
        return 1;
    bool ok = run_threads(what, (unsigned)threads);
    cardbox_close(db);
    return ok ? 0 : 1;
}
