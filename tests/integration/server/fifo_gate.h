// FifoGate: a command that runs until the test lets it end.
//
// Thread safety: none.

#ifndef JACKDAW_TESTS_INTEGRATION_SERVER_FIFO_GATE_H_
#define JACKDAW_TESTS_INTEGRATION_SERVER_FIFO_GATE_H_

#include <string>

#include "jackdaw/v1/task.pb.h"

namespace jackdaw::testing {

class FifoGate {
 public:
  // Uses files in `directory`, which goes with whoever made it.
  explicit FifoGate(const std::string& directory);

  // The command.
  void Fill(v1::CommandAction* command) const;
  // Blocks until the command runs, and returns its process. Once, before Open().
  int AwaitProcess();
  // Lets it end.
  void Open();

 private:
  const std::string started_;
  const std::string end_;
};

}  // namespace jackdaw::testing

#endif  // JACKDAW_TESTS_INTEGRATION_SERVER_FIFO_GATE_H_
