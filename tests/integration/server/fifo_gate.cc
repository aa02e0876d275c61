#include "tests/integration/server/fifo_gate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace jackdaw::testing {

FifoGate::FifoGate(const std::string& directory)
    : started_(directory + "/started"), end_(directory + "/end") {
  EXPECT_EQ(mkfifo(started_.c_str(), 0600), 0);
  EXPECT_EQ(mkfifo(end_.c_str(), 0600), 0);
}

void FifoGate::Fill(v1::CommandAction* command) const {
  // Opening a FIFO waits for its other end.
  for (const std::string& word : {std::string("sh"), std::string("-c"),
                                  std::string("echo $$ > $0; exec cat $1"), started_, end_}) {
    command->add_argv(word);
  }
}

int FifoGate::AwaitProcess() {
  int process = 0;
  std::ifstream(started_) >> process;
  EXPECT_GT(process, 0);
  return process;
}

void FifoGate::Open() { std::ofstream{end_}; }

}  // namespace jackdaw::testing
