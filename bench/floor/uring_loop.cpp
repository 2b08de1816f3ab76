/// \file
/// The floor of the proactor: a bare loop of io_uring with all that makes it fast: multishot accept and receive, a ring
/// of provided buffers that are sent back as they are, one system call a turn. Nothing is parsed, what was received at
/// once is answered by one send, and nothing survives a fault.
#include "listening.hpp"

#include <cerrno>
#include <cstdlib>
#include <liburing.h>
#include <unistd.h>

namespace {

constexpr unsigned buffers = 1024;
// Eight messages of 1 KiB that come at once are received at once.
constexpr unsigned size = 8192;

io_uring ring;
io_uring_buf_ring *free_buffers;
char *memory;

enum kind : std::uint64_t { accepted, received, sent };

/// An entry for an operation; its result comes with these values.
io_uring_sqe *entry()
{
    io_uring_sqe *made = io_uring_get_sqe(&ring);
    while (made == nullptr) {
        io_uring_submit(&ring);
        made = io_uring_get_sqe(&ring);
    }
    return made;
}

void mark(io_uring_sqe *of, kind what, int socket, unsigned buffer)
{
    io_uring_sqe_set_data64(of, what | std::uint64_t{buffer} << 8 | std::uint64_t(static_cast<unsigned>(socket)) << 32);
}

void accept_from(int listener)
{
    io_uring_sqe *const made = entry();
    io_uring_prep_multishot_accept(made, listener, nullptr, nullptr, 0);
    mark(made, accepted, listener, 0);
}

void receive(int socket)
{
    io_uring_sqe *const made = entry();
    io_uring_prep_recv_multishot(made, socket, nullptr, 0, 0);
    io_uring_sqe_set_flags(made, IOSQE_BUFFER_SELECT);
    mark(made, received, socket, 0);
}

void give_back(unsigned buffer)
{
    io_uring_buf_ring_add(free_buffers, memory + std::size_t{buffer} * size, size, static_cast<std::uint16_t>(buffer),
                          buffers - 1, 0);
    io_uring_buf_ring_advance(free_buffers, 1);
}

void make_buffers()
{
    memory = static_cast<char *>(std::aligned_alloc(4096, std::size_t{buffers} * size));
    free_buffers = static_cast<io_uring_buf_ring *>(std::aligned_alloc(4096, buffers * sizeof(io_uring_buf)));
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uintptr_t>(free_buffers);
    registration.ring_entries = buffers;
    checked(io_uring_register_buf_ring(&ring, &registration, 0), "io_uring_register_buf_ring");
    io_uring_buf_ring_init(free_buffers);
    for (unsigned each = 0; each < buffers; ++each) {
        give_back(each);
    }
}

void handle(const floor_work &work, const io_uring_cqe &result)
{
    const auto what = static_cast<kind>(result.user_data & 0xff);
    const int socket = static_cast<int>(result.user_data >> 32);
    const bool goes_on = (result.flags & IORING_CQE_F_MORE) != 0;
    if (what == accepted) {
        receive(checked(result.res, "accept"));
        if (!goes_on) {
            accept_from(socket);
        }
    } else if (what == received && result.res > 0) {
        const unsigned buffer = result.flags >> IORING_CQE_BUFFER_SHIFT;
        const floor_answer answer =
            answer_to(work, memory + std::size_t{buffer} * size, static_cast<std::size_t>(result.res));
        io_uring_sqe *const made = entry();
        io_uring_prep_send(made, socket, answer.bytes, answer.size, MSG_NOSIGNAL | MSG_WAITALL);
        mark(made, sent, socket, buffer);
        if (!goes_on) {
            receive(socket);
        }
    } else if (what == received && result.res == -ENOBUFS) {
        receive(socket);
    } else if (what == received) {
        close(socket);
    } else {
        give_back(static_cast<unsigned>(result.user_data >> 8) & 0xffff);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const floor_work work = listening(argc, argv);
    io_uring_params parameters{};
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
    parameters.cq_entries = 4096;
    checked(io_uring_queue_init_params(1024, &ring, &parameters), "io_uring_setup");
    io_uring_register_ring_fd(&ring);
    make_buffers();
    accept_from(work.listener);
    while (true) {
        io_uring_submit_and_wait(&ring, 1);
        unsigned head = 0;
        unsigned count = 0;
        io_uring_cqe *each = nullptr;
        io_uring_for_each_cqe(&ring, head, each)
        {
            handle(work, *each);
            ++count;
        }
        io_uring_cq_advance(&ring, count);
    }
}
