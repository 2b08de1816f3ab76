#include "flux/io/connections.hpp"

#include <cerrno>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace {

/// A stream that says when it is gone. So many bytes come, all at once.
class counted_stream final : public flux::stream
{
  public:
    explicit counted_stream(int &open, std::size_t input = 0) : stream(true), open_(open), input_(input) { ++open_; }
    ~counted_stream() override { --open_; }

    void end_output() noexcept override {}
    std::size_t send_at_once(std::string_view bytes) noexcept override { return bytes.size(); }
    void cut() noexcept override {}

    // What it was given to send.
    int sent = 0;
    int sent_later = 0;

  private:
    flux::io_result<std::size_t> do_receive(std::span<std::byte>, flux::moment) noexcept override
    {
        return std::exchange(input_, 0);
    }
    flux::io_result<void> do_send(std::span<iovec>, flux::moment) noexcept override
    {
        ++sent;
        return {};
    }
    bool do_send_later(std::span<const iovec>) noexcept override
    {
        ++sent_later;
        return true;
    }

    int &open_;
    std::size_t input_;
};

class no_listener final : public flux::listener
{
  public:
    flux::address local() const noexcept override { return {}; }
};

/// Those who come, and then EBADF; before that so many waits are too long. No stream can be watched where `refusal` is
/// an error.
class scripted_arrivals final : public flux::arrivals
{
  public:
    scripted_arrivals(std::deque<arrival> &come, const int &refusal, const bool &knows_last, const bool &is_ready,
                      const flux::stream *&watched, bool &watched_soon, int &waits_in_vain)
        : come_(come), waits_in_vain_(waits_in_vain), refusal_(refusal), knows_last_(knows_last), is_ready_(is_ready),
          last_(watched), last_is_soon_(watched_soon)
    {
    }

    flux::io_result<void> watch(flux::listener &) noexcept override { return {}; }

    flux::io_result<void> watch(flux::stream &idle, void *owner, bool soon) noexcept override
    {
        last_ = &idle;
        last_is_soon_ = soon;
        watched_ = owner;
        if (refusal_ == 0) {
            idle_[owner] = &idle;
        }
        if (knows_last_) {
            come_.push_back({nullptr, owner});
        }
        return refusal_ == 0 ? flux::io_result<void>() : flux::unexpected(refusal_);
    }

    bool forget(flux::stream &of) noexcept override
    {
        return !is_ready_ && std::erase_if(idle_, [&](const auto &each) { return each.second == &of; }) != 0;
    }
    void *next_ready() noexcept override { return is_ready_ ? std::exchange(watched_, nullptr) : nullptr; }

    flux::io_result<arrival> next(flux::moment) noexcept override
    {
        if (waits_in_vain_ != 0) {
            --waits_in_vain_;
            return flux::unexpected(ETIMEDOUT);
        }
        if (come_.empty()) {
            return flux::unexpected(EBADF);
        }
        arrival first = std::move(come_.front());
        come_.pop_front();
        idle_.erase(first.owner);
        return first;
    }

  private:
    std::deque<arrival> &come_;
    int &waits_in_vain_;
    const int &refusal_;
    const bool &knows_last_;
    const bool &is_ready_;
    const flux::stream *&last_;
    bool &last_is_soon_;
    void *watched_ = nullptr;
    // Those that are watched and were not given since, by their owners.
    std::map<void *, flux::stream *> idle_;
};

class scripted_io final : public flux::io
{
  public:
    const char *name() const noexcept override { return "script"; }
    flux::moment now() const noexcept override { return {}; }

    flux::io_result<std::unique_ptr<flux::listener>> listen(const flux::address &) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    flux::io_result<std::unique_ptr<flux::stream>> connect(const flux::address &, flux::moment) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    flux::io_result<std::unique_ptr<flux::datagram_socket>> bind(const flux::address &) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    std::unique_ptr<flux::arrivals> make_arrivals() override
    {
        return std::make_unique<scripted_arrivals>(come, refusal, knows_last, is_ready, watched, watched_soon,
                                                   waits_in_vain);
    }

    /// Somebody new comes.
    void arrive(std::unique_ptr<flux::stream> through)
    {
        auto somebody = std::make_unique<flux::arrivals::newcomer>();
        somebody->accepted = std::move(through);
        come.push_back({std::move(somebody)});
    }

    std::deque<flux::arrivals::arrival> come;
    int waits_in_vain = 0;
    int refusal = 0;
    // Whoever is watched has something to say, behind all others.
    bool knows_last = false;
    // Whoever was watched last has been notified of and is not given.
    bool is_ready = false;
    // What was watched last, and whether it is to be given in any case.
    const flux::stream *watched = nullptr;
    bool watched_soon = false;
};

