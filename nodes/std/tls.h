// TLS for sources of connections: a layer over the streams that they accept.
#pragma once

#include "flux/address.hpp"
#include "flux/connection.hpp"
#include "flux/io/stream_layer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tls {

/// What a source speaks, and by which files; see the options of the module. The protocols are those of ALPN, the
/// preferred one first; a client that asks for others only is sent away. One that sends a request of HTTP without TLS
/// is answered with what the last function makes.
struct settings {
    std::string certificate;
    std::string key;
    std::string at;
    std::string ticket_key;
    std::vector<std::string> protocols;
    std::string (*to_plain_http)() = nullptr;

    /// The settings, each with its name. Sources with equal lines share one layer.
    std::vector<std::string> lines() const;
};

/// The files of certificates and of their keys, as the options of the module have them.
struct own_identity {
    const char *certificate;
    const char *key;
};

/// What a listener at this address speaks: by its own certificate everywhere, or else by that of the process, at the
/// addresses where the process speaks TLS. Ends the process with a message if there is a key and no certificate.
settings settings_of(const flux::endpoint &at, const own_identity &own, const own_identity &of_process,
                     const char *at_places, const char *ticket_key);

/// The layer for what listens at this address, which stays; null where no TLS is spoken there. Where it is wanted and
/// something is wrong with the files, says what to do, and ends the process.
flux::stream_layer *layer_at(const flux::endpoint &at, const settings &as);

// The nodes, for sources: each fails with EPERM in a node behind one.

int Listen(const flux::endpoint &at, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
           const char *unix_mode, const char *certificate, const char *key, const char *ticket_key,
           const char *process_certificate, const char *process_key, flux::connection *&connection);
int Accept(const flux::endpoint &at, long idle_ms, const char *unix_mode, const char *certificate, const char *key,
           const char *ticket_key, const char *process_certificate, const char *process_key,
           flux::connection *&connection);

} // namespace tls
