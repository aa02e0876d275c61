// Runners that are made, used a little and ended, thousands of times: a start and an end
// that miss each other once in thousands of times hang here (BS::thread_pool#93, #107), and a
// thread that outlives its runner is seen by AddressSanitizer and ThreadSanitizer.

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw {
namespace {

std::unique_ptr<Runner> MakeRunner(Random& random) {
  const int threads = 1 + static_cast<int>(random.Below(3));
  if (random.Below(2) == 0) {
    return std::make_unique<FifoPool>(FifoPool::Options{.name = "fifo", .threads = threads});
  }
  return std::make_unique<WorkStealingPool>(
      WorkStealingPool::Options{.name = "test", .workers = threads});
}

// Counts how it ends: each task runs or is dropped, once.
class Ending final : public Task {
 public:
  Ending(std::atomic<int>& ran, std::atomic<int>& dropped)
      : Task(&Ending::End), ran_(ran), dropped_(dropped) {}

 private:
  static void End(Task* task, Verb verb) noexcept {
    auto* self = static_cast<Ending*>(task);
    ++(verb == Verb::kRun ? self->ran_ : self->dropped_);
    delete self;
  }
  std::atomic<int>& ran_;
  std::atomic<int>& dropped_;
};

TEST(ShortLivesTest, TenThousandEndCleanly) {
  Random random(1);
  for (int round = 0; round < 10'000; ++round) {
    const int tasks = static_cast<int>(random.Below(4));
    const bool cancel = random.Below(4) == 0;
    const bool wait_first = random.Below(2) == 0;
    std::atomic<int> ran{0};
    std::atomic<int> dropped{0};
    {
      const std::unique_ptr<Runner> runner = MakeRunner(random);
      for (int i = 0; i < tasks; ++i) ASSERT_TRUE(runner->Submit(new Ending(ran, dropped)));
      while (wait_first && ran.load() < tasks) sched_yield();
      if (cancel) runner->ShutdownAndWait(ShutdownMode::kCancel);
    }
    ASSERT_EQ(ran.load() + dropped.load(), tasks);
    ASSERT_TRUE(cancel || dropped.load() == 0);
  }
}

}  // namespace
}  // namespace jackdaw
