// The zone that is answered from. It never changes once the server has started.
#pragma once

#include <cstdint>
#include <vector>

class arrived;
namespace dns_message {
class message;
class question;
class resource;
} // namespace dns_message

void Parse(const arrived &received, dns_message::message &query);
void Find(const dns_message::question &question, std::uint16_t &code, std::vector<dns_message::resource> &answers,
          std::vector<dns_message::resource> &authority);
