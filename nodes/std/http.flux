// HTTP/1.1 and HTTP/2 for servers (RFC 9110, RFC 9112, RFC 9113): a flow for each request.
//
// `Listen` reads requests by the grammar of `std.http_message`, strictly. What is no request is answered by the source,
// which costs no flow: 400, 408, 413, 414, 417, 431, 501 or 505, and the connection is closed; so is one that there is no
// memory to read, with 503. Every other request is one flow, and one of the nodes below answers it: `Send` a file,
// `Reply` and `SendText` a content, `NotFound`, `Failed` and others with an error. A flow that ends without having
// answered is answered with 500. Requests that a client sends without waiting for answers are served one after the
// other. An idle client costs no flow.
//
// A client that begins with the preface of HTTP/2 speaks that. Each of its streams is a request; nodes see no difference.
//
// Answers to HEAD have no content. A connection is kept as HTTP/1.1 and HTTP/1.0 say, and closed so that its client
// receives the last answer.
//
// Errors of nodes that answer: EBADF if the request is answered already; EINVAL if a field of the response has a name or
// a value that would be none, or is one that the server adds; those of sending.

use std.tcp;
use std.tls;
use std.http_message;
use std.http_text;
use std.files;
include "flux/connection.hpp";
include "string";
include "http.h";
link "nghttp2";

// How long a client may be silent between two requests before its connection is closed. 0 means no limit, here and
// below.
option idle : duration = 60s;

// How long a client may be silent before its first request; after that its connection is closed.
option first_byte : duration = 10s;

// How long the head of a request may take, from its first byte to its last; after that the answer is 408.
option head : duration = 10s;

// How long the flow of a request may take until it answers; later waits fail with ETIMEDOUT.
option request : duration = 30s;

// How long a client may take to receive 256 KiB of an answer, or all of a smaller one.
option send : duration = 60s;

// How large the content of a request may be; what is larger is answered with 413. 0 means no limit.
option body : size = 1M;

// The access log, a line on standard error for each answer: `common` (with referer and user agent), `json`, or `none`.
option log : string = "";

// The addresses of proxies, separated by spaces, that are believed what they say in X-Forwarded-For: `127.0.0.1 ::1`.
option proxies : string = "";

// The permissions of a new Unix socket, as digits of chmod(1): `660`. By default only its owner may connect.
option unix_mode : string = "";

// A field of a response, such as `Cache-Control`.
record field { name : text; value : text; };

// A response that bodies make. Date, Content-Length and Connection are added, Content-Type is not.
record response { status : int32; fields : list<field>; content : text; };

// Statuses as error codes. A body fails with one: `fail http.not_found;`. `Failed` answers with it. Other statuses
// from 400 to 599 are written as numbers.
error bad_request = 400;
error unauthorized = 401;
error forbidden = 403;
error not_found = 404;
error method_not_allowed = 405;
error conflict = 409;
error gone = 410;
error precondition_failed = 412;
error content_too_large = 413;
error unsupported_media_type = 415;
error unprocessable_content = 422;
error too_many_requests = 429;
error internal_server_error = 500;
error bad_gateway = 502;
error service_unavailable = 503;
error gateway_timeout = 504;

// The next request of any connection, and its path: decoded, without `.` and `..`, with the slash at its beginning.
// `OPTIONS *` is answered by the source, and CONNECT is refused. The options above, and those of `std.tls`, apply to all
// listeners. A source can override them for its own listener: `source http.Listen(8080, body: 10M, idle: 5s) => Serve`.
// A listener with a `certificate` of its own speaks TLS, wherever `--tls-at` says. It speaks no TLS by
// `tls_certificate: ""`. Sources on one address must have the same settings.
Listen (flux::endpoint at, long idle = idle, long first_byte = first_byte, long head = head, long request = request,
    long send = send, size_t body = body, const char *log = log, const char *proxies = proxies,
    const char *unix_mode = unix_mode, const char *certificate = "", const char *key = "",
    const char *ticket_key = tls.ticket_key, const char *tls_certificate = tls.certificate,
    const char *tls_key = tls.key, const char *tls_at = tls.at)
  => (http.request request, text path) replicable;

// Requests by their methods: `Serve:[http.get, _] = …`. The first is of HEAD too, which is answered in the same way.
typedef get is_get pure;
typedef post is_post pure;
typedef put is_put pure;
typedef deletion is_deletion pure;

// The method, in the capital letters in which it came.
Method (http.request request) => (text method) pure;

// The host that is asked for, in small letters and without its port; empty where an old client does not say.
Host (http.request request) => (text host) pure;

// The first field of this name, whatever the case of its letters; empty if there is none.
Field (const char *name, http.request request) => (text value) pure;

// The first field of this name behind the content, a trailer, once all content has been pulled: `Serve = http.Content ->
// http.Trailer("digest") -> Check`. Empty if there is none.
Trailer (const char *name, http.request request) => (text value);

// The query, which is what stands behind the `?`, as it came.
Query (http.request request) => (text query) pure;

// The address of the client: of its connection; or, if that is one of the proxies of its listener, the last one in
// X-Forwarded-For that is none of them.
Client (http.request request) => (text client) pure;

// The content of the request, all of it. Fails with EMSGSIZE if it is larger than its listener allows, with EBADMSG
// if its chunks are none.
Content (http.request request) => (text content);

// Answers with a file, as the request wants it: with 200, or 206 and one or several ranges of it, 304 if the client has
// it already, 412 or 416 where RFC 9110 says so. Requests that are neither GET nor HEAD are refused: 405 and 501.
Send (http.request request, files.file file) => ();

// Answers with a response.
Reply (http.request request, http.response response) => ();

// Answers with a text of this type: `SendText(200, "text/plain; charset=utf-8")`.
SendText (int status, const char *type, http.request request, text content) => ();

// Answers with this status and a line that says it.
Refuse (int status, http.request request) => ();

// Answers with 405 and the methods that are allowed: `NotAllowed("GET, HEAD")`.
NotAllowed (const char *methods, http.request request) => ();

// Answers that something is elsewhere: 301, 302, 303, 307 or 308.
Redirect (int status, http.request request, text location) => ();

// Answers to what `files.Find` has not found, with 404; a folder whose path does not end with a slash with 301, which
// sends the client there; with 403 what the server may not read. As `Failed` otherwise.
NotFound (http.request request, int error) => ();

// Answers to any other failure. A code from 400 to 599 is the status of the answer: `fail http.not_found;` gives 404.
// EBADMSG and ECONNRESET give 400, EMSGSIZE gives 413, and a lack of resources gives 503. ETIMEDOUT gives 408 or 503.
// All other codes give 500. If the answer has begun, the connection is closed.
Failed (http.request request, int error) => ();
