#include "client/cpp/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "client/cpp/errors.h"

namespace jackdaw::client {
namespace {

// gRPC itself waits between its attempts to connect; no longer than ours between calls.
constexpr int kFirstReconnectMs = 100;
constexpr int kMaxReconnectMs = 2'000;
// How long one attempt to connect may take. gRPC calls that the least time between attempts.
constexpr int kConnectTimeoutMs = 10'000;
// Notices within this time that the server's machine is gone while a watch is quiet.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;

std::shared_ptr<grpc::Channel> Dial(const Connection::Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<std::int64_t>(options.max_answer_bytes, std::numeric_limits<int>::max())));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // Clients of one process do not share a connection, so that each can be load of its own.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy from the environment is not for a server on this machine or next door.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(options.target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

Connection::Connection(Options options)
    : options_(std::move(options)),
      seed_(options_.seed),
      channel_(Dial(options_)),
      jobs_(v1::JobService::NewStub(channel_)),
      server_(v1::ServerService::NewStub(channel_)),
      health_(grpc::health::v1::Health::NewStub(channel_)) {}

// The seeding generator of xoshiro; the atomic addition gives every call a state of its own.
std::uint64_t Connection::NextRandom() {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  std::uint64_t z = seed_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::string Connection::NewRequestId() {
  return absl::StrCat(absl::Hex(NextRandom(), absl::kZeroPad16),
                      absl::Hex(NextRandom(), absl::kZeroPad16));
}

RetrySchedule Connection::NewRetrySchedule() { return {options_.retry, NextRandom()}; }

void Connection::SetDeadline(grpc::ClientContext& context, absl::Time deadline) {
  if (deadline != absl::InfiniteFuture()) context.set_deadline(absl::ToChronoTime(deadline));
}

absl::Status Connection::Call(const std::function<grpc::Status(grpc::ClientContext*)>& attempt) {
  const absl::Time deadline = absl::Now() + options_.deadline;
  RetrySchedule schedule = NewRetrySchedule();
  while (true) {
    grpc::ClientContext context;
    SetDeadline(context, deadline);
    absl::Status status = FromGrpc(attempt(&context), address());
    if (status.ok()) return status;
    const auto wait = schedule.Next(status, deadline - absl::Now());
    if (!wait.has_value()) return status;
    Wait(*wait);
  }
}

}  // namespace jackdaw::client
