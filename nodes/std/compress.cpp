// Which coding a client gets, and where it comes from: a file beside, memory, or an encoder that goes on while it is
// sent. The sections named here are those of RFC 9110.

#include "compress.flux.h"

#include "compress_coding.h"
#include "http_text.h"

#include "flux/calls/beside_loop.hpp"
#include "flux/connection.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <optional>
#include <unistd.h>
#include <utility>
#include <vector>

namespace compress {
namespace {

using files::file;
using std::string_view;

// Where nobody waits that long: what takes a thread longer to take over than to compress.
constexpr std::size_t most_in_place = 4 * 1024;

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

/// What the options say.
struct settings {
    std::vector<coding> order;
    std::size_t least;
    std::vector<std::string> types;
    std::array<int, all_codings.size()> levels;
    std::chrono::milliseconds fresh;

    int level_of(coding of) const { return levels[static_cast<std::size_t>(of)]; }

    bool is_compressed(string_view type, std::size_t size) const
    {
        return size >= least && std::any_of(types.begin(), types.end(), [&](const std::string &each) {
                   return each.ends_with('/') ? type.starts_with(each) : type == each;
               });
    }
};

settings read_settings(const char *codings, std::size_t least, const char *types, std::array<int, 3> levels,
                       long fresh_ms)
{
    settings made{{}, std::max<std::size_t>(least, 1), http_text::words_of(types), levels,
                  std::chrono::milliseconds(fresh_ms)};
    for (const std::string &word : http_text::words_of(codings)) {
        const auto known = std::find_if(all_codings.begin(), all_codings.end(),
                                        [&](coding each) { return names_of(each).token == word; });
        if (known != all_codings.end()) {
            made.order.push_back(*known);
        } else {
            flux::log("--compress-codings can be br, zstd and gzip, but not %s: it is left out", word.c_str());
        }
    }
    return made;
}

const settings &settings_of(const char *codings, std::size_t least, const char *types, std::array<int, 3> levels,
                            long fresh_ms)
{
    static const settings all = read_settings(codings, least, types, levels, fresh_ms);
    return all;
}

/// The codings that the client accepts, the one that it likes best first: "12.5.3".
std::vector<coding> accepted_by(const http::request &one, const settings &by)
{
    const std::string all = one.list("accept-encoding");
    std::vector<std::pair<int, coding>> liked;
    if (all.empty()) {
        return {};
    }
    // That a client says nothing of identity, or only what it says of all, does not make it as good as what it names.
    const int plain = http_text::liking_of(all, "identity").value_or(0);
    const bool names_plain = http_text::liking_of(all, "identity") != http_text::liking_of(all, "");
    for (const coding each : by.order) {
        const int liking = http_text::liking_of(all, names_of(each).token).value_or(0);
        if (liking > 0 && (!names_plain || liking >= plain)) {
            liked.emplace_back(liking, each);
        }
    }
    std::stable_sort(liked.begin(), liked.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    std::vector<coding> order;
    std::transform(liked.begin(), liked.end(), std::back_inserter(order), [](const auto &each) { return each.second; });
    return order;
}

/// `"a"` becomes `"a-gzip"`.
std::string tag_of(const std::string &plain, coding in)
{
    return plain.substr(0, plain.size() - 1) + "-" + std::string(names_of(in).token) + "\"";
}

/// The facts of a file in this coding, but its bytes.
std::shared_ptr<files::opened> coded_of(const file &plain, coding in)
{
    auto made = std::make_shared<files::opened>();
    made->modified = plain.modified();
    made->type = plain.type();
    made->coding = names_of(in).token;
    made->tag = tag_of(plain.tag(), in);
    return made;
}

/// What a file is in a coding, as far as somebody has asked.
struct form {
    std::optional<file> made;
    /// It is not smaller.
    bool is_useless = false;
    std::optional<file> beside;
    /// What `beside` was made of.
    std::shared_ptr<const files::opened> source;
    flux::moment looked_at{};
    bool is_looked_at = false;
};

/// Those of all codings, which are kept with the file.
struct forms {
    std::mutex lock;
    std::array<form, all_codings.size()> each;

    form &of(coding one) { return each[static_cast<std::size_t>(one)]; }
};

bool is_older(const file &one, const file &than)
{
    const std::timespec &a = one.modified();
    const std::timespec &b = than.modified();
    return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// The file beside, as it is sent.
std::optional<file> as_sent(const file &plain, const file &beside, coding in)
{
    const std::shared_ptr<files::opened> made = coded_of(plain, in);
    made->tag = tag_of(beside.tag(), in);
    made->size = beside.size();
    if (beside.is_in_memory()) {
        made->content = beside.content();
    } else {
        made->descriptor = flux::descriptor(::fcntl(beside.facts()->descriptor.get(), F_DUPFD_CLOEXEC, 0));
        if (made->descriptor.get() < 0) {
            return std::nullopt;
        }
    }
    made->fields = fields_of(*made);
    return file(made, true);
}

/// The precompressed file, if there is one; the disk is looked at once in a while.
std::optional<file> find_precompressed(const file &plain, coding in, std::chrono::milliseconds fresh)
{
    forms &all = plain.kept<forms>();
    const flux::moment now = flux::running_io().last_look();
    std::shared_ptr<const files::opened> source;
    {
        const std::lock_guard<std::mutex> alone(all.lock);
        form &known = all.of(in);
        if (known.is_looked_at && now < known.looked_at + fresh) {
            return known.beside;
        }
        known.is_looked_at = true;
        known.looked_at = now;
        source = known.source;
    }
    file beside;
    const bool is_there = find_beside(plain, names_of(in).end, beside) == 0 && !is_older(beside, plain);
    std::optional<file> made;
    const bool is_known = is_there && source == beside.facts();
    if (is_there && !is_known) {
        made = as_sent(plain, beside, in);
    }
    const std::lock_guard<std::mutex> alone(all.lock);
    form &known = all.of(in);
    if (!is_known) {
        known.beside = made;
        known.source = is_there ? beside.facts() : nullptr;
    }
    return known.beside;
}

/// A file in memory, compressed; nothing where that is not smaller.
std::optional<file> compressed(const file &plain, coding in, int level)
{
    forms &all = plain.kept<forms>();
    {
        const std::lock_guard<std::mutex> alone(all.lock);
        const form &known = all.of(in);
        if (known.made || known.is_useless) {
            return known.made;
        }
    }
    const std::shared_ptr<files::opened> made = coded_of(plain, in);
    made->tag = "W/" + made->tag;
    const auto call = [&] { return encode(in, level, plain.content(), made->content); };
    const int error = plain.size() <= most_in_place ? call() : beside_loop(call);
    if (error != 0) {
        return std::nullopt;
    }
    made->content.shrink_to_fit();
    made->size = made->content.size();
    made->fields = fields_of(*made);
    const std::lock_guard<std::mutex> alone(all.lock);
    form &known = all.of(in);
    known.is_useless = made->size >= plain.size();
    if (!known.is_useless) {
        known.made = file(made, true);
    }
    return known.made;
}

/// A file that is compressed while it is pulled.
class compressed_body final : public flux::body
{
  public:
    compressed_body(file plain, std::unique_ptr<encoder> by) : plain_(std::move(plain)), by_(std::move(by)) {}

    flux::io_result<std::size_t> pull(std::span<std::byte> into, flux::moment) noexcept override
    {
        while (taken_ == coded_.size() && !is_whole_) {
            if (const int error = beside_loop([&] { return go_on(); }); error != 0) {
                return flux::unexpected(error);
            }
        }
        const std::size_t count = std::min(into.size(), coded_.size() - taken_);
        std::memcpy(into.data(), coded_.data() + taken_, count);
        taken_ += count;
        return count;
    }

    void abandon() noexcept override { is_whole_ = true; }

  private:
    int go_on()
    {
        piece_.resize(piece_size);
        const flux::file_part part = plain_.part(at_, piece_size);
        const ssize_t count = part.size == 0 ? 0 : ::pread(part.descriptor, piece_.data(), part.size, part.offset);
        if (count < 0) {
            return errno == EINTR ? 0 : errno;
        }
        at_ += static_cast<std::size_t>(count);
        // One that has become shorter meanwhile ends here.
        is_whole_ = count == 0 || at_ == plain_.size();
        coded_.clear();
        taken_ = 0;
        return by_->add(string_view(piece_).substr(0, static_cast<std::size_t>(count)), is_whole_, coded_);
    }

    static constexpr std::size_t piece_size = 64 * 1024;

    const file plain_;
    const std::unique_ptr<encoder> by_;
    std::string piece_;
    std::string coded_;
    std::size_t taken_ = 0;
    std::size_t at_ = 0;
    bool is_whole_ = false;
};

/// A large file, compressed whenever it is sent.
std::optional<file> compressed_anew(const file &plain, coding in, int level)
{
    const std::shared_ptr<files::opened> made = coded_of(plain, in);
    made->tag = "W/" + made->tag;
    made->made = [plain, in, level]() -> std::unique_ptr<flux::body> {
        std::unique_ptr<encoder> by = encoder::of(in, level);
        return by == nullptr ? throw std::bad_alloc() : std::make_unique<compressed_body>(plain, std::move(by));
    };
    return file(made, true);
}

std::optional<file> best_of(const file &plain, const std::vector<coding> &accepted, const settings &by)
{
    for (const coding each : accepted) {
        if (std::optional<file> there = find_precompressed(plain, each, by.fresh)) {
            return there;
        }
    }
    if (accepted.empty()) {
        return std::nullopt;
    }
    const coding first = accepted.front();
    return plain.is_in_memory() ? compressed(plain, first, by.level_of(first))
                                : compressed_anew(plain, first, by.level_of(first));
}

bool may_transform(const std::vector<http::field> &fields)
{
    const auto forbids = [](string_view one) { return http_text::is_same(one, "no-transform"); };
    return std::none_of(fields.begin(), fields.end(), [&](const http::field &each) {
        return http_text::is_same(each.name, "content-encoding") ||
               (http_text::is_same(each.name, "cache-control") && http_text::any_element(each.value, forbids));
    });
}

string_view type_in(const std::vector<http::field> &fields)
{
    for (const http::field &each : fields) {
        if (http_text::is_same(each.name, "content-type")) {
            const string_view all = each.value;
            return http_text::trim(all.substr(0, all.find(';')));
        }
    }
    return {};
}

int encode_beside(coding in, int level, const std::string &content, std::string &coded)
{
    const auto call = [&] { return encode(in, level, content, coded); };
    return content.size() <= most_in_place ? call() : beside_loop(call);
}

} // namespace

int Choose(const char *codings, std::size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
           const http::request &request, const file &plain, file &chosen)
{
    const settings &by = settings_of(codings, least, types, {gzip, brotli, zstd}, fresh_ms);
    chosen = plain;
    if (!by.is_compressed(plain.type(), plain.size()) || !plain.coding().empty()) {
        return 0;
    }
    chosen = file(plain.facts(), true);
    if (!is_get(request) || !request.field("range").empty()) {
        return 0;
    }
    if (const std::optional<file> best = best_of(plain, accepted_by(request, by), by)) {
        chosen = *best;
    }
    return 0;
}

int Code(const char *codings, std::size_t least, const char *types, int gzip, int brotli, int zstd, long fresh_ms,
         const http::request &request, const http::response &response, http::response &coded)
{
    const settings &by = settings_of(codings, least, types, {gzip, brotli, zstd}, fresh_ms);
    coded = response;
    if (!by.is_compressed(type_in(response.fields), response.content.size()) || !may_transform(response.fields)) {
        return 0;
    }
    coded.fields.push_back({"Vary", "Accept-Encoding"});
    const std::vector<coding> accepted = accepted_by(request, by);
    std::string content;
    if (accepted.empty() ||
        encode_beside(accepted.front(), by.level_of(accepted.front()), response.content, content) != 0 ||
        content.size() >= response.content.size()) {
        return 0;
    }
    coded.content = std::move(content);
    coded.fields.push_back({"Content-Encoding", std::string(names_of(accepted.front()).token)});
    for (http::field &each : coded.fields) {
        if (http_text::is_same(each.name, "etag") && !each.value.starts_with("W/")) {
            each.value.insert(0, "W/");
        }
    }
    return 0;
}

int Gzip(int level, const std::string &content, std::string &coded)
{
    return encode_beside(coding::gzip, level, content, coded);
}

int Brotli(int level, const std::string &content, std::string &coded)
{
    return encode_beside(coding::brotli, level, content, coded);
}

int Zstd(int level, const std::string &content, std::string &coded)
{
    return encode_beside(coding::zstd, level, content, coded);
}

} // namespace compress
