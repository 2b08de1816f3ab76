// TLS 1.3 and 1.2 for sources (RFC 8446, RFC 5246), by OpenSSL 3: `std.http` speaks it as soon as the server is given a
// certificate, and the program stays as it is. `Listen` and `Accept` of this module are those of `std.tcp` with TLS.
//
// A handshake costs no flow, and nothing in OpenSSL ever waits. Clients resume sessions by tickets. Of several
// certificates the client gets the first that is for the host that it asks for (SNI), or else the first of all. TLS 1.1
// and older, renegotiation and compression are refused, and of TLS 1.2 all ciphers but ECDHE with AES-GCM or ChaCha20.
//
// Certificates are read again when one of their files has changed, and on SIGHUP: new connections get the new ones.
// Where they cannot be read then, that is logged, and the old ones stay; at the start the server ends.
//
// Clients that break the rules of TLS are told so and closed, and counted as failures with EPROTO. Where a client ends
// its connection without having said so (no close_notify), receiving fails with ECONNRESET, as something may be missing.

use std.tcp;
link "ssl";
link "crypto";
include "flux/connection.hpp";
include "tls.h";

// The files of certificates, in PEM, separated by commas: each has a certificate and those that lead to a root. If
// there is none, no TLS is spoken.
option certificate : string = "";

// The files of their keys, in the same order. Without this option a key is in the file of its certificate.
option key : string = "";

// The addresses at which TLS is spoken, as they are in the program, separated by spaces: `443 [::1]:8443`. By default
// those of all sources that can.
option at : string = "";

// A file of 80 random bytes, made by `openssl rand -out FILE 80`, with which tickets are encrypted. Servers that share
// it resume the sessions of each other; so does a server that is started again. By default each set of certificates has a random key.
option ticket_key : string = "";

// As `tcp.Listen`, with TLS. A listener with a `certificate` of its own does not use `--tls-certificate` and `--tls-key`.
// The server does not start without a certificate.
Listen (flux::endpoint at, long idle = tcp.idle, long first_byte = tcp.first_byte, long message = tcp.message,
    long request = tcp.request, const char *unix_mode = tcp.unix_mode, const char *certificate = "",
    const char *key = "", const char *ticket_key = ticket_key, const char *tls_certificate = certificate,
    const char *tls_key = key)
  => (flux::connection *connection) replicable;

// As `tcp.Accept`, with TLS: the flow of a connection begins with the handshake.
Accept (flux::endpoint at, long idle = tcp.idle, const char *unix_mode = tcp.unix_mode,
    const char *certificate = "", const char *key = "", const char *ticket_key = ticket_key,
    const char *tls_certificate = certificate, const char *tls_key = key)
  => (flux::connection *connection) replicable;
