// A reader of memcached's binary messages as one writes it by hand for this protocol alone: it checks what the grammar
// in std.memcached checks, and nothing else.
#include "memcached_by_hand.h"

#include <string.h>

enum { header_size = 24, most_key = 250, most_message = 2 << 20 };

static uint16_t get16(const unsigned char *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap16(value);
}

static uint32_t get32(const unsigned char *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap32(value);
}

static uint64_t get64(const unsigned char *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return __builtin_bswap64(value);
}

// How long the extras of a request are; -1 where that is free.
static int extras_of(unsigned opcode)
{
    switch (opcode) {
    case 0x01: case 0x02: case 0x03: case 0x11: case 0x12: case 0x13:
        return 8;
    case 0x05: case 0x06: case 0x15: case 0x16:
        return 20;
    case 0x1c: case 0x1d: case 0x1e: case 0x23: case 0x24:
        return 4;
    default:
        return -1;
    }
}

long read_memcached(const char *bytes, size_t size, struct memcached_message *message)
{
    const unsigned char *header = (const unsigned char *)bytes;
    if (size < header_size) {
        return 0;
    }
    if (header[0] != 0x80 && header[0] != 0x81) {
        return -1;
    }
    const uint32_t key = get16(header + 2);
    const uint32_t extras = header[4];
    const uint32_t total = get32(header + 8);
    if (key > most_key || key + extras > total || total > most_message - header_size) {
        return -1;
    }
    if (header[0] == 0x80) {
        const int wanted = extras_of(header[1]);
        if (wanted >= 0 && (uint32_t)wanted != extras) {
            return -1;
        }
    }
    if (size - header_size < total) {
        return 0;
    }
    message->opcode = header[1];
    message->opaque = get32(header + 12);
    message->cas = get64(header + 16);
    message->extras = bytes + header_size;
    message->key = message->extras + extras;
    message->value = message->key + key;
    message->extras_size = extras;
    message->key_size = key;
    message->value_size = total - extras - key;
    return (long)(header_size + total);
}