TEST(Connections, ANewOneThatCannotBeWatchedIsClosedAndAwaitedByNobody)
{
    for (const int refusal : {0, ENOMEM}) {
        const auto own = std::make_shared<flux::server_io>();
        const flux::on_server_io here(own);
        const flux::accepting &entrances = own->entrances;
        int open = 0;
        scripted_io script;
        script.refusal = refusal;
        script.arrive(std::make_unique<counted_stream>(open));
        script.come.emplace_back(); // and nobody new comes any more
        no_listener at;
        const flux::silence_limits limits{std::chrono::seconds(1), std::chrono::seconds(1)};
        const auto all =
            std::make_shared<flux::connections>(script, at, flux::first_given::with_input, limits);
        EXPECT_TRUE(entrances.any_open());
        EXPECT_EQ(all->next().error(), EBADF);
        EXPECT_EQ(open, refusal == 0 ? 1 : 0);
        EXPECT_EQ(entrances.any_open(), refusal == 0) << "a peer is to be served who is gone";
        all->end();
        EXPECT_EQ(open, 0);
    }
}

TEST(Connections, TheEntranceIsOpenUntilTheLastWhoCameIsServed)
{
    const auto own = std::make_shared<flux::server_io>();
    const flux::on_server_io here(own);
    const flux::accepting &entrances = own->entrances;
    int open = 0;
    scripted_io script;
    script.arrive(std::make_unique<counted_stream>(open));
    script.come.emplace_back(); // nobody new comes any more
    script.knows_last = true;
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::with_input,
                                                         flux::silence_limits{});
    EXPECT_TRUE(entrances.any_open());
    const auto given = all->next();
    ASSERT_TRUE(given.has_value());
    EXPECT_FALSE(entrances.any_open()) << "who came last is served";
    EXPECT_TRUE((*given)->close().has_value());
    all->end();
    EXPECT_EQ(open, 0);
}

TEST(Connections, ASourceWhoseTimeIsOverIsToldAndDoesNotLookAgainAndAgain)
{
    flux::accepting entrances;
    scripted_io script;
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::with_input,
                                                         flux::silence_limits{});
    flux::flow source;
    flux::running_flow = &source;
    for (const bool is_over : {false, true}) {
        script.waits_in_vain = 2;
        source.set_deadline(is_over ? script.now() : flux::never);
        EXPECT_EQ(all->next().error(), is_over ? ETIMEDOUT : EBADF);
        EXPECT_EQ(script.waits_in_vain, is_over ? 1 : 0) << "after a look at all others it waits again";
    }
    flux::running_flow = nullptr;
    all->end();
}

TEST(Connections, AGroupIsNotWaitedForWhereNobodyNewComes)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    script.arrive(std::make_unique<counted_stream>(open));
    script.come.emplace_back(); // nobody new comes any more
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once,
                                                         flux::silence_limits{});
    std::vector<flux::connection *> group;
    EXPECT_EQ(all->next_group(2, group).error(), flux::end_of_input);
    ASSERT_EQ(group.size(), 1U) << "who has come is the caller's, to be told";
    EXPECT_EQ(all->next_group(2, group).error(), flux::end_of_input) << "it is known now";
    EXPECT_TRUE(group.front()->close().has_value());
    group.clear();
    EXPECT_EQ(all->next_group(2, group).error(), EBADF) << "of no group it waits, until it is stopped";
    all->end();
    EXPECT_EQ(open, 0);
}

TEST(Connections, WhoWasNotifiedOfAndNotGivenIsClosedAtTheEnd)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    script.is_ready = true;
    script.arrive(std::make_unique<counted_stream>(open));
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::with_input,
                                                         flux::silence_limits{});
    EXPECT_EQ(all->next().error(), EBADF);
    EXPECT_EQ(open, 1);
    all->end();
    EXPECT_EQ(open, 0);
}

TEST(Connections, OneThatWasClosedIsNotSoonAnother)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once,
                                                         flux::silence_limits{});
    const auto open_and_close = [&]() -> const void * {
        script.arrive(std::make_unique<counted_stream>(open));
        const auto given = all->next();
        EXPECT_TRUE(given.has_value() && (*given)->close().has_value());
        return given.has_value() ? *given : nullptr;
    };
    const void *const closed = open_and_close();
    for (int others = 0; others < 60; ++others) {
        EXPECT_NE(open_and_close(), closed) << "who has it yet could use it after " << others << " others";
    }
    EXPECT_EQ(open, 0);
    all->end();
}

/// Receives one byte, which is a request.
void take_request(flux::connection &from)
{
    std::byte one;
    EXPECT_TRUE(from.receive({&one, 1}).has_value());
}

