// BackgroundThread: a runner of exactly one thread, which runs one task after the other in the
// order of their submission. What only its tasks touch needs no lock, so it can own a resource
// that must stay on one thread:
//
//   std::optional<Database> db;
//   BackgroundThread owner({.name = "db",
//                           .on_thread_start = [&] { db.emplace(path); },
//                           .on_thread_exit = [&] { db.reset(); }});
//   status = owner.Run([&] { db->Write(row); });
//
// The hooks run on the thread: the first before its first task, the second after its last.
//
// Thread safety: as FifoPool.

#ifndef JACKDAW_SCHEDULER_POOL_BACKGROUND_THREAD_H_
#define JACKDAW_SCHEDULER_POOL_BACKGROUND_THREAD_H_

#include <functional>
#include <string>
#include <utility>

#include "scheduler/pool/error_edge.h"
#include "scheduler/pool/fifo_pool.h"

namespace jackdaw {

class BackgroundThread final : public FifoPool {
 public:
  struct Options {
    std::string name = "background";  // The thread is called `<name>.worker.0`.
    std::function<void()> on_thread_start = nullptr;
    std::function<void()> on_thread_exit = nullptr;
    ErrorEdge::Hook on_error = nullptr;  // See error_edge.h.
  };

  // Starts the thread. When the system refuses it, ends the process with a message.
  explicit BackgroundThread(Options options)
      : FifoPool({.name = std::move(options.name),
                  .threads = 1,
                  .on_thread_start = WithoutIndex(std::move(options.on_thread_start)),
                  .on_thread_exit = WithoutIndex(std::move(options.on_thread_exit)),
                  .on_error = std::move(options.on_error)}) {}

 private:
  static std::function<void(int)> WithoutIndex(std::function<void()> hook) {
    if (!hook) return nullptr;
    return [hook = std::move(hook)](int) { hook(); };
  }
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_BACKGROUND_THREAD_H_
