// Signals of the process.
//
// Thread safety: as each says.

#ifndef JACKDAW_SERVER_SIGNALS_H_
#define JACKDAW_SERVER_SIGNALS_H_

#include <csignal>

namespace jackdaw {

// While it lives, the calling thread takes no signals, and neither will the threads it
// starts: signals are for the thread that waits for them.
class BlockSignals {
 public:
  BlockSignals();
  ~BlockSignals();
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

// From now on SIGTERM and SIGINT wait for AwaitEndSignal(). On the thread that calls it
// and those it starts.
void HoldEndSignals();

// Blocks until SIGTERM or SIGINT comes and returns which. After HoldEndSignals().
int AwaitEndSignal();

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_SIGNALS_H_
