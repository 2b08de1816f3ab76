/// \file
/// A stream of the proactor: its input, and what is sent.
#pragma once

#include "flux/io/intake.hpp"
#include "flux/io/loop_owned.hpp"

#include <memory>
#include <utility>

namespace flux {

/// On one loop.
class proactor_stream final : public stream, public loop_owned
{
  public:
    explicit proactor_stream(std::unique_ptr<intake> input) noexcept : input_(std::move(input)) {}
    ~proactor_stream() override;

    io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        assert_on_its_loop();
        return input_->receive(into, deadline);
    }

    io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept override;
    void end_output() noexcept override;
    bool has_input() noexcept override
    {
        assert_on_its_loop();
        return input_->look();
    }

    intake &input() noexcept { return *input_; }

  private:
    std::unique_ptr<intake> input_;
};

} // namespace flux
