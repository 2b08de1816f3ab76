#include "flux/flow/error_text.hpp"

#include <cstring>
#include <new>

namespace flux {

void error_text::keep(const char *text) noexcept
{
    std::size_t size = strnlen(text, longest + 1);
    if (size > longest) {
        // A byte 10xxxxxx goes on with the character before it.
        for (size = longest; size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80; --size) {
        }
    }
    text_.reset(size == 0 ? nullptr : new (std::nothrow) char[size + 1]);
    if (text_ != nullptr) {
        std::memcpy(text_.get(), text, size);
        text_[size] = '\0';
    }
    is_next_ = true;
}

std::string error_text::copy() const
{
    return text_ != nullptr ? text_.get() : std::string();
}

void error_text::settle() noexcept
{
    if (!is_next_) {
        text_.reset();
    }
    is_next_ = false;
}

} // namespace flux
