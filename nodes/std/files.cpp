// Files of one folder. A path is resolved, links included, before it is compared with the folder: who may put links
// into the folder while the server runs could still win a race, and could as well put the file there.

#include "files.flux.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace files {
namespace {

using resolved_path = std::unique_ptr<char, decltype(&std::free)>;

resolved_path resolve(const std::string &path)
{
    return {::realpath(path.c_str(), nullptr), std::free};
}

// Whether both are resolved and `path` is in `folder`.
bool is_inside(const std::string &folder, const std::string &path)
{
    return folder == "/" || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// Appends what is left of a file; gives an error code.
int read_all(int file, std::string &content)
{
    char buffer[64 * 1024];
    while (true) {
        const ssize_t count = ::read(file, buffer, sizeof buffer);
        if (count == 0) {
            return 0;
        }
        if (count > 0) {
            content.append(buffer, static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            return errno;
        }
    }
}

} // namespace

int Load(Load_in *in, Load_out *out)
{
    out->connection = in->connection;
    // A path of the system ends at the first zero: what comes after it would go unseen.
    if (in->path.find('\0') != std::string::npos) {
        return ENOENT;
    }
    const resolved_path folder = resolve(in->root);
    const resolved_path path = resolve(std::string(in->root) + "/" + in->path);
    if (folder == nullptr || path == nullptr || !is_inside(folder.get(), path.get())) {
        return ENOENT;
    }
    // Without O_NONBLOCK the open of a pipe would wait for its other end.
    const int file = ::open(path.get(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return errno;
    }
    struct stat what;
    int error = ::fstat(file, &what) == 0 ? 0 : errno;
    if (error == 0) {
        error = S_ISREG(what.st_mode) ? read_all(file, out->content) : ENOENT;
    }
    ::close(file);
    return error;
}

} // namespace files
