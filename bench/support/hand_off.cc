#include "bench/support/hand_off.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "bench/support/compare.h"

namespace jackdaw::bench {
namespace {

using Word = std::atomic<std::uint32_t>;

void Post(Word& word, std::uint32_t value) {
  word.store(value);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, 1, nullptr,
          nullptr, 0);
}

void Await(Word& word, std::uint32_t value) {
  std::uint32_t seen = 0;
  while ((seen = word.load()) != value) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, nullptr,
            nullptr, 0);
  }
}

}  // namespace

double HandOffMicros(int rounds) {
  Word ping{0};
  Word pong{0};
  const auto last = static_cast<std::uint32_t>(rounds);
  std::thread other([&] {
    for (std::uint32_t i = 1; i <= last; ++i) {
      Await(ping, i);
      Post(pong, i);
    }
  });
  std::vector<double> micros;
  for (std::uint32_t i = 1; i <= last; ++i) {
    const double start = Now();
    Post(ping, i);
    Await(pong, i);
    micros.push_back(1e6 * (Now() - start) / 2);
  }
  other.join();
  std::nth_element(micros.begin(), micros.begin() + rounds / 2, micros.end());
  return micros[static_cast<std::size_t>(rounds) / 2];
}

}  // namespace jackdaw::bench
