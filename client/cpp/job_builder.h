// JobBuilder: puts a job together, task by task or as columns of many, and gives handles to
// name tasks as dependencies of others.
//
//   JobBuilder job("licenses");
//   auto texts = job.Command({"cat", "GPL-3"});
//   auto digest = job.Function("sha256").After(texts).Timeout(absl::Seconds(5));
//   auto leaves = job.Array("noop");
//   for (int i = 0; i < 1'000'000; ++i) leaves.Add({digest});
//   client->RunJob(job, ...);
//
// Thread safety: none; one thread builds a job.
//
// Invariants
//   (1) A handle stays valid while its builder lives, also when the builder is moved.
//   (2) A task can only name tasks made before it, so what is built here has no cycle.
//   (3) Nothing is checked here: the server checks, and names the field that is wrong.

#ifndef JACKDAW_CLIENT_CPP_JOB_BUILDER_H_
#define JACKDAW_CLIENT_CPP_JOB_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "jackdaw/v1/job.pb.h"

namespace jackdaw::client {

class JobBuilder {
 private:
  struct State;

 public:
  // What is left empty is the server's default; see RetryPolicy in policy.proto.
  struct Retry {
    int attempts = 1;  // The first included.
    std::optional<absl::Duration> initial_backoff = {};
    std::optional<absl::Duration> max_backoff = {};
    std::optional<double> multiplier = {};
    std::optional<double> jitter = {};  // 0 to 1.
    std::vector<absl::StatusCode> codes = {};
  };

  // A task as a dependency: cheap to copy and to keep by the million.
  class Ref {
   private:
    friend class JobBuilder;
    explicit Ref(std::int32_t place) : place_(place) {}
    // Below zero: ~place among the single tasks. Otherwise the place among those of arrays,
    // which come after all single tasks in the job.
    std::int32_t place_;
  };

  // A single task, or what the tasks of an array have in common. The setters return the
  // handle itself.
  class TaskHandle {
   public:
    operator Ref() const;  // NOLINT(google-explicit-constructor): a task stands for itself.

    // Adds dependencies: their outputs become this task's inputs, in the order given. Not
    // for what an array has in common.
    TaskHandle& After(Ref dependency);
    TaskHandle& After(absl::Span<const Ref> dependencies);
    TaskHandle& After(std::initializer_list<Ref> dependencies);
    TaskHandle& Id(absl::string_view id);
    TaskHandle& Payload(std::string payload);
    TaskHandle& RunIf(v1::RunIf run_if);
    TaskHandle& Priority(v1::Priority priority);
    TaskHandle& Retry(const JobBuilder::Retry& retry);
    TaskHandle& Timeout(absl::Duration per_attempt);
    TaskHandle& QueueTimeout(absl::Duration longest_wait);
    TaskHandle& Label(absl::string_view key, absl::string_view value);
    TaskHandle& Runner(absl::string_view name);
    // For commands only.
    TaskHandle& Stdin(v1::CommandAction::Stdin from);
    TaskHandle& Environment(absl::string_view name, absl::string_view value);
    TaskHandle& WorkingDirectory(absl::string_view path);

   private:
    friend class JobBuilder;
    TaskHandle(v1::Task* task, std::int32_t place) : task_(task), place_(place) {}
    v1::Task* task_;  // In the builder's job; protobuf keeps its address.
    std::int32_t place_;
  };

  // Many tasks of one kind, as columns: four bytes each, and four for each dependency.
  class ArrayHandle {
   public:
    // What the tasks have in common. Say it before the first task is added.
    [[nodiscard]] TaskHandle shared() const;
    // Adds a task after `dependencies`.
    Ref Add(absl::Span<const Ref> dependencies = {});
    Ref Add(std::initializer_list<Ref> dependencies);
    // The same with an id and a payload of its own; "": no id, the common payload. Once one
    // task of an array has either, all spend a little memory on it.
    Ref Add(absl::Span<const Ref> dependencies, absl::string_view id, std::string payload);

   private:
    friend class JobBuilder;
    ArrayHandle(State* state, v1::TaskArray* array) : state_(state), array_(array) {}
    State* state_;
    v1::TaskArray* array_;
  };

  explicit JobBuilder(absl::string_view display_name = "");
  ~JobBuilder();
  JobBuilder(JobBuilder&&) noexcept;
  JobBuilder& operator=(JobBuilder&&) noexcept;

  JobBuilder& FailurePolicy(v1::FailurePolicy policy);
  JobBuilder& Priority(v1::Priority priority);
  JobBuilder& Timeout(absl::Duration whole_job);
  JobBuilder& Label(absl::string_view key, absl::string_view value);

  // Adds a task that calls a function of the server.
  TaskHandle Function(absl::string_view name);
  // Adds a task that runs a program: its name or path, then its arguments.
  TaskHandle Command(std::vector<std::string> argv);
  // Adds a task that a handler in another process runs.
  TaskHandle Handler(absl::string_view name);
  // Adds an array, empty at first, whose tasks call a function of the server. Filling two
  // arrays in turns is allowed but cuts them into pieces: fill one after the other.
  [[nodiscard]] ArrayHandle Array(absl::string_view function);

  [[nodiscard]] std::int64_t task_count() const;

  // The job as a message. Copies; linear in tasks and dependencies.
  [[nodiscard]] v1::Job Build() const;
  // The same without the copy; the builder is empty afterwards, its handles are dead.
  [[nodiscard]] v1::Job Take();

 private:
  std::unique_ptr<State> state_;
};

}  // namespace jackdaw::client

namespace jackdaw {
using client::JobBuilder;
}  // namespace jackdaw

#endif  // JACKDAW_CLIENT_CPP_JOB_BUILDER_H_
