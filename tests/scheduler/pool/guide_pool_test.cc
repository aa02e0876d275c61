// The samples of the user guide about runners: which one when, names and hooks, several of them,
// tasks that block, wishes for a worker, priorities, and what a pool did. Each shows one thing, and
// is compiled and run; what stands between the marks is quoted.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/pool/background_thread.h"
#include "scheduler/pool/blocking_region.h"
#include "scheduler/pool/fifo_pool.h"
#include "scheduler/pool/main_runner.h"
#include "scheduler/pool/work_stealing_pool.h"
#include "scheduler/trace/timeline.h"
#include "scheduler/trace/trace_scope.h"

namespace jackdaw {
namespace {

TEST(GuidePoolTest, FourKindsOfRunner) {
  std::string shown;
  // sample: four-runners
  // Each before those whose tasks use it, so that it outlives them.
  MainRunner main({.name = "main"});                // This thread, while it waits.
  std::map<std::string, std::size_t> index;         // Only the owner's tasks touch it.
  BackgroundThread owner({.name = "index"});        // One thread: no lock.
  WorkStealingPool compute({.name = "compute"});    // As many threads as usable CPUs.
  FifoPool files({.name = "files", .threads = 8});  // For calls that block; oldest first.

  MainRunner::Event done(main);
  const absl::Status begun = files.Run([&] {
    const std::string text = "what a file holds";  // read(), say.
    compute
        .Run([&, text] {
          const std::size_t size = text.size();  // Something long, say.
          owner
              .Run([&, text, size] {
                index[text] = size;
                main.Run([&, size] {
                      shown = std::to_string(size);
                      done.Notify();
                    })
                    .IgnoreError();
              })
              .IgnoreError();
        })
        .IgnoreError();
  });
  const absl::Status waited = main.RunUntil(done);
  // end of sample
  EXPECT_EQ(begun, absl::OkStatus());
  EXPECT_EQ(waited, absl::OkStatus());
  EXPECT_EQ(shown, "17");
}

TEST(GuidePoolTest, NamesAndHooks) {
  std::mutex mutex;
  std::vector<int> started;
  std::vector<std::string> errors;
  {
    // sample: names-and-hooks
    WorkStealingPool pool({.name = "render",  // Threads are render.worker.0, render.worker.1.
                           .workers = 2,
                           .on_thread_start =
                               [&](int worker) {
                                 const std::lock_guard<std::mutex> lock(mutex);
                                 started.push_back(worker);
                               },
                           .on_error =
                               [&](const absl::Status& error) {
                                 const std::lock_guard<std::mutex> lock(mutex);
                                 errors.emplace_back(error.message());
                               }});
    const absl::Status accepted = pool.Run([] { throw std::string("no such scene"); });
    // end of sample
    EXPECT_EQ(accepted, absl::OkStatus());
  }
  EXPECT_THAT(started, testing::UnorderedElementsAre(0, 1));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0], testing::HasSubstr("runner 'render'"));
}

TEST(GuidePoolTest, TwoPools) {
  // sample: two-pools
  WorkStealingPool other({.name = "other", .workers = 1});
  // Declared last, so that it ends first: its tasks use the other one.
  WorkStealingPool compute({.name = "compute", .workers = 2});
  absl::Notification done;
  std::string ran_on;
  const absl::Status status = compute.Run([&] {
    // From a worker of one pool to the other: it runs there.
    other
        .Run([&] {
          ran_on = std::string(Runner::Current()->name());
          done.Notify();
        })
        .IgnoreError();
  });
  done.WaitForNotification();
  // end of sample
  EXPECT_EQ(status, absl::OkStatus());
  EXPECT_EQ(ran_on, "other");
}

TEST(GuidePoolTest, NoWorkers) {
  // sample: no-workers
  WorkStealingPool pool({.workers = 0});
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) pool.Run([&order, i] { order.push_back(i); }).IgnoreError();
  const std::int64_t ran = pool.RunUntilIdle();  // On this thread, in an order that is always same.
  // end of sample
  EXPECT_EQ(ran, 3);
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
}

TEST(GuidePoolTest, Shutdown) {
  std::atomic<int> ran{0};
  // sample: shutdown
  WorkStealingPool pool({.workers = 2});
  for (int i = 0; i < 100; ++i) pool.Run([&ran] { ran.fetch_add(1); }).IgnoreError();
  pool.ShutdownAndWait(ShutdownMode::kDrain);  // All of it runs; kCancel drops what has not begun.
  const absl::Status late = pool.Run([&ran] { ran.fetch_add(1); });
  // end of sample
  EXPECT_EQ(ran.load(), 100);
  EXPECT_TRUE(absl::IsUnavailable(late));
}

