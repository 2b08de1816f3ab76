// TLS for sources: the certificates, how they are read again, and the nodes. What is sent and received is in
// tls_stream.cpp.

#include "tls.flux.h"

#include "tcp.h"
#include "tls.h"
#include "tls_stream.h"

#include "flux/cannot_serve.hpp"
#include "flux/io.hpp"
#include "flux/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tls {
namespace {

using std::string_view;
using std::chrono::milliseconds;

using tls_stream::freed_by;
using context = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;

// The certificates.

/// What is wrong with a file, in OpenSSL's words.
std::string last_reason()
{
    const bool is_system = ERR_SYSTEM_ERROR(ERR_peek_error());
    const unsigned long error = is_system ? ERR_peek_error() : ERR_peek_last_error();
    const char *const text = is_system ? std::strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
    std::string reason = text == nullptr ? "no reason is known" : text;
    ERR_clear_error();
    return reason;
}

std::vector<std::string> parts_of(string_view list, char between)
{
    std::vector<std::string> parts;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(between), list.size());
        if (end != 0) {
            parts.emplace_back(list.substr(0, end));
        }
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return parts;
}

/// What a server is by its certificates, each with all that a connection needs. It does not change.
class identities
{
  public:
    static constexpr std::size_t ticket_key_size = 80;
    using ticket_keys = std::array<unsigned char, ticket_key_size>;

    /// Null, and what is wrong and how to mend it, where the files are not such.
    static std::shared_ptr<const identities> read(const settings &as, const ticket_keys &own, std::string &problem);

    SSL_CTX *first() const noexcept { return all_.front().get(); }

  private:
    identities() = default;

    bool add(const std::string &certificate, const std::string &key, ticket_keys keys, std::string &problem);
    static int choose(SSL *of, int *, void *self);
    static int agree(SSL *of, const unsigned char **chosen, unsigned char *size, const unsigned char *offered,
                     unsigned offered_size, void *self);

    std::vector<context> all_;
    // The protocols as ALPN writes them.
    std::string protocols_;
};

bool read_ticket_keys(const std::string &file, identities::ticket_keys &into, std::string &problem)
{
    std::FILE *const opened = std::fopen(file.c_str(), "rb");
    std::array<unsigned char, identities::ticket_key_size + 1> content;
    const std::size_t size = opened == nullptr ? 0 : std::fread(content.data(), 1, content.size(), opened);
    if (opened == nullptr) {
        problem = "the key of tickets " + file + " cannot be read: " + std::strerror(errno);
        return false;
    }
    std::fclose(opened);
    if (size != into.size()) {
        problem = "the key of tickets " + file + " is to have 80 bytes: `openssl rand -out " + file + " 80` makes one";
        return false;
    }
    std::copy_n(content.begin(), into.size(), into.begin());
    return true;
}

std::shared_ptr<const identities> identities::read(const settings &as, const ticket_keys &own, std::string &problem)
{
    const std::vector<std::string> certificates = parts_of(as.certificate, ',');
    const std::vector<std::string> keys = parts_of(as.key.empty() ? as.certificate : as.key, ',');
    if (certificates.size() != keys.size()) {
        problem = "there are " + std::to_string(certificates.size()) + " certificates and " +
                  std::to_string(keys.size()) + " keys: --tls-key is to name one for each, in the same order";
        return nullptr;
    }
    ticket_keys of_tickets = own;
    if (!as.ticket_key.empty() && !read_ticket_keys(as.ticket_key, of_tickets, problem)) {
        return nullptr;
    }
    const std::shared_ptr<identities> made(new identities);
    for (const std::string &each : as.protocols) {
        made->protocols_ += static_cast<char>(each.size());
        made->protocols_ += each;
    }
    for (std::size_t each = 0; each < certificates.size(); ++each) {
        if (!made->add(certificates[each], keys[each], of_tickets, problem)) {
            return nullptr;
        }
    }
    return made;
}

