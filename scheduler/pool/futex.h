// Futex: lets a thread sleep on a 32-bit word until another thread changes it. The word
// carries the meaning; this only saves the sleeper from watching it.
//
// Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_POOL_FUTEX_H_
#define JACKDAW_SCHEDULER_POOL_FUTEX_H_

#include <atomic>
#include <cstdint>

namespace jackdaw {

class Futex {
 public:
  // Sleeps if `word` still holds `expected`. Returns after a Wake() on the word, at once if
  // it differs, and now and then for no reason: look at the word again.
  static void Wait(std::atomic<std::uint32_t>& word, std::uint32_t expected);

  // Wakes a thread that sleeps on `word`, if there is one. The word may be dead by the time
  // of the call, so the address is all that is used of it.
  static void Wake(std::atomic<std::uint32_t>& word);
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_FUTEX_H_
