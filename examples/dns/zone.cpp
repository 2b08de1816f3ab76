// The zone: its records by their names, as they are on the wire. The file is read by ldns.

#include "responder.flux.h"

#include "flux/expected.hpp"
#include "flux/message/typed_parse.hpp"
#include "flux/message/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ldns/ldns.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using resources = std::vector<dns_message::resource>;

// RFC 1035, 3.2.2 and 3.2.3; RFC 6672, RFC 6891, RFC 4034 and RFC 8482
constexpr std::uint16_t cname = 5, start_of_authority = 6, dname = 39, opt = 41, rrsig = 46, nsec = 47, any = 255;
// RFC 1035, 3.2.4
constexpr std::uint16_t internet = 1;
// RFC 1035, 4.1.1, and RFC 6672, 2.2
constexpr std::uint16_t no_such_name = 3, refused = 5, too_long = 6;
// RFC 1035, 2.3.4
constexpr std::size_t longest_name = 255;

/// What is at a name: records by their types. A name may be there only since others are below it.
using node = std::map<std::uint16_t, resources>;

std::map<std::string, node, std::less<>> nodes;
std::string apex;
std::optional<dns_message::resource> authority_of_negatives;

// Of a name on the wire, which has no pointers. The lengths of labels are below all letters.
std::string lower(std::string_view name)
{
    std::string lowered(name);
    for (char &each : lowered) {
        each = 'A' <= each && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    }
    return lowered;
}

std::string_view parent(std::string_view name)
{
    return name.substr(1 + static_cast<unsigned char>(name.front()));
}

bool is_in_zone(std::string_view name)
{
    while (name != apex) {
        if (name.size() <= 1) {
            return false;
        }
        name = parent(name);
    }
    return true;
}

// The bytes, parsed as one message of this class; or the fault in them.
template <class Message>
flux::expected<Message, std::string> read(std::string_view wire)
{
    using state = flux::message_parse::state;
    flux::typed_parse<Message> parse;
    const state end = parse.read(wire, true);
    if (end == state::no_memory) {
        throw std::bad_alloc();
    }
    if (end != state::whole || parse.size() != wire.size()) {
        return flux::unexpected(end == state::wrong ? parse.fault() : std::string("its size is wrong"));
    }
    parse.bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(wire)));
    return parse.message();
}

// The record that has these bytes on the wire.
dns_message::resource read_resource(std::string_view wire)
{
    auto record = read<dns_message::resource>(wire);
    return record.has_value() ? *std::move(record) : throw std::runtime_error(record.error());
}

// The record with another owner.
dns_message::resource owned_by(std::string_view name, const dns_message::resource &of)
{
    return read_resource(std::string(name) + std::string(of.wire().substr(of.of().wire().size())));
}

// The record with another lifetime.
dns_message::resource living(std::uint32_t lifetime, const dns_message::resource &of)
{
    std::string wire(of.wire());
    const std::size_t at = of.of().wire().size() + 4;
    for (std::size_t each = 0; each < 4; ++each) {
        wire[at + each] = static_cast<char>(lifetime >> (24 - 8 * each));
    }
    return read_resource(wire);
}

/// A mistake in the file of the zone: `LINE: what is wrong`.
class mistake : public std::runtime_error
{
  public:
    mistake(int line, const std::string &what) : std::runtime_error(std::to_string(line) + ": " + what) {}
};

/// A record of the file.
struct entry {
    /// The line that it ends on.
    int line;
    dns_message::resource record;
    /// Its owner in lower case.
    std::string name;
    /// Its bytes in canonical form (RFC 4034, 6.2), without a lifetime: duplicates have the same.
    std::string canonical;
};

std::string wire_of(const ldns_rr *record)
{
    std::uint8_t *bytes = nullptr;
    std::size_t size = 0;
    if (ldns_rr2wire(&bytes, record, LDNS_SECTION_ANSWER, &size) != LDNS_STATUS_OK) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<std::uint8_t, void (*)(void *)> owner(bytes, std::free);
    return {reinterpret_cast<const char *>(bytes), size};
}

entry entry_of(ldns_rr *record, int line)
try {
    const dns_message::resource parsed = read_resource(wire_of(record));
    ldns_rr_set_ttl(record, 0);
    ldns_rr2canonical(record);
    return {line, parsed, lower(parsed.of().wire()), wire_of(record)};
} catch (const std::runtime_error &error) {
    throw mistake(line, error.what());
}

