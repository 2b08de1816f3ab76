#include "flick_shared.h"

#include "flick_replies.h"
#include "flick_run.h"

#include "flux/connection.hpp"
#include "flux/error.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

namespace flick {

namespace {

constexpr const char *has_ended = "ended before it answered";

} // namespace

shared_connection::shared_connection(process &of, std::shared_ptr<backends> servers, std::size_t server)
    : of_(of), servers_(std::move(servers)), server_(server)
{
}

shared_connection::~shared_connection()
{
    servers_->free_place(server_);
}

void shared_connection::begin(flux::connection &on)
{
    on_ = &on;
    through_ = on.send_through(shared_from_this());
}

void shared_connection::add(std::shared_ptr<end> one)
{
    one->place_among(ends_.size());
    ends_.push_back(std::move(one));
}

void shared_connection::remove(end &one) noexcept
{
    const std::size_t at = one.place_among();
    if (at < ends_.size() && ends_[at].get() == &one) {
        std::swap(ends_[at], ends_.back());
        ends_[at]->place_among(at);
        const std::shared_ptr<end> gone = std::move(ends_.back());
        ends_.pop_back();
    }
}

flux::io_result<void> shared_connection::send(end &by, const request &what, bool &is_noted) noexcept
{
    ++senders_;
    flux::io_result<void> sent = turns_.await();
    if (sent.has_value()) {
        sent = is_broken_ ? flux::io_result<void>(flux::unexpected(ECONNRESET)) : send_alone(by, what, is_noted);
        turns_.pass();
    }
    if (--senders_ == 0 && is_left_) {
        on_->attach();
        on_->close();
    }
    return sent;
}

// Bytes that other flows have queued go out first. If the queue has no room, the flow flushes it and tries again. If
// there is still no room, the flow sends its request directly. Therefore a flow does not time out within its message
// while it waits for the bytes of other flows.
flux::io_result<void> shared_connection::send_alone(end &by, const request &what, bool &is_noted) noexcept
{
    const auto part_of = [](std::string_view bytes) { return iovec{const_cast<char *>(bytes.data()), bytes.size()}; };
    std::array<iovec, 2> all{part_of(what.what.wire()), part_of(what.mark == nullptr ? "" : what.mark->wire())};
    const std::span<iovec> parts(all.data(), what.mark == nullptr ? 1 : 2);
    bool is_taken = through_->send_later(parts);
    if (!is_taken) [[unlikely]] {
        if (const flux::io_result<void> flushed = through_->flush(); !flushed.has_value()) {
            return flushed;
        }
        is_taken = !is_broken_ && through_->send_later(parts);
    }
    is_noted = !is_broken_ && note(by, what);
    if (!is_noted) {
        through_->cut();
        end_all(event::broken, "could not be sent to");
        return flux::unexpected(ECONNRESET);
    }
    const flux::io_result<void> sent = is_taken ? flux::io_result<void>() : through_->send(parts);
    if (!sent.has_value()) {
        // A part of the request may have gone out, and no other request can follow a part.
        through_->cut();
        end_all(event::broken, flux::describe_error(sent.error()).c_str());
    }
    return sent;
}

// Adds the replies of a request to the pending replies. Returns whether there was memory for this.
bool shared_connection::note(end &by, const request &what) noexcept
{
    was_used_ = was_used_ || asked_.empty();
    was_asked_ = true;
    try {
        for (std::int64_t each = 0; each != what.replies; ++each) {
            asked_.push_back({by.shared_from_this(), flux::request_of(what.what).asks});
        }
    } catch (const std::bad_alloc &) {
        return false;
    }
    expect_next();
    return by.is_sent(what);
}

void shared_connection::expect_next() noexcept
{
    on_->expect(asked_.empty() ? std::uint8_t{0} : asked_.front().asks);
}

// The end that sent the request for the arrived message. If no request is pending, later replies would go to the wrong
// runs. The function then ends the connection and returns null.
std::shared_ptr<end> shared_connection::take_asker(message_role as) noexcept
{
    was_used_ = true;
    if (asked_.empty()) [[unlikely]] {
        flux::log_rarely("the server %s of a connection that is shared has said what nobody asked",
                         servers_->address(server_).c_str());
        through_->cut();
        end_all(event::broken, "said what nobody asked");
        return nullptr;
    }
    if (as == message_role::interim) {
        return asked_.front().by;
    }
    std::shared_ptr<end> first = std::move(asked_.front().by);
    asked_.pop_front();
    expect_next();
    return first;
}

void shared_connection::answered(end &of, message_role as, std::size_t size) noexcept
{
    of.answered(as, size);
    if (as == message_role::last_of_connection || as == message_role::last_message) [[unlikely]] {
        through_->cut();
        end_all(event::broken, has_ended);
    }
}

std::shared_ptr<reply> shared_connection::came(message_role as, std::size_t size)
{
    // If memory is short, the reply stays pending, and the connection ends together with all pending replies.
    const std::shared_ptr<end> asked = asked_.empty() ? nullptr : asked_.front().by;
    const std::shared_ptr<run> by = asked == nullptr ? nullptr : asked->owner();
    as = asked == nullptr ? as : asked->role_of_next(as);
    std::shared_ptr<reply> made =
        by == nullptr ? nullptr : std::make_shared<reply>(asked, by, as != message_role::interim);
    if (const std::shared_ptr<end> of = take_asker(as)) {
        answered(*of, as, size);
    }
    return made;
}

// The run counts the reply as arrived before the end counts the request as answered. In the other order, the run could
// have nothing pending for a moment, and would finish its channels too early.
void shared_connection::pass_on(message_role as, std::size_t to, const flux::message &what) noexcept
{
    as = asked_.empty() ? as : asked_.front().by->role_of_next(as);
    const std::shared_ptr<end> of = take_asker(as);
    if (of == nullptr) {
        return;
    }
    const bool is_last = as != message_role::interim;
    const std::shared_ptr<run> by = of->owner();
    by == nullptr ? void() : of->coming()->arrived(is_last);
    answered(*of, as, what.wire().size());
    if (by != nullptr) {
        by->has_input();
        by->pass_on(*of->coming(), to, what, is_last);
    }
}

bool shared_connection::leave(bool /*stops*/) noexcept
{
    const std::shared_ptr<shared_connection> stays = shared_from_this();
    end_all(what_, why_.empty() ? has_ended : why_.c_str());
    if (senders_ != 0) {
        is_left_ = true;
        through_->cut();
        return false;
    }
    through_ = nullptr;
    return true;
}

void shared_connection::failed(int error, const flux::message_parse &wanted) noexcept
{
    what_ = event_of(error);
    why_ = told_of(error, wanted);
}

// Reports the event to each end of the connection. The reaction of one end may remove other ends, so the loop uses a
// list of its own.
void shared_connection::end_all(event what, const char *why) noexcept
{
    if (std::exchange(is_broken_, true)) {
        return;
    }
    const std::shared_ptr<shared_connection> stays = shared_from_this();
    servers_->shared(server_).remove(*this);
    if (!asked_.empty() && !servers_->has_stopped()) {
        servers_->failed(server_);
    }
    asked_.clear();
    const std::vector<std::shared_ptr<end>> all = std::exchange(ends_, {});
    for (const std::shared_ptr<end> &each : all) {
        each->connection_ended(what, why);
    }
}

int shared_connections::take(std::size_t most, flux::moment until, std::shared_ptr<shared_connection> &found) noexcept
{
    while (true) {
        if (all_.size() + coming_ < most) {
            ++coming_;
            return 0;
        }
        if (!all_.empty()) {
            const auto has_fewer = [](const auto &one, const auto &other) { return one->size() < other->size(); };
            found = *std::min_element(all_.begin(), all_.end(), has_fewer);
            return 0;
        }
        const std::size_t before = failures_;
        if (const int error = wait_in(waiting_, until); error != 0) {
            return error;
        }
        if (failures_ != before) {
            return error_;
        }
    }
}

void shared_connections::made(std::shared_ptr<shared_connection> one)
{
    all_.push_back(std::move(one));
    --coming_;
    wake_all(waiting_);
}

void shared_connections::failed(int error) noexcept
{
    --coming_;
    ++failures_;
    error_ = error;
    wake_all(waiting_);
}

void shared_connections::cut() noexcept
{
    for (const auto &each : all_) {
        each->cut(); // the source of the connection notices this
    }
}

void shared_connections::remove(const shared_connection &one) noexcept
{
    std::erase_if(all_, [&](const auto &each) { return each.get() == &one; });
}

} // namespace flick
