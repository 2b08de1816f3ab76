// A web server for the files of a folder: index pages, listings of folders that have none, and a page for what is not
// found.
use std.http;
use std.files;
use std.http_text;

option port : int = 8080; // where it listens
option root : path = "public"; // the folder with the files

source http.Listen(port) => Page;
Page = files.Find(root) -> http.Send;
handle error files.Find => Missing;

Missing (http.request request, text path, int error) => ();
Missing:[http.get, folder, not_there] = files.List(root) -> Listing -> http.Reply;
Missing:[_, _, not_there] = NoPage -> http.Reply;
Missing:[_, _, _] = http.NotFound;
handle error files.List => NoFolder;
NoFolder (http.request request, text path) => ();
NoFolder = NoPage -> http.Reply;
typedef folder (text path) { ends_with(path, "/") };
typedef not_there (int error) { error == 2 }; // ENOENT

NoPage (text path) => (http.response response) {
  response = Html(404, "Not found", "<p>There is no <code>" + Escape(path) + "</code> here.</p>\n");
};

Listing (text path, list<files.entry> entries) => (http.response response) {
  let rows = "";
  if path != "/" { rows = "<tr><td><a href=\"../\">../</a></td><td></td></tr>\n"; }
  for one in entries {
    let name = Escape(one.name);
    let link = http_text.Link(one.name);
    let size = text(one.size);
    if one.is_folder {
      name = name + "/";
      link = link + "/";
      size = "";
    }
    rows = rows + "<tr><td><a href=\"./" + link + "\">" + name + "</a></td><td>" + size + "</td></tr>\n";
  }
  response = Html(200, Escape(path), "<table>\n" + rows + "</table>\n");
};

Html (int32 status, text title, text content) => (http.response response) {
  response = http.response(status: status,
      fields: [http.field(name: "Content-Type", value: "text/html; charset=utf-8")],
      content: "<!doctype html>\n<title>" + title + "</title>\n<h1>" + title + "</h1>\n" + content);
};

// What stands for itself in a page.
Escape (text raw) => (text safe) {
  safe = join(split(join(split(join(split(raw, "&"), "&amp;"), "<"), "&lt;"), "\""), "&quot;");
};
