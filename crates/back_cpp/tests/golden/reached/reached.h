// What the program of values that are reached includes.
#pragma once

// A value that counts how often one is copied, and how often moved.
struct counted {
    static inline int copies = 0;
    static inline int moves = 0;

    counted() = default;
    counted(const counted &other) : number(other.number)
    {
        copies++;
    }
    counted(counted &&other) noexcept : number(other.number)
    {
        other.number = -1;
        moves++;
    }
    counted &operator=(const counted &other)
    {
        number = other.number;
        copies++;
        return *this;
    }
    counted &operator=(counted &&other) noexcept
    {
        number = other.number;
        other.number = -1;
        moves++;
        return *this;
    }
    ~counted() = default;

    int number = 0;
};
