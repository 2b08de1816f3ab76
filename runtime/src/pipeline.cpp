#include "flux/pipeline.hpp"

#include "flux/flow/flow.hpp"
#include "flux/io/park.hpp"
#include "flux/reading.hpp"

#include <cassert>
#include <cerrno>
#include <utility>

namespace flux {

pipeline::result pipeline::exchange(const message &request, std::unique_ptr<message_parse> &reply)
{
    assert(request.stream() == nullptr);
    alone held(lock_);
    if (!takes_more_) {
        return {ECONNRESET, false};
    }
    place &own = line_.emplace_back();
    own.reply = std::move(reply);
    if (const int error = await_turn_to_send(own, held); error != 0) {
        leave(own);
        return {error, false};
    }
    if (const int error = send(own, request, held); error != 0) {
        leave(own);
        return {error, true};
    }
    int error = await_turn_to_read(own, held);
    if (error == 0) {
        error = read(own, held);
    }
    if (error == 0) {
        reply = std::move(own.reply);
    }
    if (own.is != state::given_up) {
        leave(own);
    }
    return {error, true};
}

bool pipeline::takes_more() const noexcept
{
    const std::lock_guard held(lock_);
    return takes_more_;
}

bool pipeline::is_clean() const noexcept
{
    const std::lock_guard held(lock_);
    return line_.empty() && !sending_ended_ && !has_failed_;
}

// Until it is woken, which is 0, or its time is over. Whoever wakes it is alone meanwhile, so the park exists as long
// as it is touched.
int pipeline::wait(place &own, alone &held) noexcept
{
    park waiting(*running_flow);
    own.waits = &waiting;
    held.unlock();
    const park_end end = waiting.wait();
    held.lock();
    own.waits = nullptr;
    return error_of(end);
}

// 0 where the flow can wait.
int pipeline::time_is_over() noexcept
{
    if (running_flow->cancelling().cancelled()) {
        return ECANCELED;
    }
    return running_flow->deadline() <= running_io().last_look() ? ETIMEDOUT : 0;
}

// With 0 it is `sending`; otherwise nothing was sent, and it can leave.
int pipeline::await_turn_to_send(place &own, alone &held) noexcept
{
    int error = 0;
    if (is_sending_) {
        ++queued_;
        error = wait(own, held);
        queued_ -= own.is == state::queued ? 1 : 0;
    } else {
        own.is = state::sending;
        is_sending_ = true;
    }
    if (error == 0 && !sending_ended_) {
        // Who sends now and has no time left to read would only stop the others.
        error = time_is_over();
        if (error == 0) {
            return 0;
        }
    }
    if (own.is == state::sending) {
        hand_on_sending();
    }
    return error != 0 ? error : ECONNRESET;
}

// With 0 it is `sent` or `reading`; otherwise it can leave.
int pipeline::send(place &own, const message &request, alone &held) noexcept
{
    held.unlock();
    const io_result<void> sent = over_.send_soon(request.wire());
    held.lock();
    if (!sent.has_value()) {
        is_sending_ = false;
        end_sending();
        return sent.error();
    }
    hand_on_sending();
    if (has_failed_) {
        return ECONNRESET;
    }
    own.is = is_reading_ ? state::sent : state::reading;
    is_reading_ = true;
    return 0;
}

// With 0 it is `reading`; otherwise it is given up or can leave.
int pipeline::await_turn_to_read(place &own, alone &held) noexcept
{
    const int error = own.is == state::sent ? wait(own, held) : 0;
    if (has_failed_) {
        return error != 0 ? error : ECONNRESET;
    }
    if (error != 0) {
        give_up(own);
    }
    return error;
}

// With 0 its reply is whole; otherwise it is given up or can leave.
int pipeline::read(place &own, alone &held) noexcept
{
    held.unlock();
    const int error = read_up_to(own);
    held.lock();
    if (error == ETIMEDOUT || error == ECANCELED) {
        give_up(own);
        return error;
    }
    if (error != 0) {
        fail();
        return error;
    }
    hand_on_reading();
    if (!is_reading_ && !is_sending_ && over_.has_unread()) {
        fail(); // the server has said more than it was asked, which would be taken for the next reply
    }
    return 0;
}

// Nobody else takes the first from the line meanwhile: it is this one, or a reply is still to come for it.
int pipeline::read_up_to(place &own) noexcept
{
    while (true) {
        place *first = nullptr;
        {
            const alone held(lock_);
            first = &line_.front();
        }
        const io_result<void> come = over_.receive_message(*first->reply);
        if (!come.has_value()) {
            if (come.error() == EBADMSG) {
                log_wrong_message(over_.peer(), *first->reply);
            }
            const bool by_time = come.error() == ETIMEDOUT || come.error() == ECANCELED;
            return first == &own || by_time ? come.error() : ECONNRESET;
        }
        if (first == &own) {
            return 0;
        }
        const alone held(lock_);
        leave(*first);
    }
}

void pipeline::hand_on_sending() noexcept
{
    is_sending_ = false;
    if (queued_ == 0 || sending_ended_) {
        return;
    }
    for (place &each : line_) {
        if (each.is == state::queued) {
            each.is = state::sending;
            is_sending_ = true;
            --queued_;
            return wake(each);
        }
    }
}

void pipeline::hand_on_reading() noexcept
{
    is_reading_ = false;
    bool is_one_to_come = false;
    for (place &each : line_) {
        if (each.is == state::sent) {
            each.is = state::reading;
            is_reading_ = true;
            return wake(each);
        }
        is_one_to_come = is_one_to_come || each.is == state::given_up;
    }
    if (is_one_to_come && is_sending_) {
        fail(); // the server may not receive more before somebody has read that reply
    }
}

// Its flow leaves before the reply has come.
void pipeline::give_up(place &own) noexcept
{
    takes_more_ = false;
    if (std::exchange(own.is, state::given_up) == state::reading) {
        hand_on_reading();
    }
}

// Nothing is to come for it. The ends of the line have a reply to come, or somebody who waits.
void pipeline::leave(place &own) noexcept
{
    own.is = state::gone;
    while (!line_.empty() && line_.front().is == state::gone) {
        line_.pop_front();
    }
    while (!line_.empty() && line_.back().is == state::gone) {
        line_.pop_back();
    }
}

// Those that are queued go.
void pipeline::end_sending() noexcept
{
    takes_more_ = false;
    sending_ended_ = true;
    for (place &each : line_) {
        if (each.is == state::queued) {
            wake(each);
        }
    }
}

// All go. Who sends now comes to the end of that, as the connection is cut.
void pipeline::fail() noexcept
{
    has_failed_ = true;
    is_reading_ = false;
    end_sending();
    over_.cut();
    for (place &each : line_) {
        if (each.is == state::sent) {
            wake(each);
        }
    }
}

void pipeline::wake(place &one) noexcept
{
    if (one.waits != nullptr) {
        one.waits->end(park_end::completed);
    }
}

} // namespace flux
