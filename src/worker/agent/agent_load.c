/*
 * agent_load.c: builds the messages for the model from the boxes of a task: from the cards of the
 * context box, if there is one, and then of the task's box.
 */
#include "cardbox/context.h"
#include "worker/agent/agent.h"

cardbox_status agent_load(agent_input *out, const agent *a, cardbox_error *err)
{
    const cardbox_turn *turn = &out->turn;
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_status status = work_turn(&out->turn, a->shared->db, &a->lease, err);

    if (status != CARDBOX_OK || !turn->is_asked)
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
    return cardbox_build_box_context(&out->context, a->shared->db, a->lease.tenant.ptr, first, &at,
                                     &how, err);
}

void agent_input_free(agent_input *input)
{
    cardbox_context_free(input->context);
}
