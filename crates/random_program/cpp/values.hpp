// The types that random programs pass from node to node.
#pragma once

#include <atomic>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// Belongs to a flow, which keeps it; what is passed on is its address.
struct record {
    unsigned long bits;
};

// A class that counts its objects, so that one which is lost, or destroyed twice, shows at the end. The text makes a
// byte-wise copy a memory error.
class tracked
{
  public:
    static inline std::atomic<long> alive{0};

    tracked() : tracked(0) {}
    explicit tracked(unsigned long bits) : text_(std::to_string(bits))
    {
        alive.fetch_add(1, std::memory_order_relaxed);
    }
    tracked(const tracked &other) : text_(other.text_) { alive.fetch_add(1, std::memory_order_relaxed); }
    tracked &operator=(const tracked &other) = default;
    ~tracked() { alive.fetch_sub(1, std::memory_order_relaxed); }

    unsigned long bits() const { return std::stoul(text_); }

  private:
    std::string text_;
};

// A class of which some values throw when they are copied or moved: those whose bits are a multiple of 64.
class fragile
{
  public:
    unsigned long bits = 1;

    fragile() = default;
    fragile(const fragile &other) : bits(other.unbroken()) {}
    fragile &operator=(const fragile &other)
    {
        bits = other.unbroken();
        return *this;
    }

  private:
    unsigned long unbroken() const
    {
        if (bits % 64 == 0) {
            throw std::domain_error("a fragile value broke");
        }
        return bits;
    }
};
