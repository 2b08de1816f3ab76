/// \file
/// What messages say of the exchange that they are in, by variables of these names in their declaration:
///
///     request  replies          how many replies it has; less than none where nobody can tell
///              asks             on what the reply depends, 0 to 255: the reply has it as its parameter `asked`
///              may_repeat       a server may do twice what it asks for
///              may_end_messages what comes behind it may be no message: its reply says whether (`ends_messages`)
///     reply    is_interim       another one comes for the same request
///              is_mark          it ends what may have no reply
///              ends_messages    what comes next on the connection is no message
///     either   ends_connection  its sender sends nothing more on the connection
///
/// A connection can be used for the next exchange only if all of this says so. The HEAD of HTTP shows why a reply
/// depends on its request: its reply has no content, though it names a length (RFC 9112, 6.3).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

namespace flux {

/// What a request says of its replies. A message that says nothing has one.
struct request_facts {
    std::uint8_t asks = 0;
    /// -1 where nobody can tell; 2 where there are more than one.
    std::int8_t replies = 1;
    bool may_repeat : 1 = false;
    bool ends_connection : 1 = false;
    bool may_end_messages : 1 = false;
    /// Whether a reply is to be read with regard to its request, of which requests of its class say something.
    bool has_pairs : 1 = false;

    bool operator==(const request_facts &) const = default;
};

/// How many interim replies a server may give before the reply, for who wants one.
constexpr int most_interim_replies = 32;

/// What a reply is to its request: the last one, or others come; the mark behind what may have none; the last of its
/// connection; or what comes next is no message any more. Of a client's message: the last that it sends, and that is
/// answered, or is not.
enum class message_role : unsigned char { last, interim, mark, last_of_connection, last_message, last_request };

/// Whether messages of this class have such variables: fields of these names say nothing.
template <class Message>
constexpr bool says_of_exchange()
{
    if constexpr (requires { Message::facts.says_of_exchange; }) {
        return Message::facts.says_of_exchange;
    } else {
        return false;
    }
}

/// What a request says of itself.
template <class Message>
request_facts request_of(const Message &request)
{
    request_facts says;
    if constexpr (!says_of_exchange<Message>()) {
        return says;
    }
    if constexpr (requires { { request.asks() } -> std::integral; }) {
        says.has_pairs = true;
        says.asks = static_cast<std::uint8_t>(std::clamp<std::int64_t>(static_cast<std::int64_t>(request.asks()), 0,
                                                                       std::numeric_limits<std::uint8_t>::max()));
    }
    if constexpr (requires { { request.replies() } -> std::integral; }) {
        says.replies = static_cast<std::int8_t>(std::clamp<std::int64_t>(request.replies(), -1, 2));
    }
    if constexpr (requires { { request.may_repeat() } -> std::same_as<bool>; }) {
        says.may_repeat = request.may_repeat();
    }
    if constexpr (requires { { request.ends_connection() } -> std::same_as<bool>; }) {
        says.ends_connection = request.ends_connection();
    }
    if constexpr (requires { { request.may_end_messages() } -> std::same_as<bool>; }) {
        says.may_end_messages = request.may_end_messages();
        says.has_pairs = true;
    }
    return says;
}

/// What a message says of itself.
template <class Message>
message_role role_of(const Message &message)
{
    message_role role = message_role::last;
    if constexpr (!says_of_exchange<Message>()) {
        return role;
    }
    if constexpr (requires { { message.is_interim() } -> std::same_as<bool>; }) {
        role = message.is_interim() ? message_role::interim : role;
    }
    if constexpr (requires { { message.is_mark() } -> std::same_as<bool>; }) {
        role = message.is_mark() ? message_role::mark : role;
    }
    if constexpr (requires { { message.ends_connection() } -> std::same_as<bool>; }) {
        role = message.ends_connection() && role == message_role::last ? message_role::last_of_connection : role;
        if constexpr (requires { { message.replies() } -> std::integral; }) {
            const bool is_answered = role == message_role::last_of_connection && message.replies() != 0;
            role = is_answered ? message_role::last_request : role;
        }
    }
    if constexpr (requires { { message.ends_messages() } -> std::same_as<bool>; }) {
        role = message.ends_messages() ? message_role::last_message : role;
    }
    return role;
}

} // namespace flux
