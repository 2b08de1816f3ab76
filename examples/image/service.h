// What the nodes share: the connections, the cache, the folder of the pictures. init() makes it from the command line.
#pragma once

#include "cache.h"
#include "connection.h"

#include <cstddef>
#include <string>

namespace image {

/// What the command line says.
struct settings {
    /// The numeric address that is listened on. Other machines reach the server only where this is not the loopback.
    std::string address = "127.0.0.1";
    /// The port that is listened on; 0 for a free one.
    std::string port = "8080";
    /// The folder of the PPM files.
    std::string root = "pictures";
    /// The most that compressed pictures in the cache may take, in bytes.
    std::size_t cache_bytes = std::size_t{64} << 20;
};

/// Reads a size: a number, with k, M or G after it or nothing. False where it is none, or too large.
bool read_size(const std::string &text, std::size_t &bytes);

/// The state that all flows share.
struct service {
    /// Listens, opens the folder. Throws std::system_error.
    explicit service(const settings &settings);

    connection_table connections;
    /// Guarded by the constraint `cache` of image.flux.
    picture_cache cache;
    /// The folder of the pictures, open.
    const int folder;
};

/// The one service, once init() has run.
service &shared();

} // namespace image
