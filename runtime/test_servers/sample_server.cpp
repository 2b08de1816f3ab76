/// \file
/// A server for the tests of what only a whole process can show. Its own arguments say what its flows do:
///
///     flows=N       makes so many flows, says so, then waits for more that do not come
///     node=WHAT     ok, sleep (100 ms), hang, throw, fork, fault, overflow, frame (of 4 MiB, and more of them), abort,
///                   exit, divide, pipe,
///                   doze (for an hour, as Flux sleeps, and fails when that is cut short)
///     say=N         before that the node logs so many lines
///     source=WHAT   waits (for a connection), stubborn (does not mind being interrupted), fails
///     print         prints its arguments
///     exits         has a handler of its own for SIGINT, which exits with 3
///     no-threads    leaves no memory for the stacks of flows' threads
///     no-io-uring   has the kernel refuse it, as containers do

#include "../test/support/sample_program.hpp"
#include "flux/log.hpp"
#include "flux/sleep.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// A filter of system calls: this one is not permitted, all others are.
void refuse_io_uring()
{
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(steps), steps};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int flows_left = 0;
int lines = 0;
std::string_view node = "ok";
std::string_view source = "waits";

int listening_socket()
{
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0 || listen(listening, 1) != 0) {
        std::abort();
    }
    return listening;
}

bool make(sample::Listen_out &values)
{
    if (flows_left > 0) {
        --flows_left;
        values = {1, 2, -1};
        return true;
    }
    static const bool told = [] { return std::puts("all flows are made") >= 0 && std::fflush(stdout) == 0; }();
    if (source == "stubborn") {
        while (true) {
            pause();
        }
    }
    if (source == "waits") {
        static const int listening = listening_socket();
        accept(listening, nullptr, nullptr);
    }
    return !told;
}

int overflow(int depth)
{
    volatile char here[4096];
    here[0] = 1;
    return depth == 0 ? 0 : overflow(depth - 1) + here[0];
}

int large_frame(int depth)
{
    volatile char here[4 << 20];
    here[0] = 1;
    return depth == 0 ? 0 : large_frame(depth - 1) + here[0];
}

volatile int zero = 0;

void write_to_a_closed_pipe()
{
    int ends[2];
    if (pipe(ends) != 0) {
        std::abort();
    }
    close(ends[0]);
    const ssize_t written = write(ends[1], "x", 1);
    std::printf("written: %zd, %s\n", written, std::strerror(errno));
    std::fflush(stdout);
    close(ends[1]);
}

void doze()
{
    const int error = flux::sleep_for(std::chrono::hours(1));
    std::printf("woken: %s\n", std::strerror(error));
    std::fflush(stdout);
    throw std::runtime_error("no rest");
}

// What a process does that a node forks off and that exits.
void fork_off()
{
    const pid_t other = fork();
    if (other == 0) {
        flux::log("from the other process");
        std::exit(7);
    }
    int status = 0;
    waitpid(other, &status, 0);
    flux::log("the other has ended with %d", WEXITSTATUS(status));
}

// Crashes are on purpose: the sanitizer of undefined behaviour is not to see them first.
[[gnu::no_sanitize_undefined]] void work(const sample::Listen_out &)
{
    if (flux::running_flow->position() != sample::node_One) {
        return;
    }
    for (int line = 1; line <= lines; ++line) {
        flux::log("line %d of flow %d", line, static_cast<int>(flux::running_flow->id()));
    }
    if (node == "sleep") {
        flux::sleep_for(std::chrono::milliseconds(100));
    } else if (node == "doze") {
        doze();
    } else if (node == "hang") {
        while (true) {
            pause();
        }
    } else if (node == "fork") {
        fork_off();
    } else if (node == "throw") {
        throw std::runtime_error("no such picture");
    } else if (node == "fault") {
        *static_cast<volatile int *>(nullptr) = 1;
    } else if (node == "overflow") {
        zero = overflow(1'000'000); // 4 GB
    } else if (node == "frame") {
        zero = large_frame(1'000);
    } else if (node == "exit") {
        std::exit(3);
    } else if (node == "abort") {
        std::abort();
    } else if (node == "divide") {
        zero = 1000 / zero;
    } else if (node == "pipe") {
        write_to_a_closed_pipe();
    }
}

flux::outcome run(flux::flow &flow, sample::Listen_out &values)
try {
    return sample::Main_run(flow, values);
} catch (...) {
    flow.failed_in(sample::node_One, flow.caught());
    return flow.fault(2);
}

constexpr flux::source_info sources[] = {flux::make_source<sample::Listen_produce, run>(
    {"Listen", "sample.flux", 8}, sample::function_Listen_produce, sample::function_Main_run)};

constexpr flux::program program{"sample",
                                sample::nodes,
                                sample::constraints,
                                sources,
                                sample::path_functions,
                                sample::path_vertices,
                                sample::path_edges};

} // namespace

void init(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const std::string_view value = argument.substr(argument.find('=') + 1);
        if (argument.starts_with("flows=")) {
            flows_left = std::atoi(value.data());
        } else if (argument.starts_with("say=")) {
            lines = std::atoi(value.data());
        } else if (argument.starts_with("node=")) {
            node = value;
        } else if (argument.starts_with("source=")) {
            source = value;
        } else if (argument == "print") {
            for (int each = 1; each < argc; ++each) {
                std::printf("argument: %s\n", argv[each]);
            }
            std::fflush(stdout);
        } else if (argument == "exits") {
            std::signal(SIGINT, [](int) { std::exit(3); });
        } else if (argument == "no-io-uring") {
            refuse_io_uring();
        } else if (argument == "no-threads") {
            // Room for two more stacks, which the log and the source take.
            constexpr rlim_t gibibyte = rlim_t{1} << 30;
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            pthread_attr_setstacksize(&attributes, gibibyte);
            pthread_setattr_default_np(&attributes);
            pthread_attr_destroy(&attributes);
            const rlimit space = {3 * gibibyte, RLIM_INFINITY};
            setrlimit(RLIMIT_AS, &space);
        }
    }
    sample::listen = make;
    sample::work = work;
}

int main(int argc, char **argv)
{
    return flux::serve(program, argc, argv);
}
