/// \file
/// RESP by the reader of hiredis, and memcached's binary messages by hand.
#include "cases.hpp"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

extern "C" {
#include "memcached_by_hand.h"
}

namespace {

/// A reader that has been fed some bytes, of which messages are taken one by one.
class fed_reader
{
  public:
    explicit fed_reader(redisReplyObjectFunctions *objects) : reader_(redisReaderCreateWithFunctions(objects)) {}
    fed_reader(const fed_reader &) = delete;
    fed_reader &operator=(const fed_reader &) = delete;
    ~fed_reader() { redisReaderFree(reader_); }

    /// The next message of these bytes; how many bytes it has.
    std::size_t next(std::string_view bytes, void *&reply)
    {
        if (bytes.empty()) {
            return 0;
        }
        // It copies what it is fed: all of a pipeline at once.
        if (bytes.data() != end_ - bytes.size() || left_ != bytes.size()) {
            redisReaderFeed(reader_, bytes.data(), bytes.size());
            left_ = bytes.size();
            end_ = bytes.data() + bytes.size();
        }
        if (redisReaderGetReply(reader_, &reply) != REDIS_OK || reply == nullptr) {
            return 0;
        }
        // It drops what it has read now and then.
        const std::size_t size = left_ - (reader_->len - reader_->pos);
        left_ -= size;
        return size;
    }

  private:
    redisReader *reader_;
    const char *end_ = nullptr;
    std::size_t left_ = 0;
};

} // namespace

std::size_t resp_by_hiredis(std::string_view bytes, resp_result &result)
{
    static fed_reader reader(redisReaderCreate()->fn);
    void *made = nullptr;
    const std::size_t size = reader.next(bytes, made);
    if (size == 0) {
        return 0;
    }
    // What is found stays until the next one.
    static void *last = nullptr;
    if (last != nullptr) {
        freeReplyObject(last);
    }
    last = made;
    const auto *reply = static_cast<const redisReply *>(made);
    result.count = reply->elements;
    for (std::size_t index = 0; index < reply->elements; ++index) {
        result.words[index] = {reply->element[index]->str, static_cast<std::size_t>(reply->element[index]->len)};
    }
    return size;
}

std::size_t resp_by_hiredis_without_objects(std::string_view bytes, resp_result &)
{
    static fed_reader reader(nullptr);
    void *made = nullptr;
    return reader.next(bytes, made);
}

std::size_t memcached_by_hand(std::string_view bytes, memcached_result &result)
{
    memcached_message message;
    const long size = read_memcached(bytes.data(), bytes.size(), &message);
    if (size <= 0) {
        return 0;
    }
    result.opcode = message.opcode;
    result.opaque = message.opaque;
    result.cas = message.cas;
    result.extras = {message.extras, message.extras_size};
    result.key = {message.key, message.key_size};
    result.value = {message.value, message.value_size};
    return static_cast<std::size_t>(size);
}
