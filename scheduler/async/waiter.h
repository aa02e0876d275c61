// Waiter: what waits for a future. An intrusive base: whoever waits owns the memory, and a
// future that nobody waits for costs one word.
//
// Thread safety: a waiter is handed to a future by one thread and woken once, by any.

#ifndef JACKDAW_SCHEDULER_ASYNC_WAITER_H_
#define JACKDAW_SCHEDULER_ASYNC_WAITER_H_

namespace jackdaw {

class Waiter {
 public:
  // When a waiter is woken.
  enum class Turn {
    kAtOnce,  // By the completer, at once. For a waiter whose Wake() only passes the word on:
              // it unblocks a thread or submits a task, and runs no user code.
    kInTurn,  // Runs user code. When the completer is itself inside such a waiter, it comes
              // after that one has returned, so a chain of any length needs one stack frame.
  };
  // Must not throw. The waiter may free itself; nobody touches it after the call begins.
  using Wake = void (*)(Waiter*) noexcept;

  Waiter(Wake wake, Turn turn) : wake_(wake), turn_(turn) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // The next in the list that holds this waiter; only for whoever owns that list.
  Waiter* next = nullptr;

  // Only for waiter.cc: everybody else wakes through WakeAll() and WakeReady().
  void WakeNow() noexcept { wake_(this); }
  [[nodiscard]] Turn turn() const { return turn_; }

 protected:
  ~Waiter() = default;

 private:
  const Wake wake_;
  const Turn turn_;
};

// How deep callbacks on futures that are already ready may nest before the next one waits
// for its turn.
inline constexpr int kMaxInlineCallbackDepth = 16;

// Wakes every waiter of the list, in its order. Any thread.
void WakeAll(Waiter* first);

// Wakes one waiter whose future turned out to be ready already: at once, unless callbacks
// on this thread are nested kMaxInlineCallbackDepth deep; then in its turn. Any thread.
void WakeReady(Waiter* waiter);

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_ASYNC_WAITER_H_
