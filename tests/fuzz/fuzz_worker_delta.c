/*
 * fuzz_worker_delta.c: the lines of any text as deltas. What they are merged to is bounded JSON in
 * UTF-8, with the members of each delta.
 */
#include "fuzz/fuzz.h"
#include "worker/model/delta.h"

/* Parts of texts can be two levels deeper than a delta. */
enum { DEPTH_MAX = DELTA_DEPTH_MAX + 2 };

static void require_members(const delta_value *whole, scan_value object)
{
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;
    while (scan_member(&walk, &key, &value)) {
        const delta_value *at = NULL;
        delta_member member;
        bool is_there = false;
        while (!is_there && delta_next(&member, &at, whole))
            is_there = scan_string_equal(member.key, key);
        require(is_there);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice rest = {(const char *)data, size};
    delta_tree d;
    delta_init(&d);
    delta_value *whole = delta_object(&d);
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        slice line = {rest.ptr, end != NULL ? (size_t)(end - rest.ptr) : rest.len};
        size_t step = line.len + (end != NULL);
        rest = (slice){rest.ptr + step, rest.len - step};
        scan_value value;
        if (!scan_check(line, DELTA_DEPTH_MAX, &value, NULL, NULL) || value.kind != SCAN_OBJECT)
            continue;
        delta_merge(&d, whole, value);
        if (!d.has_failed)
            require_members(whole, value);
    }
    buf out = BUF_INIT(2 * DELTA_BYTES_MAX);
    scan_value written;
    delta_put(&out, whole);
    require(buf_ok(&out) && d.bytes <= DELTA_BYTES_MAX + size + 256);
    require(scan_check(buf_as_slice(&out), DEPTH_MAX, &written, NULL, NULL));
    require(written.kind == SCAN_OBJECT);
    buf_free(&out);
    delta_free(&d);
    return 0;
}
