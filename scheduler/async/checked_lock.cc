#include "scheduler/async/checked_lock.h"

#include <cstdio>
#include <cstdlib>

namespace jackdaw {
namespace {

thread_local constinit int held = 0;

}  // namespace

__attribute__((noinline)) int CheckedLock::HeldHere() { return held; }

__attribute__((noinline)) void CheckedLock::CountHere(int change) { held += change; }

void CheckedLock::CheckNoneHeldSince(int before) {
  if (HeldHere() == before) return;
  std::fputs(
      "jackdaw: a coroutine was suspended while it held a lock of its thread (a CheckedLock, "
      "or Guarded): use AsyncMutex, or unlock before co_await\n",
      stderr);
  std::abort();
}

}  // namespace jackdaw