/// Reads the file record by record, because ldns gives the line of a record only then.
class zone_reader
{
  public:
    explicit zone_reader(std::FILE *file) : file_(file), lacks_line_feed_(lacks_line_feed(file)) {}
    zone_reader(const zone_reader &) = delete;
    ~zone_reader()
    {
        ldns_rdf_deep_free(origin_);
        ldns_rdf_deep_free(previous_);
    }

    std::vector<entry> read()
    {
        std::vector<entry> entries;
        while (std::feof(file_) == 0) {
            ldns_rr *record = nullptr;
            const ldns_status status =
                ldns_rr_new_frm_fp_l(&record, file_, &lifetime_, &origin_, &previous_, &line_);
            const int line = line_ + (lacks_line_feed_ && std::feof(file_) != 0 ? 1 : 0);
            const std::unique_ptr<ldns_rr, void (*)(ldns_rr *)> owner(record, ldns_rr_free);
            if (status == LDNS_STATUS_OK) {
                complete(record);
                entries.push_back(entry_of(record, line));
            } else if (status == LDNS_STATUS_SYNTAX_INCLUDE) {
                throw mistake(line, ldns_get_errorstr_by_id(LDNS_STATUS_SYNTAX_INCLUDE_ERR_NOTIMPL));
            } else if (status != LDNS_STATUS_SYNTAX_EMPTY && status != LDNS_STATUS_SYNTAX_TTL &&
                       status != LDNS_STATUS_SYNTAX_ORIGIN) {
                throw mistake(line, ldns_get_errorstr_by_id(status));
            }
        }
        return entries;
    }

  private:
    // Whether the last line has no line feed. ldns counts line feeds.
    static bool lacks_line_feed(std::FILE *file)
    {
        const bool lacks = std::fseek(file, -1, SEEK_END) == 0 && std::fgetc(file) != '\n';
        std::rewind(file);
        return lacks;
    }

    // RFC 1035, 5.1: a record without a lifetime has the last one that was stated. Without $ORIGIN, the origin is the
    // name of the zone.
    void complete(ldns_rr *record)
    {
        if (ldns_rr_ttl(record) == unstated) {
            ldns_rr_set_ttl(record, stated_);
        }
        stated_ = ldns_rr_ttl(record);
        if (origin_ == nullptr && ldns_rr_get_type(record) == LDNS_RR_TYPE_SOA) {
            origin_ = ldns_rdf_clone(ldns_rr_owner(record));
        }
    }

    // More than a lifetime can be (RFC 2181, 8).
    static constexpr std::uint32_t unstated = std::numeric_limits<std::uint32_t>::max();

    std::FILE *const file_;
    const bool lacks_line_feed_;
    // The lifetime of $TTL, and the last one of a record.
    std::uint32_t lifetime_ = unstated;
    std::uint32_t stated_ = LDNS_DEFAULT_TTL;
    ldns_rdf *origin_ = nullptr;
    ldns_rdf *previous_ = nullptr;
    int line_ = 0;
};

// The reason why a record of this type cannot join the others of its name; empty if it can.
std::string_view conflict(const node &others, std::uint16_t kind)
{
    const auto is_data = [](std::uint16_t of) { return of != rrsig && of != nsec; };
    const bool has_data =
        std::any_of(others.begin(), others.end(), [&](const auto &each) { return is_data(each.first); });
    // RFC 2181, 10.1, and RFC 4034, 3 and 4
    if (is_data(kind) && (others.contains(cname) || (kind == cname && has_data))) {
        return "the name has a CNAME, and so no other records";
    }
    // RFC 6672, 2.4
    return kind == dname && others.contains(dname) ? "the name has a DNAME already" : "";
}

void check(const entry &of)
{
    const std::uint16_t kind = of.record.kind();
    if (of.record.class_of() != internet) {
        throw mistake(of.line, "the class of the record is not IN");
    }
    // RFC 6895, 3.1: these types are only for queries and messages.
    if (kind == opt || (128 <= kind && kind <= any)) {
        const std::unique_ptr<char, void (*)(void *)> name(ldns_rr_type2str(static_cast<ldns_rr_type>(kind)),
                                                           std::free);
        throw mistake(of.line, std::string("a zone has no records of the type ") + name.get());
    }
    if (!is_in_zone(of.name)) {
        throw mistake(of.line, "the record is outside of the zone");
    }
}

