// Contents in fewer bytes: gzip, brotli and zstd, as each client accepts them (RFC 9110, 12.5.3). A step between what finds
// or makes a content and what sends it: `files.Find(root) -> compress.File -> http.Send`.
//
// Servers are linked with the libraries of the codings: zlib (`zlib1g-dev`), brotli (`libbrotli-dev`) and zstd
// (`libzstd-dev`). Threads beside the event loops compress; what is small is compressed in place where nobody waits.

use std.http;
use std.files;
include "string";
include "compress.h";
link "z";
link "brotlienc";
link "zstd";

// The codings, in the order in which they are taken where a client likes several equally: of `br`, `zstd` and `gzip`.
option codings : string = "br zstd gzip";

// What is smaller stays as it is.
option least : size = 1k;

// The media types that are compressed, separated by spaces; one that ends with a slash is of all below it.
option types : string = "text/ application/javascript application/json application/manifest+json application/xml application/xhtml+xml application/wasm image/svg+xml font/ttf font/otf";

// How well gzip compresses: from 1, which is fast, to 9.
option gzip : int = 6;

// How well brotli compresses: from 0 to 11.
option brotli : int = 5;

// How well zstd compresses: from 1 to 19.
option zstd : int = 6;

// How long it takes until a precompressed file that is new, changed or gone is noticed.
option fresh : duration = 1s;

// The file in the coding that its client likes best. A file beside it with `.br`, `.zst` or `.gz` at the end of its name is
// sent as it is, unless it is older. Else a file that is in memory is compressed once, and kept as long as it is known;
// a larger one is compressed while it is sent, anew each time. Requests for ranges are of the file itself. Each coding has a
// tag of its own, weak where it is compressed here, and `Vary` is said of all that is of these types.
File (http.request request, files.file file) => (files.file file);
File = Choose(codings, least, types, gzip, brotli, zstd, fresh);
Choose (const char *codings, size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
        http.request request, files.file file) => (files.file file);

// The response in the coding that its client likes best, with `Content-Encoding` and `Vary`, and a weak `ETag` where it has
// one. What is coded already, has no content or says `Cache-Control: no-transform` stays as it is.
Response (http.request request, http.response response) => (http.response response);
Response = Code(codings, least, types, gzip, brotli, zstd, fresh);
Code (const char *codings, size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
      http.request request, http.response response) => (http.response response);

// The text in one of the codings, so well: `Gzip(6)`.
Gzip (int level, text content) => (text content);
Brotli (int level, text content) => (text content);
Zstd (int level, text content) => (text content);
