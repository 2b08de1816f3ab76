/// \file
/// The place of a connection among those that its loop has accepted. While it lasts the connection is counted there, so
/// that new ones go where the fewest are (`accept_policy.hpp`).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace flux {

class accept_group;

/// Empty, or of one connection.
class accept_seat
{
  public:
    accept_seat() noexcept = default;
    accept_seat(std::shared_ptr<accept_group> of, std::size_t member) noexcept : of_(std::move(of)), member_(member) {}
    accept_seat(accept_seat &&) noexcept = default;
    accept_seat &operator=(accept_seat &&other) noexcept
    {
        std::swap(of_, other.of_);
        std::swap(member_, other.member_);
        return *this;
    }
    ~accept_seat()
    {
        if (of_ != nullptr) {
            leave();
        }
    }

  private:
    void leave() noexcept;

    std::shared_ptr<accept_group> of_;
    std::size_t member_ = 0;
};

} // namespace flux
