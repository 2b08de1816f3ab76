#include "flux/io/server_io.hpp"

#include <utility>

namespace flux {
namespace {

thread_local constinit const std::shared_ptr<server_io> *of_thread = nullptr;

/// Never destroyed, as threads that have outlived their server may use it to the end. Nor is it allocated, which could
/// fail.
template <class Type>
union everlasting {
    template <class... From>
    explicit everlasting(From &&...from) : value(std::forward<From>(from)...)
    {
    }
    ~everlasting() {}

    Type value;
};

} // namespace

const std::shared_ptr<server_io> &server_io::current() noexcept
{
    if (of_thread != nullptr) {
        return *of_thread;
    }
    static everlasting<server_io> of_process;
    static everlasting<std::shared_ptr<server_io>> shared(std::shared_ptr<void>(), &of_process.value);
    return shared.value;
}

void server_io::when_ended(std::function<void()> does)
{
    const std::lock_guard alone(ending_);
    when_ended_.push_back(std::move(does));
}

void server_io::end() noexcept
{
    std::vector<std::function<void()>> all;
    {
        const std::lock_guard alone(ending_);
        all.swap(when_ended_);
    }
    for (; !all.empty(); all.pop_back()) {
        all.back()();
    }
}

on_server_io::on_server_io(const std::shared_ptr<server_io> &of) noexcept : before_(std::exchange(of_thread, &of)) {}

on_server_io::~on_server_io()
{
    of_thread = before_;
}

} // namespace flux
