// Cases that wait for files, processes and name servers, and what is thrown across a wait.
#include "cases.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <netdb.h>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

/// A pipe with a name, in which another writes a line late.
class slow_file
{
  public:
    slow_file()
    {
        char folder[] = "/tmp/flux-blocking-XXXXXX";
        folder_ = mkdtemp(folder);
        path_ = folder_ + "/pipe";
        mkfifo(path_.c_str(), 0600);
        writer_ = std::jthread([path = path_] {
            std::this_thread::sleep_for(150ms);
            std::ofstream file(path);
            std::this_thread::sleep_for(150ms);
            file << "late line\n";
        });
    }
    ~slow_file()
    {
        writer_.join();
        std::filesystem::remove_all(folder_);
    }
    slow_file(const slow_file &) = delete;

    const char *path() const { return path_.c_str(); }

  private:
    std::string folder_;
    std::string path_;
    std::jthread writer_;
};

std::string by_ifstream()
{
    const slow_file slow;
    std::ifstream file(slow.path());
    std::string line;
    std::getline(file, line);
    return line;
}

std::string by_fread()
{
    const slow_file slow;
    std::FILE *const file = std::fopen(slow.path(), "r");
    char bytes[9];
    const std::size_t got = std::fread(bytes, 1, sizeof bytes, file);
    std::fclose(file);
    return {bytes, got};
}

std::string by_popen()
{
    std::FILE *const output = popen("sleep 0.3; echo late line", "r");
    char line[100] = {};
    const bool is_read = std::fgets(line, sizeof line, output) != nullptr;
    line[std::strcspn(line, "\n")] = '\0';
    return is_read && pclose(output) == 0 ? line : "nothing";
}

std::string by_system()
{
    return std::to_string(WEXITSTATUS(std::system("sleep 0.3; exit 3")));
}

std::string by_waitpid()
{
    char name[] = "sleep";
    char time[] = "0.3";
    char *const arguments[] = {name, time, nullptr};
    pid_t child = 0;
    int status = -1;
    if (posix_spawnp(&child, name, nullptr, nullptr, arguments, environ) != 0 || waitpid(child, &status, 0) != child) {
        return "no child";
    }
    return std::to_string(status);
}

/// Its name server does not answer.
std::string name()
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *found = nullptr;
    const int error = getaddrinfo("nowhere.flux.test", "80", &hints, &found);
    if (error == 0) {
        freeaddrinfo(found);
    }
    return error == EAI_AGAIN ? "nobody answers" : error == 0 ? "found" : gai_strerror(error);
}

/// What is thrown stays this flow's across a wait.
std::string throws()
{
    static std::atomic<int> number{0};
    const std::string own = "error" + std::to_string(++number);
    try {
        try {
            throw std::runtime_error(own);
        } catch (const std::exception &) {
            std::this_thread::sleep_for(300ms);
            throw;
        }
    } catch (const std::exception &error) {
        return error.what() == own ? "its own" : "another's";
    }
}

/// Waits while an exception goes through it.
struct waits_at_its_end {
    ~waits_at_its_end()
    {
        std::this_thread::sleep_for(300ms);
        under_way = std::uncaught_exceptions();
    }

    int &under_way;
};

std::string unwinds()
{
    static std::atomic<int> number{0};
    const std::string own = "error" + std::to_string(++number);
    int under_way = 0;
    try {
        const waits_at_its_end first{under_way};
        throw std::runtime_error(own);
    } catch (const std::exception &error) {
        return error.what() == own && under_way == 1 && std::uncaught_exceptions() == 0 ? "its own" : "another's";
    }
}

} // namespace

case_map system_cases()
{
    return {
        {"ifstream", by_ifstream}, {"fread", by_fread}, {"popen", by_popen},  {"system", by_system},
        {"waitpid", by_waitpid},   {"name", name},      {"throw", throws},    {"unwind", unwinds},
    };
}
