// RpcQueue: one completion queue of gRPC and the one thread that serves it. Measured, one
// queue with one thread is the fastest way to serve many small calls; a second thread on
// the same queue costs more than it brings.
//
// Thread safety: every method from any thread, unless it says otherwise.
//
// Invariant: the queue is shut down only once nothing holds it: no call is under way or
// being waited for, no timer is pending.

#ifndef JACKDAW_SERVER_RPC_QUEUE_H_
#define JACKDAW_SERVER_RPC_QUEUE_H_

#include <coroutine>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace grpc {
class ServerCompletionQueue;
}  // namespace grpc

namespace jackdaw {

class RpcQueue {
 public:
  // `name` becomes the thread's, cut to 15 bytes.
  RpcQueue(std::string name, std::unique_ptr<grpc::ServerCompletionQueue> queue);
  // Requires: never started, or ended by Join().
  ~RpcQueue();

  // Starts the thread, which calls `first` before it serves.
  void Start(std::function<void()> first = nullptr);

  // Once the server that uses the queue has been shut down: waits until nothing holds the
  // queue, then ends the thread.
  void Join();

  [[nodiscard]] grpc::ServerCompletionQueue& completion_queue() { return *queue_; }

  // Resumes `coroutine` on the queue's thread.
  void Post(std::coroutine_handle<> coroutine);
  // Calls `callback` on the queue's thread, `delay` from now.
  void After(absl::Duration delay, std::function<void()> callback);

  // Keeps the queue from ending.
  void Hold();
  void Release();

 private:
  void Serve();

  const std::string name_;
  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::thread thread_;
  absl::Mutex mutex_;
  int holds_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_RPC_QUEUE_H_
