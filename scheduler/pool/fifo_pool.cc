#include "scheduler/pool/fifo_pool.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/base/cpu_count.h"
#include "scheduler/pool/fifo_queue.h"
#include "scheduler/pool/fork_mark.h"
#include "scheduler/pool/worker_threads.h"

namespace jackdaw {

// Owned by the pool and by each of its threads: a pool may be destroyed by its own task.
class FifoPool::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)), edge_(options_.name, options_.on_error) {}

  // `self` owns this object. Once, before anything else. How many threads there are.
  [[nodiscard]] int Start(const std::shared_ptr<Impl>& self);
  // Lets them go on, for `pool`.
  void Release(FifoPool* pool) {
    pool_ = pool;
    threads_.Release();
  }

  [[nodiscard]] FifoQueue& queue() { return queue_; }
  [[nodiscard]] WorkerThreads& threads() { return threads_; }
  [[nodiscard]] const std::string& name() const { return options_.name; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool dead() const { return fork_mark_.InChild(); }

 private:
  void ThreadMain(int index);

  const Options options_;
  const ErrorEdge edge_;
  const ForkMark fork_mark_;
  FifoPool* pool_ = nullptr;
  int size_ = 0;
  FifoQueue queue_;
  WorkerThreads threads_;
};

int FifoPool::Impl::Start(const std::shared_ptr<Impl>& self) {
  const int wanted = options_.threads < 0 ? EffectiveCpuCount() : options_.threads;
  size_ = threads_.Start(std::clamp(wanted, 1, kMaxThreads), options_.name, options_.create_thread,
                         [self](int index) { self->ThreadMain(index); });
  return size_;
}

void FifoPool::Impl::ThreadMain(int index) {
  const AsCurrent scope(pool_, &edge_);
  if (options_.on_thread_start) edge_.Guard([&] { options_.on_thread_start(index); });
  for (;;) {
    const FifoQueue::Taken taken = queue_.Take();
    if (taken.task == nullptr) break;
    taken.task->Do(taken.verb);
    queue_.Finish();
  }
  if (options_.on_thread_exit) edge_.Guard([&] { options_.on_thread_exit(index); });
}

FifoPool::FifoPool(Options options)
    : FifoPool(Adopt(), std::make_shared<Impl>(std::move(options))) {
  if (impl_->Start(impl_) == 0) EndWithoutThread(impl_->name());
  impl_->Release(this);
}

FifoPool::FifoPool(Adopt, std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<FifoPool>> FifoPool::Create(Options options) {
  auto impl = std::make_shared<Impl>(std::move(options));
  if (impl->Start(impl) == 0) return NoThreadError(impl->name());
  std::unique_ptr<FifoPool> pool(new FifoPool(Adopt(), std::move(impl)));
  pool->impl_->Release(pool.get());
  return pool;
}

FifoPool::~FifoPool() {
  ShutdownAndWait(ShutdownMode::kDrain);
  if (!impl_->dead() && Current() == this) impl_->threads().Abandon();
}

bool FifoPool::Submit(Task* task) {
  if (impl_->dead()) return false;
  const bool own = Current() == this;
  return impl_->queue().Push(task, own ? FifoQueue::From::kOwnTask : FifoQueue::From::kOutside);
}

absl::string_view FifoPool::name() const { return impl_->name(); }

int FifoPool::size() const { return impl_->size(); }

std::int64_t FifoPool::task_count() const { return impl_->dead() ? 0 : impl_->queue().count(); }

void FifoPool::Shutdown(ShutdownMode mode) {
  if (!impl_->dead()) impl_->queue().Close(mode);
}

void FifoPool::ShutdownAndWait(ShutdownMode mode) {
  if (impl_->dead()) return;
  impl_->queue().Close(mode);
  if (Current() != this) impl_->threads().Join();
}

}  // namespace jackdaw
