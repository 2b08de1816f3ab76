/// \file
/// Variables with these names in a message's declaration describe the exchange of request and reply:
///
///     request  replies          the number of replies; negative if unknown
///              asks             a number from 0 to 255 that the reply depends on: the reply's parameter `asked`
///              may_repeat       the request is idempotent: a server may execute it twice
///              may_end_messages bytes other than messages may follow: the reply says whether (`ends_messages`)
///     reply    is_interim       another reply to the same request follows
///              is_mark          the reply ends the replies to requests that may have none
///              ends_messages    the next bytes on the connection are not messages
///     either   ends_connection  the sender sends nothing more on the connection
///
/// A connection can serve the next exchange only if all these variables permit it. HEAD of HTTP shows why a reply
/// depends on its request: the reply to HEAD states a length but has no content (RFC 9112, 6.3).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>

namespace flux {

/// Facts that a request states about its replies. A request without these variables has one reply.
struct request_facts {
    std::uint8_t asks = 0;
    /// The number of replies: -1 if unknown; 2 if there is more than one.
    std::int8_t replies = 1;
    bool may_repeat : 1 = false;
    bool ends_connection : 1 = false;
    bool may_end_messages : 1 = false;
    /// Whether a reader needs the request to read its reply. Classes with `asks` or `may_end_messages` set this.
    bool has_pairs : 1 = false;

    bool operator==(const request_facts &) const = default;
};

/// The limit of interim replies before the final reply, for a caller that wants one reply. More of them are EPROTO.
constexpr int most_interim_replies = 32;

/// The role of a message in its exchange. `last` is the final reply to a request. Another reply follows an `interim`
/// one. A `mark` follows requests that may have no reply. `last_of_connection` is the last reply on a connection, or a
/// client's last message that has no reply. `last_request` is a client's last message that has a reply. The bytes after
/// a `last_message` are not messages. The reply to a `switch_request` may be a `last_message`.
enum class message_role : unsigned char {
    last,
    interim,
    mark,
    last_of_connection,
    last_message,
    last_request,
    switch_request,
};

/// Whether messages of this class have such variables. Fields with these names do not count.
template <class Message>
constexpr bool says_of_exchange()
{
    if constexpr (requires { Message::facts.says_of_exchange; }) {
        return Message::facts.says_of_exchange;
    } else {
        return false;
    }
}

/// The facts that a request states in its variables.
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

/// The role that a message states in its variables.
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
    if constexpr (requires { { message.may_end_messages() } -> std::same_as<bool>; }) {
        role = message.may_end_messages() ? message_role::switch_request : role;
    }
    if constexpr (requires { { message.ends_messages() } -> std::same_as<bool>; }) {
        role = message.ends_messages() ? message_role::last_message : role;
    }
    return role;
}

} // namespace flux
