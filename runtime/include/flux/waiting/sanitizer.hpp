/// \file
/// Whether this is compiled for a sanitizer. Sanitizers track every stack, so they must be told when the thread
/// switches from one to another.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define FLUX_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define FLUX_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLUX_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define FLUX_THREAD_SANITIZER 1
#endif
#endif

namespace flux {

#ifdef FLUX_ADDRESS_SANITIZER
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

#ifdef FLUX_THREAD_SANITIZER
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

} // namespace flux
