// Random graphs, run by the engine and by a plain sequential reference. Method: a seed makes a
// plan (tasks, dependencies, batches, policies, how each attempt ends); the engine runs it at 0,
// 1, 2 and 8 workers, some batches added while it runs; every attempt draws a number from one
// global counter when it starts and when it ends. Afterwards states, attempts, inputs and
// the order of those numbers are held against the reference and the dependencies. What it cannot
// see: interleavings that the machine does not happen to produce (see graph_stress_test.cc).

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/base/random.h"
#include "tests/scheduler/graph/graph_fixture.h"
#include "tests/support/reference_executor.h"

namespace jackdaw {
namespace {

constexpr int kMostAttempts = 4;
constexpr int kLimit = 3;
constexpr std::uint64_t kWatchedSteps = 500;  // How often the test looks before it only waits.
enum Mode : std::uint32_t { kSync, kInstant, kDetached, kLimited, kLimitedDetached, kModes };

struct Plan {
  std::vector<ReferenceTask> tasks;
  std::vector<Priority> priorities;
  std::vector<Mode> modes;
  std::vector<std::uint32_t> batch_ends;  // Batch b ends before this task.
};

absl::StatusCode RandomCode(Random& random, std::uint64_t failures_percent) {
  if (random.Below(100) >= failures_percent) return absl::StatusCode::kOk;
  return random.Below(2) == 0 ? absl::StatusCode::kUnavailable : absl::StatusCode::kInvalidArgument;
}

std::vector<std::uint32_t> RandomBatches(Random& random, std::uint32_t tasks) {
  std::vector<std::uint32_t> ends;
  const std::uint64_t batches = 1 + random.Below(6);
  for (std::uint64_t b = 1; b < batches; ++b) {
    ends.push_back(static_cast<std::uint32_t>(random.Below(tasks + 1)));
  }
  ends.push_back(tasks);
  std::sort(ends.begin(), ends.end());
  return ends;
}

// Dependencies follow a random order within the batch, so that some point forwards.
void AddDependencies(Random& random, std::uint32_t begin, std::uint32_t end, Plan& plan) {
  std::vector<std::uint32_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  if (random.Below(2) == 0) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  }
  const std::uint64_t most = 1 + random.Below(6);
  const std::uint64_t reach = random.Below(3) == 0 ? 3 : 1u << 20;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t candidates = std::min<std::uint64_t>(begin + i, reach);
    if (candidates == 0) continue;
    for (std::uint64_t n = random.Below(most + 1); n > 0; --n) {
      const std::size_t pick = begin + i - 1 - random.Below(candidates);
      const auto dependency = pick < begin ? static_cast<std::uint32_t>(pick) : order[pick - begin];
      plan.tasks[order[i]].dependencies.push_back(dependency);
    }
  }
}

Plan MakePlan(Random& random) {
  const std::uint64_t sizes[] = {10, 100, 2000};
  const auto count = static_cast<std::uint32_t>(1 + random.Below(sizes[random.Below(3)]));
  const std::uint64_t failures = random.Below(2) == 0 ? 3 : 25;
  const bool one_priority = random.Below(2) == 0;
  Plan plan;
  plan.tasks.resize(count);
  plan.batch_ends = RandomBatches(random, count);
  for (ReferenceTask& task : plan.tasks) {
    task.run_if = random.Below(3) == 0 ? static_cast<RunIf>(random.Below(3)) : RunIf::kAllSucceeded;
    task.max_attempts = random.Below(2) == 0 ? 1 : 1 + static_cast<int>(random.Below(4));
    for (int i = 0; i < task.max_attempts; ++i) task.script.push_back(RandomCode(random, failures));
    plan.priorities.push_back(one_priority ? Priority::kNormal
                                           : static_cast<Priority>(random.Below(kPriorityCount)));
    plan.modes.push_back(static_cast<Mode>(random.Below(kModes)));
  }
  std::uint32_t begin = 0;
  for (const std::uint32_t end : plan.batch_ends) {
    AddDependencies(random, begin, end, plan);
    begin = end;
  }
  return plan;
}

