/// \file
/// What both floors begin with: a socket that listens at the port on their command line, on loopback.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/// Ends the program where something is refused: a floor has nothing else to do then.
inline int checked(int result, const char *what)
{
    if (result < 0) {
        std::perror(what);
        std::exit(1);
    }
    return result;
}

/// A socket that listens; those that it accepts send without delay.
inline int listening(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s PORT\n", argv[0]);
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
    return made;
}
