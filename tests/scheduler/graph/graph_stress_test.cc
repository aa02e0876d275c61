// The graph under many threads at once, on more workers than the machine has processors.
// Method: clients that do everything a client can, in no order; shapes that make one task or one
// counter hot; ends of attempts that race each other. What it cannot see: interleavings
// that do not happen here, and wrong order within a job (see random_graph_test.cc).

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/graph/graph_fixture.h"

namespace jackdaw {
namespace {

constexpr int kWorkers = 8;

// An engine on the machine's clock.
class GraphStressTest : public testing::Test {
 protected:
  std::shared_ptr<Job> Create(std::string id, TaskBatch batch, bool seal = true) {
    auto job = engine.Create({.id = std::move(id)}, std::move(batch), seal);
    EXPECT_TRUE(job.ok()) << job.status();
    return *job;
  }
  static std::int64_t CountOf(const Job& job, TaskState state) {
    return job.Snapshot().tasks[static_cast<std::size_t>(state)];
  }

  WorkStealingPool pool{{.workers = kWorkers}};
  TimerQueue timers;
  JobEngine engine{{.pool = &pool, .timers = &timers}};
};

std::shared_ptr<Action> Counting(std::atomic<std::int64_t>& runs, bool instant) {
  return MakeAction(
      [&runs](Attempt&) {
        runs.fetch_add(1, std::memory_order_relaxed);
        return Ok();
      },
      {.instant = instant});
}

void ExpectSound(const JobSnapshot& seen) {
  std::int64_t sum = 0;
  for (const std::int64_t count : seen.tasks) {
    EXPECT_GE(count, 0);
    sum += count;
  }
  EXPECT_EQ(sum, seen.task_count);
}

// A layered batch: each task of a layer after two of the layer before.
TaskBatch Layers(const std::shared_ptr<Action>& action, std::uint32_t layers, std::uint32_t width) {
  BatchBuilder b;
  const std::uint32_t kind = b.Kind(action);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    for (std::uint32_t i = 0; i < width; ++i) {
      if (layer == 0) b.Task(kind);
      if (layer == 0) continue;
      const std::uint32_t above = (layer - 1) * width;
      b.Task(kind, {TaskBatch::InBatch(above + i), TaskBatch::InBatch(above + (i + 1) % width)});
    }
  }
  return b.Take();
}

TEST_F(GraphStressTest, ClientsDoEverythingAtOnce) {
  constexpr int kClients = 6;
  constexpr int kRounds = 150;
  std::atomic<std::int64_t> runs{0};
  std::atomic<std::int64_t> done{0};
  const std::shared_ptr<Action> actions[] = {Counting(runs, /*instant=*/false),
                                             Counting(runs, /*instant=*/true)};
  const auto client = [&](int c) {
    Random random(static_cast<std::uint64_t>(c));
    for (int round = 0; round < kRounds; ++round) {
      const auto& action = actions[random.Below(2)];
      const auto width = static_cast<std::uint32_t>(1 + random.Below(20));
      auto job = Create(absl::StrCat(c, "/", round), Layers(action, 5, width), /*seal=*/false);
      job->OnDone([&done] { ++done; });
      std::atomic<int> notified{0};
      const Job::WatcherId watcher = job->AddWatcher([&notified] { ++notified; });
      for (std::uint64_t n = random.Below(4); n > 0; --n) {
        EXPECT_TRUE(job->Add(Layers(action, 3, width)).ok());
        ExpectSound(job->Snapshot());
      }
      const std::uint64_t end = random.Below(3);
      if (end == 0) job->Cancel(absl::CancelledError("a client's choice"));
      job->Close();
      if (end == 1) job->Wait();
      job->RemoveWatcher(watcher);
      ExpectSound(job->Snapshot());
    }  // Most jobs are dropped while they run.
  };
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) clients.emplace_back(client, c);
  for (std::thread& thread : clients) thread.join();
  while (engine.stats().jobs_active > 0) sched_yield();
  EXPECT_EQ(done, kClients * kRounds);
  EXPECT_EQ(engine.stats().ready_tasks, 0);
  EXPECT_GT(runs, 0);
}

