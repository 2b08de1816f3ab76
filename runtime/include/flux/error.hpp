/// \file
/// Error codes. A node says what went wrong with an `int` of its own choice, 0 being success; these are the codes that
/// Flux itself adds where no node could say anything. They are far from every `errno`, exit status and small negative
/// number that components use.
#pragma once

namespace flux {

/// No line of a dispatch matches.
inline constexpr int no_match = -1'000'000'001;
/// A node, a predicate, or the copy of a value threw an exception.
inline constexpr int exception_thrown = -1'000'000'002;
/// As `exception_thrown`, the exception being `std::bad_alloc`.
inline constexpr int out_of_memory = -1'000'000'003;
/// A function returned an error whose code is 0, which means success.
inline constexpr int failed_without_code = -1'000'000'004;
/// The client has ended its input where its next request would begin: how most connections end, and no fault. It is not
/// counted as a failure, and a flow that it ends is done.
inline constexpr int end_of_input = -1'000'000'005;

/// The result of a computation does not fit its integer type.
inline constexpr int overflow = -1'000'000'006;
/// A computation divided an integer by zero.
inline constexpr int division_by_zero = -1'000'000'007;
/// A computation used an element, a part or a value that does not exist.
inline constexpr int no_element = -1'000'000'008;
/// A computation parsed a text as a number that is not one.
inline constexpr int not_a_number = -1'000'000'009;
/// A loop of a computation made a text, a list or a map that is too large (`flux::compute::most`).
inline constexpr int too_large = -1'000'000'010;
/// A computation made a message of values that no such message has.
inline constexpr int no_message = -1'000'000'011;

/// The name of a code of Flux's own; null for any other.
const char *error_name(int error) noexcept;

/// A code for people. It needs no memory, as the error may be that there is none.
class error_description
{
  public:
    explicit error_description(int error) noexcept;

    const char *c_str() const noexcept { return text_; }

  private:
    char text_[128];
};

/// The code for people: `no_match`, or `error 24 (Too many open files)` where it may be an `errno`.
inline error_description describe_error(int error) noexcept
{
    return error_description(error);
}

} // namespace flux
