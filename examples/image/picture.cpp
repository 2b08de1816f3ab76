// Pictures; picture.h explains them.
#include "picture.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>

namespace image {

namespace {

/// The longest header that is looked for, comments included, in bytes.
constexpr std::size_t max_header_bytes = 4096;

constexpr std::string_view ppm_extension = ".ppm";

/// A good picture at a moderate size; the default of cjpeg is 75.
constexpr int jpeg_quality = 85;

/// A descriptor that is closed at the end of its scope.
class open_file {
public:
    explicit open_file(int descriptor) : descriptor_(descriptor) {}
    ~open_file()
    {
        if (descriptor_ >= 0)
            close(descriptor_);
    }
    open_file(const open_file &) = delete;
    open_file &operator=(const open_file &) = delete;

    operator int() const
    {
        return descriptor_;
    }

private:
    const int descriptor_;
};

/// Reads until `size` bytes are there or the file ends. Returns 0 and how many there are, or an errno.
int read_fully(int file, void *buffer, std::size_t size, off_t offset, std::size_t &read_bytes)
{
    read_bytes = 0;
    while (read_bytes < size) {
        char *const rest = static_cast<char *>(buffer) + read_bytes;
        const ssize_t got = pread(file, rest, size - read_bytes, offset + static_cast<off_t>(read_bytes));
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return errno;
        if (got > 0)
            read_bytes += static_cast<std::size_t>(got);
    }
    return 0;
}

bool is_space(char one)
{
    return one == ' ' || (one >= '\t' && one <= '\r');
}

/// Takes white space and comments, of which there is at least one, then a number of at most `max` off `rest`.
std::optional<int> take_number(std::string_view &rest, int max)
{
    const std::size_t before = rest.size();
    while (!rest.empty() && (is_space(rest.front()) || rest.front() == '#'))
        rest.remove_prefix(rest.front() == '#' ? std::min(rest.find('\n'), rest.size()) : 1);
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (rest.size() == before || error != std::errc{} || number < 1 || number > max)
        return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return number;
}

/// Which pixels of one row or column a scaled pixel covers, and how much of each.
struct coverage {
    int first = 0;
    int count = 0;
    std::array<std::uint16_t, 8> weights{};
    int total = 0;
};

/// The coverage of each pixel of a row or column of `length` pixels at `eighths`/8 of it. In units of 1/`eighths` of a
/// pixel, pixel j spans [j * eighths, (j + 1) * eighths) and scaled pixel i spans [8 * i, 8 * (i + 1)); the last one
/// may stick out.
std::vector<coverage> coverages(int length, int eighths)
{
    const int end = length * eighths;
    std::vector<coverage> result(static_cast<std::size_t>((end + 7) / 8));
    int from = 0;
    for (coverage &one : result) {
        const int to = std::min(from + 8, end);
        one.first = from / eighths;
        for (int pixel = one.first; pixel * eighths < to; ++pixel) {
            const int overlap = std::min(to, (pixel + 1) * eighths) - std::max(from, pixel * eighths);
            one.weights[static_cast<std::size_t>(one.count++)] = static_cast<std::uint16_t>(overlap);
            one.total += overlap;
        }
        from = to;
    }
    return result;
}

/// Adds up the rows of `picture` that `rows` covers, by their weights.
void add_rows(const pixels &picture, const coverage &rows, std::vector<std::uint16_t> &sums)
{
    std::fill(sums.begin(), sums.end(), std::uint16_t{0});
    for (int row = 0; row < rows.count; ++row) {
        const __u8 *values = picture.rgb.get() + static_cast<std::size_t>(rows.first + row) * sums.size();
        const std::uint16_t weight = rows.weights[static_cast<std::size_t>(row)];
        for (std::size_t at = 0; at < sums.size(); ++at)
            sums[at] = static_cast<std::uint16_t>(sums[at] + weight * values[at]);
    }
}

} // namespace

bool is_picture_name(std::string_view name)
{
    const auto is_allowed = [](char one) {
        return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') || one == '-' ||
               one == '_';
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), is_allowed);
}

