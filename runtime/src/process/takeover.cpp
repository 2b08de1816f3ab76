#include "flux/process/takeover.hpp"

#include "flux/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <stdexcept>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace flux {
namespace {

/// The first record.
struct greeting {
    std::array<char, 16> mark;
    std::uint32_t version;
    /// How many sockets follow.
    std::uint32_t sockets;
    pid_t process;
};

constexpr std::array<char, 16> greeting_mark{"flux takeover"};
constexpr std::uint32_t takeover_version = 1;
/// The kernel passes at most 253 descriptors with a record.
constexpr std::size_t most_passed = 64;
constexpr char asked_to_end = 'e';
/// Who has to wait longer says so.
constexpr std::chrono::seconds patience{1};

/// A record, and the descriptors that came with it.
struct record {
    std::array<std::byte, sizeof(greeting)> bytes;
    std::size_t size;
    std::vector<descriptor> passed;
};

[[noreturn]] void fail(int error, const std::string &what)
{
    throw std::system_error(error, std::generic_category(), what);
}

union control_buffer {
    cmsghdr header;
    std::array<char, CMSG_SPACE(most_passed * sizeof(int))> bytes;
};

// Of size 0 where there will be none any more; nothing where there is none yet. Throws `std::system_error`.
std::optional<record> try_receive_record(const descriptor &from)
{
    record received{{}, 0, {}};
    received.passed.reserve(most_passed);
    iovec whole{received.bytes.data(), received.bytes.size()};
    control_buffer control;
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(from.get(), &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EAGAIN) {
        return std::nullopt;
    }
    received.size = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    const cmsghdr *const header = size < 0 ? nullptr : CMSG_FIRSTHDR(&message);
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        std::array<int, most_passed> numbers{};
        const std::size_t bytes = header->cmsg_len - CMSG_LEN(0);
        std::memcpy(numbers.data(), CMSG_DATA(header), bytes);
        for (std::size_t each = 0; each < bytes / sizeof(int); ++each) {
            received.passed.emplace_back(numbers[each]);
        }
    }
    if (size >= 0 && (message.msg_flags & MSG_CTRUNC) != 0) {
        fail(EMFILE, "not all sockets could be received");
    }
    return received;
}

bool send_record(const descriptor &to, std::span<const std::byte> bytes, std::span<const descriptor> passed) noexcept
{
    iovec whole{const_cast<std::byte *>(bytes.data()), bytes.size()};
    control_buffer control{};
    msghdr message{};
    message.msg_iov = &whole;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(passed.size() * sizeof(int));
    cmsghdr &header = *CMSG_FIRSTHDR(&message);
    header.cmsg_level = SOL_SOCKET;
    header.cmsg_type = SCM_RIGHTS;
    header.cmsg_len = CMSG_LEN(passed.size() * sizeof(int));
    std::array<int, most_passed> numbers{};
    std::transform(passed.begin(), passed.end(), numbers.begin(), [](const descriptor &each) { return each.get(); });
    std::memcpy(CMSG_DATA(&header), numbers.data(), passed.size() * sizeof(int));
    return sendmsg(to.get(), &message, MSG_NOSIGNAL) >= 0;
}

ucred other_side(const descriptor &of) noexcept
{
    ucred who{0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
    socklen_t size = sizeof who;
    getsockopt(of.get(), SOL_SOCKET, SO_PEERCRED, &who, &size);
    return who;
}

address address_of(const std::string &path)
{
    const std::optional<address> at = parse_address("unix:" + path);
    if (!at) {
        fail(ENAMETOOLONG, path);
    }
    return *at;
}

descriptor open_record_socket()
{
    descriptor opened(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (opened.get() < 0) {
        fail(errno, "socket");
    }
    return opened;
}

// Only one process at a time looks who listens at a path of this folder, and takes it where nobody does.
descriptor lock_folder_of(const std::string &path)
{
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.get() < 0 || flock(opened.get(), LOCK_EX) != 0) {
        fail(errno, folder);
    }
    return opened;
}

// The server that listens there; none where nobody does.
descriptor connect_to(const std::string &path)
{
    const address at = address_of(path);
    descriptor server = open_record_socket();
    if (connect(server.get(), at.get(), at.size) == 0) {
        return server;
    }
    if (errno == EPROTOTYPE) {
        throw std::runtime_error("what listens at " + path + " is not a server to take over from");
    }
    if (errno != ENOENT && errno != ECONNREFUSED) {
        fail(errno, path);
    }
    return {};
}

// Nobody listens there.
descriptor listen_at(const std::string &path)
{
    struct stat found = {};
    if (lstat(path.c_str(), &found) == 0) {
        if (!S_ISSOCK(found.st_mode)) {
            throw std::runtime_error(path + " is there, and is not a socket: name another path");
        }
        unlink(path.c_str());
    }
    const address at = address_of(path);
    descriptor place = open_record_socket();
    if (bind(place.get(), at.get(), at.size) != 0 || listen(place.get(), SOMAXCONN) != 0) {
        fail(errno, path);
    }
    return place;
}

} // namespace

