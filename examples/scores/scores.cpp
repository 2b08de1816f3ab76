// The nodes of scores.flux. The database is one flow's at a time: scores.flux says so.
#include "scores.flux.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <sqlite3.h>
#include <stdexcept>

static sqlite3 *scores;

// The rows that a query gives, a line each. Its values are as those of printf; %Q is a text, in quotes.
static std::string query(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *const sql = sqlite3_vmprintf(format, values);
    va_end(values);
    const auto append_row = [](void *rows, int count, char **columns, char **) {
        for (int number = 0; number < count; ++number) {
            *static_cast<std::string *>(rows) += std::string(columns[number]) + (number + 1 < count ? ' ' : '\n');
        }
        return 0;
    };
    std::string rows;
    const int result = sqlite3_exec(scores, sql, append_row, &rows, nullptr);
    sqlite3_free(sql);
    if (result != SQLITE_OK) {
        throw std::runtime_error(sqlite3_errmsg(scores));
    }
    return rows;
}

// Called once, before the first flow. Where it gives an error the server does not start, and says why.
int init(const server_options &options, std::string &why)
try {
    sqlite3_open(options.database, &scores);
    query("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS score (name TEXT PRIMARY KEY, points INT)");
    return 0;
} catch (const std::runtime_error &error) {
    why = std::string(options.database) + ": " + error.what();
    return 1;
}

bool IsAdd(std::string line)
{
    return line.starts_with("ADD ");
}

int Add(Add_in *in, Add_out *out)
{
    char name[64];
    int points;
    if (std::sscanf(in->line.c_str(), "ADD %63s %d", name, &points) != 2) {
        return EINVAL;
    }
    out->bytes = "OK " + query("INSERT INTO score VALUES (%Q, %d) ON CONFLICT (name) DO UPDATE "
                               "SET points = points + excluded.points RETURNING points", name, points);
    return 0;
}

int Top(Top_in *in, Top_out *out)
{
    int count = 0;
    if (std::sscanf(in->line.c_str(), "TOP %d", &count) != 1) {
        return EINVAL;
    }
    out->bytes = query("SELECT name, points FROM score ORDER BY points DESC, name LIMIT %d", count) + ".\n";
    return 0;
}

int Explain(Explain_in *, Explain_out *out)
{
    out->bytes = "ERROR: ADD name points, or TOP count\n";
    return 0;
}