// Ends detached attempts: on a thread of its own, or where there are no workers on the test's.
class Finisher {
 public:
  explicit Finisher(bool threaded) {
    if (threaded) thread_ = std::thread([this] { Loop(); });
  }
  ~Finisher() {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }
  void Later(std::function<void()> finish) {
    absl::MutexLock lock(&mutex_);
    queue_.push_back(std::move(finish));
  }
  bool RunOne() {
    std::function<void()> finish;
    {
      absl::MutexLock lock(&mutex_);
      if (queue_.empty()) return false;
      finish = std::move(queue_.front());
      queue_.pop_front();
    }
    finish();
    return true;
  }

 private:
  void Loop() {
    const auto woken = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return ended_ || !queue_.empty();
    };
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(&woken));
        if (queue_.empty()) return;
      }
      RunOne();
    }
  }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// One run of a plan.
class GraphRun {
 public:
  GraphRun(const Plan& plan, Random& random, int workers)
      : plan_(plan),
        random_(random),
        expected_(RunReference(plan.tasks)),
        log_(plan.tasks.size()),
        finisher_(workers > 0),
        pool_({.workers = workers}),
        timers_(workers > 0 ? &Clock::Real() : &clock_,
                workers > 0 ? TimerQueue::Drive::kThread : TimerQueue::Drive::kManual),
        engine_(std::make_unique<JobEngine>(JobEngine::Options{
            .pool = &pool_,
            .timers = &timers_,
            .clock = workers > 0 ? &Clock::Real() : static_cast<Clock*>(&clock_)})) {
    for (std::uint32_t mode = 0; mode < kModes; ++mode) {
      actions_.push_back(MakeAction(
          [this, mode](Attempt& attempt) { return Start(attempt, static_cast<Mode>(mode)); },
          {.instant = mode == kInstant, .limit = mode >= kLimited ? &limit_ : nullptr}));
    }
  }

  // Makes the job, adds the batches and runs it to its end. With `cut`, cancels it after a
  // random number of steps.
  void Go(FailurePolicy policy, bool cut) {
    cut_ = cut || policy == FailurePolicy::kFailFast;
    const std::uint64_t cancel_at = cut ? random_.Below(plan_.tasks.size() * 2) : ~0ull;
    JobOptions options{.id = "random", .failure_policy = policy};
    const bool only = plan_.batch_ends.size() == 1;
    auto made = engine_->Create(std::move(options), Batch(0), /*seal=*/only);
    ASSERT_TRUE(made.ok()) << made.status();
    job_ = *made;
    for (std::size_t b = 1; b < plan_.batch_ends.size(); ++b) {
      for (std::uint64_t n = random_.Below(50); n > 0; --n) Step(cancel_at);
      const auto added = job_->Add(Batch(b));
      if (added.ok()) continue;
      ASSERT_EQ(added.status().code(), absl::StatusCode::kFailedPrecondition);
      ASSERT_TRUE(cut_) << added.status();
    }
    job_->Close();
    while (!IsTerminal(job_->state())) {
      const bool cancel_later = cut && !cancelled_;
      if (steps_ > kWatchedSteps && pool_.size() > 0 && !cancel_later) job_->Wait();
      Step(cancel_at);
    }
    Observe();
    while (engine_->stats().jobs_active > 0) Step(~0ull);
    engine_.reset();
  }

  void ExpectReference() const {
    bool failed = false;
    ASSERT_EQ(job_->task_count(), static_cast<std::int64_t>(plan_.tasks.size()));
    for (std::uint32_t i = 0; i < plan_.tasks.size(); ++i) {
      const TaskSnapshot task = job_->Task(i);
      ASSERT_EQ(Name(task.state), Name(expected_[i].state)) << "task " << i;
      ASSERT_EQ(task.attempts, expected_[i].attempts) << "task " << i;
      ASSERT_EQ(log_[i].started, expected_[i].attempts) << "task " << i;
      failed = failed || task.state == TaskState::kFailed;
    }
    EXPECT_EQ(Name(job_->state()), Name(failed ? JobState::kFailed : JobState::kSucceeded));
  }

  void ExpectConsistent() const {
    EXPECT_FALSE(stuck_) << "nothing went on in a job that was not over";
    EXPECT_EQ(wrong_inputs_, 0);
    EXPECT_EQ(limit_.in_use(), 0);
    EXPECT_EQ(limit_.waiting(), 0);
    EXPECT_LE(most_in_limit_, kLimit);
    std::array<std::int64_t, kTaskStateCount> states{};
    for (std::uint32_t i = 0; i < job_->task_count(); ++i) {
      const TaskState state = job_->task_state(i);
      ASSERT_TRUE(IsTerminal(state)) << "task " << i << " is " << Name(state);
      ++states[static_cast<std::size_t>(state)];
      ExpectInOrder(i);
    }
    EXPECT_EQ(job_->Snapshot().tasks, states);
  }