bool identities::add(const std::string &certificate, const std::string &key, ticket_keys keys, std::string &problem)
{
    context made(SSL_CTX_new(TLS_server_method()));
    SSL_CTX *const one = made.get();
    if (one == nullptr) {
        throw std::bad_alloc();
    }
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(one, certificate.c_str()) != 1) {
        problem = "the certificate " + certificate + " cannot be read: " + last_reason();
        return false;
    }
    // One that is encrypted is no key: nobody is there to ask for its password.
    SSL_CTX_set_default_passwd_cb(one, [](char *, int, int, void *) { return -1; });
    const X509 *const leaf = SSL_CTX_get0_certificate(one);
    const bool is_key = SSL_CTX_use_PrivateKey_file(one, key.c_str(), SSL_FILETYPE_PEM) == 1;
    // A key of another kind is no error yet: it waits for a certificate of its own.
    const bool is_other = is_key ? SSL_CTX_get0_certificate(one) != leaf
                                 : ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
    if (!is_key || is_other) {
        const bool is_gone = ERR_SYSTEM_ERROR(ERR_peek_error());
        const char *const help =
            is_gone ? "" : ": it is to be in PEM, without a password (`openssl pkey -in OLD -out NEW`)";
        const std::string reason = last_reason();
        problem = is_other ? "the key in " + key + " is not that of the certificate " + certificate +
                                 ": name the keys in the order of the certificates"
                           : "the key in " + key + " cannot be read: " + reason + help;
        return false;
    }
    if (X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0) {
        flux::log_line("TLS: the certificate %s has expired: clients refuse it", certificate.c_str());
    }
    SSL_CTX_set_min_proto_version(one, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(one, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(one, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(one, SSL_MODE_RELEASE_BUFFERS);
    constexpr unsigned char name[] = "flux";
    SSL_CTX_set_session_id_context(one, name, sizeof name - 1);
    SSL_CTX_set_tlsext_ticket_keys(one, keys.data(), static_cast<long>(keys.size()));
    SSL_CTX_set_tlsext_servername_callback(one, choose);
    SSL_CTX_set_tlsext_servername_arg(one, this);
    if (!protocols_.empty()) {
        SSL_CTX_set_alpn_select_cb(one, agree, this);
    }
    all_.push_back(std::move(made));
    return true;
}

// Server Name Indication (RFC 6066, 3).
int identities::choose(SSL *of, int *, void *self)
{
    const char *const host = SSL_get_servername(of, TLSEXT_NAMETYPE_host_name);
    for (const context &each : static_cast<const identities *>(self)->all_) {
        if (host != nullptr && X509_check_host(SSL_CTX_get0_certificate(each.get()), host, 0, 0, nullptr) == 1) {
            SSL_set_SSL_CTX(of, each.get());
            break;
        }
    }
    return SSL_TLSEXT_ERR_OK;
}

// RFC 7301, 3.2.
int identities::agree(SSL *, const unsigned char **chosen, unsigned char *size, const unsigned char *offered,
                      unsigned offered_size, void *self)
{
    const std::string &own = static_cast<const identities *>(self)->protocols_;
    unsigned char *found = nullptr;
    const int result = SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char *>(own.data()),
                                             static_cast<unsigned>(own.size()), offered, offered_size);
    *chosen = found;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// TLS with the newest certificates that could be read.
class secure_layer final : public flux::stream_layer
{
  public:
    /// Ends the process where they cannot.
    explicit secure_layer(const settings &as);

    std::unique_ptr<flux::stream> lay_over(std::unique_ptr<flux::stream> wire) noexcept override
    {
        try {
            std::shared_ptr<const identities> newest;
            {
                const std::lock_guard alone(lock_);
                newest = newest_;
            }
            SSL_CTX *const first = newest->first();
            return std::make_unique<tls_stream::secure_stream>(
                std::move(wire), tls_stream::identity{std::move(newest), first, as_.to_plain_http});
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
    }

    /// Reads the files again, if they have changed or it is asked for; what fails is logged.
    void renew(bool in_any_case);

    /// What they are in, and what they refer to.
    std::vector<std::string> folders() const;

  private:
    std::vector<std::string> files() const;
    std::string state_of_files() const;

    const settings as_;
    identities::ticket_keys own_keys_;
    std::string read_at_;
    std::mutex lock_;
    std::shared_ptr<const identities> newest_;
};

secure_layer::secure_layer(const settings &as) : as_(as)
{
    std::string problem;
    if (RAND_bytes(own_keys_.data(), static_cast<int>(own_keys_.size())) != 1) {
        problem = "there are no random bytes: " + last_reason();
    } else {
        read_at_ = state_of_files();
        newest_ = identities::read(as_, own_keys_, problem);
    }
    if (newest_ == nullptr) {
        flux::cannot_serve("TLS cannot be spoken: " + problem);
    }
}

std::vector<std::string> secure_layer::files() const
{
    std::vector<std::string> all = parts_of(as_.certificate, ',');
    for (const std::string &more : {as_.key, as_.ticket_key}) {
        const std::vector<std::string> parts = parts_of(more, ',');
        all.insert(all.end(), parts.begin(), parts.end());
    }
    return all;
}

std::vector<std::string> secure_layer::folders() const
{
    std::vector<std::string> all;
    for (const std::string &each : files()) {
        const std::unique_ptr<char, freed_by<std::free>> target(::realpath(each.c_str(), nullptr));
        for (const std::string &path : {each, std::string(target == nullptr ? "" : target.get())}) {
            const std::size_t end = path.rfind('/');
            all.push_back(end == path.npos ? "." : path.substr(0, end + 1));
        }
    }
    return all;
}

std::string secure_layer::state_of_files() const
{
    std::string state;
    for (const std::string &each : files()) {
        struct stat of = {};
        ::stat(each.c_str(), &of);
        for (const auto number : {static_cast<long>(of.st_ino), static_cast<long>(of.st_size),
                                  static_cast<long>(of.st_mtim.tv_sec), static_cast<long>(of.st_mtim.tv_nsec)}) {
            state += std::to_string(number) + " ";
        }
    }
    return state;
}

void secure_layer::renew(bool in_any_case)
{
    std::string state = state_of_files();
    if (!in_any_case && state == read_at_) {
        return;
    }
    read_at_ = std::move(state);
    std::string problem;
    std::shared_ptr<const identities> read = identities::read(as_, own_keys_, problem);
    if (read == nullptr) {
        flux::log_line("TLS: the certificates stay as they were: %s", problem.c_str());
        return;
    }
    {
        const std::lock_guard alone(lock_);
        newest_.swap(read);
    }
    flux::log_line("TLS: the certificates were read again");
}

/// All layers, and the thread that waits until their files change. They end with the process.
class layers
{
  public:
    static layers &all()
    {
        static layers &own = *new layers;
        return own;
    }

    flux::stream_layer &of(const settings &as)
    {
        std::vector<std::string> lines = as.lines();
        const std::lock_guard alone(lock_);
        if (const auto known = by_settings_.find(lines); known != by_settings_.end()) {
            return *known->second;
        }
        auto made = std::make_unique<secure_layer>(as);
        watch(*made);
        return *by_settings_.emplace(std::move(lines), std::move(made)).first->second;
    }

  private:
    layers() = default;

    void watch(const secure_layer &one);
    [[noreturn]] void wait_for_changes();

    // Written when SIGHUP comes.
    static inline std::atomic<int> bell_{-1};

    std::mutex lock_;
    std::map<std::vector<std::string>, std::unique_ptr<secure_layer>> by_settings_;
    int changes_ = -1;
};

// One for which there is no room is read again on SIGHUP only.
void layers::watch(const secure_layer &one)
{
    if (changes_ < 0) {
        changes_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        struct sigaction before = {};
        // What a program or nohup has chosen stays.
        if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
            struct sigaction action = {};
            action.sa_handler = [](int) {
                const int error = errno;
                ::eventfd_write(bell_, 1);
                errno = error;
            };
            action.sa_flags = SA_RESTART;
            ::sigaction(SIGHUP, &action, nullptr);
        }
        // Signals are for others.
        sigset_t all;
        sigset_t own;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &own);
        try {
            std::thread([this] { wait_for_changes(); }).detach();
        } catch (const std::system_error &) {
            flux::log_line("TLS: certificates are not read again, as there is no thread for that");
        }
        ::pthread_sigmask(SIG_SETMASK, &own, nullptr);
    }
    for (const std::string &each : one.folders()) {
        ::inotify_add_watch(changes_, each.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE);
    }
}

void layers::wait_for_changes()
{
    while (true) {
        pollfd either[] = {{bell_, POLLIN, 0}, {changes_, POLLIN, 0}};
        ::poll(either, std::size(either), -1);
        const bool is_asked = (either[0].revents & POLLIN) != 0;
        if (!is_asked) {
            // A certificate and its key change one after the other.
            std::this_thread::sleep_for(milliseconds(300));
        }
        eventfd_t rings = 0;
        ::eventfd_read(bell_, &rings);
        alignas(inotify_event) char events[4096];
        while (::read(changes_, events, sizeof events) > 0) {
        }
        const std::lock_guard alone(lock_);
        for (const auto &each : by_settings_) {
            try {
                each.second->renew(is_asked);
            } catch (const std::bad_alloc &) {
                flux::log_line("TLS: the certificates stay as they were: there is no memory");
            }
        }
    }
}

/// What a source of this module serves, over TLS.
[[gnu::noinline]] const tcp::served *serve(const flux::endpoint &at, flux::first_given first,
                                           tcp::listener_settings by, const settings &as)
{
    if (as.certificate.empty()) {
        flux::cannot_serve("TLS cannot be spoken at " + at.text() +
                           ": say --tls-certificate=FILE and --tls-key=FILE, or give the source a certificate");
    }
    by.layer = layer_at(at, as);
    by.others = as.lines();
    return tcp::serve_at(at, first, by);
}

} // namespace

