#include "scheduler/pool/work_stealing_pool.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "scheduler/base/cpu_count.h"
#include "scheduler/base/random.h"
#include "scheduler/pool/fork_mark.h"
#include "scheduler/pool/pool_core.h"
#include "scheduler/pool/worker.h"
#include "scheduler/pool/worker_threads.h"

namespace jackdaw {

// Owned by the pool and by each of its threads: a pool may be destroyed by its own task.
class WorkStealingPool::Impl : public std::enable_shared_from_this<WorkStealingPool::Impl> {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), edge_(options_.name, options_.on_error) {}

  // Once, before anything else. False: not even one thread.
  [[nodiscard]] bool Start();
  // Lets the threads go on, for `pool`.
  void Release(WorkStealingPool* pool);

  [[nodiscard]] PoolCore& core() { return *core_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] WorkerThreads& threads() { return threads_; }
  [[nodiscard]] Worker& driven() { return *core_->workers.front(); }

  // Tasks that were ever accepted from outside.
  [[nodiscard]] std::int64_t FromOutside() const {
    std::int64_t count = core_->injector.injected();
    for (int i = 0; i < core_->slots(); ++i) count += core_->worker(i).mailbox().from_outside();
    return count;
  }

  // Whether the calling thread runs a task of this pool.
  [[nodiscard]] bool OnWorker() const {
    const Worker* worker = Worker::Current();
    return worker != nullptr && &worker->core() == &*core_;
  }

  // Its threads are those of a parent process.
  [[nodiscard]] bool dead() const { return core_->threads != 0 && fork_mark_.InChild(); }

  [[nodiscard]] int max_blocked() const {
    return threads_started_ == 0 ? 0 : std::clamp(options_.max_blocked, 0, kMaxBlocked);
  }

  // Zero workers: on the calling thread. Nested calls, from a task, are fine.
  bool RunOne() ABSL_LOCKS_EXCLUDED(driver_);
  void Shutdown(ShutdownMode mode);
  void FinishDriven() ABSL_LOCKS_EXCLUDED(driver_);

 private:
  void ThreadMain(int index);
  bool StartExtra(int index);
  bool Drive();

  const Options options_;
  const ErrorEdge edge_;
  const ForkMark fork_mark_;
  std::optional<PoolCore> core_;  // Made once the number of threads is known.
  WorkerThreads threads_;
  WorkStealingPool* pool_ = nullptr;
  int threads_started_ = 0;
  bool may_spin_ = true;
  absl::Mutex driver_;  // Held by the thread that drives a pool of zero workers, outermost.
};

bool WorkStealingPool::Impl::Start() {
  static const int usable = EffectiveCpuCount();  // Reads files; does not change in practice.
  const int wanted = options_.workers < 0 ? usable : options_.workers;
  threads_started_ =
      threads_.Start(std::min(wanted, kMaxWorkers), options_.name, options_.create_thread,
                     [self = shared_from_this()](int index) { self->ThreadMain(index); });
  may_spin_ = threads_started_ <= usable;
  return threads_started_ > 0 || wanted == 0;
}

void WorkStealingPool::Impl::Release(WorkStealingPool* pool) {
  const std::int64_t spin_ns = may_spin_ ? absl::ToInt64Nanoseconds(options_.spin) : 0;
  pool_ = pool;
  core_.emplace(PoolCore::Options{.threads = threads_started_,
                                  .spin_ns = std::max<std::int64_t>(0, spin_ns),
                                  .seed = options_.seed,
                                  .clock = options_.clock,
                                  .pool = pool,
                                  .trace = options_.trace,
                                  .max_blocked = max_blocked(),
                                  .start_thread = [this](int i) { return StartExtra(i); }});
  threads_.Release();
}

void WorkStealingPool::Impl::ThreadMain(int index) {
  const AsCurrent scope(pool_, &edge_);
  do {
    if (options_.on_thread_start) edge_.Guard([&] { options_.on_thread_start(index); });
    core_->worker(index).Loop();
    if (options_.on_thread_exit) edge_.Guard([&] { options_.on_thread_exit(index); });
  } while (core_->StaysOn(index));
}

bool WorkStealingPool::Impl::StartExtra(int index) {
  return threads_.StartExtra(index, options_.name, options_.create_thread,
                             [self = shared_from_this()](int i) { self->ThreadMain(i); });
}

bool WorkStealingPool::Impl::RunOne() {
  if (core_->threads != 0) {
    std::fprintf(stderr, "runner '%s' has workers of its own: RunOne() is not for it\n",
                 options_.name.c_str());
    std::abort();
  }
  if (OnWorker()) return Drive();
  absl::MutexLock lock(&driver_);
  return Drive();
}

bool WorkStealingPool::Impl::Drive() {
  const AsCurrent scope(pool_, &edge_);
  return driven().RunOne();
}

void WorkStealingPool::Impl::Shutdown(ShutdownMode mode) {
  core_->injector.Close();
  for (int i = 0; i < core_->slots(); ++i) core_->worker(i).mailbox().Close();
  if (core_->life.Begin(mode)) core_->idle.WakeAll();
}

