#include "scheduler/async/waiter.h"

namespace jackdaw {
namespace {

// The waiters that wait for their turn on this thread, first in, first out.
struct Turns {
  int depth = 0;  // Waiters on the stack of this thread.
  Waiter* first = nullptr;
  Waiter* last = nullptr;

  void Append(Waiter* waiter) {
    waiter->next = nullptr;
    (last == nullptr ? first : last->next) = waiter;
    last = waiter;
  }
  Waiter* TakeFirst() {
    Waiter* waiter = first;
    first = waiter->next;
    if (first == nullptr) last = nullptr;
    return waiter;
  }
  void RunAll() {
    ++depth;
    while (first != nullptr) TakeFirst()->WakeNow();
    --depth;
  }
};

// Trivially destructible, so it outlives every other thread-local that may wake someone.
thread_local constinit Turns turns;

}  // namespace

void WakeAll(Waiter* first) {
  while (first != nullptr) {
    Waiter* waiter = first;
    first = waiter->next;
    if (waiter->turn() == Waiter::Turn::kAtOnce) {
      waiter->WakeNow();
    } else {
      turns.Append(waiter);
    }
  }
  if (turns.depth == 0) turns.RunAll();
}

void WakeReady(Waiter* waiter) {
  if (waiter->turn() == Waiter::Turn::kInTurn && turns.depth >= kMaxInlineCallbackDepth) {
    turns.Append(waiter);
    return;
  }
  ++turns.depth;
  waiter->WakeNow();
  --turns.depth;
  if (turns.depth == 0) turns.RunAll();
}

}  // namespace jackdaw
