/*
 * test_boxes.c: boxes through the SDK against a real database: changes and their conflicts, parts
 * and earlier moments, forks of forks, the log, and what is refused.
 */
#include "store/store_test.h"

#include <unistd.h>

/* Ids "c0", "c1", ... as a caller passes them. */
static const char *const *numbered(int from, int count)
{
    static char texts[2048][12];
    static const char *ids[2048];
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof(texts[i]), "c%d", from + i);
        ids[i] = texts[i];
    }
    return ids;
}

static cardbox_box_change append(const char *box, int from, int count)
{
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_append_to_box(&change, db, "t", box, numbered(from, count), (size_t)count,
                                    NULL, &err),
              &err);
    return change;
}

static void make_box(char box[CARDBOX_UUID_SIZE], int count)
{
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    options.card_ids = numbered(0, count);
    options.card_count = (size_t)count;
    assert_ok(cardbox_box_create(&change, db, "t", &options, &err), &err);
    assert_int_equal(change.version, 1);
    assert_int_equal(change.length, count);
    memcpy(box, change.box_id, CARDBOX_UUID_SIZE);
}

/* The part that options ask for must be c<from>, c<from + 1>, ... */
static void check_part(const char *box_id, cardbox_read_options how, int from, int count)
{
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[12];
    assert_ok(cardbox_load_box(&boxes, db, "t", box_id, &how, &err), &err);
    const cardbox_box *box = cardbox_boxes_at(boxes, 0);
    assert_int_equal(box->card_count, count);
    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof(id), "c%d", from + i);
        assert_string_equal(box->card_ids[i], id);
    }
    cardbox_boxes_free(boxes);
}

static void create_and_ensure(void **state)
{
    (void)state;
    cardbox_box_change change;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char id[CARDBOX_UUID_SIZE], upper[CARDBOX_UUID_SIZE];
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_uuid7(id);
    for (int i = 0; i < CARDBOX_UUID_SIZE; i++)
        upper[i] = (char)(id[i] >= 'a' && id[i] <= 'f' ? id[i] - 32 : id[i]);

    assert_ok(cardbox_box_ensure(&change, db, "t", upper, &err), &err);
    assert_false(change.replayed);
    assert_string_equal(change.box_id, id);
    append(id, 0, 3);
    assert_ok(cardbox_box_ensure(&change, db, "t", id, &err), &err);
    assert_true(change.replayed);
    assert_int_equal(change.version, 2);
    assert_int_equal(change.length, 3);
    options.box_id = id;
    assert_int_equal(cardbox_box_create(&change, db, "t", &options, &err), CARDBOX_CONFLICT);
    assert_int_equal(err.current_version, 2);
    const char *parents[] = {id};
    options.box_id = NULL;
    options.parent_ids = parents;
    options.parent_count = 1;
    assert_ok(cardbox_box_create(&change, db, "t", &options, &err), &err);
    assert_ok(cardbox_load_box(&boxes, db, "t", change.box_id, NULL, &err), &err);
    assert_int_equal(cardbox_boxes_at(boxes, 0)->parent_count, 1);
    assert_string_equal(cardbox_boxes_at(boxes, 0)->parent_ids[0], id);
    cardbox_boxes_free(boxes);
    char own[CARDBOX_UUID_SIZE];
    cardbox_uuid7(own);
    options.box_id = parents[0] = own;
    assert_int_equal(cardbox_box_create(&change, db, "t", &options, &err), CARDBOX_INVALID);
    assert_non_null(strstr(err.message, "its own parent"));
}

