/*
 * fuzz_worker_tools.c: any text as a tools file. The tools of an accepted file can be written as
 * JSON and found by name. A rejected file has a reason in one line.
 */
#include "fuzz/fuzz.h"
#include "worker/tools/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tools list;
    char error[300] = "";
    buf offered = BUF_INIT(16 * size + 65536);
    tools_init(&list);
    if (tools_read(&list, (slice){(const char *)data, size}, "/bin", error, sizeof(error))) {
        tools_put_list(&offered, &list);
        require(buf_ok(&offered));
        require(scan_check(buf_as_slice(&offered), 80, NULL, NULL, NULL));
        for (size_t i = 0; i < list.count; i++)
            require(tools_find(&list, slice_of(list.at[i].api_name)) == &list.at[i]);
    } else {
        require(error[0] != '\0' && slice_is_utf8(slice_of(error)));
    }
    buf_free(&offered);
    tools_free(&list);
    return 0;
}
