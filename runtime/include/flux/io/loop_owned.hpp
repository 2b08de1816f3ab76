/// \file
/// What belongs to one event loop, such as a stream. Only what runs on that loop uses it, so it needs no lock. Each
/// call checks that first, because two threads that use one stream lose wake-ups and worse, rarely and silently.
#pragma once

namespace flux {

class loop_io;

/// The I/O of the loop whose thread calls; null elsewhere.
inline thread_local constinit loop_io *io_of_running_loop = nullptr;

/// A base of such things. Made off all loops, it is to be used off all loops.
class loop_owned
{
  public:
    loop_owned(const loop_owned &) = delete;
    loop_owned &operator=(const loop_owned &) = delete;

    /// Ends the server where another loop's thread calls, or none's. The crash message names the node.
    void assert_on_its_loop() const noexcept
    {
        if (io_of_running_loop != loop_) [[unlikely]] {
            used_elsewhere();
        }
    }

  protected:
    loop_owned() noexcept = default;
    ~loop_owned() = default;

  private:
    [[noreturn]] static void used_elsewhere() noexcept;

    const loop_io *const loop_ = io_of_running_loop;
};

} // namespace flux