void add(const std::vector<entry> &entries)
{
    std::set<std::string_view> known;
    for (const entry &each : entries) {
        check(each);
        const std::uint16_t kind = each.record.kind();
        node &at = nodes[each.name];
        if (!known.insert(each.canonical).second) {
            throw mistake(each.line, "the record is a duplicate");
        }
        if (kind == start_of_authority && (each.name != apex || at.contains(kind))) {
            throw mistake(each.line, "the zone has another SOA");
        }
        if (const std::string_view why = conflict(at, kind); !why.empty()) {
            throw mistake(each.line, std::string(why));
        }
        // RFC 2181, 5.2: all records of one type have one lifetime. RFC 4034, 3: a signature has that of its records.
        resources &all = at[kind];
        all.push_back(all.empty() || kind == rrsig ? each.record : living(all.front().lifetime(), each.record));
    }
}

// RFC 8020: a name exists if others are below it. RFC 6672, 2.4: no names are below a name with a DNAME.
void add_names_between(const std::vector<entry> &entries)
{
    for (const entry &each : entries) {
        for (std::string_view below = each.name; below != apex; below = parent(below)) {
            if (nodes[std::string(parent(below))].contains(dname)) {
                throw mistake(each.line, "the record is below a DNAME");
            }
        }
    }
}

void load(std::FILE *file)
{
    const std::vector<entry> entries = zone_reader(file).read();
    const auto start = std::find_if(entries.begin(), entries.end(), [](const entry &each) {
        return each.record.kind() == start_of_authority;
    });
    if (start == entries.end()) {
        throw std::runtime_error("it has no SOA");
    }
    apex = start->name;
    // RFC 2308, 3: negative answers live as long as the zone says.
    authority_of_negatives =
        living(std::min(start->record.lifetime(), start->record.content().authority()->minimum()), start->record);
    add(entries);
    add_names_between(entries);
}

/// The data that the zone has for a name.
struct place {
    /// The records at the name; null if it does not exist.
    const node *at = nullptr;
    /// Whether they come from a wildcard.
    bool is_wildcard = false;
    /// The DNAME above the name.
    const dns_message::resource *above = nullptr;
};

// RFC 4592, 3.3.1: the records at the name, or at the wildcard under the closest name that exists. RFC 6672, 3.2: a
// DNAME at the closest name applies to all names below it.
place find_place(std::string_view name)
{
    if (const auto at = nodes.find(name); at != nodes.end()) {
        return {.at = &at->second};
    }
    for (std::string_view above = parent(name);; above = parent(above)) {
        const auto closest = nodes.find(above);
        if (closest == nodes.end()) {
            continue;
        }
        if (const auto moved = closest->second.find(dname); moved != closest->second.end()) {
            return {.above = &moved->second.front()};
        }
        const auto at = nodes.find("\1*" + std::string(above));
        return {.at = at == nodes.end() ? nullptr : &at->second, .is_wildcard = true};
    }
}

// RFC 6672, 3.1: the CNAME that a DNAME makes for a name below it; none if its target would be too long.
std::optional<dns_message::resource> alias_of(std::string_view name, const dns_message::resource &moved)
{
    using namespace std::string_view_literals;
    const std::string_view from = moved.of().wire();
    std::string target(name.substr(0, name.size() - from.size()));
    target += *moved.content().content();
    if (target.size() > longest_name) {
        return std::nullopt;
    }
    const std::string_view lifetime = moved.wire().substr(from.size() + 4, 4);
    std::string wire = std::string(name) + std::string("\0\5\0\1"sv) + std::string(lifetime);
    wire += {'\0', static_cast<char>(target.size())};
    return read_resource(wire + target);
}

// RFC 8482, 4.2: a query for all types gets this record instead of them.
dns_message::resource nothing_of_all_types(std::string_view name)
{
    using namespace std::string_view_literals;
    return read_resource(std::string(name) + std::string("\0\x0d\0\1\0\0\x0e\x10\0\x09\x07RFC8482\0"sv));
}

