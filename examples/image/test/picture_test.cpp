// Pictures: which PPM files are taken, what scaling does to pixels, and that a JPEG comes out.
#include "../picture.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>

using namespace std::literals;
using image::pixels;

namespace {

/// A picture of `width` by `height` pixels with the colours that `color(x, y, channel)` gives.
template <typename Color> pixels paint(int width, int height, Color color)
{
    pixels picture{width, height, nullptr};
    picture.rgb = std::make_unique<__u8[]>(picture.size_bytes());
    std::size_t at = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (int channel = 0; channel < 3; ++channel)
                picture.rgb[at++] = static_cast<__u8>(color(x, y, channel));
    return picture;
}

/// A folder that is gone after the test.
class PictureFolder : public testing::Test {
protected:
    void SetUp() override
    {
        path_ = testing::TempDir() + "pictures-XXXXXX";
        ASSERT_NE(mkdtemp(path_.data()), nullptr);
        folder_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY);
        ASSERT_GE(folder_, 0);
    }

    void TearDown() override
    {
        close(folder_);
        ASSERT_EQ(std::system(("rm -rf '" + path_ + "'").c_str()), 0);
    }

    void write(const std::string &file, const std::string &content)
    {
        std::ofstream(path_ + "/" + file, std::ios::binary) << content;
    }

    int read(const std::string &name)
    {
        picture_ = {};
        return image::read_ppm(folder_, name, picture_);
    }

    std::string path_;
    int folder_ = -1;
    pixels picture_;
};

/// The exact average that a scaled pixel should be, from the definition, in real numbers.
double average(const pixels &picture, int eighths, int x, int y, int channel)
{
    const auto overlap = [eighths](int source, int target) {
        const double from = std::max<double>(source, target * 8.0 / eighths);
        const double to = std::min<double>(source + 1, (target + 1) * 8.0 / eighths);
        return std::max(0.0, to - from);
    };
    double sum = 0;
    double area = 0;
    for (int row = 0; row < picture.height; ++row) {
        for (int column = 0; column < picture.width; ++column) {
            const double weight = overlap(row, y) * overlap(column, x);
            const std::size_t at = (static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.width) +
                                    static_cast<std::size_t>(column)) * 3 + static_cast<std::size_t>(channel);
            sum += weight * picture.rgb[at];
            area += weight;
        }
    }
    return sum / area;
}

} // namespace

TEST(PpmHeader, IsRead)
{
    const auto plain = image::read_ppm_header("P6\n1600 1000\n255\nxyz");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->width, 1600);
    EXPECT_EQ(plain->height, 1000);
    EXPECT_EQ(plain->length, "P6\n1600 1000\n255\n"s.size());

    const auto commented = image::read_ppm_header("P6# one\n# two\n 3\t# three\n4\r\n255 ");
    ASSERT_TRUE(commented);
    EXPECT_EQ(commented->width, 3);
    EXPECT_EQ(commented->height, 4);
    EXPECT_TRUE(image::read_ppm_header("P6 65500 65500 255\n"));
}

TEST(PpmHeader, OfAnotherKindIsRefused)
{
    const std::string bad[] = {
        "",
        "P",
        "P6",
        "P6\n",
        "P5\n1 1\n255\n",
        "P3\n1 1\n255\n",
        "P6\n1 1\n255",
        "P6\n1 1\n",
        "P6\n1\n",
        "P61 1 255\n",
        "P6\n0 1\n255\n",
        "P6\n1 0\n255\n",
        "P6\n-1 1\n255\n",
        "P6\n+1 1\n255\n",
        "P6\n1 1\n254\n",
        "P6\n1 1\n65535\n",
        "P6\n65501 1\n255\n",
        "P6\n1 99999999999999999999\n255\n",
        "P6\n1 4294967297\n255\n",
        "P6\n1x1\n255\n",
        "P6\n1 1\n255#\n",
        "P6\n# a comment without an end",
        "P6\n1 1 255x",
        "p6\n1 1\n255\n",
        "P6\n1\0 1\n255\n"s,
    };
    for (const std::string &header : bad)
        EXPECT_FALSE(image::read_ppm_header(header)) << header;
}

TEST(PpmHeader, AnyCutAndAnyChangeIsHarmless)
{
    const std::string good = "P6\n# made by hand\n12 34\n255\n";
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_FALSE(image::read_ppm_header(good.substr(0, length))) << length;
    std::mt19937 random(6);
    for (int round = 0; round < 100'000; ++round) {
        std::string bad = good;
        for (unsigned change = 0; change <= random() % 3; ++change)
            bad[random() % bad.size()] = static_cast<char>(random());
        if (const auto header = image::read_ppm_header(bad)) {
            EXPECT_GE(header->width, 1);
            EXPECT_GE(header->height, 1);
            EXPECT_LE(header->width, image::max_side);
            EXPECT_LE(header->height, image::max_side);
            EXPECT_LE(header->length, bad.size());
        }
    }
}

TEST_F(PictureFolder, APictureIsRead)
{
    write("one.ppm", "P6\n2 1\n255\nabcdef");
    ASSERT_EQ(read("one"), 0);
    EXPECT_EQ(picture_.width, 2);
    EXPECT_EQ(picture_.height, 1);
    ASSERT_EQ(picture_.size_bytes(), 6U);
    EXPECT_EQ(std::string(picture_.rgb.get(), picture_.rgb.get() + 6), "abcdef");
}

