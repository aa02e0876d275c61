// AwaitLedger: which children of a fiber or scope nobody has awaited yet. For the debug mode
// of fibers, after Miou: a child that is neither awaited nor cancelled is a mistake.
//
// Thread safety: any thread.

#ifndef JACKDAW_SCHEDULER_ASYNC_AWAIT_LEDGER_H_
#define JACKDAW_SCHEDULER_ASYNC_AWAIT_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace jackdaw {

// Told once for each parent that ended well with children whom nobody had awaited, on the thread
// that ended it: who it was and who they were. Must not throw, nor wait for any of them.
using UnawaitedHook = std::function<void(absl::string_view report)>;

// A hook that prints the report to standard error and ends the program.
void AbortOnUnawaited(absl::string_view report);

class AwaitLedger {
 public:
  // Children that are named in a report; the rest are counted.
  static constexpr std::size_t kMaxNamed = 64;
  // Children that are on the list at a time. Further ones are not watched.
  static constexpr std::size_t kMaxListed = std::size_t{1} << 16;

  explicit AwaitLedger(UnawaitedHook hook) : hook_(std::move(hook)) {}

  void Add(std::uint64_t child, absl::string_view label) ABSL_LOCKS_EXCLUDED(mutex_);
  // `child` was awaited or cancelled; again is no harm.
  void Remove(std::uint64_t child) ABSL_LOCKS_EXCLUDED(mutex_);
  // The parent, `label`, has ended: tells the hook if there is something to tell.
  void Report(absl::string_view label) ABSL_LOCKS_EXCLUDED(mutex_);

  [[nodiscard]] const UnawaitedHook& hook() const { return hook_; }

 private:
  const UnawaitedHook hook_;
  absl::Mutex mutex_;
  std::map<std::uint64_t, std::string> unawaited_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t not_listed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_AWAIT_LEDGER_H_