TEST_F(GraphStressTest, FanInOfAThousandRunsItsEndOnceThreeHundredTimes) {
  std::atomic<std::int64_t> runs{0};
  std::atomic<std::int64_t> ends{0};
  for (int round = 0; round < 300; ++round) {
    BatchBuilder b;
    const std::uint32_t kind = b.Kind(Counting(runs, /*instant=*/round % 2 == 0));
    std::vector<std::uint32_t> all;
    for (int i = 0; i < 1000; ++i) all.push_back(b.Task(kind));
    b.Task(b.Kind(Counting(ends, /*instant=*/false)), all);
    auto job = Create(absl::StrCat(round), b.Take());
    job->Wait();
    ASSERT_EQ(ends, round + 1);
    ASSERT_EQ(runs, 1000 * (round + 1));
    ASSERT_EQ(job->state(), JobState::kSucceeded);
  }
}

TEST_F(GraphStressTest, ChainOfAHundredThousandTasks) {
  constexpr int kTasks = 100'000;
  for (const bool instant : {false, true}) {
    std::atomic<std::int64_t> runs{0};
    BatchBuilder b;
    const std::uint32_t kind = b.Kind(Counting(runs, instant));
    std::uint32_t last = b.Task(kind);
    for (int i = 1; i < kTasks; ++i) last = b.Task(kind, {last});
    auto job = Create(absl::StrCat("chain ", instant), b.Take());
    job->Wait();
    EXPECT_EQ(runs, kTasks);
    EXPECT_EQ(CountOf(*job, TaskState::kSucceeded), kTasks);
  }
}

TEST_F(GraphStressTest, FanOutThenInOfAHundredThousandTasks) {
  constexpr int kTasks = 100'000;
  for (const bool instant : {false, true}) {
    std::atomic<std::int64_t> runs{0};
    BatchBuilder b;
    const std::uint32_t kind = b.Kind(Counting(runs, instant));
    const std::uint32_t root = b.Task(kind);
    std::vector<std::uint32_t> all;
    for (int i = 0; i < kTasks; ++i) all.push_back(b.Task(kind, {root}));
    b.Task(kind, all);
    auto job = Create(absl::StrCat("fan ", instant), b.Take());
    job->Wait();
    EXPECT_EQ(runs, kTasks + 2);
    EXPECT_EQ(CountOf(*job, TaskState::kSucceeded), kTasks + 2);
  }
}

TEST_F(GraphStressTest, FailureSkipsAHundredThousandTasksInAChain) {
  constexpr int kTasks = 100'000;
  BatchBuilder b;
  const std::uint32_t noop = b.Kind(Noop());
  std::uint32_t last =
      b.Task(MakeAction([](Attempt&) { return Failure(absl::InternalError("the first")); }));
  for (int i = 1; i < kTasks; ++i) last = b.Task(noop, {last});
  auto job = Create("skips", b.Take());
  job->Wait();
  EXPECT_EQ(CountOf(*job, TaskState::kSkipped), kTasks - 1);
}

TEST_F(GraphStressTest, RemovedWatcherIsNeverCalledAgainAndCountsAddUpAllTheTime) {
  std::atomic<std::int64_t> runs{0};
  for (int round = 0; round < 20; ++round) {
    auto job = Create(absl::StrCat(round),
                      Layers(Counting(runs, /*instant=*/round % 2 == 0), 200, 20), /*seal=*/false);
    std::atomic<bool> stop{false};
    std::atomic<int> late{0};
    const auto watch = [&] {
      std::uint64_t revision = 0;
      while (!stop) {
        auto removed = std::make_shared<std::atomic<bool>>(false);
        const Job::WatcherId id = job->AddWatcher([removed, &late] {
          if (*removed) ++late;
        });
        const JobChanges changes = job->ChangesSince(revision);
        EXPECT_GE(changes.revision, revision);
        revision = changes.revision;
        job->RemoveWatcher(id);
        *removed = true;
        ExpectSound(job->Snapshot());
      }
    };
    std::thread watchers[] = {std::thread(watch), std::thread(watch)};
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(job->Add(Layers(Noop(), 10, 10)).ok());
    job->Close();
    job->Wait();
    stop = true;
    for (std::thread& thread : watchers) thread.join();
    EXPECT_EQ(late, 0);
    EXPECT_EQ(CountOf(*job, TaskState::kSucceeded), 200 * 20 + 20 * 100);
  }
}

