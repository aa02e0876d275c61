// Submits a small graph to a server and prints what came of it.
//
//   jackdawd &
//   client_example [HOST:PORT or unix:PATH]
//
// With an installed Jackdaw: find_package(Jackdaw), then link jackdaw::client.

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cpp/client.h"
#include "client/cpp/job_builder.h"

namespace {

// Three texts side by side, joined, and the digest of the whole; then a thousand tasks that
// wait for it, as columns.
// sample: job
jackdaw::JobBuilder BuildJob() {
  jackdaw::JobBuilder job("client example");
  std::vector<jackdaw::JobBuilder::Ref> words;
  for (const char* word : {"task ", "graphs ", "run"}) {
    words.push_back(job.Function("echo").Payload(word));
  }
  auto sentence = job.Function("concat").Id("sentence").After(words);
  auto digest = job.Function("sha256")
                    .Id("digest")
                    .After(sentence)
                    .Timeout(absl::Seconds(5))
                    .Retry({.attempts = 3, .initial_backoff = absl::Milliseconds(10)});
  auto leaves = job.Array("noop");
  for (int i = 0; i < 1000; ++i) leaves.Add({digest});
  return job;
}
// end of sample

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  jackdaw::Client::Options options;
  if (argc > 1) options.address = argv[1];
  // sample: run
  auto client = jackdaw::Client::Connect(std::move(options));
  if (!client.ok()) return Fail(client.status());

  const auto job = (*client)->RunJob(BuildJob().Take());
  if (!job.ok()) return Fail(job.status());
  // end of sample
  std::cout << job->name() << ": " << job->task_counts().succeeded() << " of "
            << job->task_counts().total() << " tasks succeeded\n";

  for (const char* task : {"sentence", "digest"}) {
    std::string output;
    const auto read = (*client)->ReadOutput(job->name(), task, {}, [&](absl::string_view piece) {
      output.append(piece.data(), piece.size());
    });
    if (!read.ok()) return Fail(read.status());
    std::cout << task << ": " << output << "\n";
  }
  return job->state() == jackdaw::v1::Job::STATE_SUCCEEDED ? 0 : 1;
}