TEST_F(PictureFolder, WhatFollowsThePixelsIsLeftAlone)
{
    write("two.ppm", "P6\n1 1\n255\nabcP6\n1 1\n255\ndef");
    ASSERT_EQ(read("two"), 0);
    EXPECT_EQ(std::string(picture_.rgb.get(), picture_.rgb.get() + 3), "abc");
}

TEST_F(PictureFolder, BadFilesAreErrors)
{
    write("short.ppm", "P6\n2 1\n255\nabcde");
    write("liar.ppm", "P6\n9000 9000\n255\nabc");
    write("vast.ppm", "P6\n65500 65500\n255\nabc");
    write("empty.ppm", "");
    write("jpeg.ppm", "\xff\xd8\xff\xe0 and so on");
    ASSERT_EQ(mkdir((path_ + "/folder.ppm").c_str(), 0700), 0);
    ASSERT_EQ(mkfifo((path_ + "/pipe.ppm").c_str(), 0600), 0);
    EXPECT_EQ(read("short"), EINVAL);
    EXPECT_EQ(read("liar"), EINVAL);
    EXPECT_EQ(read("vast"), EFBIG);
    EXPECT_EQ(read("empty"), EINVAL);
    EXPECT_EQ(read("jpeg"), EINVAL);
    EXPECT_EQ(read("folder"), EINVAL);
    EXPECT_EQ(read("pipe"), EINVAL);
    EXPECT_EQ(read("missing"), ENOENT);
    EXPECT_EQ(read(std::string(300, 'a')), ENAMETOOLONG);
    EXPECT_EQ(picture_.rgb, nullptr);
}

TEST_F(PictureFolder, NoNameLeadsOutOfTheFolder)
{
    ASSERT_EQ(mkdir((path_ + "/inner").c_str(), 0700), 0);
    write("outside.ppm", "P6\n1 1\n255\nabc");
    const int inner = open((path_ + "/inner").c_str(), O_RDONLY | O_DIRECTORY);
    for (const std::string &name : {"../outside"s, path_ + "/outside", "./../outside"s, ""s, "a/../../outside"s})
        EXPECT_EQ(image::read_ppm(inner, name, picture_), ENOENT) << name;
    close(inner);
    EXPECT_EQ(read("outside"), 0);
}

TEST_F(PictureFolder, PicturesAreListed)
{
    for (const char *file : {"b.ppm", "a-1_B.ppm", "c.jpg", ".hidden.ppm", ".ppm", "a b.ppm", "x\".ppm", "dot.dot.ppm"})
        write(file, "");
    std::vector<std::string> names;
    ASSERT_EQ(image::list_pictures(folder_, names), 0);
    EXPECT_EQ(names, (std::vector<std::string>{"a-1_B", "b"}));
    EXPECT_EQ(image::list_pictures(-1, names), EBADF);
}

TEST(Scaling, IsTheAverageOfTheAreaCovered)
{
    std::mt19937 random(8);
    for (const auto &[width, height] : {std::pair{1, 1}, {2, 3}, {7, 5}, {8, 8}, {16, 24}, {17, 9}, {31, 33}}) {
        const pixels picture = paint(width, height, [&](int, int, int) { return random() % 256; });
        for (int eighths = 1; eighths <= 8; ++eighths) {
            const pixels small = image::scaled(picture, eighths);
            ASSERT_EQ(small.width, (width * eighths + 7) / 8);
            ASSERT_EQ(small.height, (height * eighths + 7) / 8);
            std::size_t at = 0;
            for (int y = 0; y < small.height; ++y)
                for (int x = 0; x < small.width; ++x)
                    for (int channel = 0; channel < 3; ++channel)
                        ASSERT_NEAR(small.rgb[at++], average(picture, eighths, x, y, channel), 0.5001)
                            << width << "x" << height << " at " << eighths << ": " << x << ", " << y;
        }
    }
}

TEST(Scaling, ToEightEighthsChangesNothing)
{
    std::mt19937 random(9);
    const pixels picture = paint(13, 11, [&](int, int, int) { return random() % 256; });
    const pixels same = image::scaled(picture, 8);
    EXPECT_TRUE(std::equal(picture.rgb.get(), picture.rgb.get() + picture.size_bytes(), same.rgb.get()));
}

TEST(Scaling, KeepsWhiteWhite)
{
    const pixels small = image::scaled(paint(97, 41, [](int, int, int) { return 255; }), 3);
    for (std::size_t at = 0; at < small.size_bytes(); ++at)
        ASSERT_EQ(small.rgb[at], 255);
}

TEST(Compressing, GivesAJpegOfThePicture)
{
    const pixels picture = paint(160, 100, [](int x, int y, int channel) { return channel * 40 + (x + y) / 2; });
    const std::vector<unsigned char> jpeg = image::compressed(picture);
    ASSERT_FALSE(jpeg.empty());
    EXPECT_LT(jpeg.size(), picture.size_bytes() / 10);

    const std::unique_ptr<void, int (*)(tjhandle)> reader(tjInitDecompress(), tjDestroy);
    pixels back = paint(160, 100, [](int, int, int) { return 0; });
    ASSERT_EQ(tjDecompress2(reader.get(), jpeg.data(), jpeg.size(), back.rgb.get(), 160, 0, 100, TJPF_RGB, 0), 0);
    double error = 0;
    for (std::size_t at = 0; at < picture.size_bytes(); ++at)
        error += std::abs(int{picture.rgb[at]} - int{back.rgb[at]});
    EXPECT_LT(error / static_cast<double>(picture.size_bytes()), 3.0);
}

TEST(Compressing, TakesTheSmallestPicture)
{
    EXPECT_FALSE(image::compressed(paint(1, 1, [](int, int, int) { return 7; })).empty());
}
