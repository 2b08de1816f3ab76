/// \file
/// A kernel for the reactor and the proactor that is not there: the system calls and the io_uring that they use, in
/// memory, over the simulated network. So the I/O of a real server meets what a kernel may do and seldom does: a seed
/// decides which calls are interrupted or refused, which events come late, for nothing, or all in one, and when a
/// multishot operation ends.
///
/// The runtime knows nothing of it. The test's binary defines the names of the system itself (`system_calls.cpp`,
/// `fake_ring.cpp`), which go before those of the C library and of liburing; a server that is built without pays
/// nothing. Descriptors of the fake kernel are numbers that no other has; calls for all others go to the system.
///
/// What it promises is what Linux does, no more: an edge for each arrival, and for room after a send that found too
/// little; less than was asked for of a stream only where there is no more; of a multishot operation, a last result
/// that says so.
#pragma once

#include "flux/simulation/simulated_network.hpp"
#include "flux/simulation/simulation.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <liburing.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <sys/epoll.h>
#include <vector>

/// How often it does what, of a thousand times that it could.
struct kernel_faults {
    /// A call ends with EINTR.
    unsigned interrupts = 0;
    /// An event or a result comes one look later.
    unsigned late = 0;
    /// An event comes although nothing has happened.
    unsigned spurious = 0;
    /// A peer cannot be accepted, for an error of its own.
    unsigned accept_errors = 0;
    /// A descriptor cannot be watched.
    unsigned refusals = 0;
    /// There is no buffer to receive into.
    unsigned no_buffers = 0;
    /// The last receive of a connection takes a buffer and puts nothing there.
    unsigned empty_buffers = 0;
    /// A multishot operation ends with a result.
    unsigned last_results = 0;
    /// So many events or results are given at once at most.
    std::size_t most_at_once = 256;
    /// The ring's queue for submissions has so many places.
    unsigned submissions = 512;
    /// A child holds a descriptor that is closed: what watches it is notified of it yet.
    unsigned held_by_child = 0;
};

/// The mixture of this seed; every eighth has no faults at all.
kernel_faults kernel_faults_of(std::uint64_t seed);

/// The one of the process, while it exists.
class fake_kernel
{
  public:
    static constexpr int first_descriptor = 1'000'000;

    /// Over the network of this world, whose loop's thread it belongs to.
    fake_kernel(flux::simulation &world, const kernel_faults &happen, std::uint64_t seed);
    ~fake_kernel();
    fake_kernel(const fake_kernel &) = delete;
    fake_kernel &operator=(const fake_kernel &) = delete;

    /// The kernel of the process; null where there is none.
    static fake_kernel *of_process() noexcept;
    /// That of the calling thread: whose descriptors it makes, and whose time it has. Null where it is the system's.
    static fake_kernel *of_thread() noexcept;
    /// From now on it is the calling thread's; or no longer.
    void run_on_thread() noexcept;
    static void leave_thread() noexcept;

    /// Whether it is a descriptor of this kernel.
    static bool owns(int descriptor) noexcept { return descriptor >= first_descriptor; }

    // The calls: as in the manual, but for errors, which are negative numbers.

    int make_epoll();
    int make_counter();
    int make_socket(int family, int type);
    int control(int epoll, int what, int descriptor, const epoll_event *event);
    int wait(int epoll, std::span<epoll_event> into, flux::moment until);
    int count(int descriptor) noexcept;
    int bind(int descriptor, const flux::address &to);
    int listen(int descriptor);
    int accept(int descriptor, flux::address &peer);
    int connect(int descriptor, const flux::address &to);
    int error_of(int descriptor);
    flux::address local(int descriptor);
    ssize_t receive(int descriptor, std::span<std::byte> into, bool peek);
    ssize_t send(int descriptor, std::span<const iovec> parts);
    ssize_t receive_message(int descriptor, std::span<std::byte> into, flux::address &from);
    ssize_t send_message(int descriptor, std::string_view message, const flux::address &to);
    int end_output(int descriptor);
    int close(int descriptor);

    // The ring.

