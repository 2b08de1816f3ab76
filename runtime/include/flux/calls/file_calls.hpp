/// \file
/// Files by their names, what is said to disks, locks on files, and queues of messages. What the kernel has in memory
/// is answered at once; for the rest a thread beside the loop waits.
#pragma once

/// Rows of the table of calls (`call_table.hpp`).
#define FLUX_FILE_CALLS(call) \
    call(open, handed_over, "at once what the kernel has in memory") \
    call(open64, handed_over, "") \
    call(openat, handed_over, "") \
    call(openat64, handed_over, "") \
    call(__open_2, handed_over, "as open") \
    call(__open64_2, handed_over, "as open") \
    call(__openat_2, handed_over, "as open") \
    call(stat, handed_over, "as open") \
    call(stat64, handed_over, "") \
    call(lstat, handed_over, "") \
    call(lstat64, handed_over, "") \
    call(fstatat, handed_over, "") \
    call(access, handed_over, "as open") \
    call(fsync, handed_over, "") \
    call(fdatasync, handed_over, "") \
    call(syncfs, handed_over, "") \
    call(ftruncate, handed_over, "") \
    call(truncate, handed_over, "") \
    call(unlink, handed_over, "") \
    call(rename, handed_over, "") \
    call(mkdir, handed_over, "") \
    call(rmdir, handed_over, "") \
    call(opendir, handed_over, "") \
    call(realpath, handed_over, "") \
    call(flock, handed_over, "where it is taken") \
    call(fcntl, handed_over, "F_SETLKW and F_OFD_SETLKW where it is taken; the rest goes straight on") \
    call(fcntl64, handed_over, "") \
    call(lockf, handed_over, "F_LOCK where it is taken") \
    call(mq_timedreceive, handed_over, "") \
    call(mq_receive, handed_over, "where it is empty") \
    call(mq_timedsend, handed_over, "") \
    call(mq_send, handed_over, "where it is full")
