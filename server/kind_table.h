// KindTable: the kinds of task in one request. A kind is an action with a policy; the tasks
// that share one are told apart by nothing else the engine needs, so each is checked and
// kept once.
//
// Thread safety: none; one request's own.

#ifndef JACKDAW_SERVER_KIND_TABLE_H_
#define JACKDAW_SERVER_KIND_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "scheduler/graph/batch.h"
#include "server/catalog.h"
#include "server/errors.h"

namespace jackdaw {

namespace v1 {
class CommandAction;
class Task;
}  // namespace v1

class KindTable {
 public:
  // What is wrong is added to `violations`. Both outlive the table.
  KindTable(const Catalog& catalog, Violations* violations)
      : catalog_(catalog), violations_(*violations) {}

  // What tasks have that say nothing else.
  void SetPriority(Priority priority) { priority_ = priority; }

  // The place of `task`'s kind; 0 after a violation. `path` is the task's, for errors.
  std::uint32_t Of(const v1::Task& task, absl::FunctionRef<std::string()> path);

  // PERMISSION_DENIED once a task asked for a command that is not for its sender.
  [[nodiscard]] const absl::Status& denied() const { return denied_; }

  // The kinds, by place, and the v1.Task of each, serialised.
  [[nodiscard]] std::vector<TaskBatch::Kind> TakeKinds() { return std::move(kinds_); }
  [[nodiscard]] std::vector<std::string> TakeMessages() { return std::move(messages_); }

 private:
  void CheckRunner(const v1::Task& task, const std::string& path);
  std::shared_ptr<Action> ToAction(const v1::Task& task, const std::string& path);
  std::shared_ptr<Action> ToCommand(const v1::CommandAction& command, const std::string& path);

  const Catalog& catalog_;
  Violations& violations_;
  Priority priority_ = Priority::kNormal;
  absl::Status denied_;
  std::vector<TaskBatch::Kind> kinds_;
  std::vector<std::string> messages_;
  absl::flat_hash_map<std::string, std::uint32_t> place_of_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_KIND_TABLE_H_
