/*
 * agent_load.c: builds the messages for the model from the boxes of a task: from the cards of the
 * context box, if there is one, and then of the task's box.
 */
#include "base/scan.h"
#include "cardbox/context.h"
#include "worker/agent/agent.h"

/* Returns true for the result of a call that failed: contexts begin it with its status. */
static bool is_failure(scan_value message)
{
    static const char BEGIN[] = "status: failed\\n";
    slice text = scan_string_inside(scan_find(message, "content"));

    return text.len >= sizeof(BEGIN) - 1 && memcmp(text.ptr, BEGIN, sizeof(BEGIN) - 1) == 0;
}

/* Finds out whether the model has to answer the last message, and whether a call of the last answer
 * has succeeded. */
static void read_end(agent_input *out, slice messages)
{
    scan_value message;

    for (scan_walk walk = scan_enter(scan_whole(messages)); scan_element(&walk, &message);) {
        slice role = scan_find(message, "role").text;
        if (scan_string_is(role, SLICE("system")) || scan_string_is(role, SLICE("developer")))
            continue;
        out->is_asked = !scan_string_is(role, SLICE("assistant"));
        if (!out->is_asked)
            out->has_success = false;
        else if (scan_string_is(role, SLICE("tool")) && !is_failure(message))
            out->has_success = true;
    }
}

cardbox_status agent_load(agent_input *out, const agent *a, cardbox_error *err)
{
    const cardbox_turn *turn = &out->turn;
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_status status = work_turn(&out->turn, a->shared->db, &a->lease, err);

    if (status != CARDBOX_OK)
        return status;
    const cardbox_then box = {turn->box_id, turn->version};
    cardbox_read_options at = {.at_version = turn->version};
    const char *first = turn->box_id;
    how.closes_calls = true; /* a worker that stopped did not run them, and APIs require results */
    if (turn->context_box_id[0] != '\0') {
        first = turn->context_box_id;
        at.at_version = turn->context_version;
        how.then = &box;
        how.then_count = 1;
    }
    status = cardbox_build_box_context(&out->context, a->shared->db, a->lease.tenant.ptr, first,
                                       &at, &how, err);
    if (status == CARDBOX_OK)
        read_end(out, slice_of(cardbox_context_json(out->context)));
    out->is_asked = out->is_asked || a->has_results;
    return status;
}

void agent_input_free(agent_input *input)
{
    cardbox_context_free(input->context);
}