static void delete_takes_the_id(void **state)
{
    (void)state;
    cardbox_box_change change;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_box_options options = CARDBOX_BOX_OPTIONS_INIT;
    char box[CARDBOX_UUID_SIZE];
    const char *ids[] = {"x"};
    make_box(box, 3);
    options.box_id = box;
    assert_ok(cardbox_box_delete(db, "t", box, &err), &err);
    assert_ok(cardbox_box_delete(db, "t", box, &err), &err);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", box, NULL, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, ids, 1, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_box_ensure(&change, db, "t", box, &err), CARDBOX_GONE);
    assert_int_equal(cardbox_box_create(&change, db, "t", &options, &err), CARDBOX_GONE);
    assert_int_equal(err.status, CARDBOX_GONE);
    assert_int_equal(cardbox_save_box(&change, db, "t", box, ids, 1, 0, &err), CARDBOX_GONE);
}

/* Appends of every size around a segment's 64, read back whole and in parts. */
static void append_over_segments(void **state)
{
    (void)state;
    static const int SIZES[] = {1, 62, 1, 1, 63, 64, 65, 128, 1, 200, 3};
    char box[CARDBOX_UUID_SIZE];
    int length = 0;
    make_box(box, 0);
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        cardbox_box_change change = append(box, length, SIZES[i]);
        length += SIZES[i];
        assert_int_equal(change.length, length);
        assert_int_equal(change.version, 2 + (int)i);
        check_part(box, (cardbox_read_options){0}, 0, length);
    }
    for (int n = 1; n <= length; n += 37) {
        check_part(box, (cardbox_read_options){.tail = (size_t)n}, length - n, n);
        check_part(box, (cardbox_read_options){.offset = (size_t)n, .limit = 70}, n,
                   length - n < 70 ? length - n : 70);
        check_part(box, (cardbox_read_options){.at_length = n}, 0, n);
    }
    check_part(box, (cardbox_read_options){.tail = 100000}, 0, length);
    check_part(box, (cardbox_read_options){.offset = 100000}, length, 0);
    check_part(box, (cardbox_read_options){.at_version = 4, .tail = 2}, 62, 2);
}

