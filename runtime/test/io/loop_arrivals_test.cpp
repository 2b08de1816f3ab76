#include "flux/io/loop_arrivals.hpp"

#include "flux/flow/flow.hpp"
#include "flux/strategy/runner.hpp"
#include "../support/sample_program.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>

namespace {

using flux::moment;

/// A loop without a kernel, whose time the test moves.
class still_loop final : public flux::loop_io
{
  public:
    const char *name() const noexcept override { return "still"; }
    moment now() const noexcept override { return time; }
    flux::io_result<std::unique_ptr<flux::listener>> listen(const flux::address &) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    flux::io_result<std::unique_ptr<flux::stream>> connect(const flux::address &, moment) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    flux::io_result<std::unique_ptr<flux::datagram_socket>> bind(const flux::address &) noexcept override
    {
        return flux::unexpected(ENOTSUP);
    }
    std::unique_ptr<flux::arrivals> make_arrivals() override { return nullptr; }
    void wait(moment) noexcept override {}
    void deliver() noexcept override {}
    void interrupt() noexcept override { ++rings; }

    moment time = moment() + std::chrono::hours(1);
    int rings = 0;
};

class no_stream final : public flux::stream
{
  public:
    void end_output() noexcept override {}
    std::size_t send_at_once(std::string_view bytes) noexcept override { return bytes.size(); }
    void cut() noexcept override {}

  private:
    flux::io_result<std::size_t> do_receive(std::span<std::byte>, moment) noexcept override { return 0; }
    flux::io_result<void> do_send(std::span<iovec>, moment) noexcept override { return {}; }
};

/// Peers who wait at a listener that all watch.
class scripted_arrivals final : public flux::loop_arrivals
{
  public:
    scripted_arrivals(flux::arrivals_row &row, const std::shared_ptr<flux::accept_group> &group, int &peers)
        : loop_arrivals(row), peers_(peers)
    {
        EXPECT_TRUE(join(group).has_value());
    }

    flux::io_result<void> watch(flux::listener &) noexcept override { return {}; }
    flux::io_result<void> watch(flux::stream &, void *, bool) noexcept override { return {}; }
    bool forget(flux::stream &) noexcept override { return true; }

  private:
    int accept(newcomer &into) noexcept override
    {
        if (peers_ == 0) {
            return EAGAIN;
        }
        --peers_;
        into.accepted = std::make_unique<no_stream>();
        return 0;
    }
    void stop_watching() noexcept override {}

    int &peers_;
};

/// Two loops that share a listener. The second has accepted somebody who stays.
class LoopArrivals : public testing::Test
{
  protected:
    LoopArrivals()
    {
        flow.run_on(runner);
        flux::running_flow = &flow;
        expect_nobody(first);
        come_to(second);
        staying = accept_at(second);
        // There may be another, for the first: it looks, and there is none.
        expect_nobody(second);
        EXPECT_EQ(first.io.rings, 1);
        first.row.collect_rings();
        expect_nobody(first);
        first.io.rings = 0;
    }
    ~LoopArrivals() override { flux::running_flow = nullptr; }

    struct one_loop {
        one_loop(const std::shared_ptr<flux::accept_group> &group, int &peers) : arrivals(row, group, peers) {}

        still_loop io;
        flux::arrivals_row row{io};
        scripted_arrivals arrivals;
    };

    void come_to(one_loop &notified)
    {
        ++peers;
        notified.arrivals.notified();
    }

    static flux::arrivals::arrival accept_at(one_loop &at)
    {
        auto came = at.arrivals.next(moment::min());
        EXPECT_TRUE(came.has_value() && (*came).somebody != nullptr);
        return came.has_value() ? *std::move(came) : flux::arrivals::arrival{};
    }

    static void expect_nobody(one_loop &at) { EXPECT_EQ(at.arrivals.next(moment::min()).error(), ETIMEDOUT); }

    flux::runner runner{sample::program};
    flux::flow flow;
    int peers = 0;
    const std::shared_ptr<flux::accept_group> group = std::make_shared<flux::accept_group>(nullptr);
    one_loop first{group, peers};
    one_loop second{group, peers};
    flux::arrivals::arrival staying;
};

TEST_F(LoopArrivals, WhoHasFewerIsRungAndAccepts)
{
    come_to(second);
    expect_nobody(second);
    EXPECT_EQ(first.io.rings, 1);
    first.row.collect_rings();
    const auto came = accept_at(first);
    EXPECT_EQ(first.row.accepted(), 1u);
    EXPECT_EQ(second.row.accepted(), 1u);
}

TEST_F(LoopArrivals, AConnectionThatHasEndedCountsNoMore)
{
    come_to(first);
    accept_at(first); // and it ends
    expect_nobody(first);
    come_to(second);
    expect_nobody(second);
    EXPECT_EQ(first.io.rings, 1) << "it has none";
}

TEST_F(LoopArrivals, OneThatWasAtItsBoundAsksAgain)
{
    first.row.go_idle(); // its source does not wait
    expect_nobody(first);
    come_to(second);
    expect_nobody(second);
    EXPECT_EQ(first.io.rings, 1) << "it has room again";
}

TEST_F(LoopArrivals, OneAtItsBoundIsNotRung)
{
    first.row.go_idle();
    come_to(second);
    const auto came = accept_at(second);
    EXPECT_EQ(first.io.rings, 0);
}

TEST_F(LoopArrivals, OneThatWasRungAsksThoughOthersWereFaster)
{
    come_to(second);
    expect_nobody(second);
    EXPECT_EQ(first.io.rings, 1);
    second.io.time += flux::accept_policy::patience;
    auto taken = accept_at(second); // without the first, which is late
    expect_nobody(second);
    first.row.collect_rings();
    expect_nobody(first);
    come_to(second);
    expect_nobody(second);
    EXPECT_EQ(first.io.rings, 2) << "it was late and has asked since";
}

} // namespace