flux::stream_layer *layer_at(const flux::endpoint &at, const settings &as)
{
    const std::vector<std::string> places = parts_of(as.at, ' ');
    const bool is_here = places.empty() || std::any_of(places.begin(), places.end(), [&](const std::string &place) {
        return flux::endpoint(place.c_str()).at().has_value() && at.at().has_value() &&
               flux::endpoint(place.c_str()).at()->text() == at.at()->text();
    });
    return as.certificate.empty() || !is_here ? nullptr : &layers::all().of(as);
}

settings settings_of(const flux::endpoint &at, const own_identity &own, const own_identity &of_process,
                     const char *at_places, const char *ticket_key)
{
    if (*own.certificate == '\0' && *own.key != '\0') {
        flux::cannot_serve("TLS cannot be spoken at " + at.text() + ": its source states a key and no certificate");
    }
    const bool is_own = *own.certificate != '\0';
    const own_identity &used = is_own ? own : of_process;
    return {used.certificate, used.key, is_own ? "" : at_places, ticket_key, {}};
}

std::vector<std::string> settings::lines() const
{
    std::string all;
    for (const std::string &each : protocols) {
        all += (all.empty() ? "" : " ") + each;
    }
    return {"certificate: " + certificate, "key: " + key, "ticket_key: " + ticket_key, "protocols: " + all};
}

