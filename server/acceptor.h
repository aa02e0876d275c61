// Acceptor: takes connections from listening sockets and hands them on. gRPC 1.51 can do so
// itself, but stops listening for good when the process runs out of descriptors once; here
// such a connection is closed at once, and the next one is welcome again.
//
// Thread safety: one thread makes and ends it.

#ifndef JACKDAW_SERVER_ACCEPTOR_H_
#define JACKDAW_SERVER_ACCEPTOR_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "server/listener.h"

namespace jackdaw {

class Acceptor {
 public:
  // Owns the connection's descriptor, which does not block and is closed on exec.
  using OnConnection = std::function<void(int listener, int connection)>;

  // Starts the thread, on which `on_connection` is called.
  Acceptor(std::vector<std::unique_ptr<ListeningSocket>> sockets, OnConnection on_connection);
  // Stops listening and waits for the thread.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

 private:
  void Run();
  void Accept(int listener);
  void TurnAway(int listener);

  const std::vector<std::unique_ptr<ListeningSocket>> sockets_;
  const OnConnection on_connection_;
  const int stop_;  // An eventfd.
  int reserve_;     // A descriptor to give up when there are no others.
  std::thread thread_;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_ACCEPTOR_H_
