// How many `/bin/true` a second: commands, two at once, beside the least that a program can
// do: one thread that vforks, executes and waits, one process after the other.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/support/compare.h"
#include "scheduler/async/timer_queue.h"
#include "scheduler/exec/commands.h"
#include "scheduler/graph/engine.h"
#include "scheduler/pool/work_stealing_pool.h"

namespace jackdaw::bench {
namespace {

constexpr int kRounds = 7;
constexpr int kProcesses = 1000;
constexpr int kAtOnce = 2;

double PlainVfork() {
  char program[] = "/bin/true";
  char* const argv[] = {program, nullptr};
  char* const envp[] = {nullptr};
  const double start = Now();
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = vfork();
    if (pid == 0) {
      execve(program, argv, envp);
      _exit(127);
    }
    if (pid < 0 || waitpid(pid, nullptr, 0) != pid) std::printf("vfork failed\n");
  }
  return kProcesses / (Now() - start);
}

// A job of independent commands, as a server would run it.
class CommandJobs {
 public:
  CommandJobs() : commands_(AllowAll()), engine_({.pool = &pool_, .timers = &timers_}) {
    CommandSpec spec;
    spec.argv = {"/bin/true"};
    action_ = commands_.Make(std::move(spec)).value();
  }

  double Run() {
    TaskBatch batch;
    batch.kinds.push_back({action_, {}});
    batch.kind.assign(kProcesses, 0);
    batch.dependency_count.assign(kProcesses, 0);
    JobOptions options;
    options.id = absl::StrCat("job", ++jobs_);
    const double start = Now();
    auto job = *engine_.Create(options, std::move(batch), /*seal=*/true);
    job->Wait();
    const double seconds = Now() - start;
    if (job->state() != JobState::kSucceeded) std::printf("the job did not succeed\n");
    return kProcesses / seconds;
  }

 private:
  static Commands::Options AllowAll() {
    Commands::Options options;
    options.allow_all = true;
    options.max_running = kAtOnce;
    return options;
  }

  Commands commands_;
  std::shared_ptr<Action> action_;
  WorkStealingPool pool_{{.workers = 2}};
  TimerQueue timers_;
  JobEngine engine_;
  int jobs_ = 0;
};

}  // namespace
}  // namespace jackdaw::bench

int main() {
  using namespace jackdaw::bench;
  CommandJobs jobs;
  Compare rates(absl::StrCat(kProcesses, " times /bin/true"), "processes a second");
  rates.Add("vfork, exec and wait, one at once", &PlainVfork);
  rates.Add(absl::StrCat("commands of one job, ", kAtOnce, " at once"), [&] { return jobs.Run(); });
  rates.Run(kRounds);
  return 0;
}
