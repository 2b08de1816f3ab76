// Pictures: read from PPM files, made smaller, compressed to JPEG.
//
// A PPM file is taken if it is one that netpbm and djpeg write: "P6", a width, a height, 255 (ppm(5)). It is checked
// before anything is allocated for it: a header can claim any size, but the file must be as long as it says.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <linux/types.h>

namespace image {

/// The longest side of a picture, in pixels: libjpeg's own bound.
constexpr int max_side = 65'500;

/// The most that a picture's pixels may take, in bytes.
constexpr std::size_t max_picture_bytes = std::size_t{256} << 20;

/// Pixels: rows from the top, each `width` triples of red, green and blue, without padding.
struct pixels {
    int width = 0;
    int height = 0;
    std::unique_ptr<__u8[]> rgb;

    /// How many bytes `rgb` has.
    std::size_t size_bytes() const
    {
        return std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
};

/// What the header of a PPM file says.
struct ppm_header {
    int width = 0;
    int height = 0;
    /// Where the pixels start.
    std::size_t length = 0;
};

/// Reads the header at the start of `bytes`. None where it is not there, or is of another kind than this server reads.
std::optional<ppm_header> read_ppm_header(std::string_view bytes);

/// Whether a picture may be called `name`: letters, digits, `-` and `_` of ASCII. So a name needs no quoting in a URL
/// or a page, and leads out of no folder, there being no dot or slash in it.
bool is_picture_name(std::string_view name);

/// Reads `name`.ppm of `folder`, an open directory, into `picture`. Returns 0 or an errno: that of what failed, ENOENT
/// for what is not a picture's name, EINVAL for a file of another kind or that is cut short, EFBIG for a picture beyond
/// the bounds. Throws std::bad_alloc.
int read_ppm(int folder, const std::string &name, pixels &picture);

/// `picture` at `eighths`/8 of its width and height, 1 to 8, rounded up. A pixel is the average of the area it covers
/// (a box filter, exact but for the last rounding). Throws std::bad_alloc.
pixels scaled(const pixels &picture, int eighths);

/// `picture` as the bytes of a JPEG file, by libjpeg-turbo; empty where that fails. Throws std::bad_alloc.
std::vector<unsigned char> compressed(const pixels &picture);

/// The names of the PPM files in `folder`, without `.ppm`, in alphabetical order; only those that a request can name.
/// Returns 0 or an errno. Throws std::bad_alloc.
int list_pictures(int folder, std::vector<std::string> &names);

} // namespace image
