// The nodes of store.flux. Nothing here takes a lock: store.flux says which nodes share a shard.
#include "store.flux.h"

#include <array>
#include <functional>
#include <sstream>
#include <unordered_map>

static std::array<std::unordered_map<std::string, std::string>, 64> shards;

int Parse(Parse_in *in, Parse_out *out)
{
    std::istringstream words(in->line);
    std::getline(words, out->what.verb, ' ');
    std::getline(words, out->what.key, ' ');
    std::getline(words, out->what.value);
    out->shard = static_cast<int>(std::hash<std::string>()(out->what.key) % shards.size());
    return 0;
}

bool IsGet(const command &what)
{
    return what.verb == "GET";
}

int Get(Get_in *in, Get_out *out)
{
    const auto found = shards[in->shard].find(in->what.key);
    out->bytes = found == shards[in->shard].end() ? "NONE\n" : "VALUE " + found->second + "\n";
    return 0;
}

int Change(Change_in *in, Change_out *out)
{
    const auto &[verb, key, value] = in->what;
    if (verb == "SET") {
        shards[in->shard][key] = value;
        out->bytes = "OK\n";
    } else if (verb == "DEL") {
        out->bytes = shards[in->shard].erase(key) != 0 ? "OK\n" : "NONE\n";
    } else {
        out->bytes = "ERROR\n";
    }
    return 0;
}
