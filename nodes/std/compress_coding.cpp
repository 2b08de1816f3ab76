#include "compress_coding.h"

#include <algorithm>
#include <brotli/encode.h>
#include <cerrno>
#include <zstd.h>

// It declares a function with the name of our namespace, which is not called here.
#define compress zlib_compress
#include <zlib.h>
#undef compress

namespace compress {
namespace {

constexpr std::size_t step = 32 * 1024;

class gzip_encoder final : public encoder
{
  public:
    explicit gzip_encoder(int level)
    {
        constexpr int gzip_window = 15 + 16; // of 32 KiB, in a gzip (zlib.h, deflateInit2)
        constexpr int usual_memory = 8;
        is_made_ = deflateInit2(&stream_, std::clamp(level, 1, 9), Z_DEFLATED, gzip_window, usual_memory,
                                Z_DEFAULT_STRATEGY) == Z_OK;
    }
    ~gzip_encoder() override
    {
        if (is_made_) {
            deflateEnd(&stream_);
        }
    }

    bool is_made() const noexcept { return is_made_; }

    int add(std::string_view piece, bool is_last, std::string &coded) override
    {
        stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(piece.data()));
        stream_.avail_in = static_cast<uInt>(piece.size());
        do {
            const std::size_t before = coded.size();
            coded.resize(before + step);
            stream_.next_out = reinterpret_cast<Bytef *>(coded.data() + before);
            stream_.avail_out = step;
            deflate(&stream_, is_last ? Z_FINISH : Z_NO_FLUSH);
            coded.resize(before + step - stream_.avail_out);
        } while (stream_.avail_out == 0);
        return 0;
    }

  private:
    z_stream stream_{};
    bool is_made_ = false;
};

class brotli_encoder final : public encoder
{
  public:
    explicit brotli_encoder(int level) : state_(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr))
    {
        if (state_ != nullptr) {
            const auto quality = static_cast<std::uint32_t>(std::clamp(level, 0, 11));
            BrotliEncoderSetParameter(state_, BROTLI_PARAM_QUALITY, quality);
        }
    }
    ~brotli_encoder() override { BrotliEncoderDestroyInstance(state_); }

    bool is_made() const noexcept { return state_ != nullptr; }

    int add(std::string_view piece, bool is_last, std::string &coded) override
    {
        const auto *in = reinterpret_cast<const std::uint8_t *>(piece.data());
        std::size_t left = piece.size();
        const BrotliEncoderOperation what = is_last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS;
        do {
            std::size_t room = 0;
            if (BrotliEncoderCompressStream(state_, what, &left, &in, &room, nullptr, nullptr) == BROTLI_FALSE) {
                return ENOMEM;
            }
            std::size_t count = 0;
            const std::uint8_t *const out = BrotliEncoderTakeOutput(state_, &count);
            coded.append(reinterpret_cast<const char *>(out), count);
        } while (left > 0 || BrotliEncoderHasMoreOutput(state_) == BROTLI_TRUE);
        return 0;
    }

  private:
    BrotliEncoderState *state_;
};

class zstd_encoder final : public encoder
{
  public:
    explicit zstd_encoder(int level) : context_(ZSTD_createCCtx())
    {
        if (context_ != nullptr) {
            // Above these its windows are larger than those that browsers have to accept (RFC 9659, 3).
            ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, std::clamp(level, 1, 19));
        }
    }
    ~zstd_encoder() override { ZSTD_freeCCtx(context_); }

    bool is_made() const noexcept { return context_ != nullptr; }

    int add(std::string_view piece, bool is_last, std::string &coded) override
    {
        ZSTD_inBuffer in{piece.data(), piece.size(), 0};
        const ZSTD_EndDirective what = is_last ? ZSTD_e_end : ZSTD_e_continue;
        for (bool goes_on = true; goes_on;) {
            const std::size_t before = coded.size();
            coded.resize(before + step);
            ZSTD_outBuffer out{coded.data() + before, step, 0};
            const std::size_t left = ZSTD_compressStream2(context_, &out, &in, what);
            coded.resize(before + out.pos);
            if (ZSTD_isError(left) != 0) {
                return ENOMEM;
            }
            goes_on = is_last ? left != 0 : in.pos < in.size;
        }
        return 0;
    }

  private:
    ZSTD_CCtx *context_;
};

template <class Encoder>
std::unique_ptr<encoder> made(int level)
{
    auto one = std::make_unique<Encoder>(level);
    return one->is_made() ? std::move(one) : nullptr;
}

} // namespace

std::unique_ptr<encoder> encoder::of(coding which, int level)
{
    switch (which) {
    case coding::gzip:
        return made<gzip_encoder>(level);
    case coding::brotli:
        return made<brotli_encoder>(level);
    case coding::zstd:
        return made<zstd_encoder>(level);
    }
    return nullptr;
}

int encode(coding which, int level, std::string_view content, std::string &coded)
{
    const std::unique_ptr<encoder> by = encoder::of(which, level);
    return by == nullptr ? ENOMEM : by->add(content, true, coded);
}

} // namespace compress
