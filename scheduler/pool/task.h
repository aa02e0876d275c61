// Task: one piece of work in a runner's hands. It is an intrusive base of one word:
// whoever makes the work owns the memory, and a deque holds plain pointers.
//
// Invariants
//   (1) A runner that accepted a task calls exactly one of Run() and Drop(), once.
//       Drop() means that the runner is cancelling: the work does not happen, and
//       whatever waits for it must learn so (a future resolves to an error).
//   (2) The runner does not touch the task after that call begins: it may free itself.

#ifndef JACKDAW_SCHEDULER_POOL_TASK_H_
#define JACKDAW_SCHEDULER_POOL_TASK_H_

#include <type_traits>
#include <utility>

namespace jackdaw {

class Task {
 public:
  enum class Verb { kRun, kDrop };
  using Invoke = void (*)(Task*, Verb) noexcept;

  explicit constexpr Task(Invoke invoke) : invoke_(invoke) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  void Run() noexcept { invoke_(this, Verb::kRun); }
  void Drop() noexcept { invoke_(this, Verb::kDrop); }
  void Do(Verb verb) noexcept { invoke_(this, verb); }

  // Whether this is a task of the kind that `invoke` makes.
  [[nodiscard]] bool Is(Invoke invoke) const { return invoke_ == invoke; }

 protected:
  ~Task() = default;

 private:
  const Invoke invoke_;
};

// Inside a catch block: hands what a task threw to the runner that runs it (error_edge.h).
void ReportThrownByTask() noexcept;

// A task on the heap that calls `body` once, or destroys it uncalled when it is dropped. What
// `body` throws goes to the runner's `on_error`.
template <typename Body>
[[nodiscard]] Task* MakeTask(Body&& body) {
  class Closure final : public Task {
   public:
    explicit Closure(Body&& b) : Task(&Closure::Call), body_(std::forward<Body>(b)) {}

   private:
    static void Call(Task* task, Verb verb) noexcept {
      auto* self = static_cast<Closure*>(task);
      if (verb == Verb::kRun) {
        try {
          std::move(self->body_)();
        } catch (...) {
          ReportThrownByTask();
        }
      }
      delete self;
    }
    std::decay_t<Body> body_;
  };
  return new Closure(std::forward<Body>(body));
}

}  // namespace jackdaw

#endif  // JACKDAW_SCHEDULER_POOL_TASK_H_
