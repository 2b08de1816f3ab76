#include "flux/c_interface.h"

#include "flux/error.hpp"
#include "flux/log.hpp"
#include "flux/reading.hpp"
#include "flux/sleep.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace {

// An exception would not find its way through C.
template <class Read>
int copy_what(Read read, void *into, std::size_t *count)
{
    try {
        std::string bytes;
        const int error = flux::take(read(), bytes);
        std::memcpy(into, bytes.data(), bytes.size());
        if (count != nullptr) {
            *count = bytes.size();
        }
        return error;
    } catch (const std::bad_alloc &) {
        return flux::out_of_memory;
    }
}

} // namespace

extern "C" {

const int flux_end_of_input = flux::end_of_input;

int flux_receive(flux_connection *from, void *into, size_t size, size_t *count)
{
    *count = 0;
    return from == nullptr ? EBADF : flux::take(from->receive({static_cast<std::byte *>(into), size}), *count);
}

int flux_read_line(flux_connection *from, char *into, size_t size, size_t *count)
{
    *count = 0;
    if (from == nullptr) {
        return EBADF;
    }
    if (size == 0) {
        return EMSGSIZE;
    }
    const int error = copy_what([=] { return flux::read_line(*from, size - 1); }, into, count);
    into[*count] = '\0';
    return error;
}

int flux_read_exactly(flux_connection *from, void *into, size_t size)
{
    return from == nullptr ? EBADF : copy_what([=] { return flux::read_exactly(*from, size); }, into, nullptr);
}

int flux_send(flux_connection *to, const void *bytes, size_t size)
{
    return to == nullptr ? EBADF : flux::take(to->send(std::string_view(static_cast<const char *>(bytes), size)));
}

int flux_give_back(flux_connection *served)
{
    if (served == nullptr) {
        return EBADF;
    }
    served->give_back();
    return 0;
}

int flux_close(flux_connection *ended)
{
    if (ended == nullptr) {
        return EBADF;
    }
    ended->close();
    return 0;
}

void flux_log(const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    flux::log("%s", text);
}

int flux_sleep_ms(long time_ms)
{
    return flux::sleep_for(std::chrono::milliseconds(time_ms));
}

} // extern "C"