static void expected_version(void **state)
{
    (void)state;
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    char box[CARDBOX_UUID_SIZE], missing[CARDBOX_UUID_SIZE];
    make_box(box, 2);
    how.expected_version = 1;
    assert_ok(cardbox_append_to_box(&change, db, "t", box, numbered(2, 1), 1, &how, &err), &err);
    assert_int_equal(cardbox_append_to_box(&change, db, "t", box, numbered(3, 1), 1, &how, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(err.current_version, 2);
    assert_false(err.retryable);
    assert_int_equal(cardbox_save_box(&change, db, "t", box, numbered(0, 1), 1, 1, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(err.current_version, 2);
    check_part(box, (cardbox_read_options){0}, 0, 3);
    cardbox_uuid7(missing);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", missing, numbered(3, 1), 1, NULL, &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_save_box(NULL, db, "t", missing, numbered(3, 1), 1, 7, &err),
                     CARDBOX_NOT_FOUND);
}

static void append_keys(void **state)
{
    (void)state;
    cardbox_box_change first, again;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    char box[CARDBOX_UUID_SIZE], other[CARDBOX_UUID_SIZE];
    make_box(box, 0);
    make_box(other, 0);
    how.key = "turn-1";
    how.expected_version = 1;
    assert_ok(cardbox_append_to_box(&first, db, "t", box, numbered(0, 70), 70, &how, &err), &err);
    append(box, 70, 5);
    assert_ok(cardbox_append_to_box(&again, db, "t", box, numbered(0, 70), 70, &how, &err), &err);
    assert_true(again.replayed);
    assert_int_equal(again.version, first.version);
    assert_int_equal(again.length, first.length);
    assert_int_equal(cardbox_append_to_box(&again, db, "t", box, numbered(1, 70), 70, &how, &err),
                     CARDBOX_CONFLICT);
    check_part(box, (cardbox_read_options){0}, 0, 75);
    /* A key belongs to its box. */
    assert_ok(cardbox_append_to_box(&again, db, "t", other, numbered(0, 1), 1, &how, &err), &err);
    assert_false(again.replayed);
}

/* A sealed box keeps its list, and the answers to earlier appends with a key. */
static void sealed_box(void **state)
{
    (void)state;
    char box[CARDBOX_UUID_SIZE];
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options keyed = CARDBOX_APPEND_OPTIONS_INIT;
    cardbox_boxes *boxes = NULL;
    cardbox_log *log = NULL;
    make_box(box, 2);
    keyed.key = "turn";
    assert_ok(cardbox_append_to_box(&change, db, "t", box, numbered(2, 1), 1, &keyed, &err), &err);
    append(box, 3, 1);
    assert_ok(cardbox_seal_box(&change, db, "t", box, &err), &err);
    assert_string_equal(change.box_id, box);
    assert_true(change.version == 4 && change.length == 4 && !change.replayed);
    assert_ok(cardbox_seal_box(&change, db, "t", box, &err), &err);
    assert_true(change.version == 4 && change.length == 4 && change.replayed);

    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, numbered(0, 1), 1, NULL, &err),
                     CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "sealed"));
    assert_int_equal(err.current_version, 4);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, numbered(0, 100), 100, NULL, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(cardbox_save_box(NULL, db, "t", box, numbered(0, 1), 1, 4, &err),
                     CARDBOX_CONFLICT);
    assert_int_equal(cardbox_box_delete(db, "t", box, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "sealed"));
    assert_ok(cardbox_append_to_box(&change, db, "t", box, numbered(2, 1), 1, &keyed, &err), &err);
    assert_true(change.version == 2 && change.length == 3 && change.replayed);
    assert_ok(cardbox_box_ensure(&change, db, "t", box, &err), &err);
    assert_true(change.replayed);

    assert_ok(cardbox_load_box(&boxes, db, "t", box, NULL, &err), &err);
    assert_true(cardbox_boxes_at(boxes, 0)->sealed);
    cardbox_boxes_free(boxes);
    assert_ok(cardbox_box_log(&log, db, "t", box, 0, 1, &err), &err);
    assert_string_equal(cardbox_log_at(log, 0)->op, "seal");
    assert_int_equal(cardbox_log_at(log, 0)->added, 0);
    cardbox_log_free(log);
    assert_ok(cardbox_box_fork(&change, db, "t", box, NULL, &err), &err);
    assert_int_equal(append(change.box_id, 4, 1).length, 5);
    assert_int_equal(cardbox_seal_box(NULL, db, "other", box, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_seal_box(NULL, db, "t", "no uuid", &err), CARDBOX_INVALID);
}

static void save_keeps_the_past(void **state)
{
    (void)state;
    cardbox_box_change change;
    cardbox_cards *cards = NULL;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char box[CARDBOX_UUID_SIZE];
    make_box(box, 100);
    append(box, 100, 50);
    assert_ok(cardbox_save_box(&change, db, "t", box, numbered(500, 70), 70, 2, &err), &err);
    assert_int_equal(change.version, 3);
    assert_int_equal(change.length, 70);
    check_part(box, (cardbox_read_options){0}, 500, 70);
    check_part(box, (cardbox_read_options){.at_version = 2}, 0, 150);
    check_part(box, (cardbox_read_options){.at_version = 1, .tail = 10}, 90, 10);
    assert_ok(cardbox_save_box(&change, db, "t", box, numbered(500, 70), 70, 0, &err), &err);
    assert_true(change.replayed);
    assert_int_equal(change.version, 3);
    append(box, 570, 60);
    check_part(box, (cardbox_read_options){0}, 500, 130);
    assert_int_equal(
        cardbox_load_box(&boxes, db, "t", box, &(cardbox_read_options){.at_version = 9}, &err),
        CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, "it has versions 1 to 4 since 2"));
    assert_int_equal(cardbox_get_box_cards(&cards, db, "t", box,
                                           &(cardbox_read_options){.at_length = 9999}, &err),
                     CARDBOX_NOT_FOUND);
    assert_non_null(strstr(err.message, ", and 130 ids now"));
    assert_ok(cardbox_save_box(&change, db, "t", box, NULL, 0, 0, &err), &err);
    check_part(box, (cardbox_read_options){0}, 0, 0);
}

