// The service from outside: a real jackdawd on a Unix socket, and this program as its client.
// Each figure stands beside its baseline, measured in turns in the same run.
//
//   service_bench PATH-OF-JACKDAWD

#include <grpcpp/create_channel.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/support/compare.h"
#include "bench/support/hand_off.h"
#include "bench/support/scrape.h"
#include "client/cpp/client.h"
#include "client/cpp/job_builder.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "jackdaw/v1/job_service.grpc.pb.h"
#include "tests/support/server_process.h"

namespace jackdaw::bench {
namespace {

using testing::ServerProcess;

constexpr int kRounds = 7;
constexpr int kCalls = 2000;
constexpr int kLayeredTasks = 100'000;

std::unique_ptr<ServerProcess> Start(const std::string& program,
                                     const std::vector<std::string>& arguments) {
  auto server = ServerProcess::Start(program, arguments);
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", std::string(server.status().message()).c_str());
    std::exit(1);
  }
  return *std::move(server);
}

void Check(const grpc::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "a call failed: %s\n", status.error_message().c_str());
  std::exit(1);
}

// The median time of `call`, in microseconds.
double MedianMicros(int calls, const std::function<void()>& call) {
  std::vector<double> micros;
  for (int i = 0; i < calls; ++i) {
    const double start = Now();
    call();
    micros.push_back(1e6 * (Now() - start));
  }
  std::nth_element(micros.begin(), micros.begin() + calls / 2, micros.end());
  return micros[static_cast<std::size_t>(calls) / 2];
}

// Blocking calls on one connection, as a plain client makes them.
class Caller {
 public:
  explicit Caller(const std::string& address)
      : channel_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        health_(grpc::health::v1::Health::NewStub(channel_)),
        jobs_(v1::JobService::NewStub(channel_)) {
    run_.mutable_job()->add_tasks()->mutable_function()->set_name("noop");
    run_.set_final_only(true);
  }

  // The bare unary call on the same stack: the health service's Check.
  void Echo() {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    grpc::health::v1::HealthCheckResponse response;
    Check(health_->Check(&context, request, &response));
  }

  void RunNoop() {
    grpc::ClientContext context;
    auto reader = jobs_->RunJob(&context, run_);
    v1::JobEvent event;
    int events = 0;
    while (reader->Read(&event)) ++events;
    Check(reader->Finish());
    if (events != 1 || event.job().state() != v1::Job::STATE_SUCCEEDED) {
      std::fprintf(stderr, "a no-op job did not succeed\n");
      std::exit(1);
    }
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  v1::RunJobRequest run_;
};

void OneTask(const std::string& program) {
  // Warm: the worker still searches when the next job comes. Cold: it sleeps as soon as it
  // has nothing to do.
  const auto warm_server = Start(program, {"--workers", "1", "--spin", "2ms"});
  const auto cold_server = Start(program, {"--workers", "1", "--spin", "0s"});
  Caller warm(warm_server->address());
  Caller cold(cold_server->address());
  {
    Compare compare("One no-op task, submit to result, warm", "us, median of 2000 calls");
    compare.Add("bare unary call", [&] { return MedianMicros(kCalls, [&] { warm.Echo(); }); });
    compare.Add("RunJob", [&] { return MedianMicros(kCalls, [&] { warm.RunNoop(); }); });
    compare.Run(kRounds);
  }
  Compare compare("One no-op task, submit to result, cold", "us, median of 2000 calls");
  compare.Add("bare unary call", [&] { return MedianMicros(kCalls, [&] { cold.Echo(); }); });
  compare.Add("one hand-over between two threads", [] { return HandOffMicros(kCalls); });
  compare.Add("RunJob", [&] { return MedianMicros(kCalls, [&] { cold.RunNoop(); }); });
  compare.Run(kRounds);
  std::printf("  cold RunJob over (call + two hand-overs): %.2fx\n\n",
              compare.Median(2) / (compare.Median(0) + 2 * compare.Median(1)));
}

v1::Job Layered(int tasks) {
  constexpr int kWidth = 1000;
  JobBuilder job("layered");
  auto array = job.Array("noop");
  std::vector<JobBuilder::Ref> refs;
  for (int i = 0; i < tasks; ++i) {
    std::vector<JobBuilder::Ref> after;
    const int above = (i / kWidth - 1) * kWidth;
    for (int k = 0; k < 4 && above >= 0; ++k) {
      after.push_back(refs[static_cast<std::size_t>(above + (i * 7 + k * 131) % kWidth)]);
    }
    refs.push_back(array.Add(after));
  }
  return job.Take();
}

void ManyTasks(const std::string& program) {
  const auto server = Start(program, {});
  auto client = Client::Connect({.address = server->address()});
  const v1::Job job = Layered(kLayeredTasks);
  const std::string bytes = job.SerializeAsString();
  const auto rate = [](double seconds) { return kLayeredTasks / seconds / 1e3; };

  const int series_before = Scrape(server->metrics_port()).series;
  int series_during = 0;
  Compare compare(absl::StrCat("A job of ", kLayeredTasks, " layered no-op tasks, 4 in-edges (",
                               bytes.size() / 1024, " KiB), submit to done"),
                  "thousand tasks a second");
  compare.Add("the message made and parsed, no server", [&] {
    const double start = Now();
    v1::Job parsed;
    if (!parsed.ParseFromString(job.SerializeAsString())) std::exit(1);
    return rate(Now() - start);
  });
  compare.Add("RunJob", [&] {
    const double start = Now();
    auto done = (*client)->RunJob(job, {.final_only = true});
    const double seconds = Now() - start;
    if (!done.ok() || done->state() != v1::Job::STATE_SUCCEEDED) {
      std::fprintf(stderr, "%s\n", std::string(done.status().message()).c_str());
      std::exit(1);
    }
    return rate(seconds);
  });
  compare.Run(kRounds);

  std::thread runner([&] { (void)(*client)->RunJob(job, {.final_only = true}); });
  series_during = Scrape(server->metrics_port()).series;
  runner.join();
  std::vector<double> millis;
  for (int i = 0; i < 50; ++i) millis.push_back(Scrape(server->metrics_port()).millis);
  std::sort(millis.begin(), millis.end());
  const ScrapeResult after = Scrape(server->metrics_port());
  std::printf(
      "/metrics: %d series before, %d during, %d after; %zu bytes; median %.2f ms, worst %.2f "
      "ms\n\n",
      series_before, series_during, after.series, after.bytes, millis[25], millis.back());
}

void Idle(const std::string& program) {
  const auto server = Start(program, {});
  Caller caller(server->address());
  for (int i = 0; i < 100; ++i) caller.RunNoop();
  const absl::Duration before = server->CpuTime();
  constexpr int kSeconds = 20;
  absl::SleepFor(absl::Seconds(kSeconds));
  const double percent = 100 * absl::ToDoubleSeconds(server->CpuTime() - before) / kSeconds;
  std::printf("Idle server: %.3f percent of a core over %d s, %.1f MiB resident\n\n", percent,
              kSeconds, static_cast<double>(server->ResidentBytes()) / (1 << 20));
}

}  // namespace
}  // namespace jackdaw::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: service_bench PATH-OF-JACKDAWD\n");
    return 2;
  }
  jackdaw::bench::OneTask(argv[1]);
  jackdaw::bench::ManyTasks(argv[1]);
  jackdaw::bench::Idle(argv[1]);
  return 0;
}
