// The texts of HTTP, RFC 9110: what `std.http` computes of them, for bodies and nodes of your own.

include "string";
include "http_text.h";

// A date as fields such as Last-Modified and Expires have it, of seconds since 1970.
Date (int64 time) => (text date) pure;

// The path in a target, decoded, without `.` and `..`. Fails with EINVAL if it is none, or leads out of all folders.
Path (text target) => (text path) pure;

// The path, percent-encoded for a link. ASCII letters, digits, `-`, `.`, `_`, `~` and `/` stay. Every other byte is
// encoded: a space becomes `%20`.
Link (text path) => (text link) pure;
