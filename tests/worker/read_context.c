/*
 * read_context.c: an example of a reader: prints the last cards of a box, as an agent would see
 * them.
 *
 *     cc read_context.c $(pkg-config --cflags --libs cardbox) -o read_context
 *     ./read_context "host=... dbname=cardbox" acme 0197f2c1-0000-7000-8000-000000000001
 */
#include <cardbox.h>
#include <stdio.h>

static int fail(const cardbox_error *err)
{
    fprintf(stderr, "read_context: %s: %s\n", cardbox_status_name(err->status), err->message);
    return 1;
}

int main(int argc, char **argv)
{
    cardbox *db = NULL;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    if (argc != 4) {
        fprintf(stderr, "usage: read_context DSN TENANT BOX_ID\n");
        return 2;
    }
    options.conninfo = argv[1]; /* "" means the PG* environment, as in libpq */
    options.pool_max = 8;
    options.acquire_timeout_ms = 2000;
    if (cardbox_open(&db, &options, &err) != CARDBOX_OK)
        return fail(&err);
    if (cardbox_get_box_cards(&cards, db, argv[2], argv[3], &(cardbox_read_options){.tail = 50},
                              &err) != CARDBOX_OK) {
        cardbox_close(db);
        return fail(&err);
    }
    for (size_t i = 0; i < cardbox_cards_count(cards); i++) {
        const cardbox_card *card =
            cardbox_cards_at(cards, i); /* borrowed until cardbox_cards_free */
        printf("%s %-18s %s\n", card->created_at, card->type, cardbox_card_text(card));
    }
    for (size_t i = 0; i < cardbox_cards_missing_count(cards); i++)
        fprintf(stderr, "missing: %s\n", cardbox_cards_missing_at(cards, i));
    cardbox_cards_free(cards);
    cardbox_close(db);
    return 0;
}