static void fork_at(char out[CARDBOX_UUID_SIZE], const char *box, int64_t version, int64_t length)
{
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_fork_options how = CARDBOX_FORK_OPTIONS_INIT;
    how.at_version = version;
    how.at_length = length;
    assert_ok(cardbox_box_fork(&change, db, "t", box, &how, &err), &err);
    assert_int_equal(change.version, 1);
    memcpy(out, change.box_id, CARDBOX_UUID_SIZE);
}

static void forks_of_forks(void **state)
{
    (void)state;
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_fork_options how = CARDBOX_FORK_OPTIONS_INIT;
    char box[CARDBOX_UUID_SIZE], one[CARDBOX_UUID_SIZE], two[CARDBOX_UUID_SIZE],
        three[CARDBOX_UUID_SIZE];
    make_box(box, 200);
    fork_at(one, box, 0, -1);
    append(one, 200, 100);
    append(box, 900, 100); /* not the fork's business */
    check_part(one, (cardbox_read_options){0}, 0, 300);
    fork_at(two, one, 0, 270);
    check_part(two, (cardbox_read_options){0}, 0, 270);
    append(two, 270, 1);
    fork_at(three, two, 0, 50); /* below all that its parents own */
    append(three, 50, 100);
    check_part(two, (cardbox_read_options){.tail = 90}, 181, 90);
    check_part(three, (cardbox_read_options){0}, 0, 150);
    check_part(three, (cardbox_read_options){.offset = 40, .limit = 30}, 40, 30);
    fork_at(two, box, 1, -1);
    check_part(two, (cardbox_read_options){0}, 0, 200);
    fork_at(two, box, 0, 0);
    check_part(two, (cardbox_read_options){0}, 0, 0);

    how.at_length = 301;
    assert_int_equal(cardbox_box_fork(&change, db, "t", box, &how, &err), CARDBOX_NOT_FOUND);
    how.at_length = -1;
    how.at_version = 99;
    assert_int_equal(cardbox_box_fork(&change, db, "t", box, &how, &err), CARDBOX_NOT_FOUND);
    how.at_version = 0;
    how.new_box_id = one;
    assert_int_equal(cardbox_box_fork(&change, db, "t", box, &how, &err), CARDBOX_CONFLICT);
    assert_int_equal(cardbox_box_fork(&change, db, "other", box, NULL, &err), CARDBOX_NOT_FOUND);
}

/* What an ancestor has behind any fork on the way is not the box's, whether the nearer fork was
 * made further on or further back. */
static void forks_end_what_their_ancestors_give(void **state)
{
    (void)state;
    char box[CARDBOX_UUID_SIZE], low[CARDBOX_UUID_SIZE], onward[CARDBOX_UUID_SIZE],
        high[CARDBOX_UUID_SIZE], back[CARDBOX_UUID_SIZE], last[CARDBOX_UUID_SIZE];
    make_box(box, 70);
    fork_at(low, box, 0, -1); /* has 64 of the box's */
    append(box, 1000, 400);
    append(low, 70, 130);
    fork_at(onward, low, 0, -1); /* 192 of low's */
    append(low, 2000, 200);
    append(onward, 200, 100);
    fork_at(last, onward, 1, -1);
    append(last, 200, 70);
    check_part(onward, (cardbox_read_options){0}, 0, 300);
    check_part(onward, (cardbox_read_options){.at_version = 1}, 0, 200);
    check_part(onward, (cardbox_read_options){.at_length = 150}, 0, 150);
    check_part(onward, (cardbox_read_options){.tail = 200}, 100, 200);
    check_part(last, (cardbox_read_options){0}, 0, 270);
    check_part(last, (cardbox_read_options){.tail = 150}, 120, 150);

    fork_at(high, box, 0, -1); /* 448 of the box's */
    append(high, 3000, 100);
    fork_at(back, high, 0, 70); /* 64 of high's, which are the box's */
    append(back, 70, 200);
    fork_at(last, back, 0, 140);
    append(last, 140, 100);
    check_part(back, (cardbox_read_options){0}, 0, 270);
    check_part(back, (cardbox_read_options){.at_version = 1}, 0, 70);
    check_part(back, (cardbox_read_options){.tail = 200}, 70, 200);
    check_part(last, (cardbox_read_options){0}, 0, 240);
    check_part(last, (cardbox_read_options){.at_length = 130}, 0, 130);
    check_part(last, (cardbox_read_options){.offset = 60, .limit = 100}, 60, 100);
}

