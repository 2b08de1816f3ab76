/// \file
/// What all I/O of one server shares, on every thread and loop: where its peers come in, its public sockets, and the
/// waits of threads that block. A process may have several servers, each with its own; so in a test one can hand its
/// sockets to another.
///
/// A thread belongs to one server from its beginning to its end, and so does everything that is opened on it.
#pragma once

#include "flux/io/accepting.hpp"
#include "flux/io/blocking_io.hpp"
#include "flux/io/public_sockets.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace flux {

/// Of one server. It lives as long as any listener, socket or connection that was opened for it: some are closed when
/// the process ends, after the server has ended.
struct server_io {
    accepting entrances;
    public_sockets sockets;
    blocking_waits waits;

    /// Where the process has several servers: what lines of the log begin with, and who is told that this one cannot do
    /// its work (`cannot_serve.hpp`), on any of its threads. Both are set before it starts.
    std::string name = {};
    std::function<void(const std::string &why)> on_failure = {};

    /// What a module has for the whole server is to end with it: this is called when all its threads are gone, where
    /// the process goes on without it. Any thread asks for that. Throws `std::bad_alloc`.
    void when_ended(std::function<void()> does);

    /// The server has ended: calls what was asked for, the last first.
    void end() noexcept;

    /// That of the server that the calling thread belongs to. Threads that belong to none share one, the process's.
    static const std::shared_ptr<server_io> &current() noexcept;

  private:
    std::mutex ending_;
    std::vector<std::function<void()>> when_ended_ = {};
};

/// The calling thread belongs to the server with this I/O, from here to the end of the block.
class on_server_io
{
  public:
    /// `of` stays where it is until then.
    explicit on_server_io(const std::shared_ptr<server_io> &of) noexcept;
    ~on_server_io();
    on_server_io(const on_server_io &) = delete;
    on_server_io &operator=(const on_server_io &) = delete;

  private:
    const std::shared_ptr<server_io> *const before_;
};

/// A part of the current one. Who has it keeps the whole.
template <class Part>
std::shared_ptr<Part> current_part(Part server_io::*part) noexcept
{
    const std::shared_ptr<server_io> &whole = server_io::current();
    return {whole, &((*whole).*part)};
}

} // namespace flux