TEST_F(GraphStressTest, WatcherIsToldOfTheEnd) {
  for (int round = 0; round < 500; ++round) {
    auto job = Create(absl::StrCat(round), Layers(Noop(), 3, 4), /*seal=*/false);
    absl::Notification told;
    const Job::WatcherId id = job->AddWatcher([&] {
      if (IsTerminal(job->state()) && !told.HasBeenNotified()) told.Notify();
    });
    job->Close();
    if (IsTerminal(job->state())) {
      job->RemoveWatcher(id);
      continue;
    }
    told.WaitForNotification();
    job->RemoveWatcher(id);
  }
}

// Attempts that go on elsewhere, ended by two threads as fast as they come.
class Enders {
 public:
  Enders() {
    for (std::thread& thread : threads_) thread = std::thread([this] { Loop(); });
  }
  ~Enders() {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
    }
    for (std::thread& thread : threads_) thread.join();
  }
  void Add(std::shared_ptr<DetachedAttempt> attempt) {
    absl::MutexLock lock(&mutex_);
    attempts_.push_back(std::move(attempt));
  }

 private:
  void Loop() {
    const auto woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return ended_ || !attempts_.empty();
    };
    while (true) {
      std::shared_ptr<DetachedAttempt> attempt;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(&woken));
        if (attempts_.empty()) return;
        attempt = std::move(attempts_.back());
        attempts_.pop_back();
      }
      attempt->Finish(Ok("out"));
    }
  }

  absl::Mutex mutex_;
  std::vector<std::shared_ptr<DetachedAttempt>> attempts_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::array<std::thread, 2> threads_;
};

TEST_F(GraphStressTest, FinishRacesCancelAndTimeouts) {
  ConcurrencyLimit limit(16);
  Enders enders;
  const auto action = MakeAction(
      [&enders](Attempt& attempt) -> std::optional<Outcome> {
        enders.Add(attempt.Detach([](const absl::Status&) {}));
        return std::nullopt;
      },
      {.limit = &limit});
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    TaskPolicy policy;
    policy.attempt_timeout = absl::Microseconds(1 + random.Below(200));
    policy.queue_timeout = absl::Microseconds(100 + random.Below(2000));
    policy.retry.max_attempts = 3;
    policy.retry.initial_backoff = absl::Microseconds(20);
    BatchBuilder b;
    const std::uint32_t kind = b.Kind(action, policy);
    std::vector<std::uint32_t> all;
    for (int i = 0; i < 40; ++i) all.push_back(b.Task(kind));
    TaskPolicy always;
    always.run_if = RunIf::kAllDone;
    b.Task(Noop(), always, all);
    auto job = Create(absl::StrCat(round), b.Take());
    for (std::uint64_t n = random.Below(200); n > 0; --n) sched_yield();
    if (round % 2 == 0) job->Cancel(absl::CancelledError("the race"));
    job->Wait();
    const JobSnapshot seen = job->Snapshot();
    ExpectSound(seen);
    for (std::uint32_t i = 0; i < seen.task_count; ++i) {
      const TaskSnapshot task = job->Task(i);
      ASSERT_TRUE(IsTerminal(task.state)) << Name(task.state);
      ASSERT_EQ(task.output.view(), i < 40 && task.state == TaskState::kSucceeded ? "out" : "");
    }
    const bool cancelled = round % 2 == 0;
    ASSERT_TRUE(cancelled || job->task_state(40) == TaskState::kSucceeded);
  }
  while (engine.stats().jobs_active > 0) sched_yield();
  EXPECT_EQ(limit.in_use(), 0);
  EXPECT_EQ(limit.waiting(), 0);
}

}  // namespace
}  // namespace jackdaw