static void many_boxes(void **state)
{
    (void)state;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char a[CARDBOX_UUID_SIZE], b[CARDBOX_UUID_SIZE], upper[CARDBOX_UUID_SIZE];
    make_box(a, 70);
    make_box(b, 3);
    for (int i = 0; i < CARDBOX_UUID_SIZE; i++)
        upper[i] = (char)(a[i] >= 'a' && a[i] <= 'f' ? a[i] - 32 : a[i]);
    const char *wanted[] = {b, "no uuid", a, upper, "00000000-0000-7000-8000-000000000000",
                            b, "no uuid"};
    assert_ok(
        cardbox_load_boxes(&boxes, db, "t", wanted, 7, &(cardbox_read_options){.tail = 2}, &err),
        &err);
    assert_int_equal(cardbox_boxes_count(boxes), 2);
    assert_string_equal(cardbox_boxes_at(boxes, 0)->box_id, b);
    assert_string_equal(cardbox_boxes_at(boxes, 1)->box_id, a);
    assert_string_equal(cardbox_boxes_at(boxes, 1)->card_ids[1], "c69");
    assert_int_equal(cardbox_boxes_at(boxes, 1)->first, 68);
    assert_int_equal(cardbox_boxes_at(boxes, 1)->length, 70);
    assert_int_equal(cardbox_boxes_missing_count(boxes), 2);
    assert_string_equal(cardbox_boxes_missing_at(boxes, 0), "no uuid");
    cardbox_boxes_free(boxes);
}

static void hydrated(void **state)
{
    (void)state;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char box[CARDBOX_UUID_SIZE];
    const char *ids[] = {"h-1", "gone", "h-2", "h-1", "gone", "quote\"d"};
    make_box(box, 0);
    test_add("t", "h-1", "1");
    test_add("t", "h-2", "2");
    test_add("t", "quote\"d", "3");
    test_add("other", "gone", "\"of another tenant\"");
    assert_ok(cardbox_append_to_box(NULL, db, "t", box, ids, 6, NULL, &err), &err);
    assert_ok(cardbox_get_box_cards(&cards, db, "t", box, NULL, &err), &err);
    assert_int_equal(cardbox_cards_count(cards), 4);
    assert_string_equal(cardbox_cards_at(cards, 0)->card_id, "h-1");
    assert_string_equal(cardbox_cards_at(cards, 1)->card_id, "h-2");
    assert_string_equal(cardbox_cards_at(cards, 2)->card_id, "h-1");
    assert_string_equal(cardbox_cards_at(cards, 3)->card_id, "quote\"d");
    assert_int_equal(cardbox_cards_missing_count(cards), 1);
    assert_string_equal(cardbox_cards_missing_at(cards, 0), "gone");
    cardbox_cards_free(cards);
    assert_ok(cardbox_get_box_cards(&cards, db, "t", box, &(cardbox_read_options){.tail = 2}, &err),
              &err);
    assert_int_equal(cardbox_cards_count(cards), 1);
    assert_int_equal(cardbox_cards_missing_count(cards), 1);
    cardbox_cards_free(cards);
    assert_int_equal(cardbox_get_box_cards(&cards, db, "other", box, NULL, &err),
                     CARDBOX_NOT_FOUND);
}

