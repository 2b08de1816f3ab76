// The cache of files. It has parts, each with a lock of its own, which is held for a look-up and never for a system
// call. Of two flows that ask for a file that is not known, both open it; of those that ask for one that was not looked
// at for a while, one looks, and the others take it as it is.
//
// What is opened is found by openat2(2) from the folder's descriptor, which leads nowhere out of it; where the kernel
// does not have that, component by component, and then no symbolic link is followed.

#include "files.flux.h"

#include "http_text.h"

#include "flux/cache/eviction.hpp"
#include "flux/calls/beside_loop.hpp"
#include "flux/connection.hpp"
#include "flux/log.hpp"
#include "flux/text_hash.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <linux/openat2.h>
#include <mutex>
#include <new>
#include <pwd.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace files {
namespace {

using flux::descriptor;

// Made by another thread where this one is an event loop's, as the disk may have to be waited for: an error, ENOMEM
// where there is no memory.
template <class Call>
int beside_loop(Call call)
{
    return flux::calls::beside_loop([&] {
        try {
            return call();
        } catch (const std::bad_alloc &) {
            return ENOMEM;
        }
    });
}

// Opening: errors are `errno`'s, the descriptor is -1 then.

// Component by component; no link is followed, and nothing goes up.
descriptor open_step_by_step(int folder, std::string_view path, int flags)
{
    descriptor here;
    int from = folder;
    while (true) {
        const std::size_t slash = path.find('/');
        const std::string name(path.substr(0, slash));
        const bool is_last = slash == std::string_view::npos;
        if (name == "..") {
            errno = ENOENT;
            return {};
        }
        if (is_last || (!name.empty() && name != ".")) {
            const int how = is_last ? flags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
            here = descriptor(::openat(from, name.empty() ? "." : name.c_str(), how));
            from = here.get();
        }
        if (is_last || from < 0) {
            return here;
        }
        path.remove_prefix(slash + 1);
    }
}

// What is at the path below the folder.
descriptor open_below(int folder, const std::string &path, int flags)
{
    static std::atomic<bool> step_by_step{false};
    if (!step_by_step.load(std::memory_order_relaxed)) {
        open_how how{};
        how.flags = static_cast<unsigned>(flags);
        how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
        // Again where something was renamed meanwhile; but somebody who renames for ever gets nothing.
        for (int left = 100; left > 0; --left) {
            const long made = ::syscall(SYS_openat2, folder, path.empty() ? "." : path.c_str(), &how, sizeof how);
            if (made >= 0 || (errno != EAGAIN && errno != EINTR)) {
                if (made >= 0 || (errno != ENOSYS && errno != EPERM)) {
                    return descriptor(static_cast<int>(made));
                }
                break;
            }
        }
        step_by_step.store(errno != EAGAIN && errno != EINTR, std::memory_order_relaxed);
    }
    return open_step_by_step(folder, path, flags);
}

descriptor open_folder(const char *path)
{
    return descriptor(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// A file to read. Without O_NONBLOCK the open of a pipe would wait for its other end. ENOENT for what is neither a file
// nor a folder, EISDIR for a folder.
descriptor open_file(int folder, const std::string &path, struct stat &what)
{
    descriptor made = open_below(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (made.get() < 0 || ::fstat(made.get(), &what) != 0) {
        // That a path leads out of the folder is nothing that a client is told.
        constexpr std::array as_missing = {EXDEV, ELOOP, ENOTDIR, ENAMETOOLONG, ENXIO};
        const bool is_missing = std::find(as_missing.begin(), as_missing.end(), errno) != as_missing.end();
        errno = is_missing ? ENOENT : errno;
        return {};
    }
    if (!S_ISREG(what.st_mode)) {
        errno = S_ISDIR(what.st_mode) ? EISDIR : ENOENT;
        return {};
    }
    return made;
}

// Appends what is in a file from its beginning, at most so much: 0 or the error.
int read_all(const descriptor &from, std::size_t most, std::string &content)
{
    std::array<char, 16 * 1024> buffer;
    while (content.size() < most) {
        const std::size_t room = std::min(buffer.size(), most - content.size());
        const ssize_t count = ::pread(from.get(), buffer.data(), room, static_cast<off_t>(content.size()));
        if (count == 0) {
            return 0;
        }
        if (count > 0) {
            content.append(buffer.data(), static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// Media types by the ends of names, of the table that Debian's `media-types` installs: TYPE END END …
class media_types
{
  public:
    static const std::string &of(const std::string &path)
    {
        static const media_types all;
        const std::size_t dot = path.find_last_of("./");
        std::string end = dot == std::string::npos || path[dot] == '/' ? std::string() : path.substr(dot + 1);
        std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return std::tolower(c); });
        const auto known = all.by_end_.find(end);
        return known == all.by_end_.end() ? all.unknown_ : known->second;
    }

  private:
    media_types()
    {
        std::ifstream table("/etc/mime.types");
        if (!table) {
            flux::log("there is no /etc/mime.types (package media-types), so files have no media types");
        }
        for (std::string line; std::getline(table, line);) {
            std::istringstream words(line.substr(0, line.find('#')));
            std::string type;
            words >> type;
            for (std::string end; words >> end;) {
                by_end_.emplace(end, type);
            }
        }
    }

    std::unordered_map<std::string, std::string> by_end_;
    std::string unknown_ = "application/octet-stream";
};

bool is_same(const opened &known, const struct stat &now)
{
    return known.device == now.st_dev && known.number == now.st_ino &&
           known.size == static_cast<std::size_t>(now.st_size) && known.modified.tv_sec == now.st_mtim.tv_sec &&
           known.modified.tv_nsec == now.st_mtim.tv_nsec;
}

std::string tag_of(const struct stat &of)
{
    std::array<char, 64> text;
    const int size = std::snprintf(text.data(), text.size(), "\"%llx-%lx-%llx\"",
                                   static_cast<unsigned long long>(of.st_mtim.tv_sec),
                                   static_cast<unsigned long>(of.st_mtim.tv_nsec),
                                   static_cast<unsigned long long>(of.st_size));
    return {text.data(), static_cast<std::size_t>(size)};
}

/// A folder at one time: where its path led to.
struct folder {
    descriptor at;
    std::uint64_t device;
    std::uint64_t number;
};

using folder_now = std::shared_ptr<const folder>;

using opened_file = std::shared_ptr<const opened>;

// The file as it is now, which is `known` where it has not changed: 0 or the error.
int open_again(const folder_now &below, const std::string &path, std::size_t small, const opened_file &known,
               opened_file &now)
{
    struct stat what;
    descriptor file = open_file(below->at.get(), path, what);
    if (file.get() < 0) {
        return errno;
    }
    if (known != nullptr && is_same(*known, what)) {
        now = known;
        return 0;
    }
    auto made = std::make_shared<opened>();
    made->size = static_cast<std::size_t>(what.st_size);
    made->modified = what.st_mtim;
    made->device = what.st_dev;
    made->number = what.st_ino;
    made->tag = tag_of(what);
    made->type = media_types::of(path);
    if (made->size <= small) {
        made->content.reserve(made->size);
        if (const int error = read_all(file, made->size, made->content); error != 0) {
            return error;
        }
        made->size = made->content.size(); // it may have become shorter
    } else {
        made->descriptor = std::move(file);
    }
    made->fields = fields_of(*made);
    made->below = below;
    made->path = path;
    now = std::move(made);
    return 0;
}

// What a page names: the values of its attributes `src` and `href` that are paths, as paths below the folder.
std::vector<std::string> named_in(std::string_view page, std::string_view path)
{
    constexpr std::size_t most = 64;
    const std::string folder(path.substr(0, path.find_last_of('/') + 1)); // empty where there is no slash
    std::vector<std::string> named;
    for (std::size_t at = 0; named.size() < most; ++at) {
        at = page.find("=\"", at);
        if (at == std::string_view::npos) {
            break;
        }
        const std::string_view before = page.substr(0, at);
        const std::string_view rest = page.substr(at + 2);
        const std::string_view value = rest.substr(0, rest.find_first_of("\"?#"));
        const bool is_path = !value.empty() && value.find(':') == std::string_view::npos && !value.starts_with("//");
        if (is_path && (before.ends_with("src") || before.ends_with("href"))) {
            named.push_back(value.starts_with('/') ? std::string(value.substr(1)) : folder + std::string(value));
        }
    }
    return named;
}

// The cache.

struct cached_file : flux::evictable {
    cached_file(std::size_t bytes, folder_now in, std::string at)
        : flux::evictable(bytes), below(std::move(in)), path(std::move(at))
    {
    }

    const folder_now below;
    const std::string path;
    opened_file file;
    flux::moment looked_at{};
    std::shared_ptr<const std::vector<std::string>> names;
};

/// A file as it is asked for.
struct key {
    key(const folder *in, std::string_view at) noexcept
        : hash(flux::secret_text_hash()(at) ^ std::hash<const void *>()(in)), below(in), path(at)
    {
    }

    // First, as it is compared first.
    std::size_t hash;
    const folder *below;
    std::string_view path;
    bool operator==(const key &) const = default;
};

struct hash_of_key {
    std::size_t operator()(const key &of) const noexcept { return of.hash; }
};

/// A part of the cache.
struct part {
    std::mutex lock;
    std::unordered_map<key, std::unique_ptr<cached_file>, hash_of_key> entries;
    // Those in memory, which cost bytes, and those that are open, which cost one each.
    std::unique_ptr<flux::eviction> in_memory;
    std::unique_ptr<flux::eviction> open;

    flux::eviction &of(const cached_file &one) { return one.file->descriptor.get() < 0 ? *in_memory : *open; }

    cached_file *find(const key &of)
    {
        const auto known = entries.find(of);
        return known == entries.end() ? nullptr : known->second.get();
    }

    void remove(cached_file &gone)
    {
        of(gone).remove(gone);
        entries.erase(key{gone.below.get(), gone.path});
    }
};

/// What the options say.
struct settings {
    std::size_t memory;
    std::size_t small;
    std::size_t descriptors;
    std::chrono::milliseconds fresh;
    std::string evict;
    std::vector<std::string> hints;
    std::vector<std::string> index;
    std::string users;
};

std::vector<std::string> words_of(const char *text)
{
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) {
        all.push_back(word.starts_with('/') ? word.substr(1) : word);
    }
    return all;
}

class cache
{
  public:
    explicit cache(settings of) : settings_(std::move(of)), is_structured_(settings_.evict == "structured")
    {
        const bool is_known = flux::eviction::of(settings_.evict) != nullptr;
        if (!is_known && !is_structured_) {
            flux::log("--files-evict can be lru, lfu, gdsf, hinted or structured, but not %s: it is lru now",
                      settings_.evict.c_str());
        }
        for (part &each : parts_) {
            each.in_memory = flux::eviction::of(is_known ? settings_.evict : "lru");
            each.open = flux::eviction::of(is_known ? settings_.evict : "lru");
        }
    }

    /// The file of this path, or the first of a folder's: 0 or the error.
    int find(const char *root, std::string path, file &found)
    {
        // A path of the system ends at the first zero: what comes after it would go unseen.
        if (path.find('\0') != std::string::npos) {
            return ENOENT;
        }
        path.erase(0, path.find_first_not_of('/'));
        std::string home;
        if (path.starts_with('~') && !settings_.users.empty()) {
            if (const int error = leave_for_home(path, home); error != 0) {
                return error;
            }
            root = home.c_str();
        }
        folder_now below;
        if (const int error = folder_at(root, below); error != 0) {
            return error;
        }
        if (!path.empty() && !path.ends_with('/')) {
            return find_below(below, path, found);
        }
        int error = ENOENT;
        for (const std::string &name : settings_.index) {
            error = find_below(below, path + name, found);
            if (error != ENOENT && error != EISDIR) {
                return error;
            }
        }
        return ENOENT;
    }

    /// As `find`, of a path below a folder of this cache.
    int find_below(const folder_now &below, const std::string &path, file &found)
    {
        const key asked{below.get(), path};
        part &of = part_of(asked);
        opened_file known;
        {
            const std::lock_guard<std::mutex> alone(of.lock);
            if (cached_file *const one = of.find(asked)) {
                known = one->file;
                of.of(*one).use(*one);
                if (is_fresh(one->looked_at)) {
                    found = file(known);
                    return 0;
                }
                one->looked_at = flux::running_io().last_look();
            }
        }
        opened_file now;
        const int error = beside_loop([&] { return open_again(below, path, settings_.small, known, now); });
        std::shared_ptr<const std::vector<std::string>> names;
        if (error == 0 && now == known) {
            names = use_names(of, asked);
        } else {
            names = replace(of, asked, below, now);
        }
        if (names != nullptr) {
            use_all(below, *names);
        }
        found = file(std::move(now));
        return error;
    }

  private:
    /// A folder by its name, and when that was looked at.
    struct root {
        folder_now now;
        flux::moment looked_at;
    };

    part &part_of(const key &of) { return parts_[of.hash % parts_.size()]; }

    bool is_fresh(flux::moment looked_at) const
    {
        return flux::running_io().last_look() < looked_at + settings_.fresh;
    }

    // `~name/rest`: the path becomes the rest, which is below the home.
    int leave_for_home(std::string &path, std::string &home)
    {
        const std::size_t slash = path.find('/');
        if (slash == std::string::npos) {
            return EISDIR;
        }
        const std::string name = path.substr(1, slash - 1);
        path.erase(0, path.find_first_not_of('/', slash));
        return find_home(name, home);
    }

    // The folder of a user with the files: 0, ENOENT where there is no such user, or the error of the look-up.
    int find_home(const std::string &name, std::string &home)
    {
        {
            const std::lock_guard<std::mutex> alone(homes_lock_);
            if (const auto known = homes_.find(name); known != homes_.end() && is_fresh(known->second.looked_at)) {
                home = known->second.folder;
                return home.empty() ? ENOENT : 0;
            }
        }
        std::vector<char> room(16 * 1024);
        passwd user;
        passwd *known = nullptr;
        const int failed =
            beside_loop([&] { return ::getpwnam_r(name.c_str(), &user, room.data(), room.size(), &known); });
        const int error = failed == 0 && known == nullptr ? ENOENT : failed;
        home = error == 0 ? std::string(known->pw_dir) + "/" + settings_.users : "";
        if (error == 0 || error == ENOENT) {
            const std::lock_guard<std::mutex> alone(homes_lock_);
            if (homes_.size() >= most_roots) {
                homes_.clear(); // clients ask for names that nobody has
            }
            homes_[name] = {home, flux::running_io().last_look()};
        }
        return error;
    }

    // Where the root leads to now. That of the last look of a thread, which usually is the only one, takes no lock.
    int folder_at(const char *path, folder_now &found)
    {
        static thread_local std::string last_path;
        static thread_local root last;
        if (last.now != nullptr && is_fresh(last.looked_at) && last_path == path) {
            found = last.now;
            return 0;
        }
        root now;
        const int error = look_for_folder(path, now);
        found = error == 0 ? now.now : nullptr;
        last_path = path;
        last = {found, now.looked_at};
        return error;
    }

    int look_for_folder(const char *path, root &found)
    {
        {
            const std::lock_guard<std::mutex> alone(roots_lock_);
            if (const auto known = roots_.find(path); known != roots_.end()) {
                found = known->second;
                if (is_fresh(found.looked_at)) {
                    return 0;
                }
                known->second.looked_at = flux::running_io().last_look();
            }
        }
        const int error = beside_loop([&] {
            descriptor at = open_folder(path);
            struct stat what;
            if (at.get() < 0 || ::fstat(at.get(), &what) != 0) {
                return errno == ENOTDIR ? ENOENT : errno;
            }
            if (found.now == nullptr || found.now->device != what.st_dev || found.now->number != what.st_ino) {
                found.now = std::make_shared<const folder>(folder{std::move(at), what.st_dev, what.st_ino});
            }
            return 0;
        });
        found.looked_at = flux::running_io().last_look();
        const std::lock_guard<std::mutex> alone(roots_lock_);
        if (error != 0 || roots_.size() > most_roots) {
            roots_.erase(path);
        } else {
            roots_[path] = found;
        }
        return error;
    }

    // The file is this now, or none any more. Gives what it names.
    std::shared_ptr<const std::vector<std::string>> replace(part &of, const key &asked, const folder_now &below,
                                                            const opened_file &now)
    {
        std::unique_ptr<cached_file> made;
        if (now != nullptr) {
            const bool is_in_memory = now->descriptor.get() < 0;
            made = std::make_unique<cached_file>(is_in_memory ? cost_of(*now, asked.path) : 1, below,
                                           std::string(asked.path));
            made->file = now;
            made->looked_at = flux::running_io().last_look();
            if (is_structured_ && is_in_memory && now->type == "text/html") {
                made->names = std::make_shared<const std::vector<std::string>>(named_in(now->content, asked.path));
            }
            if (is_hinted(asked.path)) {
                made->hint();
            }
        }
        const std::lock_guard<std::mutex> alone(of.lock);
        if (cached_file *const known = of.find(asked)) {
            of.remove(*known);
        }
        if (made == nullptr || !make_room(of, *made)) {
            return nullptr;
        }
        cached_file &in = *made;
        of.entries.emplace(key{in.below.get(), in.path}, std::move(made));
        of.of(in).add(in);
        return in.names;
    }

    // Whether there is room for it, after others have left.
    bool make_room(part &of, const cached_file &coming) const
    {
        const bool is_in_memory = coming.file->descriptor.get() < 0;
        const std::size_t room = (is_in_memory ? settings_.memory : settings_.descriptors) / parts_.size();
        flux::eviction &its = of.of(coming);
        // One descriptor at least in each part, however few there are to be.
        const std::size_t most = is_in_memory ? room : std::max<std::size_t>(room, 1);
        if (coming.cost() > most) {
            return false;
        }
        while (its.cost() > most - coming.cost()) {
            of.remove(static_cast<cached_file &>(*its.first_out()));
        }
        return true;
    }

    static std::size_t cost_of(const opened &what, std::string_view path)
    {
        return what.content.size() + what.fields.size() + path.size() + sizeof(cached_file) + sizeof(opened);
    }

    bool is_hinted(std::string_view path) const
    {
        return std::any_of(settings_.hints.begin(), settings_.hints.end(), [&](const std::string &hint) {
            return hint.ends_with('/') ? path.starts_with(hint) : path == hint;
        });
    }

    static std::shared_ptr<const std::vector<std::string>> use_names(part &of, const key &asked)
    {
        const std::lock_guard<std::mutex> alone(of.lock);
        const cached_file *const known = of.find(asked);
        return known == nullptr ? nullptr : known->names;
    }

    // A page was looked at: what it names is used, too.
    void use_all(const folder_now &below, const std::vector<std::string> &names)
    {
        for (const std::string &name : names) {
            const key named{below.get(), name};
            part &of = part_of(named);
            const std::lock_guard<std::mutex> alone(of.lock);
            if (cached_file *const known = of.find(named)) {
                of.of(*known).use(*known);
            }
        }
    }

    // The folder of a user with the files, empty where there is no such user, and when that was looked at.
    struct user_home {
        std::string folder;
        flux::moment looked_at;
    };

    // Of which there are as many as users have files, and the program has roots.
    static constexpr std::size_t most_roots = 10'000;

    const settings settings_;
    const bool is_structured_;
    std::array<part, 16> parts_;
    std::mutex roots_lock_;
    std::unordered_map<std::string, root, flux::secret_text_hash, std::equal_to<>> roots_;
    std::mutex homes_lock_;
    std::unordered_map<std::string, user_home, flux::secret_text_hash, std::equal_to<>> homes_;
};

std::atomic<cache *> the_cache{nullptr};

} // namespace

std::string fields_of(const opened &of)
{
    const bool is_plain = of.coding.empty();
    return "ETag: " + of.tag + "\r\nLast-Modified: " + http_text::last_modified_of(of.modified.tv_sec) +
           "\r\nContent-Type: " + http_text::content_type_of(of.type) +
           (is_plain ? "\r\nAccept-Ranges: bytes" : "\r\nContent-Encoding: " + of.coding) +
           "\r\nContent-Length: " + std::to_string(of.size) + "\r\n";
}

int find_beside(const file &one, std::string_view end, file &found)
{
    cache *const all = the_cache.load(std::memory_order_acquire);
    if (all == nullptr || one.facts()->below == nullptr) {
        return ENOENT;
    }
    const auto below = std::static_pointer_cast<const folder>(one.facts()->below);
    return all->find_below(below, one.facts()->path + std::string(end), found);
}

int Look(Look_in *in, Look_out *out)
{
    // It ends with the process, as flows may.
    static cache &all = *new cache({in->memory, in->small, in->descriptors, std::chrono::milliseconds(in->fresh_ms),
                                    in->evict, words_of(in->hints), words_of(in->index), in->users});
    the_cache.store(&all, std::memory_order_release);
    return all.find(in->root, std::move(in->path), out->file);
}

int Send(Send_in *in, Send_out *out)
{
    out->connection = in->connection;
    flux::io_result<void> sent = flux::unexpected(EBADF);
    if (in->file.is_in_memory()) {
        const std::string_view content = in->file.content();
        iovec both[] = {{in->before.data(), in->before.size()}, {const_cast<char *>(content.data()), content.size()}};
        sent = in->connection->send(both);
    } else {
        sent = in->connection->send_file(in->before, in->file.part(0, in->file.size()));
    }
    return sent.has_value() ? 0 : sent.error();
}

int List(List_in *in, List_out *out)
{
    if (in->path.find('\0') != std::string::npos) {
        return ENOENT;
    }
    const descriptor root = open_folder(in->root);
    const std::size_t begin = std::min(in->path.find_first_not_of('/'), in->path.size());
    descriptor below;
    if (root.get() >= 0) {
        below = open_below(root.get(), in->path.substr(begin), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    const std::unique_ptr<DIR, int (*)(DIR *)> all(below.get() < 0 ? nullptr : ::fdopendir(::dup(below.get())),
                                                   ::closedir);
    if (all == nullptr) {
        const bool is_missing = errno == ENOTDIR || errno == EXDEV || errno == ELOOP || errno == ENAMETOOLONG;
        return is_missing ? ENOENT : errno;
    }
    while (const dirent *const each = ::readdir(all.get())) {
        struct stat what;
        const bool is_shown = each->d_name[0] != '.';
        if (is_shown && ::fstatat(below.get(), each->d_name, &what, AT_SYMLINK_NOFOLLOW) == 0) {
            out->entries.push_back({each->d_name, S_ISDIR(what.st_mode), static_cast<std::uint64_t>(what.st_size),
                                    static_cast<std::int64_t>(what.st_mtim.tv_sec)});
        }
    }
    std::sort(out->entries.begin(), out->entries.end());
    return 0;
}

int Load(Load_in *in, Load_out *out)
{
    out->connection = in->connection;
    if (in->path.find('\0') != std::string::npos) {
        return ENOENT;
    }
    const descriptor folder = open_folder(in->root);
    if (folder.get() < 0) {
        return ENOENT;
    }
    struct stat what;
    const std::size_t begin = std::min(in->path.find_first_not_of('/'), in->path.size());
    const descriptor file = open_file(folder.get(), in->path.substr(begin), what);
    if (file.get() < 0) {
        return errno == EISDIR ? ENOENT : errno;
    }
    return read_all(file, static_cast<std::size_t>(-1), out->content);
}

} // namespace files
