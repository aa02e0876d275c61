// TraceScope: names a part of the running task on the pool's timeline.
//
//   status = pool.Run([] {
//     const TraceScope scope("parse");
//     ...
//   });
//
// Where the pool has no trace sink, and off the workers of a WorkStealingPool, it costs a call.
// Scopes nest.
//
// Thread safety: begins and ends on one thread; no co_await in between.

#ifndef JACKDAW_SCHEDULER_TRACE_TRACE_SCOPE_H_
#define JACKDAW_SCHEDULER_TRACE_TRACE_SCOPE_H_

#include "scheduler/pool/trace_sink.h"
#include "scheduler/pool/worker_context.h"

namespace jackdaw {

class TraceScope {
 public:
  // `name` lives for ever, as a literal does.
  explicit TraceScope(const char* name) {
    const WorkerContext* worker = WorkerContext::Current();
    if (worker == nullptr || worker->trace() == nullptr) return;
    sink_ = worker->trace();
    worker_ = worker->index();
    sink_->ScopeBegins(worker_, name);
  }
  ~TraceScope() {
    if (sink_ != nullptr) sink_->ScopeEnds(worker_);
  }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  TraceSink* sink_ = nullptr;
  int worker_ = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_TRACE_TRACE_SCOPE_H_
