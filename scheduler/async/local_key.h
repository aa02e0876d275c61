// LocalKey: a variable that each task has for itself, as a thread-local has one for each
// thread: a request's id, a deadline, who is asking.
//
//   const LocalKey<std::string> kRequest;           // Static; see kMaxLocalKeys.
//   kRequest.With("r-17", [&] { Spawn(pool, Work); });
//   ... in Work, and in all that it spawns:  kRequest.GetOr("none") == "r-17"
//
// Spawned functions, coroutines and fibers start with the values of whoever spawned them. What
// either sets later the other does not see; what a value refers to is shared. A coroutine
// finds its values again wherever it is resumed. Branches of ForkJoin() and of the parallel
// algorithms do not carry them: capture what they need. A callback of a future sees those of
// the thread that calls it.
//
// Thread safety: any thread; each task changes its own.

#ifndef JACKDAW_SCHEDULER_ASYNC_LOCAL_KEY_H_
#define JACKDAW_SCHEDULER_ASYNC_LOCAL_KEY_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/async/co_task.h"
#include "scheduler/async/future_result.h"
#include "scheduler/async/local_map.h"
#include "scheduler/async/task_context.h"

namespace jackdaw {
namespace async_internal {

// Gives a key a value until it dies, and then the one from before. By way of the current
// context each time: a coroutine may have changed threads, but not contexts.
class BoundLocal {
 public:
  BoundLocal(const LocalKeyId& key, LocalMap::Value value)
      : key_(key), before_(TaskContext::Current().locals.Find(key)) {
    TaskContext::Current().locals.Set(key_, std::move(value));
  }
  ~BoundLocal() { TaskContext::Current().locals.Set(key_, std::move(before_)); }
  BoundLocal(const BoundLocal&) = delete;
  BoundLocal& operator=(const BoundLocal&) = delete;

 private:
  const LocalKeyId& key_;
  LocalMap::Value before_;
};

// Runs the coroutine that `f` makes with a key bound.
template <typename F>
auto RunBound(const LocalKeyId& key, LocalMap::Value value, F f)
    -> CoTask<typename std::invoke_result_t<F&>::Result> {
  const BoundLocal bound(key, std::move(value));
  auto task = f();
  auto result = co_await task;
  co_return result;
}

}  // namespace async_internal

template <typename T>
class LocalKey {
 public:
  LocalKey() = default;
  LocalKey(const LocalKey&) = delete;
  LocalKey& operator=(const LocalKey&) = delete;

  // The value in the current task; NOT_FOUND where none was set.
  [[nodiscard]] absl::StatusOr<T> Get() const {
    const std::shared_ptr<const T> value = TryGet();
    if (value == nullptr) return absl::NotFoundError("the local key has no value here");
    return *value;
  }
  // The same without a copy; null where none was set.
  [[nodiscard]] std::shared_ptr<const T> TryGet() const {
    return std::static_pointer_cast<const T>(TaskContext::Current().locals.Find(id_));
  }
  [[nodiscard]] T GetOr(T otherwise) const {
    const std::shared_ptr<const T> value = TryGet();
    return value == nullptr ? std::move(otherwise) : *value;
  }

  // Sets it for the rest of the current task, and for what that spawns from now on.
  void Set(T value) const {
    TaskContext::Current().locals.Set(id_, std::make_shared<const T>(std::move(value)));
  }
  // Back to none.
  void Clear() const { TaskContext::Current().locals.Set(id_, nullptr); }

  // Calls `f()` with the key set to `value`, which ends with the call. An `f` that returns a
  // CoTask gives a CoTask of the same result that has it set while it runs.
  template <typename F>
  auto With(T value, F&& f) const {
    LocalMap::Value shared = std::make_shared<const T>(std::move(value));
    if constexpr (async_internal::IsCoTask<std::invoke_result_t<std::decay_t<F>&>>::value) {
      return async_internal::RunBound<std::decay_t<F>>(id_, std::move(shared), std::forward<F>(f));
    } else {
      const async_internal::BoundLocal bound(id_, std::move(shared));
      return std::forward<F>(f)();
    }
  }

 private:
  const LocalKeyId id_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_LOCAL_KEY_H_
