// WaitLine: promises that wait for their turn, first come, first served, each with what it
// brought along. Channels, semaphores, events and conditions are made of it.
//
// Thread safety: none; its owner's lock guards it. What is taken out is fulfilled, and
// destroyed, by the owner after unlocking: both may run user code.
//
// Invariants
//   (1) Each promise leaves the line once: at its turn, by Take() on a request to cancel, or
//       by TakeAll(). Whoever took it out, and nobody else, resolves it. So a turn is never
//       given to a promise that was cancelled, and a cancelled one never had its turn.
//   (2) Tickets are never used again.
//   (3) A promise whose futures were all dropped has no turn. It is found at its turn, or by a
//       search, which happens each time the line has doubled since the last one. So a line is
//       no longer than kFirstSweep, or twice what was wanted at the last search.

#ifndef JACKDAW_SCHEDULER_ASYNC_WAIT_LINE_H_
#define JACKDAW_SCHEDULER_ASYNC_WAIT_LINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "scheduler/async/future.h"

namespace jackdaw {

// Futures that one line holds. Further ones resolve to RESOURCE_EXHAUSTED at once.
inline constexpr std::size_t kMaxWaiting = std::size_t{1} << 24;
// Length from which on a line is searched for those whom nobody wants, each time it doubles.
inline constexpr std::size_t kFirstSweep = 64;

template <typename T, typename Need>
class WaitLine {
 public:
  using Ticket = std::uint64_t;
  struct Waiting {
    Promise<T> promise;
    Need need;
  };

  explicit WaitLine(std::size_t limit = kMaxWaiting) : limit_(limit) {}

  [[nodiscard]] bool empty() const { return line_.empty(); }
  [[nodiscard]] std::size_t size() const { return line_.size(); }
  // What the next one to Add() gets.
  [[nodiscard]] Ticket next_ticket() const { return next_; }
  // Requires: not empty.
  [[nodiscard]] const Waiting& first() const { return line_.begin()->second; }

  // A new future at the end of the line. When it is asked to cancel, and `owner` still lives,
  // `(owner.get()->*cancel)(ticket)` is called, without any lock. `need` is moved from unless
  // the line is full. Those that a search finds go to `unwanted`.
  template <typename Owner>
  [[nodiscard]] Future<T> Add(Need& need, std::type_identity_t<std::weak_ptr<Owner>> owner,
                              void (Owner::*cancel)(Ticket), std::vector<Waiting>& unwanted) {
    if (line_.size() >= sweep_at_) Sweep(unwanted);
    if (line_.size() >= limit_) {
      return Future<T>::Ready(absl::ResourceExhaustedError(
          absl::StrCat(line_.size(), " wait already, which is the limit")));
    }
    Promise<T> promise;
    Future<T> future = promise.future();
    promise.OnCancel([owner = std::move(owner), cancel, ticket = next_] {
      if (const std::shared_ptr<Owner> alive = owner.lock()) (alive.get()->*cancel)(ticket);
    });
    Append({std::move(promise), std::move(need)});
    return future;
  }

  // Lets a promise wait that was taken out of another line. No limit: it was counted there.
  void Append(Waiting waiting) { line_.emplace_hint(line_.end(), next_++, std::move(waiting)); }

  // Requires: not empty.
  [[nodiscard]] Waiting TakeFirst() { return std::move(line_.extract(line_.begin()).mapped()); }

  // The first whose future somebody still holds, or nothing. Those before it go to `unwanted`.
  [[nodiscard]] std::optional<Waiting> TakeFirstWanted(std::vector<Waiting>& unwanted) {
    while (!line_.empty()) {
      Waiting waiting = TakeFirst();
      if (waiting.promise.is_wanted()) return waiting;
      unwanted.push_back(std::move(waiting));
    }
    return std::nullopt;
  }

  // Nothing where that one has left the line already.
  [[nodiscard]] std::optional<Waiting> Take(Ticket ticket) {
    const auto found = line_.find(ticket);
    if (found == line_.end()) return std::nullopt;
    return std::move(line_.extract(found).mapped());
  }

  // All of them, first to last.
  [[nodiscard]] std::vector<Waiting> TakeAll() {
    std::vector<Waiting> all;
    all.reserve(line_.size());
    for (auto& [ticket, waiting] : line_) all.push_back(std::move(waiting));
    line_.clear();
    return all;
  }

 private:
  void Sweep(std::vector<Waiting>& unwanted) {
    for (auto entry = line_.begin(); entry != line_.end();) {
      if (entry->second.promise.is_wanted()) {
        ++entry;
        continue;
      }
      unwanted.push_back(std::move(entry->second));
      entry = line_.erase(entry);
    }
    sweep_at_ = std::max(kFirstSweep, 2 * line_.size());
  }

  const std::size_t limit_;
  std::size_t sweep_at_ = kFirstSweep;
  Ticket next_ = 1;
  std::map<Ticket, Waiting> line_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_WAIT_LINE_H_
