#include "server/signals.h"

#include <pthread.h>

#include <initializer_list>

namespace jackdaw {
namespace {

sigset_t EndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

BlockSignals::BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  // A thread that faults must still die of it.
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigdelset(&all, fault);
  }
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

BlockSignals::~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void HoldEndSignals() {
  const sigset_t signals = EndSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int AwaitEndSignal() {
  const sigset_t signals = EndSignals();
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  return signal;
}

}  // namespace jackdaw
