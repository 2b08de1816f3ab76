// The request of one flow, as image.flux hands it from node to node.
//
// A flow makes its image_tag in ReadRequest and owns it until Complete or FourOhFour frees it. Nobody else sees it, so
// no node needs a constraint to read or write it; only the cache's entry behind `cached` is shared.
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace image {
struct cached_picture;
} // namespace image

/// What a client asked for, and what it will be sent.
struct image_tag {
    /// The picture's name, without `.jpg`; empty where the path names no picture that there could be.
    std::string name;
    /// Eighths of the picture's own width and height, 1 to 8.
    int scale = 8;
    /// What the picture is called in the cache: name, slash, scale. No name has a slash in it, so no two share one.
    std::string key;
    /// True where the path is `/`: the list of pictures.
    bool listing = false;
    /// True for HEAD: the answer's head alone is sent.
    bool head_only = false;

    /// The size in pixels of the picture read from disk, at full scale.
    int width = 0;
    int height = 0;

    /// The HTTP status of the answer; where it is not 200, the answer is a page that says so.
    int status = 200;
    /// The media type of the answer.
    const char *content_type = "image/jpeg";
    /// The answer's body, where it is not in the cache.
    std::vector<unsigned char> body;
    /// The cache's entry that is the answer's body, on which this flow holds a reference; null where there is none.
    const image::cached_picture *cached = nullptr;
};

/// How large it is, for the profile: so `flux profile` shows how large the pictures are that `Compress` makes.
inline std::size_t flux_size(const image_tag *of) noexcept
{
    return of->body.size();
}

/// Reads the command line and starts listening; what is wrong with it ends the program. The Flux runtime calls this
/// once, before the first flow.
void init(int argc, char **argv);
