#include "flux/message/list.hpp"

#include "flux/message/reader.hpp"
#include "flux/message/unfinished.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace std::string_view_literals;

namespace {

// A message that is a list of letters up to a point, as the compiler would write it.
using letter = flux::one_element<flux::byte_set<flux::fixed_text("a-z")>>;

struct letters {
    struct places : flux::message_places {
        flux::message_parts list;
    };
    static constexpr flux::message_facts facts{"letters", 10'000};

    template <class Cursor>
    static const char *parse(Cursor in, places &at) noexcept
    {
        return in.list_until(at.list, flux::kind<letter>(), "."sv, 200, "list") ? in.next() : nullptr;
    }
};

std::string of(std::size_t count)
{
    std::string text;
    for (std::size_t index = 0; index < count; ++index) {
        text += static_cast<char>('a' + index % 26);
    }
    return text + '.';
}

// The list of a message that comes in pieces which end at these bytes.
flux::message_list<letter> list_of(const std::string &bytes, const std::vector<std::size_t> &arrivals)
{
    flux::unfinished_message unfinished;
    letters::places at;
    for (const std::size_t size : arrivals) {
        flux::message_reader in(std::string_view(bytes).substr(0, size), false, unfinished);
        const flux::reading come = in.read<letters>(at);
        EXPECT_EQ(come, size == bytes.size() ? flux::reading::whole : flux::reading::unfinished);
    }
    // As messages are copied.
    const letters::places copied = at;
    return {flux::message_bytes::copy_of(std::as_bytes(std::span(bytes))), copied.list};
}

void is_right(const flux::message_list<letter> &list, const std::string &bytes)
{
    ASSERT_EQ(list.size(), bytes.size() - 1);
    std::string found;
    for (const std::string_view one : list) {
        found += one;
    }
    EXPECT_EQ(found + '.', bytes);
    for (std::size_t index = 0; index < list.size(); ++index) {
        EXPECT_EQ(list[index], bytes.substr(index, 1));
    }
}

TEST(message_list, has_all_elements)
{
    for (const std::size_t count : {0, 1, 2, 199}) {
        const std::string bytes = of(count);
        is_right(list_of(bytes, {bytes.size()}), bytes);
    }
}

TEST(message_list, has_them_wherever_bytes_were_missing)
{
    const std::string bytes = of(9);
    for (std::size_t split = 0; split < bytes.size(); ++split) {
        is_right(list_of(bytes, {split, bytes.size()}), bytes);
    }
    std::vector<std::size_t> all;
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        all.push_back(size);
    }
    is_right(list_of(bytes, all), bytes);
}

} // namespace