    int make_ring(io_uring &ring, io_uring_params &with);
    void end_ring(io_uring &ring);
    int add_buffers(const io_uring_buf_reg &registered);
    /// Takes what was submitted: how much.
    int submit(io_uring &ring);
    /// Waits for results, at most until then.
    int wait_for_results(io_uring &ring, flux::moment until);

    /// Buffers that were taken for input and not given back.
    std::size_t buffers_in_use() const noexcept;

    /// Descriptors that are open.
    std::size_t open() const noexcept { return files_.size(); }

    flux::moment now() const noexcept { return world_.now(); }

    const kernel_faults faults;

  private:
    enum class kind { epoll, counter, fresh, listener, stream, datagrams };

    // Who is notified by the network; it notifies of an edge, and waits on.
    struct edge final : flux::simulated_waiting {
        void go_on() noexcept override;

        fake_kernel *of = nullptr;
        int descriptor = -1;
        flux::simulated_place *place = nullptr;
    };

    struct file {
        kind is = kind::fresh;
        int family = 0;
        int type = 0;
        flux::address local;
        std::unique_ptr<flux::simulated_port> port;
        std::unique_ptr<flux::simulated_mailbox> mailbox;
        flux::simulated_socket socket;
        bool connecting = false;
        int error = 0;
        std::uint64_t count = 0;
        // A send has found too little room.
        bool wants_room = false;
        // How many edges it has had.
        std::uint64_t edges = 0;
        edge input;
        edge output;
    };

    struct interest {
        int descriptor;
        epoll_event event;
        bool queued = false;
    };

    // As an `io_uring_cqe`.
    struct result {
        std::uint64_t user_data;
        std::int32_t value;
        std::uint32_t flags;
    };

    struct operation {
        std::uint64_t user_data = 0;
        int descriptor = -1;
        unsigned char code = 0;
        bool multishot = false;
        std::uint32_t events = 0;
        // What is sent: the parts of a message, or the whole of a buffer.
        msghdr *message = nullptr;
        iovec whole{};
        std::size_t done = 0;
        bool cancelled = false;
        // How many edges its descriptor had when it last looked.
        std::uint64_t edges = 0;
        bool looked = false;
        std::shared_ptr<file> of = nullptr;
    };

    file *find(int descriptor);
    int add(std::shared_ptr<file> made);
    bool happens(unsigned per_mille) noexcept { return dice_.chance(per_mille); }
    void become_stream(file &of, int descriptor, flux::simulated_socket socket);
    void edge_at(int descriptor);
    std::uint32_t state_of(const file &of) const;
    void step(bool anything, flux::moment until);
    void collect(std::vector<epoll_event> &into, std::size_t most);
    void take(const io_uring_sqe &entry);
    void cancel(const io_uring_sqe &entry);
    bool work(io_uring &ring);
    bool progress(operation &on);
    bool progress_poll(operation &on);
    bool progress_receive(operation &on);
    static bool is_send(const operation &each) noexcept;
    bool progress_send(operation &on);
    void post(std::uint64_t user_data, int result, std::uint32_t flags);
    bool show(io_uring &ring);

    flux::simulation &world_;
    flux::simulated_network &network_;
    flux::simulated_time dice_;
    std::map<int, std::shared_ptr<file>> files_;
    std::shared_ptr<file> counter_; // the loop's bell, which any thread may strike
    std::atomic<std::uint64_t> strokes_{0};
    std::uint64_t seen_strokes_ = 0;
    int counter_descriptor_ = -1;
    int next_descriptor_ = first_descriptor;
    std::vector<interest> interests_;
    std::deque<operation> operations_;
    std::deque<result> results_;
    io_uring_buf_ring *buffers_ = nullptr;
    std::uint16_t buffers_taken_ = 0;
    std::uint16_t buffer_count_ = 0;
    // What the ring consists of.
    std::vector<io_uring_sqe> entries_;
    std::vector<result> shown_;
    unsigned submitted_head_ = 0;
    unsigned submitted_tail_ = 0;
    unsigned ring_flags_ = 0;
    unsigned dropped_ = 0;
    unsigned result_head_ = 0;
    unsigned result_tail_ = 0;
};