takeover::takeover(std::string path, const end_signals &signals, public_sockets &sockets)
    : path_(std::move(path)), signals_(signals), sockets_(sockets)
{
    while (true) {
        descriptor server;
        {
            const descriptor alone = lock_folder_of(path_);
            server = connect_to(path_);
            if (server.get() < 0) {
                place_ = listen_at(path_);
                return;
            }
        }
        if (take_from(std::move(server))) {
            return;
        }
    }
}

// False where the server has ended and passed nothing. Throws as the constructor.
bool takeover::take_from(descriptor server)
{
    if (const uid_t user = other_side(server).uid; user != geteuid()) {
        throw std::runtime_error("the server at " + path_ + " is of user " + std::to_string(user) +
                                 ": only the same user takes over");
    }
    // The next record: none where the server has ended.
    const auto next = [&](moment until) {
        while (true) {
            if (std::optional<record> received = try_receive_record(server)) {
                return *std::move(received);
            }
            if (clock::now() >= until) {
                log_line("waits for the server at %s, which is about to be taken over by another, or to end",
                         path_.c_str());
                until = never;
            }
            if (signals_.wait(server.get(), until) != 0) {
                throw std::runtime_error("asked to end before it had taken over");
            }
        }
    };
    record first = next(clock::now() + patience);
    if (first.size == 0) {
        return false;
    }
    greeting said{};
    std::memcpy(&said, first.bytes.data(), std::min(first.size, sizeof said));
    if (said.mark != greeting_mark) {
        throw std::runtime_error("what listens at " + path_ + " is not a server to take over from");
    }
    if (said.version != takeover_version || first.passed.size() != 1) {
        throw std::runtime_error("the server at " + path_ + " hands over in another way (version " +
                                 std::to_string(said.version) + ", not " + std::to_string(takeover_version) +
                                 "): end it first");
    }
    place_ = std::move(first.passed.front());
    for (std::uint32_t count = 0; count < said.sockets;) {
        record some = next(never);
        if (some.size == 0) {
            log_line("the server before, process %d, has ended and not passed all of its sockets", said.process);
            break;
        }
        for (descriptor &each : some.passed) {
            sockets_.adopt(std::move(each), socket_origin::server_before, "of process " + std::to_string(said.process));
            ++count;
        }
    }
    before_ = std::move(server);
    return true;
}

void takeover::begun() noexcept
{
    // One that has ended by itself need not be asked.
    send(before_.get(), &asked_to_end, sizeof asked_to_end, MSG_NOSIGNAL);
    before_ = descriptor();
}

end_reason takeover::wait() noexcept
{
    while (true) {
        if (const int signal = signals_.wait(place_.get()); signal != 0) {
            unlink(path_.c_str());
            place_ = descriptor();
            return {signal, 0};
        }
        if (const std::optional<end_reason> reason = hand_over()) {
            place_ = descriptor();
            return *reason;
        }
    }
}

// Nothing where this server keeps its place.
std::optional<end_reason> takeover::hand_over() noexcept
{
    const descriptor next(accept4(place_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (next.get() < 0) {
        signals_.wait(-1, clock::now() + patience); // without descriptors, say
        return std::nullopt;
    }
    const ucred who = other_side(next);
    if (who.uid != geteuid()) {
        log_line("process %d of user %u may not take over: only the same user may", who.pid, who.uid);
        return std::nullopt;
    }
    if (!pass_sockets(next)) {
        log_line("process %d cannot be passed the sockets: %s", who.pid, std::strerror(errno));
        return std::nullopt;
    }
    // Asked to end, it hands the path over to the other, which has all that it needs.
    if (const int signal = signals_.wait(next.get()); signal != 0) {
        return end_reason{signal, 0};
    }
    char said = 0;
    if (recv(next.get(), &said, sizeof said, 0) != 1 || said != asked_to_end) {
        log_line("process %d, which was to take over, has ended: this one goes on", who.pid);
        return std::nullopt;
    }
    return end_reason{0, who.pid};
}

bool takeover::pass_sockets(const descriptor &to) noexcept
{
    try {
        const std::vector<descriptor> all = sockets_.copy_open();
        const greeting hello{greeting_mark, takeover_version, static_cast<std::uint32_t>(all.size()), getpid()};
        bool sent = send_record(to, std::as_bytes(std::span(&hello, 1)), {&place_, 1});
        for (std::span<const descriptor> unsent = all; sent && !unsent.empty();) {
            const auto some = unsent.first(std::min(unsent.size(), most_passed));
            sent = send_record(to, std::as_bytes(std::span(&asked_to_end, 1)), some);
            unsent = unsent.subspan(some.size());
        }
        return sent;
    } catch (const std::system_error &problem) {
        errno = problem.code().value();
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
    }
    return false;
}

} // namespace flux
