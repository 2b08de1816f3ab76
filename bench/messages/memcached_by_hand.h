// A message of memcached, read by hand.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct memcached_message {
    const char *extras;
    const char *key;
    const char *value;
    uint64_t cas;
    uint32_t opaque;
    uint32_t extras_size;
    uint32_t key_size;
    uint32_t value_size;
    uint8_t opcode;
};

// The message at the beginning of these bytes: how many bytes it has, 0 where some are missing, -1 where it is none.
long read_memcached(const char *bytes, size_t size, struct memcached_message *message);
