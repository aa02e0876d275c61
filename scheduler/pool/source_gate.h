// SourceGate: holds the WorkSource that workers may call into, and lets it be taken away
// safely: after Detach() nobody is inside the old source any more.
//
// Thread safety
//   Attach(), Detach()   any thread, one at a time.
//   With()               worker `worker`, on its own thread.
//
// Memory order: a worker announces itself, then loads the source; Detach() clears the
// source, then waits for each announcement to end. All four are seq_cst: weaker, a worker
// could still enter a source that Detach() believes deserted. Leaving is a release that
// Detach() acquires: what the worker did inside has happened before Detach() returns.

#ifndef JACKDAW_SCHEDULER_POOL_SOURCE_GATE_H_
#define JACKDAW_SCHEDULER_POOL_SOURCE_GATE_H_

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "scheduler/base/cache_line.h"
#include "scheduler/pool/work_source.h"

namespace jackdaw {

// `Atomic` is std::atomic, or the model checker's stand-in for it; Pause::Now() lets the other
// threads run.
template <template <typename> class Atomic, typename Pause>
class BasicSourceGate {
 public:
  explicit BasicSourceGate(int workers)
      : workers_(static_cast<std::size_t>(workers)),
        visitors_(std::make_unique<Visitor[]>(workers_)) {}

  // At most one source at a time. `source` outlives its attachment.
  void Attach(WorkSource* source) { source_.store(source, std::memory_order_seq_cst); }

  // Returns once no worker is inside the source. Must not be called from inside it. Waits
  // only as long as a call of Take() or HasWork() takes; both never block.
  void Detach() {
    source_.store(nullptr, std::memory_order_seq_cst);
    for (std::size_t i = 0; i < workers_; ++i) {
      while (visitors_[i].inside.load(std::memory_order_seq_cst)) Pause::Now();
    }
  }

  // Calls `visit(source)` and returns its result; `otherwise` when no source is attached.
  template <typename Result, typename Visit>
  Result With(int worker, Result otherwise, Visit&& visit) {
    if (source_.load(std::memory_order_seq_cst) == nullptr) return otherwise;
    Atomic<bool>& inside = visitors_[static_cast<std::size_t>(worker)].inside;
    inside.store(true, std::memory_order_seq_cst);
    WorkSource* source = source_.load(std::memory_order_seq_cst);
    const Result result = source == nullptr ? otherwise : visit(*source);
    inside.store(false, std::memory_order_release);
    return result;
  }

 private:
  struct alignas(kCacheLine) Visitor {
    Atomic<bool> inside{false};
  };
  alignas(kCacheLine) Atomic<WorkSource*> source_{nullptr};
  const std::size_t workers_;
  const std::unique_ptr<Visitor[]> visitors_;
};

struct YieldToOthers {
  static void Now() { sched_yield(); }
};
using SourceGate = BasicSourceGate<std::atomic, YieldToOthers>;

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_SOURCE_GATE_H_
