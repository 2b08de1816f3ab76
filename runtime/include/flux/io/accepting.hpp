/// \file
/// Accepting in a whole server: all places where peers come in, and how they are drained together.
///
/// If a node holds up a loop by computing for long, the kernel may have notified that loop of a peer that no other loop
/// looks for. So while a loop is held up, the watchdog makes all loops look at their listeners, and the others take the
/// peers that wait there. The held loop keeps no peer whose flow it could not start: when a peer that has already sent
/// a request is accepted, it is served before the next one is accepted.
///
/// A server that ends, or hands its sockets on, first stops accepting, and only then stops its sources. So every peer
/// that was accepted is served, and a peer that comes later waits in the socket for the next server.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace flux {

/// Who is to look at a listener when all do.
class accept_place
{
  public:
    /// There may be somebody at the listener; or the drain has begun. Any thread calls this.
    virtual void look() noexcept = 0;

  protected:
    ~accept_place() = default;
};

/// Of one server. Each of its listeners and entrances has a share of it (`server_io.hpp`).
class accepting
{
  public:
    accepting() noexcept = default;
    accepting(const accepting &) = delete;
    accepting &operator=(const accepting &) = delete;

    /// Nobody is accepted any more but those who wait now. It cannot be taken back.
    void drain() noexcept;

    /// Whether that has begun.
    bool drains() const noexcept { return drains_.load(); }

    /// Whether any entrance is open.
    bool any_open() const noexcept { return open_entrances_.load() != 0; }

    /// All look at their listeners.
    void look() noexcept;

    /// How many connections there are of those that were accepted on loops, and how many there may be.
    std::size_t connections() const noexcept { return connections_.load(); }
    void limit(std::size_t most) noexcept { most_connections_.store(most); }

    /// A place for one more; false where there are as many as there may be. In a drain nobody is refused who has been
    /// promised to this server.
    bool take_place() noexcept;
    void leave_place() noexcept { connections_.fetch_sub(1); }

    /// From now on this one does; throws `std::bad_alloc`. Or no longer.
    void add(accept_place &looks);
    void remove(accept_place &looks) noexcept;

  private:
    friend class entrance;

    std::atomic<std::size_t> open_entrances_{0};
    std::atomic<bool> drains_{false};
    std::atomic<std::size_t> connections_{0};
    std::atomic<std::size_t> most_connections_{std::numeric_limits<std::size_t>::max()};
    std::mutex lock_;
    std::vector<accept_place *> places_;
};

/// Where peers come in. It is open as long as there may be somebody who is not served yet.
class entrance
{
  public:
    explicit entrance(std::shared_ptr<accepting> of) noexcept;
    entrance(const entrance &) = delete;
    entrance &operator=(const entrance &) = delete;
    ~entrance() { close(); }

    /// All have been served, and nobody will be accepted any more.
    void close() noexcept;

  private:
    // Null where it is closed.
    std::shared_ptr<accepting> of_;
};

} // namespace flux