static void log_and_as_of(void **state)
{
    (void)state;
    cardbox_log *log = NULL;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    char box[CARDBOX_UUID_SIZE], at[40];
    make_box(box, 10);
    how.key = "k";
    assert_ok(cardbox_append_to_box(NULL, db, "t", box, numbered(10, 5), 5, &how, &err), &err);
    assert_ok(cardbox_box_log(&log, db, "t", box, 0, 0, &err), &err);
    snprintf(at, sizeof(at), "%s", cardbox_log_at(log, 0)->at);
    cardbox_log_free(log);
    usleep(2000);
    assert_ok(cardbox_save_box(NULL, db, "t", box, NULL, 0, 0, &err), &err);
    assert_ok(cardbox_box_log(&log, db, "t", box, 0, 0, &err), &err);
    assert_int_equal(cardbox_log_count(log), 3);
    assert_string_equal(cardbox_log_at(log, 0)->op, "replace");
    assert_string_equal(cardbox_log_at(log, 1)->op, "append");
    assert_string_equal(cardbox_log_at(log, 1)->append_key, "k");
    assert_int_equal(cardbox_log_at(log, 1)->added, 5);
    assert_int_equal(cardbox_log_at(log, 1)->length, 15);
    assert_string_equal(cardbox_log_at(log, 2)->op, "create");
    assert_null(cardbox_log_at(log, 2)->append_key);
    cardbox_log_free(log);
    assert_ok(cardbox_box_log(&log, db, "t", box, 3, 1, &err), &err);
    assert_int_equal(cardbox_log_count(log), 1);
    assert_int_equal(cardbox_log_at(log, 0)->version, 2);
    cardbox_log_free(log);
    check_part(box, (cardbox_read_options){.at_time = at}, 0, 15);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", box,
                                      &(cardbox_read_options){.at_time = "2001-01-01T00:00:00Z"},
                                      &err),
                     CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_box_log(&log, db, "other", box, 0, 0, &err), CARDBOX_NOT_FOUND);
}

static bool is_held_by(const char *card, const char *box)
{
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool found = false;
    assert_ok(cardbox_card_boxes(&boxes, db, "holders", card, NULL, 0, &err), &err);
    for (size_t i = 0; i < cardbox_boxes_count(boxes); i++)
        found = found || strcmp(cardbox_boxes_at(boxes, i)->box_id, box) == 0;
    cardbox_boxes_free(boxes);
    return found;
}

/* In a sealed segment, in a tail, through forks, and no more after a replace. */
static void holders_of_a_card(void **state)
{
    (void)state;
    cardbox_box_change box, early, late;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_fork_options how = CARDBOX_FORK_OPTIONS_INIT;
    assert_ok(cardbox_box_ensure(&box, db, "holders", NULL, &err), &err);
    assert_ok(
        cardbox_append_to_box(NULL, db, "holders", box.box_id, numbered(0, 100), 100, NULL, &err),
        &err);
    how.at_length = 20;
    assert_ok(cardbox_box_fork(&early, db, "holders", box.box_id, &how, &err), &err);
    assert_ok(cardbox_box_fork(&late, db, "holders", box.box_id, NULL, &err), &err);
    assert_true(is_held_by("c5", box.box_id));
    assert_true(is_held_by("c5", early.box_id));
    assert_true(is_held_by("c5", late.box_id));
    assert_true(is_held_by("c90", late.box_id));
    assert_true(is_held_by("c90", box.box_id));
    assert_false(is_held_by("c30", early.box_id));
    assert_false(is_held_by("c100", box.box_id));
    assert_ok(cardbox_save_box(NULL, db, "holders", box.box_id, NULL, 0, 0, &err), &err);
    assert_false(is_held_by("c5", box.box_id));
    assert_false(is_held_by("c90", box.box_id));
    assert_true(is_held_by("c5", late.box_id));
}