std::optional<ppm_header> read_ppm_header(std::string_view bytes)
{
    std::string_view rest = bytes;
    if (!rest.starts_with("P6"))
        return std::nullopt;
    rest.remove_prefix(2);
    const auto width = take_number(rest, max_side);
    const auto height = width ? take_number(rest, max_side) : std::nullopt;
    const auto brightest = height ? take_number(rest, 65'535) : std::nullopt;
    if (brightest != 255 || rest.empty() || !is_space(rest.front()))
        return std::nullopt;
    return ppm_header{*width, *height, bytes.size() - rest.size() + 1};
}

int read_ppm(int folder, const std::string &name, pixels &picture)
{
    if (!is_picture_name(name))
        return ENOENT;
    const std::string file_name = name + std::string(ppm_extension);
    // O_NONBLOCK: to open a pipe would wait for its writer.
    const open_file file(openat(folder, file_name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file < 0)
        return errno;
    struct stat status{};
    if (fstat(file, &status) != 0)
        return errno;
    if (!S_ISREG(status.st_mode))
        return EINVAL;

    std::array<char, max_header_bytes> start;
    std::size_t length = 0;
    if (const int error = read_fully(file, start.data(), start.size(), 0, length); error != 0)
        return error;
    const auto header = read_ppm_header({start.data(), length});
    if (!header)
        return EINVAL;
    pixels read{header->width, header->height, nullptr};
    if (read.size_bytes() > max_picture_bytes)
        return EFBIG;
    if (static_cast<std::size_t>(status.st_size) < header->length + read.size_bytes())
        return EINVAL;

    read.rgb = std::make_unique_for_overwrite<__u8[]>(read.size_bytes());
    const int error = read_fully(file, read.rgb.get(), read.size_bytes(), static_cast<off_t>(header->length), length);
    if (error != 0)
        return error;
    if (length < read.size_bytes())
        return EINVAL;
    picture = std::move(read);
    return 0;
}

pixels scaled(const pixels &picture, int eighths)
{
    assert(eighths >= 1 && eighths <= 8);
    const std::vector<coverage> columns = coverages(picture.width, eighths);
    const std::vector<coverage> rows = coverages(picture.height, eighths);
    pixels result{static_cast<int>(columns.size()), static_cast<int>(rows.size()), nullptr};
    result.rgb = std::make_unique_for_overwrite<__u8[]>(result.size_bytes());

    // At most 8 * 255 each, and 64 * 255 for a whole pixel.
    std::vector<std::uint16_t> sums(std::size_t{3} * static_cast<std::size_t>(picture.width));
    __u8 *out = result.rgb.get();
    for (const coverage &row : rows) {
        add_rows(picture, row, sums);
        for (const coverage &column : columns) {
            const unsigned area = static_cast<unsigned>(row.total * column.total);
            for (std::size_t color = 0; color < 3; ++color) {
                unsigned sum = area / 2;
                for (int pixel = 0; pixel < column.count; ++pixel) {
                    sum += unsigned{column.weights[static_cast<std::size_t>(pixel)]} *
                           sums[static_cast<std::size_t>(column.first + pixel) * 3 + color];
                }
                // All but the pixels of the last row and column cover 64; a shift is much faster than a division.
                *out++ = static_cast<__u8>(area == 64 ? sum >> 6 : sum / area);
            }
        }
    }
    return result;
}

std::vector<unsigned char> compressed(const pixels &picture)
{
    const std::unique_ptr<void, int (*)(tjhandle)> compressor(tjInitCompress(), tjDestroy);
    if (!compressor)
        return {};
    unsigned char *buffer = nullptr;
    unsigned long length = 0;
    const int error = tjCompress2(compressor.get(), picture.rgb.get(), picture.width, 0, picture.height, TJPF_RGB,
                                  &buffer, &length, TJSAMP_420, jpeg_quality, 0);
    const std::unique_ptr<unsigned char, void (*)(unsigned char *)> owner(buffer, tjFree);
    if (error != 0)
        return {};
    // A copy of the very length: libjpeg's buffer grows by doubling, and the cache counts what it keeps.
    return {buffer, buffer + length};
}

int list_pictures(int folder, std::vector<std::string> &names)
{
    const int descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    const std::unique_ptr<DIR, int (*)(DIR *)> listing(fdopendir(descriptor), closedir);
    if (!listing) {
        const int error = errno;
        close(descriptor);
        return error;
    }
    errno = 0;
    while (const dirent *entry = readdir(listing.get())) {
        const std::string_view file = entry->d_name;
        if (!file.ends_with(ppm_extension))
            continue;
        const std::string_view name = file.substr(0, file.size() - ppm_extension.size());
        if (is_picture_name(name))
            names.emplace_back(name);
    }
    if (errno != 0)
        return errno;
    std::sort(names.begin(), names.end());
    return 0;
}

} // namespace image
