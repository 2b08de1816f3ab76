// The image server without Flux: the nodes of examples/image, called in the order of image.flux from a thread pool
// written by hand. It is what the server that Flux makes of them is compared with, so it does what its author would
// have to: a bounded queue, one lock for the cache, errors, exceptions, an orderly end on SIGTERM.
#include "image.flux.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <pthread.h>

namespace {

/// Guards the cache: CheckCache, StoreInCache and Complete run one at a time.
std::mutex cache_lock;

/// Sockets with a request, on their way from Listen to the workers: first in, first out. A full queue holds Listen
/// back.
class socket_queue {
public:
    explicit socket_queue(std::size_t capacity) : capacity_(capacity) {}

    void push(int socket)
    {
        std::unique_lock hold(lock_);
        has_room_.wait(hold, [this] { return sockets_.size() < capacity_; });
        sockets_.push_back(socket);
        hold.unlock(); // else the thread that is woken would only wait for the lock
        has_sockets_.notify_one();
    }

    /// Waits for a socket. False once the queue is closed and empty.
    bool pop(int &socket)
    {
        std::unique_lock hold(lock_);
        has_sockets_.wait(hold, [this] { return !sockets_.empty() || closed_; });
        if (sockets_.empty())
            return false;
        socket = sockets_.front();
        sockets_.pop_front();
        hold.unlock();
        has_room_.notify_one();
        return true;
    }

    void close()
    {
        const std::lock_guard hold(lock_);
        closed_ = true;
        has_sockets_.notify_all();
    }

private:
    const std::size_t capacity_;
    std::mutex lock_;
    std::condition_variable has_room_;
    std::condition_variable has_sockets_;
    std::deque<int> sockets_;
    bool closed_ = false;
};

/// Calls a node. Its error, or -1 for an exception.
template <typename... Arguments> int call(int (*node)(Arguments...), std::type_identity_t<Arguments>... arguments)
{
    try {
        return node(arguments...);
    } catch (const std::exception &) {
        return -1;
    }
}

enum class outcome { done, failed, ended };

/// `Handler:[_, _, _] = ReadInFromDisk -> Compress -> StoreInCache`, and its two lines before it.
outcome handle(int socket, bool close, image_tag *request)
{
    if (TestInCache(request))
        return outcome::done;
    if (TestListing(request)) {
        ListPictures_in in{socket, close, request};
        ListPictures_out out{};
        return call(ListPictures, &in, &out) == 0 ? outcome::done : outcome::failed;
    }
    ReadInFromDisk_in disk_in{socket, close, request};
    ReadInFromDisk_out disk_out{};
    if (const int error = call(ReadInFromDisk, &disk_in, &disk_out); error != 0) {
        FourOhFour(&disk_in, error);
        return outcome::ended;
    }
    Compress_in compress_in{socket, close, request, disk_out.rgb_data};
    Compress_out compress_out{};
    if (call(Compress, &compress_in, &compress_out) != 0)
        return outcome::failed;
    StoreInCache_in store_in{socket, close, request};
    StoreInCache_out store_out{};
    const std::lock_guard hold(cache_lock);
    return call(StoreInCache, &store_in, &store_out) == 0 ? outcome::done : outcome::failed;
}

/// `Image = ReadRequest -> CheckCache -> Handler -> Write -> Complete`.
void serve(int socket)
{
    ReadRequest_in read_in{socket};
    ReadRequest_out read_out{};
    if (const int error = call(ReadRequest, &read_in, &read_out); error != 0) {
        BadRequest(&read_in, error);
        return;
    }
    bool close = read_out.close;
    image_tag *const request = read_out.request;
    CheckCache_in check_in{socket, close, request};
    CheckCache_out check_out{};
    {
        const std::lock_guard hold(cache_lock);
        CheckCache(&check_in, &check_out);
    }
    switch (handle(socket, close, request)) {
    case outcome::ended:
        return;
    case outcome::failed: {
        ServerError_in error_in{socket, close, request};
        ServerError_out error_out{};
        ServerError(&error_in, &error_out);
        close = error_out.close;
        break;
    }
    case outcome::done:
        break;
    }
    Write_in write_in{socket, close, request};
    Write_out write_out{};
    if (call(Write, &write_in, &write_out) != 0)
        close = true;
    Complete_in complete_in{socket, close, request};
    const std::lock_guard hold(cache_lock);
    Complete(&complete_in);
}

/// Waits for SIGTERM or SIGINT, then interrupts the thread in Listen until it has seen that it is to stop. One signal
/// alone could come just before Listen waits, and be lost.
void await_stop(const sigset_t &signals, pthread_t listener, std::atomic<bool> &stopping,
                const std::atomic<bool> &stopped)
{
    int signal = 0;
    sigwait(&signals, &signal);
    stopping = true;
    while (!stopped) {
        pthread_kill(listener, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// How many sockets may wait for a worker; as many as flows in the runtime `pool`.
constexpr std::size_t queue_capacity = 1024;

/// Takes `--workers N` off the command line; the rest is for init(). The default is that of the runtime `pool`.
unsigned take_workers(int &argc, char **argv)
{
    unsigned workers = std::max(16U, 4 * std::thread::hardware_concurrency());
    int kept = 1;
    for (int at = 1; at < argc; ++at) {
        if (std::strcmp(argv[at], "--workers") == 0 && at + 1 < argc)
            workers = static_cast<unsigned>(std::max(1, std::atoi(argv[++at])));
        else
            argv[kept++] = argv[at];
    }
    argc = kept;
    argv[argc] = nullptr;
    return workers;
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned workers = take_workers(argc, argv);
    init(argc, argv);

    // All threads inherit a mask in which the signals that stop the server are blocked; one waits for them.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    struct sigaction interrupt{};
    interrupt.sa_handler = [](int) {};
    sigaction(SIGUSR1, &interrupt, nullptr);
    std::atomic<bool> stopping = false;
    std::atomic<bool> stopped = false;
    std::thread stopper(await_stop, std::cref(signals), pthread_self(), std::ref(stopping), std::cref(stopped));

    socket_queue queue(queue_capacity);
    std::vector<std::thread> pool;
    for (unsigned worker = 0; worker < workers; ++worker) {
        pool.emplace_back([&queue] {
            for (int socket = 0; queue.pop(socket);)
                serve(socket);
        });
    }
    while (!stopping) {
        Listen_out out{};
        if (Listen(&out) == 0)
            queue.push(out.socket);
    }
    stopped = true;
    queue.close();
    for (std::thread &worker : pool)
        worker.join();
    stopper.join();
    return 0;
}
