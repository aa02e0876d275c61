// The distance that keeps two hot words from slowing each other down.

#ifndef JACKDAW_SCHEDULER_BASE_CACHE_LINE_H_
#define JACKDAW_SCHEDULER_BASE_CACHE_LINE_H_

#include <cstddef>

namespace jackdaw {

// Two lines of 64 bytes: current x86 prefetches lines in adjacent pairs, and the
// line of recent 64-bit Arm cores is 128 bytes.
inline constexpr std::size_t kCacheLine = 128;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_CACHE_LINE_H_
