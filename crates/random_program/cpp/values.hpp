// The types that random programs pass from node to node.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

// Belongs to a flow, which keeps it; what is passed on is its address.
struct record {
    unsigned long bits;
};

// A class that counts its objects, so that one which is lost, or destroyed twice, shows at the end. The text makes a
// byte-wise copy a memory error.
class tracked {
public:
    static inline std::atomic<long> alive{0};

    tracked() : tracked(0) {}
    explicit tracked(unsigned long bits) : text_(std::to_string(bits)) { alive.fetch_add(1, std::memory_order_relaxed); }
    tracked(const tracked &other) : text_(other.text_) { alive.fetch_add(1, std::memory_order_relaxed); }
    tracked &operator=(const tracked &other) = default;
    ~tracked() { alive.fetch_sub(1, std::memory_order_relaxed); }

    unsigned long bits() const { return std::stoul(text_); }

private:
    std::string text_;
};
