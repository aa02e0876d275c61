// ForkMark: tells whether the process is still the one in which the mark was made. After a
// fork() the child has the memory of a pool but none of its threads, and locks that may be held
// by nobody: a runner with threads is dead there. It refuses work and waits for nothing.
//
// Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_POOL_FORK_MARK_H_
#define JACKDAW_SCHEDULER_POOL_FORK_MARK_H_

#include <atomic>
#include <cstdint>

namespace jackdaw {

class ForkMark {
 public:
  ForkMark();

  // Whether this is a child of the process in which the mark was made. One relaxed load: only
  // fork() changes the number, before any thread of the child can read it.
  [[nodiscard]] bool InChild() const {
    return forks_.load(std::memory_order_relaxed) != forks_before_;
  }

 private:
  static void OnForkInChild();

  static std::atomic<std::uint32_t> forks_;  // Between the first process and this one.
  const std::uint32_t forks_before_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_FORK_MARK_H_