TEST(Connections, RequestsThatCameTogetherAreServedInARowAndThenThoseOfOthers)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    script.knows_last = true;
    for (int each = 0; each < 2; ++each) {
        script.arrive(std::make_unique<counted_stream>(open, 100));
    }
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once,
                                                         flux::silence_limits{});
    std::vector<int> in_a_row;
    const flux::connection *before = nullptr;
    for (int request = 0; request < 160; ++request) {
        const auto given = all->next();
        ASSERT_TRUE(given.has_value());
        if (*given != before) {
            in_a_row.push_back(0);
        }
        ++in_a_row.back();
        before = *given;
        take_request(**given);
        EXPECT_TRUE((*given)->give_back().has_value());
    }
    EXPECT_EQ(in_a_row, std::vector<int>(5, 32));
    // The one that would be next in a row, and the one that has come back behind it.
    const auto last = all->next();
    ASSERT_TRUE(last.has_value());
    take_request(**last);
    EXPECT_TRUE((*last)->give_back().has_value());
    all->end();
    EXPECT_EQ(open, 0);
}

TEST(Connections, AnswersGoOutTogetherWhereThePeerHasAskedMore)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    auto made = std::make_unique<counted_stream>(open, 2);
    const counted_stream &through = *made;
    script.arrive(std::move(made));
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once,
                                                         flux::silence_limits{});
    const auto given = all->next();
    ASSERT_TRUE(given.has_value());
    take_request(**given);
    EXPECT_TRUE((*given)->send("answer").has_value());
    EXPECT_EQ(through.sent, 0);
    EXPECT_EQ(through.sent_later, 1);
    take_request(**given);
    EXPECT_TRUE((*given)->send("answer").has_value());
    EXPECT_EQ(through.sent, 1) << "nobody knows when more is asked";
    EXPECT_TRUE((*given)->close().has_value());
    all->end();
    EXPECT_EQ(open, 0);
}

/// A stream over another, which says that it holds something.
class layered_stream final : public flux::stream
{
  public:
    layered_stream(std::unique_ptr<flux::stream> wire, held_input held) : wire_(std::move(wire)), held_(held) {}

    void end_output() noexcept override { wire_->end_output(); }
    std::size_t send_at_once(std::string_view bytes) noexcept override { return wire_->send_at_once(bytes); }
    void cut() noexcept override { wire_->cut(); }
    held_input held() const noexcept override { return held_; }
    flux::stream &wire() noexcept override { return *wire_; }
    std::string_view protocol() const noexcept override { return "echo"; }
    bool is_secure() const noexcept override { return true; }

  private:
    flux::io_result<std::size_t> do_receive(std::span<std::byte> into, flux::moment until) noexcept override
    {
        return wire_->receive(into, until);
    }
    flux::io_result<void> do_send(std::span<iovec> parts, flux::moment until) noexcept override
    {
        return wire_->send(parts, until);
    }

    const std::unique_ptr<flux::stream> wire_;
    const held_input held_;
};

class scripted_layer final : public flux::stream_layer
{
  public:
    std::unique_ptr<flux::stream> lay_over(std::unique_ptr<flux::stream> wire) noexcept override
    {
        below = wire.get();
        return refuses ? nullptr : std::make_unique<layered_stream>(std::move(wire), held);
    }

    flux::stream::held_input held = flux::stream::held_input::nothing;
    bool refuses = false;
    const flux::stream *below = nullptr;
};

TEST(Connections, TheStreamBelowALayerIsWatched)
{
    using held_input = flux::stream::held_input;
    for (const held_input held : {held_input::nothing, held_input::bytes, held_input::part}) {
        flux::accepting entrances;
        int open = 0;
        scripted_io script;
        scripted_layer layer;
        layer.held = held;
        script.arrive(std::make_unique<counted_stream>(open));
        no_listener at;
        const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once,
                                                             flux::silence_limits{}, &layer);
        const auto given = all->next();
        ASSERT_TRUE(given.has_value());
        EXPECT_EQ((*given)->protocol(), "echo");
        EXPECT_TRUE((*given)->is_secure());
        EXPECT_TRUE((*given)->give_back().has_value());
        EXPECT_FALSE((*given)->is_secure()) << "it is nobody's";
        EXPECT_EQ(script.watched, layer.below);
        EXPECT_EQ(script.watched_soon, held == held_input::bytes) << "the kernel does not notify of what it has given";
        all->end();
        EXPECT_EQ(open, 0);
    }
}

TEST(Connections, WhomALayerSendsAwayIsClosed)
{
    flux::accepting entrances;
    int open = 0;
    scripted_io script;
    scripted_layer layer;
    layer.refuses = true;
    script.arrive(std::make_unique<counted_stream>(open));
    no_listener at;
    const auto all = std::make_shared<flux::connections>(script, at, flux::first_given::at_once, flux::silence_limits{},
                                                         &layer);
    EXPECT_EQ(all->next().error(), EBADF);
    EXPECT_EQ(open, 0);
    all->end();
}

} // namespace