/* What is sealed behind a fork's beginning is not the fork's. */
static void forks_hold_what_is_before_them(void **state)
{
    (void)state;
    cardbox_box_change box, fork;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_fork_options how = CARDBOX_FORK_OPTIONS_INIT;
    assert_ok(cardbox_box_ensure(&box, db, "holders", NULL, &err), &err);
    assert_ok(
        cardbox_append_to_box(NULL, db, "holders", box.box_id, numbered(300, 200), 200, NULL, &err),
        &err);
    how.at_length = 70;
    assert_ok(cardbox_box_fork(&fork, db, "holders", box.box_id, &how, &err), &err);
    assert_true(is_held_by("c363", fork.box_id));
    assert_true(is_held_by("c369", fork.box_id));
    assert_false(is_held_by("c370", fork.box_id));
    assert_true(is_held_by("c370", box.box_id));
}

static void bad_input(void **state)
{
    (void)state;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char box[CARDBOX_UUID_SIZE];
    const char *good[] = {"x"}, *empty[] = {""}, *none[] = {NULL};
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    make_box(box, 0);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", "x", good, 1, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, empty, 1, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, none, 1, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, good, 0, NULL, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, good, 10001, NULL, &err),
                     CARDBOX_TOO_LARGE);
    how.key = "";
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, good, 1, &how, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", "x", NULL, &err), CARDBOX_NOT_FOUND);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", box,
                                      &(cardbox_read_options){.tail = 1, .limit = 1}, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_load_box(&boxes, db, "t", box,
                                      &(cardbox_read_options){.at_version = 1, .at_length = 1},
                                      &err),
                     CARDBOX_INVALID);
    /* A number that went wrong must not pass for "not set". */
    cardbox_fork_options fork_how = CARDBOX_FORK_OPTIONS_INIT;
    cardbox_box_options box_how = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_log *log = NULL;
    how = (cardbox_append_options)CARDBOX_APPEND_OPTIONS_INIT;
    how.expected_version = -3;
    fork_how.at_version = -1;
    box_how.parent_count = 1;
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, good, 1, &how, &err),
                     CARDBOX_INVALID);
    assert_int_equal(cardbox_save_box(NULL, db, "t", box, good, 1, -1, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_fork(NULL, db, "t", box, &fork_how, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_log(&log, db, "t", box, -5, 0, &err), CARDBOX_INVALID);
    assert_int_equal(
        cardbox_load_box(&boxes, db, "t", box, &(cardbox_read_options){.at_version = -1}, &err),
        CARDBOX_INVALID);
    assert_int_equal(cardbox_box_create(NULL, db, "t", &box_how, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_load_box(NULL, db, "t", box, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_box_log(NULL, db, "t", box, 0, 0, &err), CARDBOX_INVALID);
    check_part(box, (cardbox_read_options){.offset = 5, .limit = INT64_MAX}, 0, 0);
    check_part(box, (cardbox_read_options){0}, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_and_ensure),
        cmocka_unit_test(delete_takes_the_id),
        cmocka_unit_test(append_over_segments),
        cmocka_unit_test(expected_version),
        cmocka_unit_test(append_keys),
        cmocka_unit_test(sealed_box),
        cmocka_unit_test(save_keeps_the_past),
        cmocka_unit_test(forks_of_forks),
        cmocka_unit_test(forks_end_what_their_ancestors_give),
        cmocka_unit_test(many_boxes),
        cmocka_unit_test(hydrated),
        cmocka_unit_test(log_and_as_of),
        cmocka_unit_test(holders_of_a_card),
        cmocka_unit_test(forks_hold_what_is_before_them),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
