#include "flux/strategy/thread_stacks.hpp"

#include "flux/event/stack.hpp"

#include <cerrno>
#include <chrono>
#include <new>
#include <sys/mman.h>
#include <thread>

namespace flux {

/// A stack, with a guard below it, and the thread that it has.
struct thread_stacks::place : listed<place> {
    std::byte *bottom;
    std::size_t size;
    pthread_t thread = 0;
    void *(*what)(void *) = nullptr;
    void *argument = nullptr;

    static inline thread_local constinit place *own = nullptr;

    place(std::byte *from, std::size_t bytes) noexcept : bottom(from), size(bytes) {}
    ~place()
    {
        if (bottom != nullptr) {
            munmap(bottom - stack_store::guard, size + stack_store::guard);
        }
    }
    place(const place &) = delete;
    place &operator=(const place &) = delete;

    static std::unique_ptr<place> made(std::size_t size) noexcept
    {
        void *const all = mmap(nullptr, size + stack_store::guard, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (all == MAP_FAILED) {
            return nullptr;
        }
        std::unique_ptr<place> result(new (std::nothrow)
                                          place(static_cast<std::byte *>(all) + stack_store::guard, size));
        if (result == nullptr || mprotect(all, stack_store::guard, PROT_NONE) != 0) {
            if (result == nullptr) {
                munmap(all, size + stack_store::guard);
            }
            return nullptr;
        }
        return result;
    }

    bool is_of_caller() const noexcept { return pthread_equal(thread, pthread_self()) != 0; }

    // The thread begins.
    static void *begin(void *at) noexcept
    {
        own = static_cast<place *>(at);
        own->thread = pthread_self();
        return own->what(own->argument);
    }
};

namespace {

std::size_t size_of_stacks() noexcept
{
    constexpr std::size_t usual = std::size_t{8} << 20;
    std::size_t size = usual;
    if (pthread_attr_t usually; pthread_attr_init(&usually) == 0) {
        pthread_attr_getstacksize(&usually, &size);
        pthread_attr_destroy(&usually);
    }
    return size;
}

} // namespace

thread_stacks::thread_stacks() noexcept : size_(size_of_stacks())
{
    [[maybe_unused]] static const int once = pthread_atfork(nullptr, nullptr, [] { place::own = nullptr; });
}

thread_stacks::~thread_stacks()
{
    join();
}

int thread_stacks::start(void *(*what)(void *), void *argument) noexcept
{
    std::unique_ptr<place> on = take();
    if (on == nullptr) {
        return EAGAIN;
    }
    on->what = what;
    on->argument = argument;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        error = pthread_attr_setstack(&attributes, on->bottom, on->size);
        pthread_t thread;
        if (error == 0 && (error = pthread_create(&thread, &attributes, place::begin, on.get())) == 0) {
            on.release(); // the thread's own from now on
        }
        pthread_attr_destroy(&attributes);
    }
    return error;
}

std::unique_ptr<thread_stacks::place> thread_stacks::taken_out(place *one) noexcept
{
    left_.remove(*one);
    --kept_;
    return std::unique_ptr<place>(one);
}

std::unique_ptr<thread_stacks::place> thread_stacks::take() noexcept
{
    {
        const std::lock_guard alone(lock_);
        for (place *each = left_.first(); each != nullptr; each = left_.next(*each)) {
            if (pthread_tryjoin_np(each->thread, nullptr) == 0) {
                return taken_out(each);
            }
        }
    }
    return place::made(size_);
}

void thread_stacks::leave() noexcept
{
    if (place::own == nullptr) {
        return;
    }
    std::unique_ptr<place> first;
    {
        const std::lock_guard alone(lock_);
        if (let_go_) {
            pthread_detach(place::own->thread); // it runs on this stack, which stays mapped
            return;
        }
        if (kept_ == most_kept) {
            first = taken_out(left_.first());
        }
        left_.push_back(*place::own);
        ++kept_;
    }
    if (first != nullptr) {
        pthread_join(first->thread, nullptr);
    }
}

void thread_stacks::join() noexcept
{
    const std::lock_guard alone(lock_);
    join_all();
}

void thread_stacks::join_all() noexcept
{
    while (!left_.empty()) {
        const std::unique_ptr<place> each = taken_out(left_.first());
        if (each->is_of_caller()) {
            pthread_detach(each->thread);
            each->bottom = nullptr; // it runs on this stack, which stays mapped
        } else {
            pthread_join(each->thread, nullptr);
        }
    }
}

void thread_stacks::let_go() noexcept
{
    // A process may end in its action on a signal, which may have come to a thread that has the lock.
    constexpr int tries = 100;
    for (int number = 0; number < tries; ++number) {
        if (const std::unique_lock alone(lock_, std::try_to_lock); alone.owns_lock()) {
            let_go_ = true;
            return join_all();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::size_t thread_stacks::kept() const noexcept
{
    const std::lock_guard alone(lock_);
    return kept_;
}

} // namespace flux
