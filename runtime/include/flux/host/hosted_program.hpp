/// \file
/// A program on a host: one version of it, in the host's process. It is a server of its own (`running_server.hpp`),
/// with loops, a log's name, sockets and limits of its own; what it shares with others is the process.
///
/// Its code is a shared object, which is copied before it is loaded: a file that is written anew would else change code
/// that runs. The object has the symbols of the runtime from the host, and all others by itself (RTLD_LOCAL). It is
/// never unloaded: threads of libraries, and what modules keep for the process, may have its code to the end.
///
/// Its threads have the priority that fits its weight, so the kernel shares the processors between programs, and a
/// program that computes for long holds up no other.
#pragma once

#include "flux/admin/admin_server.hpp"
#include "flux/host/host_plan.hpp"
#include "flux/io/server_io.hpp"
#include "flux/moment.hpp"
#include "flux/server/admin_pages.hpp"
#include "flux/server/program_host.hpp"
#include "flux/server/running_server.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace flux {

/// How a version of a program is doing: it drains when another version has taken its place and it has connections yet;
/// it ends when its flows may only go on to their end.
enum class hosted_phase : unsigned char { starts, serves, drains, ends, ended };

/// One version.
class hosted_program final : private program_host
{
  public:
    /// Loads what is planned, with a copy at `copy`, and begins to run it, with the sockets that another version has
    /// open. `runtime` names the runtime that the host has. Throws `std::runtime_error` where it cannot be loaded, and
    /// `std::bad_alloc`.
    hosted_program(const planned_program &as, unsigned version, const std::string &copy, const std::string &runtime,
                   std::vector<descriptor> sockets);
    /// After its end.
    ~hosted_program();
    hosted_program(const hosted_program &) = delete;

    /// Waits until it serves. Gives why it does not, or nothing.
    std::string await_begin();

    /// It accepts nobody any more, and ends when its connections have, or its time for that is over.
    void retire();

    /// It ends as a server does that is asked to: its flows may go on for as long as they may.
    void end();

    bool has_ended() const noexcept { return phase_.load() == hosted_phase::ended; }
    hosted_phase phase() const noexcept { return phase_.load(); }

    /// Returns when it has ended.
    void join();

    /// Whether all its threads have ended; else the process can only be ended at once.
    bool left_nothing() const noexcept { return !is_abandoned_.load(); }

    const planned_program &plan() const noexcept { return plan_; }
    unsigned version() const noexcept { return version_; }
    std::size_t connections() const noexcept { return io_->entrances.connections(); }

    /// The sockets at which it is reached, for another version.
    std::vector<descriptor> copy_sockets() { return io_->sockets.copy_open(); }

    /// Whether it is what is planned, in this version.
    bool is_of(const planned_program &wanted) const;

    /// Why it does not work, once it has said that; empty else.
    std::string failure();

    /// The page of its admin interface. Any thread asks. Throws `std::bad_alloc`.
    admin_answer answer(const admin_request &request);

  private:
    using main_function = int (*)(int, char **);

    void load(const std::string &copy, const std::string &runtime);
    void run_thread() noexcept;
    int run(const program &hosted, const options &chosen) override;
    void refuse(const std::string &why) noexcept override;
    void begin();
    void set_phase(hosted_phase now);
    template <class Condition>
    bool wait(moment until, Condition condition);
    bool may_retire();
    void wait_for_connections(std::chrono::milliseconds limit);
    bool end_server(const options &chosen, bool was_retired);

    const planned_program plan_;
    const unsigned version_;
    const std::shared_ptr<server_io> io_ = std::make_shared<server_io>();
    main_function main_ = nullptr;
    // Of the shared object, as it was loaded.
    std::size_t digest_ = 0;

    // For what follows.
    std::mutex lock_;
    std::condition_variable changed_;
    std::atomic<hosted_phase> phase_{hosted_phase::starts};
    bool is_to_retire_ = false;
    bool is_to_end_ = false;
    std::string failure_;

    // There while the server runs; one that is abandoned stays.
    std::unique_ptr<running_server> server_;
    std::atomic<server_phase> server_phase_{server_phase::starts};
    std::optional<admin_pages_of_server> pages_;
    std::atomic<bool> is_abandoned_{false};
    std::thread thread_;
};

} // namespace flux
