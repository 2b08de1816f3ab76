/// \file
/// What both floors begin with: a socket that listens on loopback, and what is done with a message, which are the two
/// words of their command line.
#pragma once

#include "checked.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <vector>

/// Bytes of a request that has a fixed answer, and of the answer. A connection sends so few requests at once that each
/// arrives whole.
constexpr std::size_t request_size = 64;
constexpr std::size_t answer_size = 1024;

/// What a floor does.
struct floor_work {
    int listener;
    /// Whether messages are sent back; else each request has the fixed answer.
    bool is_echo;
};

/// Reads the command line, listens, and says on which port. The sockets that are accepted send without delay.
inline floor_work listening(int argc, char **argv)
{
    const bool is_echo = argc == 3 && std::strcmp(argv[2], "echo") == 0;
    if (argc != 3 || (!is_echo && std::strcmp(argv[2], "fixed") != 0)) {
        std::fprintf(stderr, "usage: %s PORT echo|fixed\n", argv[0]);
        std::exit(2);
    }
    const int made = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
    const int on = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    checked(bind(made, reinterpret_cast<sockaddr *>(&at), sizeof at), "bind");
    checked(listen(made, SOMAXCONN), "listen");
    socklen_t size = sizeof at;
    checked(getsockname(made, reinterpret_cast<sockaddr *>(&at), &size), "getsockname");
    std::fprintf(stderr, "listening on 127.0.0.1:%d\n", ntohs(at.sin_port));
    return {made, is_echo};
}

/// What the floor sends for so many bytes that it has received.
struct floor_answer {
    const char *bytes;
    std::size_t size;
};

/// The bytes themselves, or an answer for each request that they are.
inline floor_answer answer_to(const floor_work &work, const char *bytes, std::size_t size)
{
    static const std::vector<char> answers(65536, 'a');
    if (work.is_echo) {
        return {bytes, size};
    }
    const std::size_t answer = size / request_size * answer_size;
    checked(size % request_size == 0 && answer <= answers.size() ? 0 : -1, "a request in pieces, or too many");
    return {answers.data(), answer};
}