// Adds the records of this place. If they are an alias to follow, `name` becomes its target, and the result is true.
bool answer(const place &found, std::uint16_t kind, std::string &name, resources &answers, resources &authority)
{
    const node &at = *found.at;
    const auto alias = at.find(cname);
    if (kind == any && alias == at.end() && !at.empty()) {
        answers.push_back(nothing_of_all_types(name));
        return false;
    }
    const auto wanted = kind == any ? alias : at.find(kind);
    const auto given = wanted != at.end() ? wanted : alias;
    if (given == at.end()) {
        authority.push_back(*authority_of_negatives);
        return false;
    }
    for (const dns_message::resource &each : given->second) {
        answers.push_back(found.is_wildcard ? owned_by(name, each) : each);
    }
    if (given != wanted) {
        name = given->second.front().content().target()->wire();
    }
    return given != wanted;
}

// RFC 6672, 3.2: adds a DNAME and the CNAME that it makes for `name`. The result is that of `answer`.
bool follow(const dns_message::resource &moved, std::uint16_t kind, std::string &name, std::uint16_t &code,
            resources &answers)
{
    if (std::find(answers.begin(), answers.end(), moved) == answers.end()) {
        answers.push_back(moved);
    }
    const std::optional<dns_message::resource> alias = alias_of(name, moved);
    if (!alias.has_value()) {
        code = too_long;
        return false;
    }
    answers.push_back(*alias);
    name = alias->content().target()->wire();
    return kind != cname && kind != any;
}

// RFC 6891, 6.1.2: options, each after its code and its length.
bool are_options(std::string_view content)
{
    while (content.size() >= 4) {
        const std::size_t size = 4 + flux::wire::big<std::uint16_t>(content.data() + 2);
        if (content.size() < size) {
            return false;
        }
        content.remove_prefix(size);
    }
    return content.empty();
}

// A question has no pointers, because only the header comes before it.
bool is_right(const dns_message::question &question)
{
    const auto labels = question.of().labels();
    return question.of().wire().size() <= longest_name &&
           std::all_of(labels.begin(), labels.end(), [](const dns_message::label &each) { return each.size() < 64; });
}

// These rules are not in the format of `std.dns_message`.
bool is_right(const dns_message::message &query)
{
    const auto questions = query.questions();
    const auto additional = query.additional();
    return std::all_of(questions.begin(), questions.end(),
                       [](const dns_message::question &each) { return is_right(each); }) &&
           std::all_of(additional.begin(), additional.end(), [](const dns_message::resource &each) {
               return each.kind() != opt || are_options(*each.content().content());
           });
}

} // namespace

// Called once, before the first flow: reads the file of the zone.
int init(const server_options &options, std::string &why)
try {
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(options.zone, "r"), std::fclose);
    if (file == nullptr) {
        why = std::string(options.zone) + ": " + std::strerror(errno);
        return 1;
    }
    load(file.get());
    return 0;
} catch (const mistake &error) {
    why = std::string(options.zone) + ":" + error.what();
    return 1;
} catch (const std::exception &error) {
    why = std::string(options.zone) + ": " + error.what();
    return 1;
}

void Parse(const arrived &received, dns_message::message &query)
{
    const std::string_view wire = received.wire();
    if (auto parsed = read<dns_message::message>(wire); parsed.has_value() && is_right(*parsed)) {
        query = *std::move(parsed);
        return;
    }
    // The id and the flags, and four counts of 0.
    query = *read<dns_message::message>(std::string(wire.substr(0, 4)) + std::string(8, '\0'));
}

void Find(const dns_message::question &question, std::uint16_t &code, resources &answers, resources &authority)
{
    std::string asked(question.of().wire());
    std::string name = lower(asked);
    if (!is_in_zone(name)) {
        code = refused;
        return;
    }
    // RFC 1034, 4.3.2: names that are others are followed within the zone.
    std::set<std::string> asked_for;
    while (is_in_zone(name) && asked_for.insert(name).second) {
        const place found = find_place(name);
        if (found.above != nullptr) {
            if (!follow(*found.above, question.kind(), asked, code, answers)) {
                return;
            }
        } else if (found.at == nullptr) {
            code = no_such_name;
            authority.push_back(*authority_of_negatives);
            return;
        } else if (!answer(found, question.kind(), asked, answers, authority)) {
            return;
        }
        name = lower(asked);
    }
}