 private:
  struct Entry {
    std::array<std::atomic<int>, kMostAttempts> runs{};
    std::atomic<int> started{0};
    std::atomic<std::int64_t> first_start{0};
    std::atomic<std::int64_t> last_start{0};
    std::atomic<std::int64_t> last_end{0};
    std::int64_t given_up_at = 0;  // Seen CANCELLED or SKIPPED before this number was drawn.
  };

  void ExpectInOrder(std::uint32_t i) const {
    const Entry& entry = log_[i];
    for (int n = 0; n < kMostAttempts; ++n) {
      const int runs = entry.runs[static_cast<std::size_t>(n)];
      ASSERT_EQ(runs, n < entry.started ? 1 : 0) << "attempt " << n + 1 << " of task " << i;
    }
    if (entry.given_up_at > 0) {
      ASSERT_LT(entry.last_start, entry.given_up_at) << "task " << i;
    }
    if (entry.started == 0) return;
    for (const std::uint32_t dependency : plan_.tasks[i].dependencies) {
      ASSERT_GT(entry.first_start, log_[dependency].last_end) << i << " after " << dependency;
      ASSERT_GE(log_[dependency].last_end, log_[dependency].last_start) << dependency;
    }
  }

  TaskBatch Batch(std::size_t b) {
    const std::uint32_t begin = b == 0 ? 0 : plan_.batch_ends[b - 1];
    BatchBuilder builder;
    for (std::uint32_t i = begin; i < plan_.batch_ends[b]; ++i) {
      const ReferenceTask& task = plan_.tasks[i];
      TaskPolicy policy;
      policy.run_if = task.run_if;
      policy.priority = plan_.priorities[i];
      policy.retry.max_attempts = task.max_attempts;
      policy.retry.initial_backoff = absl::Microseconds(10);
      policy.retry.max_backoff = absl::Microseconds(50);
      std::vector<std::uint32_t> dependencies = task.dependencies;
      for (std::uint32_t& d : dependencies) d = d < begin ? d : TaskBatch::InBatch(d - begin);
      builder.Task(actions_[plan_.modes[i]], policy, dependencies);
      builder.batch().payloads.emplace_back(absl::StrCat(i));
    }
    return builder.Take();
  }

  std::optional<Outcome> Start(Attempt& attempt, Mode mode) {
    const std::int64_t start = ++sequence_;
    std::uint32_t i = 0;
    if (!absl::SimpleAtoi(attempt.payload().view(), &i)) ++wrong_inputs_;
    Entry& entry = log_[i];
    if (entry.started++ == 0) entry.first_start = start;
    entry.last_start = start;
    ++entry.runs[static_cast<std::size_t>(attempt.number() - 1)];
    CheckInputs(attempt, plan_.tasks[i].dependencies);
    if (mode >= kLimited) {
      const int now_in = ++in_limit_;
      int most = most_in_limit_;
      while (now_in > most && !most_in_limit_.compare_exchange_weak(most, now_in)) continue;
    }
    const absl::StatusCode code =
        plan_.tasks[i].script[static_cast<std::size_t>(attempt.number() - 1)];
    const auto end = [this, &entry, mode, code, i] {
      if (mode >= kLimited) --in_limit_;
      entry.last_end = ++sequence_;
      return Outcome{absl::Status(code, "as planned"), Bytes(absl::StrCat("out ", i)), {}};
    };
    if (mode != kDetached && mode != kLimitedDetached) return end();
    finisher_.Later(
        [end, detached = attempt.Detach([](const absl::Status&) {})] { detached->Finish(end()); });
    return std::nullopt;
  }

  // A run that is cut short may cancel what the reference lets succeed.
  void CheckInputs(const Attempt& attempt, const std::vector<std::uint32_t>& dependencies) {
    if (attempt.input_count() != dependencies.size()) ++wrong_inputs_;
    for (std::size_t k = 0; k < dependencies.size(); ++k) {
      const std::uint32_t dependency = dependencies[k];
      const bool output = expected_[dependency].state == TaskState::kSucceeded;
      const std::string input(attempt.input(k).view());
      const bool right = input == (output ? absl::StrCat("out ", dependency) : "");
      if (!right && !(cut_ && input.empty())) ++wrong_inputs_;
    }
  }

