/*
 * agent_load.c: builds the messages for the model from the boxes of a task: from the cards of the
 * context box, if there is one, and then of the task's box.
 */
#include "cardbox/context.h"
#include "worker/agent/agent.h"

cardbox_status agent_load(agent_input *out, const agent *a, cardbox_error *err)
{
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_read_options at = {.tail = 0};
    cardbox_status status = work_turn(&out->turn, a->shared->db, &a->lease, err);

    if (status != CARDBOX_OK || !out->turn.is_asked)
        return status;
    how.format = CARDBOX_FORMAT_OPENAI;
    at.at_version = out->turn.version;
    return cardbox_build_box_context(&out->context, a->shared->db, a->lease.tenant.ptr,
                                     out->turn.box_id, &at, &how, err);
}

void agent_input_free(agent_input *input)
{
    cardbox_context_free(input->context);
}
