/*
 * fuzz.h: what every fuzz target starts with: its entry, and a check that ends it.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool good)
{
    if (!good)
        abort();
}

#endif
