// The entry for libFuzzer: the first byte says which message the others are, and whether more may come after them.

#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    constexpr std::size_t splits = 8;
    if (size == 0) {
        return 0;
    }
    const std::string_view bytes(reinterpret_cast<const char *>(data) + 1, size - 1);
    const bool is_end = data[0] >= 128;
    unsigned which = data[0] % 128 % MESSAGES;
#define MESSAGE(name)                                                                                                  \
    if (which-- == 0) {                                                                                                \
        static_cast<void>(harness::hold<::name>(bytes, is_end, splits));                                               \
        return 0;                                                                                                      \
    }
    ALL_MESSAGES
#undef MESSAGE
    return 0;
}
