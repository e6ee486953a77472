/*
 * agent_load.c: builds the messages for the model from the boxes of a task: from the cards of the
 * context box, if there is one, and then of the task's box.
 */
#include "base/scan.h"
#include "cardbox/context.h"
#include "worker/agent/agent.h"

static bool ends_with_question(slice messages)
{
    scan_value message, role;
    slice key;
    bool asks = false;

    for (scan_walk walk = scan_enter(scan_whole(messages)); scan_element(&walk, &message);) {
        scan_walk members = scan_enter(message); /* the role is the first member */
        if (scan_member(&members, &key, &role) && !scan_string_is(role.text, SLICE("system")))
            asks = !scan_string_is(role.text, SLICE("assistant"));
    }
    return asks;
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
    if (turn->context_box_id[0] != '\0') {
        first = turn->context_box_id;
        at.at_version = turn->context_version;
        how.then = &box;
        how.then_count = 1;
    }
    status = cardbox_build_box_context(&out->context, a->shared->db, a->lease.tenant.ptr, first,
                                       &at, &how, err);
    if (status == CARDBOX_OK)
        out->is_asked =
            a->has_results || ends_with_question(slice_of(cardbox_context_json(out->context)));
    return status;
}

void agent_input_free(agent_input *input)
{
    cardbox_context_free(input->context);
}
