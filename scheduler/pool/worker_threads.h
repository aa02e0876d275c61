// WorkerThreads: the operating system's side of a pool's workers. Starts the threads, names
// them, keeps signals away from them, and joins or abandons them.
//
// Thread safety
//   Start(), Release()   the thread that constructs the pool, in this order, once.
//   StartExtra()         one of these threads.
//   Join()               any thread that is not one of these; concurrent callers all wait.
//   Abandon()            any thread, instead of Join().

#ifndef JACKDAW_SCHEDULER_POOL_WORKER_THREADS_H_
#define JACKDAW_SCHEDULER_POOL_WORKER_THREADS_H_

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace jackdaw {

class WorkerThreads {
 public:
  using Create = std::function<int(pthread_t*, void* (*)(void*), void*)>;
  using Body = std::function<void(int index)>;

  WorkerThreads() = default;
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  // Requires Join() or Abandon() where threads were started.
  ~WorkerThreads() = default;

  // Starts up to `count` threads called `<name>.worker.<index>`, cut in the name where the
  // system's 15 characters are exceeded. Each waits for Release() and then calls
  // `body(index)`; `body` may own what holds this object. Returns how many there are: fewer
  // when `create` (null: pthread_create) refuses.
  [[nodiscard]] int Start(int count, const std::string& name, const Create& create, Body body)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Lets the threads go on.
  void Release() { released_.Notify(); }

  // Starts one more, of the given index, that goes on at once, and joins those started so that
  // have ended. False when the system refuses.
  [[nodiscard]] bool StartExtra(int index, const std::string& name, const Create& create, Body body)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until all threads have ended, those included that are started meanwhile.
  void Join() ABSL_LOCKS_EXCLUDED(join_mutex_, mutex_);

  // Lets the threads end on their own.
  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry;
  struct Thread {
    pthread_t handle;
    std::int64_t number;
    bool ended;  // About to: it touches nothing here any more.
  };
  static void* Main(void* start);
  [[nodiscard]] bool Launch(int index, const std::string& name, const Create& create, Body body,
                            bool extra) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The calling thread, an extra one of that number, is about to end.
  void MarkEnded(std::int64_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  void JoinEnded() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Notification released_;
  absl::Mutex join_mutex_;  // Held while joining: other joiners wait for it.
  absl::Mutex mutex_;
  std::vector<Thread> threads_ ABSL_GUARDED_BY(mutex_);  // To be joined.
  std::int64_t started_ ABSL_GUARDED_BY(mutex_) = 0;     // Ever; numbers the threads.
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
};

// RESOURCE_EXHAUSTED: the system refuses to start a thread for `runner`.
[[nodiscard]] absl::Status NoThreadError(const std::string& runner);
// Ends the process with that message, for a constructor, which cannot return it.
[[noreturn]] void EndWithoutThread(const std::string& runner);

// The name of the thread of worker `index`, in the 15 characters that the system allows.
[[nodiscard]] std::string WorkerThreadName(const std::string& pool_name, int index);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_WORKER_THREADS_H_
