/// \file
/// A stream of the proactor: its input and its output.
#pragma once

#include "flux/io/intake.hpp"
#include "flux/io/loop_owned.hpp"
#include "flux/io/proactor_outbox.hpp"

#include <memory>
#include <utility>

namespace flux {

/// On one loop.
class proactor_stream final : public stream, public loop_owned
{
  public:
    /// One of this socket; null where there is no memory.
    static std::unique_ptr<proactor_stream> make(proactor_shared &through, descriptor socket) noexcept;

    ~proactor_stream() override;

    io_result<std::size_t> do_receive(std::span<std::byte> into, moment deadline) noexcept override
    {
        assert_on_its_loop();
        return input_->receive(into, deadline);
    }

    io_result<void> do_send(std::span<iovec> parts, moment deadline) noexcept override;
    bool do_send_later(std::span<const iovec> parts) noexcept override
    {
        assert_on_its_loop();
        return output_->put(parts);
    }
    std::size_t send_at_once(std::string_view bytes) noexcept override;
    void cut() noexcept override;
    io_result<void> do_send_file(std::string_view before, file_part part, moment deadline) noexcept override;
    io_result<void> flush(moment deadline) noexcept override;
    void end_output() noexcept override;
    bool has_input() noexcept override
    {
        assert_on_its_loop();
        return input_->look();
    }

    intake &input() noexcept { return *input_; }

  private:
    proactor_stream(std::unique_ptr<intake> input, std::unique_ptr<proactor_outbox> output) noexcept
        : stream(true), input_(std::move(input)), output_(std::move(output))
    {
    }

    io_result<void> send_now(std::span<iovec> parts, moment deadline) noexcept;

    std::unique_ptr<intake> input_;
    std::unique_ptr<proactor_outbox> output_;
};

} // namespace flux
