// JobTable: the jobs of a server by id, those that are not done and the latest that are.
// It decides what is admitted, remembers the answers to request ids, and forgets.
//
// Thread safety: every method from any thread. Shared, for jobs report their end to it.
//
// Invariants
//   (1) A job that is not done is never forgotten.
//   (2) What was admitted counts against the limits until it is done, or Abandon() or the
//       refusal of the engine gives it back.

#ifndef JACKDAW_SERVER_JOB_TABLE_H_
#define JACKDAW_SERVER_JOB_TABLE_H_

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "scheduler/base/clock.h"
#include "scheduler/base/random.h"
#include "scheduler/graph/job.h"
#include "server/job_spec.h"
#include "server/options.h"

namespace jackdaw {

// A job as the server keeps it.
struct JobEntry {
  std::shared_ptr<Job> job;
  std::shared_ptr<const JobSpec> spec;
  std::int64_t sequence = 0;  // In order of creation, from 1.
};

class JobTable : public std::enable_shared_from_this<JobTable> {
 public:
  // What a client asks for.
  struct Request {
    std::string job_id;             // "": the table chooses.
    std::string request_id;         // "": none.
    std::uint64_t fingerprint = 0;  // Of the request, where there is a request_id.
    std::int64_t tasks = 0;
  };
  // What it gets: the id of a job to make, or one that an earlier request made.
  struct Admission {
    std::string job_id;
    JobEntry earlier;
  };
  using StateFilter = std::array<bool, kJobStateCount>;
  struct Page {
    std::vector<JobEntry> jobs;
    std::int64_t next_before = 0;  // 0: no more.
  };
  struct Counts {
    std::array<std::int64_t, kJobStateCount> jobs{};   // Kept, by state.
    std::array<std::int64_t, kJobStateCount> ended{};  // Ever, by terminal state.
    std::int64_t created = 0;                          // Ever.
    std::int64_t active_tasks = 0;
    std::int64_t refused = 0;  // For the load, ever.
  };

  JobTable(ServerLimits limits, Clock& clock, std::uint64_t seed);

  // Reserves place for a job. RESOURCE_EXHAUSTED with RetryInfo over a limit;
  // ALREADY_EXISTS for a job_id in use; FAILED_PRECONDITION for a request_id that was used
  // with another request; ABORTED while the first request with it is under way; NOT_FOUND
  // when its job was forgotten; UNAVAILABLE with RetryInfo while draining.
  absl::StatusOr<Admission> Admit(const Request& request);
  // What would Admit() say? Reserves nothing.
  absl::Status WouldAdmit(const Request& request);
  // Gives back what Admit() reserved.
  void Abandon(const Request& request, const Admission& admission);
  // Fills the reservation with the job that was made of it.
  JobEntry Commit(const Request& request, std::shared_ptr<Job> job,
                  std::shared_ptr<const JobSpec> spec);

  // NOT_FOUND.
  absl::StatusOr<JobEntry> Find(absl::string_view job_id) const;
  // Newest first, those with a sequence below `before` (0: all), at most `size`.
  Page List(std::int64_t before, std::int64_t size, const StateFilter& filter) const;
  // NOT_FOUND; FAILED_PRECONDITION if the job is not done.
  absl::Status Delete(absl::string_view job_id);

  // From now on Admit() refuses.
  void Drain();
  [[nodiscard]] bool draining() const;
  [[nodiscard]] std::int64_t active_jobs() const;
  // Blocks until no job is active, or for `timeout`. True if none is.
  bool WaitUntilIdle(absl::Duration timeout);

  [[nodiscard]] Counts counts() const;
  // Called with each job that is done, on the thread that ended it. Set before use.
  using DoneCallback = std::function<void(const Job&, const JobSpec&)>;
  void OnJobDone(DoneCallback callback) { on_done_ = std::move(callback); }

 private:
  struct Answer {
    std::string job_id;
    std::uint64_t fingerprint = 0;
    std::int64_t expires_ns = 0;
    bool pending = true;
  };

  absl::StatusOr<Admission> AdmitLocked(const Request& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLoad(const Request& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string ChooseId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetOldAnswers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What is to be destroyed outside the lock.
  std::vector<JobEntry> ForgetOldJobs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MarkDone(const Job& job, const JobSpec& spec, std::int64_t sequence);

  const ServerLimits limits_;
  Clock& clock_;
  DoneCallback on_done_;

  mutable absl::Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::int64_t last_sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  // Entries without a job are reservations.
  absl::flat_hash_map<std::string, JobEntry> jobs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::int64_t, std::string, std::greater<>> by_sequence_ ABSL_GUARDED_BY(mutex_);
  std::map<std::int64_t, std::int64_t> done_ ABSL_GUARDED_BY(mutex_);  // Sequence to tasks.
  std::int64_t done_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t active_jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t active_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t created_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;
  std::array<std::int64_t, kJobStateCount> ended_ ABSL_GUARDED_BY(mutex_){};
  absl::flat_hash_map<std::string, Answer> answers_ ABSL_GUARDED_BY(mutex_);
  std::list<std::string> answers_by_age_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_TABLE_H_
