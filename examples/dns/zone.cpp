// The zone: its records by their names, as they are on the wire. The file is read by ldns.

#include "responder.flux.h"

#include "flux/message/typed_parse.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ldns/ldns.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using resources = std::vector<dns_message::resource>;

// RFC 1035, 3.2.2 and 3.2.3, and RFC 8482
constexpr std::uint16_t cname = 5, start_of_authority = 6, any = 255;
// RFC 1035, 4.1.1
constexpr std::uint16_t no_such_name = 3, refused = 5;

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

// A record of its bytes on the wire.
dns_message::resource read_resource(std::string_view wire)
{
    flux::typed_parse<dns_message::resource> parse;
    if (parse.read(wire, true) != flux::message_parse::state::whole) {
        throw std::runtime_error(parse.fault());
    }
    parse.bytes = flux::message_bytes::copy_of(std::as_bytes(std::span(wire)));
    return parse.message();
}

// The same of another owner.
dns_message::resource owned_by(std::string_view name, const dns_message::resource &of)
{
    return read_resource(std::string(name) + std::string(of.wire().substr(of.of().wire().size())));
}

// RFC 2308, 3: negative answers live as long as the zone says.
dns_message::resource negative(const dns_message::resource &start)
{
    std::string wire(start.wire());
    const std::size_t lifetime = start.of().wire().size() + 4;
    const std::uint32_t least = std::min(start.lifetime(), start.content().authority()->minimum());
    for (std::size_t each = 0; each < 4; ++each) {
        wire[lifetime + each] = static_cast<char>(least >> (24 - 8 * each));
    }
    return read_resource(wire);
}

void add(const ldns_rr *record)
{
    std::uint8_t *bytes = nullptr;
    std::size_t size = 0;
    if (ldns_rr2wire(&bytes, record, LDNS_SECTION_ANSWER, &size) != LDNS_STATUS_OK) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<std::uint8_t, void (*)(void *)> owner(bytes, std::free);
    const dns_message::resource read = read_resource({reinterpret_cast<const char *>(bytes), size});
    const std::string name = lower(read.of().wire());
    nodes[name][read.kind()].push_back(read);
    if (read.kind() == start_of_authority) {
        apex = name;
        authority_of_negatives = negative(read);
    }
}

// RFC 8020: a name with others below it is there.
void add_names_between()
{
    std::vector<std::string> names;
    for (const auto &[name, at] : nodes) {
        names.push_back(name);
    }
    for (const std::string &name : names) {
        if (!is_in_zone(name)) {
            throw std::runtime_error("a record is outside of the zone");
        }
        for (std::string_view each = name; each != apex; each = parent(each)) {
            nodes.try_emplace(std::string(each));
        }
    }
}

// RFC 4592, 3.3.1: what is at the name, or at the wildcard under the closest name that there is.
const node *find_node(std::string_view name, bool &is_wildcard)
{
    if (const auto at = nodes.find(name); at != nodes.end()) {
        return &at->second;
    }
    is_wildcard = true;
    for (std::string_view above = parent(name);; above = parent(above)) {
        if (nodes.contains(above)) {
            const auto at = nodes.find("\1*" + std::string(above));
            return at == nodes.end() ? nullptr : &at->second;
        }
    }
}

// RFC 8482, 4.2: who asks for all types is told that nobody says that.
dns_message::resource nothing_of_all_types(std::string_view name)
{
    using namespace std::string_view_literals;
    return read_resource(std::string(name) + std::string("\0\x0d\0\1\0\0\x0e\x10\0\x09\x07RFC8482\0"sv));
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
    ldns_zone *zone = nullptr;
    int line = 0;
    if (const ldns_status status = ldns_zone_new_frm_fp_l(&zone, file.get(), nullptr, 0, LDNS_RR_CLASS_IN, &line);
        status != LDNS_STATUS_OK) {
        why = std::string(options.zone) + ":" + std::to_string(line) + ": " + ldns_get_errorstr_by_id(status);
        return 1;
    }
    const std::unique_ptr<ldns_zone, void (*)(ldns_zone *)> owner(zone, ldns_zone_deep_free);
    if (ldns_zone_soa(zone) == nullptr) {
        why = std::string(options.zone) + ": it has no SOA";
        return 1;
    }
    add(ldns_zone_soa(zone));
    const ldns_rr_list *const records = ldns_zone_rrs(zone);
    for (std::size_t each = 0; each < ldns_rr_list_rr_count(records); ++each) {
        add(ldns_rr_list_rr(records, each));
    }
    add_names_between();
    return 0;
} catch (const std::exception &error) {
    why = std::string(options.zone) + ": " + error.what();
    return 1;
}

void Find(const dns_message::question &question, std::uint16_t &code, resources &answers, resources &authority)
{
    std::string asked(question.of().wire());
    std::string name = lower(asked);
    if (!is_in_zone(name)) {
        code = refused;
        return;
    }
    if (question.kind() == any) {
        answers.push_back(nothing_of_all_types(asked));
        return;
    }
    // RFC 1034, 4.3.2: names that are others are followed within the zone.
    std::set<std::string> asked_for;
    while (is_in_zone(name) && asked_for.insert(name).second) {
        bool is_wildcard = false;
        const node *const at = find_node(name, is_wildcard);
        if (at == nullptr) {
            code = no_such_name;
            authority.push_back(*authority_of_negatives);
            return;
        }
        const auto wanted = at->find(question.kind());
        const auto alias = at->find(cname);
        const auto found = wanted != at->end() ? wanted : alias;
        if (found == at->end()) {
            authority.push_back(*authority_of_negatives);
            return;
        }
        for (const dns_message::resource &each : found->second) {
            answers.push_back(is_wildcard ? owned_by(asked, each) : each);
        }
        if (found == wanted) {
            return;
        }
        asked = found->second.front().content().target()->wire();
        name = lower(asked);
    }
}
