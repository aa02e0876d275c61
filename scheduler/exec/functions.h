// Functions: what tasks can call by name. A server has one registry; a team adds its own
// functions to it:
//
//   functions.Register("resize", [](Attempt& attempt) -> absl::StatusOr<Bytes> {
//     return Resize(attempt.payload());
//   });
//
// A function may be a coroutine (co_task.h), which holds no worker while it waits:
//
//   functions.Register("nap", [&timers](Attempt& attempt) -> CoTask<Bytes> {
//     const Future<void> pause = Delay(timers, absl::Seconds(1));
//     co_await pause;
//     co_return attempt.payload();
//   });
//
// Thread safety: Register() before the registry is shared; the rest from any thread.

#ifndef JACKDAW_SCHEDULER_EXEC_FUNCTIONS_H_
#define JACKDAW_SCHEDULER_EXEC_FUNCTIONS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scheduler/async/co_task.h"
#include "scheduler/base/bytes.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class Functions {
 public:
  // Runs on a worker of the pool, concurrently with itself. Payload, inputs and the wish to
  // stop come from the attempt, which ends when the function returns (so it does not call
  // Detach(); what goes on longer is an Action). An exception becomes UNKNOWN with its
  // what().
  using Function = std::function<absl::StatusOr<Bytes>(Attempt&)>;

  // A coroutine, resumed on the pool that runs the job. Its attempt lives as long as the
  // coroutine. When the task is cancelled or times out, `co_await CancelRequested()` is
  // true and the coroutine should end soon. The function itself lives as long as its action
  // and every coroutine it made, so a lambda may use its captures.
  using Coroutine = std::function<CoTask<Bytes>(Attempt&)>;

  static constexpr std::size_t kMaxNameBytes = 128;

  // ALREADY_EXISTS for a name that is taken; INVALID_ARGUMENT for one that is not 1 to 128
  // of a-z, A-Z, 0-9, '_', '-', '.' and '/', and for an empty function or action.
  absl::Status Register(absl::string_view name, Function function);
  absl::Status Register(absl::string_view name, Coroutine coroutine);
  absl::Status Register(absl::string_view name, std::shared_ptr<Action> action);

  // Null for an unknown name.
  [[nodiscard]] std::shared_ptr<Action> Find(absl::string_view name) const;
  // Sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  // In the order of their names.
  [[nodiscard]] std::vector<std::shared_ptr<Action>> actions() const;

 private:
  absl::flat_hash_map<std::string, std::shared_ptr<Action>> actions_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_FUNCTIONS_H_
