/// \file
/// What is written to standard error while this exists. Unlike what GoogleTest captures, it can be read while more
/// comes: no line is lost between two looks.
#pragma once

#include <string>
#include <sys/mman.h>
#include <unistd.h>

class captured_standard_error
{
  public:
    captured_standard_error() : before_(dup(STDERR_FILENO)), into_(memfd_create("standard error", MFD_CLOEXEC))
    {
        dup2(into_, STDERR_FILENO);
    }
    captured_standard_error(const captured_standard_error &) = delete;
    captured_standard_error &operator=(const captured_standard_error &) = delete;
    ~captured_standard_error()
    {
        dup2(before_, STDERR_FILENO);
        close(before_);
        close(into_);
    }

    /// All so far.
    std::string said() const
    {
        std::string all(static_cast<std::size_t>(lseek(into_, 0, SEEK_CUR)), '\0');
        const ssize_t size = pread(into_, all.data(), all.size(), 0);
        all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return all;
    }
    bool has_said(const std::string &text) const { return said().find(text) != std::string::npos; }

  private:
    const int before_;
    const int into_;
};
