// Files and texts in the codings that clients accept.
use std.http;
use std.files;
use std.compress;

option port : int = 0;
option root : path;

source http.Listen(port) => Page;
Page (http.request request, text path) => ();
Page:[_, made] = Made -> compress.Response -> http.Reply;
Page:[_, coded] = Words -> compress.Gzip(9) -> http.SendText(200, "application/gzip");
Page:[_, _] = files.Find(root) -> compress.File -> http.Send;
handle error files.Find => http.NotFound;
handle error Page => http.Failed;

typedef made (text path) { path == "/made" };
typedef coded (text path) { path == "/coded" };

Made (text path) => (http.response response) {
  response = http.response(status: 200,
      fields: [http.field(name: "Content-Type", value: "text/plain; charset=utf-8"),
        http.field(name: "ETag", value: "\"made\"")],
      content: join(split(path + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a"),
        "forty bytes of words, each time the same "));
};
Words (text path) => (text content) { content = path + " " + path + " " + path; };