int Listen(const flux::endpoint &at, long idle_ms, long first_byte_ms, long message_ms, long request_ms,
           const char *unix_mode, const char *certificate, const char *key, const char *ticket_key,
           const char *process_certificate, const char *process_key, flux::connection *&connection)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    const tcp::served *from = tcp::served_at(at);
    if (from == nullptr) {
        from = serve(at, flux::first_given::with_input,
                     {milliseconds(idle_ms), milliseconds(first_byte_ms), milliseconds(message_ms),
                      milliseconds(request_ms), unix_mode},
                     settings_of(at, {certificate, key}, {process_certificate, process_key}, "", ticket_key));
    }
    return tcp::next_request(*from, connection);
}

int Accept(const flux::endpoint &at, long idle_ms, const char *unix_mode, const char *certificate, const char *key,
           const char *ticket_key, const char *process_certificate, const char *process_key,
           flux::connection *&connection)
{
    if (flux::running_flow->in_progress()) {
        return EPERM;
    }
    const tcp::served *from = tcp::served_at(at);
    if (from == nullptr) {
        from = serve(at, flux::first_given::at_once, {milliseconds(idle_ms), {}, {}, {}, unix_mode},
                     settings_of(at, {certificate, key}, {process_certificate, process_key}, "", ticket_key));
    }
    return tcp::next_peer(*from, connection);
}

} // namespace tls
