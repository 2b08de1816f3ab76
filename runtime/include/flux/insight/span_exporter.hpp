/// \file
/// Gives the spans of flows to a collector, by OTLP over HTTP: `--flux-spans=http://localhost:4318`.
///
/// It has a thread of its own, which sends what has come in the last second, or sooner where that is much. Flows never
/// wait for it: where the collector is away or slow, their spans are dropped, and counted.
#pragma once

#include "flux/flow/flow_spans.hpp"
#include "flux/flow/program.hpp"
#include "flux/insight/otlp.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace flux {

/// Where a collector is.
struct span_collector {
    std::string host;
    std::string port;
    std::string path;
};

/// Of `http://HOST[:PORT][/PATH]`; without a port 4318, and without a path /v1/traces, as OTLP has them. Nothing where
/// it is none. Throws `std::bad_alloc`.
std::optional<span_collector> parse_span_collector(std::string_view url);

/// How many flows had their spans sent, and of how many they were dropped.
struct span_counts {
    std::uint64_t sent;
    std::uint64_t dropped;
};

/// The exporter of a server.
class span_exporter final : public span_sink
{
  public:
    /// So many flows wait to be sent; of more the spans are dropped.
    static constexpr std::size_t most_waiting = 4096;

    /// Its thread starts. Throws `std::system_error` and `std::bad_alloc`.
    span_exporter(const program &of, span_collector to);
    /// Sends what there is left, once.
    ~span_exporter() override;
    span_exporter(const span_exporter &) = delete;
    span_exporter &operator=(const span_exporter &) = delete;

    void take(std::unique_ptr<span_record> record) noexcept override;

    span_counts counts() const noexcept { return {sent_.load(), dropped_.load()}; }

  private:
    void run() noexcept;
    void send(const std::vector<std::unique_ptr<span_record>> &flows) noexcept;

    const span_collector to_;
    otlp_writer writer_;
    std::mutex mutex_;
    std::condition_variable more_;
    std::vector<std::unique_ptr<span_record>> waiting_;
    bool is_over_ = false;
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> dropped_{0};
    bool has_said_ = false;
    std::thread thread_;
};

} // namespace flux
