/// \file
/// What is remembered of a message of which not all bytes have come, beside the places of its fields: how far the scan
/// for the end of a text has come, and the places of the elements of lists that are open. So the next arrival goes on
/// where the last one stopped, and bytes that have come one by one cost as many steps as bytes that come at once, but
/// for a bounded number at each arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace flux {

/// Where a reader stopped. New ones begin with a message; one may be used again after `clear`.
class unfinished_message
{
  public:
    /// Forgets all: the next message begins.
    void clear() noexcept
    {
        open_.clear();
        scanned_ = 0;
        state_ = 0;
        is_open_ = false;
        stream_passed_ = false;
        window_ = nullptr;
    }

    /// From now on streams are read as other bytes: all of the message is in memory.
    void keep_streams() noexcept { keeps_streams_ = true; }
    bool keeps_streams() const noexcept { return keeps_streams_; }

    /// A reading has ended in the middle of the message, where no element of a list was open: the next one goes on there.
    void open() noexcept { is_open_ = true; }

    /// The stream before which the reader has stopped has gone along. The bytes of the message, without those of its
    /// streams, are at this address: there the reader removes elements of lists that it has read, if they have streams.
    void pass_stream(char *window) noexcept
    {
        stream_passed_ = true;
        window_ = window;
    }
    /// The same, where they have moved and no stream has gone along since.
    void move_window(char *window) noexcept { window_ = window; }

  private:
    friend class message_reader;

    // The places of open elements, the innermost first: they are kept on the way out, and taken on the way in. Throws
    // std::bad_alloc.
    template <class Places>
    void keep(const Places &places)
    {
        static_assert(std::is_trivially_copyable_v<Places>);
        const std::size_t size = open_.size();
        open_.resize(size + sizeof places);
        std::memcpy(open_.data() + size, &places, sizeof places);
    }

    template <class Places>
    void take(Places &places) noexcept
    {
        const std::size_t size = open_.size() - sizeof places;
        std::memcpy(&places, open_.data() + size, sizeof places);
        open_.resize(size);
    }

    std::vector<std::byte> open_;
    // Up to which byte the innermost scan has found nothing; 0 where none is open.
    std::size_t scanned_ = 0;
    // The state of the innermost token.
    std::uint32_t state_ = 0;
    // Whether a reading has ended in the middle of the message.
    bool is_open_ = false;
    bool keeps_streams_ = false;
    bool stream_passed_ = false;
    char *window_ = nullptr;
};

} // namespace flux
