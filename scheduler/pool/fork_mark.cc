#include "scheduler/pool/fork_mark.h"

#include <pthread.h>

namespace jackdaw {

std::atomic<std::uint32_t> ForkMark::forks_{0};

void ForkMark::OnForkInChild() { forks_.fetch_add(1, std::memory_order_relaxed); }

ForkMark::ForkMark() : forks_before_(forks_.load(std::memory_order_relaxed)) {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, &OnForkInChild);
}

}  // namespace jackdaw
