// Priority: what goes before what, of a pool's tasks and of a job's.

#ifndef JACKDAW_SCHEDULER_BASE_PRIORITY_H_
#define JACKDAW_SCHEDULER_BASE_PRIORITY_H_

#include <cstdint>

namespace jackdaw {

enum class Priority : std::uint8_t { kLow, kNormal, kHigh };
inline constexpr int kPriorityCount = 3;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_BASE_PRIORITY_H_
