// The files below a folder, for servers that send them: a cache over the file system.
//
// A path is looked for below its folder, and nothing outside of it is ever opened: not by `..`, not by a symbolic link,
// not if the folder is changed meanwhile. Small files are kept in memory, larger ones open; what is looked for again
// costs no system call. A file that has changed is noticed after `--files-fresh`; who has got it before keeps what it
// was. A folder that is a symbolic link may be pointed at another: then all files are looked for there.
//
// Errors: ENOENT if there is no such file, or its path or a link on it leads out of the folder; EISDIR if it is a folder
// and the path does not end with a slash; EACCES if the server may not read it; EMFILE and ENFILE if there are no
// descriptors.

use std.http_text;
include "flux/connection.hpp";
include "string";
include "files.h";

// How much memory the contents of small files may take.
option memory : size = 64M;

// How large a file may be that is kept in memory.
option small : size = 64k;

// How many larger files are kept open.
option descriptors : int = 1000;

// How long a file, and the home of a user, is taken for unchanged.
option fresh : duration = 1s;

// Which files leave the cache when it is full: those that were used least recently (`lru`) or least often (`lfu`),
// large ones first (`gdsf`), or those that have no hint (`hinted`). With `structured` a use of a page is also a use of
// the files that it names.
option evict : string = "lru";

// The paths of files with a hint, separated by spaces; one that ends with a slash is of all files below that folder.
option hints : string = "";

// What is sent of a folder, if its path ends with a slash: the first of these that it has.
option index : string = "index.html";

// The folder in the home of a user whose files are at `~NAME/`, often `public_html`. By default users have none.
option users : string = "";

// The file at `path` below the folder `root`. A slash at the beginning of the path means nothing.
Find (const char *root, std::string path) => (files::file file);
Find = Look(memory, small, descriptors, fresh, evict, hints, index, users);
Look (files::size memory, files::size small, files::count descriptors, long fresh_ms, const char *evict, const char *hints,
      const char *index, const char *users, const char *root, std::string path) => (files::file file);

// Sends bytes, such as a head, and then the file, which the kernel copies where it is not in memory.
Send (flux::connection *connection, std::string before, files::file file) => (flux::connection *connection);

// Something in a folder. A link is what it is itself, not what it leads to.
record entry { name : text; is_folder : bool; size : uint64; modified : int64; };

// What is in the folder at `path` below the folder `root`, in the order of names, without names that begin with a point.
// Fails with ENOENT if there is no such folder.
List (const char *root, std::string path) => (list<entry> entries) blocking;

// The content of a file, all of it in memory, whatever its size. The connection of the client is passed on.
Load (const char *root, flux::connection *connection, std::string path) => (flux::connection *connection, std::string content) blocking;
