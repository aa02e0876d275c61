// CoroutineAction: a function that is a coroutine. An attempt is a coroutine spawned on the
// runner that the attempt was started on.
//
// Thread safety: as every action.

#ifndef JACKDAW_SCHEDULER_EXEC_COROUTINE_ACTION_H_
#define JACKDAW_SCHEDULER_EXEC_COROUTINE_ACTION_H_

#include <memory>
#include <optional>

#include "absl/strings/string_view.h"
#include "scheduler/exec/functions.h"
#include "scheduler/graph/action.h"

namespace jackdaw {

class CoroutineAction final : public Action {
 public:
  CoroutineAction(absl::string_view name, Functions::Coroutine coroutine);

  // FAILED_PRECONDITION off a runner's thread: nobody could resume the coroutine.
  std::optional<Outcome> Start(Attempt& attempt) override;

 private:
  const std::shared_ptr<const Functions::Coroutine> coroutine_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_EXEC_COROUTINE_ACTION_H_