// Zero workers: runs or drops what is left. Called by a task, it cannot say that this is
// all: that task may go on to make others, which then wait to be driven.
void WorkStealingPool::Impl::FinishDriven() {
  if (OnWorker()) {
    while (Drive()) {
    }
    return;
  }
  absl::MutexLock lock(&driver_);
  while (Drive()) {
  }
  core_->Stop();
}

WorkStealingPool::WorkStealingPool(Options options)
    : WorkStealingPool(Adopt(), std::make_shared<Impl>(std::move(options))) {
  if (!impl_->Start()) EndWithoutThread(impl_->options().name);
  impl_->Release(this);
}

WorkStealingPool::WorkStealingPool(Adopt, std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<WorkStealingPool>> WorkStealingPool::Create(Options options) {
  auto impl = std::make_shared<Impl>(std::move(options));
  if (!impl->Start()) return NoThreadError(impl->options().name);
  std::unique_ptr<WorkStealingPool> pool(new WorkStealingPool(Adopt(), std::move(impl)));
  pool->impl_->Release(pool.get());
  return pool;
}

WorkStealingPool::~WorkStealingPool() {
  ShutdownAndWait(ShutdownMode::kDrain);
  if (!impl_->dead() && impl_->OnWorker()) impl_->threads().Abandon();
}

bool WorkStealingPool::Submit(Task* task) { return Submit(task, Priority::kNormal); }

bool WorkStealingPool::Submit(Task* task, Priority priority) {
  if (impl_->dead()) return false;
  PoolCore& core = impl_->core();
  Worker* worker = Worker::Current();
  if (worker != nullptr && &worker->core() == &core) {
    if (priority == Priority::kNormal) {
      worker->Push(task);
    } else {
      worker->PushWith(priority, task);
    }
    return true;
  }
  if (!core.injector.Push(task, priority)) return false;
  core.idle.NotifyWork();
  return true;
}

bool WorkStealingPool::SubmitTo(int worker, Task* task) {
  if (impl_->dead()) return false;
  PoolCore& core = impl_->core();
  const int count = std::max(1, core.threads);
  Worker& wished = core.worker(((worker % count) + count) % count);
  Worker* here = Worker::Current();
  if (here != nullptr && &here->core() == &core) {
    here->PushTo(wished, task);
    return true;
  }
  if (!wished.mailbox().Push(task)) return false;
  if (!core.idle.WakeWorker(wished.index())) core.idle.NotifyWork();
  return true;
}

int WorkStealingPool::WorkerFor(std::uint64_t key) const {
  // Mixed, for keys are often multiples of something.
  return static_cast<int>(Random(key).Below(static_cast<std::uint64_t>(std::max(1, size()))));
}

int WorkStealingPool::max_workers() const { return std::max(1, size()) + impl_->max_blocked(); }

absl::string_view WorkStealingPool::name() const { return impl_->options().name; }

int WorkStealingPool::size() const { return impl_->core().threads; }

std::int64_t WorkStealingPool::task_count() const {
  // Finished first: what is finished was accepted before.
  std::int64_t count = 0;
  const PoolCore& core = impl_->core();
  for (int i = 0; i < core.slots(); ++i) count -= core.worker(i).Finished();
  for (int i = 0; i < core.slots(); ++i) count += core.worker(i).Accepted();
  count += impl_->FromOutside();
  return std::max<std::int64_t>(0, count);
}

void WorkStealingPool::Shutdown(ShutdownMode mode) {
  if (!impl_->dead()) impl_->Shutdown(mode);
}

void WorkStealingPool::ShutdownAndWait(ShutdownMode mode) {
  if (impl_->dead()) return;
  impl_->Shutdown(mode);
  if (size() == 0) return impl_->FinishDriven();
  if (!impl_->OnWorker()) impl_->threads().Join();
}

void WorkStealingPool::AttachSource(WorkSource* source) {
  impl_->core().source.Attach(source);
  NotifySource();
}

void WorkStealingPool::DetachSource() { impl_->core().source.Detach(); }

void WorkStealingPool::NotifySource() { impl_->core().idle.NotifyWork(); }

bool WorkStealingPool::RunOne() {
  const std::shared_ptr<Impl> impl = impl_;  // The task may destroy the pool.
  return impl->RunOne();
}

std::int64_t WorkStealingPool::RunUntilIdle() {
  const std::shared_ptr<Impl> impl = impl_;  // A task may destroy the pool.
  std::int64_t ran = 0;
  while (impl->RunOne()) ++ran;
  return ran;
}

std::vector<WorkerStats> WorkStealingPool::worker_stats() const {
  std::vector<WorkerStats> all;
  const PoolCore& core = impl_->core();
  for (int i = 0; i < core.slots(); ++i) all.push_back(core.worker(i).Snapshot());
  return all;
}

PoolStats WorkStealingPool::stats() const {
  const PoolCore& core = impl_->core();
  PoolStats stats;
  stats.injector_depth = core.injector.SizeEstimate();
  stats.injected = impl_->FromOutside();
  stats.blocked = core.compensation.blocked();
  stats.extra = core.compensation.staffed();
  stats.workers = core.threads;
  stats.searching = core.idle.searching();
  stats.parked = core.idle.parked();
  return stats;
}

}  // namespace jackdaw
