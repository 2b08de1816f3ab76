/// \file
/// The spans of a flow: when each node began and ended, for those few flows of which this is kept. An exporter has the
/// record at the flow's end (`insight/span_exporter.hpp`), and gives it to a collector of traces.
///
/// A node's span lasts until the next node of the flow is called, as its time does (`flow_timing.hpp`). Flows without
/// a record pay nothing: a node that is called looks anyway whether somebody waits for its thread.
#pragma once

#include "flux/flow/outcome.hpp"
#include "flux/moment.hpp"
#include "flux/waiting/node_number.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace flux {

class flow;

/// The trace that a caller has begun, and the caller's own span in it: W3C Trace Context, `traceparent`.
struct trace_parent {
    std::array<std::uint8_t, 16> trace{};
    std::array<std::uint8_t, 8> span{};
    /// Whether the caller keeps the trace.
    bool is_sampled = false;
};

/// That of a header of version 00, or of a later version that begins as that does; nothing where it is none.
std::optional<trace_parent> parse_trace_parent(std::string_view text) noexcept;

/// A node of a flow, from when it was called.
struct node_span {
    node_number node;
    /// The error that it failed with; 0 where it did not.
    int error;
    moment begin;
    moment end;
};

/// What is kept of a flow.
struct span_record {
    std::optional<trace_parent> parent;
    /// The name of its source.
    const char *source = "";
    std::uint64_t id = 0;
    std::uint64_t path = 0;
    outcome exit{};
    moment begin;
    moment end;
    /// Branches of one flow add theirs on several threads.
    std::mutex adding;
    std::vector<node_span> nodes;
    /// Nodes that are left out, as there was no room for them.
    std::uint32_t left_out = 0;

    static constexpr std::size_t most_nodes = 256;
};

/// Takes the records of flows that have come to their end. Any thread calls this.
class span_sink
{
  public:
    virtual ~span_sink() = default;
    virtual void take(std::unique_ptr<span_record> record) noexcept = 0;
};

/// Of which flows of a source spans are kept.
struct span_settings {
    /// Who has them; null where none are kept.
    span_sink *to = nullptr;
    /// One flow in so many, beside those whose callers keep their traces.
    std::uint64_t one_in = 1;

    bool keeps(std::uint64_t id) const noexcept { return to != nullptr && (id - 1) % one_in == 0; }
};

/// The spans of one flow or branch.
class flow_spans
{
  public:
    /// Whether they are kept.
    bool is_on() const noexcept { return record_ != nullptr; }

    /// The flow begins; where there is no memory, nothing is kept of it.
    void begin(const std::optional<trace_parent> &parent) noexcept;
    /// A branch of a flow begins: its nodes are added to the flow's record.
    void begin_branch(const flow_spans &parent) noexcept;
    /// Nothing is kept of it any more.
    void drop() noexcept;

    // Of a flow whose spans are kept.

    /// It has been at `before` (`no_node` where it was at none), and calls the next node now.
    void called(node_number before) noexcept;
    /// It has been at that node, and its branches run now.
    void leaves(node_number last) noexcept;
    /// The node that it is at fails.
    void failed(int error) noexcept { error_ = error; }
    /// It has come to its end.
    void ended(const flow &of, outcome exit, span_sink &to) noexcept;

  private:
    std::unique_ptr<span_record> own_;
    // Its own, or that of the flow that it is a branch of.
    span_record *record_ = nullptr;
    // When the node that it is at was called; `never` where it is at none.
    moment since_ = never;
    int error_ = 0;
};

} // namespace flux