TEST(GuidePoolTest, TasksThatBlock) {
  // sample: blocking-region
  WorkStealingPool pool({.workers = 2});
  absl::Notification answered;
  absl::BlockingCounter left(2);
  for (int i = 0; i < 2; ++i) {
    pool.Run([&] {
          {
            const BlockingRegion region;     // An extra worker stands in,
            answered.WaitForNotification();  // while this one waits.
          }
          left.DecrementCount();
        })
        .IgnoreError();
  }
  pool.Run([&] { answered.Notify(); }).IgnoreError();  // Runs although both workers block.
  left.Wait();
  // end of sample
}

TEST(GuidePoolTest, WishesForAWorker) {
  std::atomic<int> sums{0};
  // sample: locality
  WorkStealingPool pool({.workers = 2});
  std::vector<std::vector<int>> shards(8, std::vector<int>(1000, 1));
  for (int round = 0; round < 3; ++round) {
    absl::BlockingCounter left(8);
    for (std::uint64_t key = 0; key < 8; ++key) {
      // The same shard to the same worker, as far as that one has time.
      const absl::Status accepted = pool.RunOn(pool.WorkerFor(key), [&, key] {
        for (const int number : shards[key]) sums.fetch_add(number);
        left.DecrementCount();
      });
      if (!accepted.ok()) left.DecrementCount();
    }
    left.Wait();
  }
  // end of sample
  EXPECT_EQ(sums.load(), 24'000);
}

TEST(GuidePoolTest, Priorities) {
  // sample: priorities
  WorkStealingPool pool({.workers = 0});
  std::vector<std::string> order;
  const auto add = [&](std::string name, Priority priority) {
    pool.Run([&order, name] { order.push_back(name); }, priority).IgnoreError();
  };
  add("report", Priority::kLow);
  add("page", Priority::kNormal);
  add("heartbeat", Priority::kHigh);
  pool.RunUntilIdle();
  EXPECT_THAT(order, testing::ElementsAre("heartbeat", "page", "report"));
  // end of sample
}

TEST(GuidePoolTest, ATimeline) {
  std::ostringstream file;
  // sample: timeline
  Timeline timeline({.name = "compute"});
  WorkStealingPool pool({.name = "compute", .workers = 2, .trace = &timeline});
  const absl::Status accepted = pool.Run([] {
    const TraceScope parse("parse");  // A part of the task, by name.
  });
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  const absl::Status written = timeline.WriteJson(file);  // For ui.perfetto.dev.
  // end of sample
  EXPECT_EQ(accepted, absl::OkStatus());
  EXPECT_EQ(written, absl::OkStatus());
  EXPECT_THAT(file.str(), testing::HasSubstr("\"parse\""));
}

// sample: trace-sink
// How many tasks each worker has stolen. Each writes its own number.
class StealCounter final : public TraceSink {
 public:
  [[nodiscard]] std::int64_t stolen_by(int worker) const {
    return stolen_[static_cast<std::size_t>(worker)].load();
  }
  void Steals(int thief, int, const Task&) noexcept override {
    stolen_[static_cast<std::size_t>(thief)].fetch_add(1);
  }
  void TaskBegins(int, const Task&, Origin) noexcept override {}
  void TaskEnds(int) noexcept override {}
  void Spawns(int, const Task&) noexcept override {}
  void Parks(int) noexcept override {}
  void Unparks(int) noexcept override {}
  void ScopeBegins(int, const char*) noexcept override {}
  void ScopeEnds(int) noexcept override {}

 private:
  std::vector<std::atomic<std::int64_t>> stolen_ = std::vector<std::atomic<std::int64_t>>(16);
};
// end of sample

TEST(GuidePoolTest, ASinkOfYourOwn) {
  StealCounter counter;
  WorkStealingPool pool({.workers = 2, .max_blocked = 0, .trace = &counter});
  std::atomic<int> ran_by{-1};
  const absl::Status accepted = pool.Run([&] {
    WorkerContext::Current()->Push(
        MakeTask([&] { ran_by.store(WorkerContext::Current()->index()); }));
    while (ran_by.load() < 0) sched_yield();
  });
  pool.ShutdownAndWait(ShutdownMode::kDrain);
  EXPECT_EQ(accepted, absl::OkStatus());
  EXPECT_EQ(counter.stolen_by(ran_by.load()), 1);
}

}  // namespace
}  // namespace jackdaw