  // A little progress where there are no workers; a look at the job in any case.
  void Step(std::uint64_t cancel_at) {
    if (pool_.size() == 0) {
      const std::uint64_t choice = random_.Below(3);
      const bool ran = choice == 0 ? finisher_.RunOne() : pool_.RunOne();
      if (!ran) {
        clock_.Advance(absl::Microseconds(10));
        timers_.RunDue();
      }
    } else if (steps_ % 32 == 31) {
      sched_yield();  // Seldom: on a busy machine it gives away a long time.
    }
    const auto drawn = static_cast<std::uint64_t>(sequence_.load());
    if (drawn >= cancel_at && !cancelled_) {
      cancelled_ = true;
      job_->Cancel(absl::CancelledError("cut short"));
      Observe();
    }
    if (++steps_ % 16 == 0 || pool_.size() > 0) Look();
  }

  // Notes what the job says is over and will not start.
  void Observe() {
    const std::int64_t count = job_->task_count();
    std::vector<std::uint32_t> over;
    for (std::uint32_t i = 0; i < count; ++i) {
      const TaskState state = job_->task_state(i);
      if (state == TaskState::kCancelled || state == TaskState::kSkipped) over.push_back(i);
    }
    const std::int64_t now = ++sequence_;
    for (const std::uint32_t i : over) {
      if (log_[i].given_up_at == 0) log_[i].given_up_at = now;
    }
  }

  // With workers a snapshot may lag behind, but no worker tells of a task's end without telling
  // of those that became ready by it, and none may end those before it has told.
  void Look() {
    const JobSnapshot seen = job_->Snapshot();
    const auto count = [&](TaskState s) { return seen.tasks[static_cast<std::size_t>(s)]; };
    const std::int64_t active =
        count(TaskState::kQueued) + count(TaskState::kRunning) + count(TaskState::kBackoff);
    if (active == 0 && !IsTerminal(seen.state) && seen.state != JobState::kOpen) {
      // A cancel says so before it has gone through the tasks.
      stuck_ = stuck_ || seen.state != JobState::kCancelling;
    }
  }

  const Plan& plan_;
  Random& random_;
  const std::vector<ReferenceResult> expected_;
  std::vector<Entry> log_;
  std::atomic<bool> cut_{false};
  std::atomic<std::int64_t> sequence_{0};
  std::atomic<int> wrong_inputs_{0};
  std::atomic<int> in_limit_{0};
  std::atomic<int> most_in_limit_{0};
  bool cancelled_ = false;
  bool stuck_ = false;
  std::uint64_t steps_ = 0;

  ConcurrencyLimit limit_{kLimit};
  std::vector<std::shared_ptr<Action>> actions_;
  FakeClock clock_;
  Finisher finisher_;
  WorkStealingPool pool_;
  TimerQueue timers_;
  std::unique_ptr<JobEngine> engine_;
  std::shared_ptr<Job> job_;
};

class RandomGraphTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, RandomGraphTest, testing::Values(0, 1, 2, 8), WorkersName);

constexpr std::uint64_t kSeeds = 200;

TEST_P(RandomGraphTest, EndsAsTheReferenceSays) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const Plan plan = MakePlan(random);
    GraphRun run(plan, random, GetParam());
    run.Go(FailurePolicy::kContinue, /*cut=*/false);
    if (!HasFailure()) run.ExpectReference();
    if (!HasFailure()) run.ExpectConsistent();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(RandomGraphTest, CancelledAtAnyMomentEndsInOrder) {
  for (std::uint64_t seed = 1001; seed <= 1000 + kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const Plan plan = MakePlan(random);
    GraphRun run(plan, random, GetParam());
    run.Go(FailurePolicy::kContinue, /*cut=*/true);
    if (!HasFailure()) run.ExpectConsistent();
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(RandomGraphTest, FailingFastEndsInOrder) {
  for (std::uint64_t seed = 2001; seed <= 2000 + kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Random random(seed);
    const Plan plan = MakePlan(random);
    GraphRun run(plan, random, GetParam());
    run.Go(FailurePolicy::kFailFast, /*cut=*/random.Below(4) == 0);
    if (!HasFailure()) run.ExpectConsistent();
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace jackdaw
