#include "server/job_table.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors.h"

namespace jackdaw {
namespace {

constexpr int kChosenIdLetters = 13;  // 5 bits each: 65 bits.

}  // namespace

JobTable::JobTable(ServerLimits limits, Clock& clock, std::uint64_t seed)
    : limits_(limits), clock_(clock), random_(seed) {}

absl::StatusOr<JobTable::Admission> JobTable::Admit(const Request& request) {
  std::vector<JobEntry> forgotten;  // Destroyed after the lock is given back.
  absl::MutexLock lock(&mutex_);
  absl::StatusOr<Admission> admission = AdmitLocked(request);
  if (!admission.ok() || admission->earlier.job != nullptr) return admission;
  if (admission->job_id.empty()) admission->job_id = ChooseId();
  jobs_[admission->job_id].sequence = 0;
  ++active_jobs_;
  active_tasks_ += request.tasks;
  if (!request.request_id.empty()) {
    const std::int64_t expires =
        clock_.MonotonicNanos() + absl::ToInt64Nanoseconds(limits_.request_id_retention);
    answers_[request.request_id] = {admission->job_id, request.fingerprint, expires, true};
    answers_by_age_.push_back(request.request_id);
  }
  forgotten = ForgetOldJobs();
  return admission;
}

absl::Status JobTable::WouldAdmit(const Request& request) {
  absl::MutexLock lock(&mutex_);
  return AdmitLocked(request).status();
}

absl::StatusOr<JobTable::Admission> JobTable::AdmitLocked(const Request& request) {
  Admission admission;
  ForgetOldAnswers();
  if (!request.request_id.empty()) {
    const auto answer = answers_.find(request.request_id);
    if (answer != answers_.end()) {
      if (answer->second.fingerprint != request.fingerprint) {
        return PreconditionError("request_id", "was used with another request",
                                 "REQUEST_ID_REUSED");
      }
      if (answer->second.pending) {
        return WithRetryDelay(
            MakeError(absl::StatusCode::kAborted,
                      "the first request with this request_id is under way", "REQUEST_UNDER_WAY"),
            limits_.retry_delay);
      }
      const auto found = jobs_.find(answer->second.job_id);
      if (found == jobs_.end()) {
        return NotFound(absl::StrCat("jobs/", answer->second.job_id), "JOB_NOT_FOUND");
      }
      admission.earlier = found->second;
      return admission;
    }
  }
  if (absl::Status load = CheckLoad(request); !load.ok()) return load;
  if (!request.job_id.empty() && jobs_.contains(request.job_id)) {
    return MakeError(absl::StatusCode::kAlreadyExists,
                     absl::StrCat("there is a job jobs/", request.job_id, " already"),
                     "JOB_ALREADY_EXISTS", {{"resource", absl::StrCat("jobs/", request.job_id)}});
  }
  admission.job_id = request.job_id;
  return admission;
}

absl::Status JobTable::CheckLoad(const Request& request) {
  if (draining_) {
    return WithRetryDelay(
        MakeError(absl::StatusCode::kUnavailable, "the server is ending and takes no more jobs",
                  "SERVER_DRAINING"),
        limits_.retry_delay);
  }
  const auto exhausted = [&](absl::string_view what, std::int64_t now,
                             std::int64_t limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++refused_;
    return WithRetryDelay(
        MakeError(
            absl::StatusCode::kResourceExhausted,
            absl::StrCat("the server has ", now, " active ", what, " of at most ", limit,
                         what == "tasks" ? absl::StrCat("; this job adds ", request.tasks) : ""),
            what == "tasks" ? "TOO_MANY_ACTIVE_TASKS" : "TOO_MANY_ACTIVE_JOBS",
            {{"limit", absl::StrCat(limit)}, {"active", absl::StrCat(now)}}),
        limits_.retry_delay);
  };
  if (active_jobs_ >= limits_.max_active_jobs) {
    return exhausted("jobs", active_jobs_, limits_.max_active_jobs);
  }
  if (active_tasks_ + request.tasks > limits_.max_active_tasks) {
    return exhausted("tasks", active_tasks_, limits_.max_active_tasks);
  }
  return absl::OkStatus();
}

std::string JobTable::ChooseId() {
  static constexpr char kLetters[] = "abcdefghijkmnpqrstuvwxyz23456789";
  for (;;) {
    std::string id = "j";
    for (int i = 0; i < kChosenIdLetters; ++i) id += kLetters[random_.Below(32)];
    if (!jobs_.contains(id)) return id;
  }
}

void JobTable::ForgetOldAnswers() {
  const std::int64_t now = clock_.MonotonicNanos();
  while (!answers_by_age_.empty()) {
    const auto oldest = answers_.find(answers_by_age_.front());
    const bool full = static_cast<std::int64_t>(answers_by_age_.size()) >= limits_.max_request_ids;
    if (oldest != answers_.end() && oldest->second.expires_ns > now && !full) return;
    if (oldest != answers_.end()) answers_.erase(oldest);
    answers_by_age_.pop_front();
  }
}

std::vector<JobEntry> JobTable::ForgetOldJobs() {
  std::vector<JobEntry> forgotten;
  while (!done_.empty() && (static_cast<std::int64_t>(done_.size()) > limits_.max_done_jobs ||
                            done_tasks_ > limits_.max_done_tasks)) {
    const auto oldest = done_.begin();
    const auto position = by_sequence_.find(oldest->first);
    const auto found = jobs_.find(position->second);
    forgotten.push_back(std::move(found->second));
    jobs_.erase(found);
    by_sequence_.erase(position);
    done_tasks_ -= oldest->second;
    done_.erase(oldest);
  }
  return forgotten;
}

void JobTable::Abandon(const Request& request, const Admission& admission) {
  absl::MutexLock lock(&mutex_);
  jobs_.erase(admission.job_id);
  --active_jobs_;
  active_tasks_ -= request.tasks;
  if (request.request_id.empty()) return;
  answers_.erase(request.request_id);
  answers_by_age_.remove(request.request_id);
}

JobEntry JobTable::Commit(const Request& request, std::shared_ptr<Job> job,
                          std::shared_ptr<const JobSpec> spec) {
  JobEntry entry;
  {
    absl::MutexLock lock(&mutex_);
    ++created_;
    entry = {job, std::move(spec), ++last_sequence_};
    jobs_[job->id()] = entry;
    by_sequence_.emplace(entry.sequence, job->id());
    const auto answer = answers_.find(request.request_id);
    if (answer != answers_.end()) answer->second.pending = false;
  }
  // The job calls this while it is alive, and may outlive the table.
  job->OnDone(
      [weak = weak_from_this(), ended = job.get(), kept = entry.spec, sequence = entry.sequence] {
        if (const auto table = weak.lock()) table->MarkDone(*ended, *kept, sequence);
      });
  return entry;
}

void JobTable::MarkDone(const Job& job, const JobSpec& spec, std::int64_t sequence) {
  if (on_done_) on_done_(job, spec);
  const std::int64_t tasks = job.task_count();
  const auto state = static_cast<std::size_t>(job.state());
  absl::MutexLock lock(&mutex_);
  --active_jobs_;
  active_tasks_ -= tasks;
  ++ended_[state];
  // A client that saw the end may have had it deleted already.
  if (!by_sequence_.contains(sequence)) return;
  done_.emplace(sequence, tasks);
  done_tasks_ += tasks;
}

absl::StatusOr<JobEntry> JobTable::Find(absl::string_view job_id) const {
  absl::MutexLock lock(&mutex_);
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end() || found->second.job == nullptr) {
    return NotFound(absl::StrCat("jobs/", job_id), "JOB_NOT_FOUND");
  }
  return found->second;
}

JobTable::Page JobTable::List(std::int64_t before, std::int64_t size,
                              const StateFilter& filter) const {
  Page page;
  absl::MutexLock lock(&mutex_);
  auto next = before == 0 ? by_sequence_.begin() : by_sequence_.upper_bound(before);
  for (; next != by_sequence_.end(); ++next) {
    const JobEntry& entry = jobs_.find(next->second)->second;
    if (!filter[static_cast<std::size_t>(entry.job->state())]) continue;
    if (static_cast<std::int64_t>(page.jobs.size()) == size) {
      page.next_before = page.jobs.back().sequence;
      break;
    }
    page.jobs.push_back(entry);
  }
  return page;
}

absl::Status JobTable::Delete(absl::string_view job_id) {
  JobEntry entry;  // Destroyed after the lock is given back.
  absl::MutexLock lock(&mutex_);
  const auto found = jobs_.find(job_id);
  const std::string name = absl::StrCat("jobs/", job_id);
  if (found == jobs_.end() || found->second.job == nullptr) {
    return NotFound(name, "JOB_NOT_FOUND");
  }
  if (!IsTerminal(found->second.job->state())) {
    return PreconditionError(name, "is not terminal; cancel it first", "JOB_NOT_TERMINAL");
  }
  const auto done = done_.find(found->second.sequence);
  if (done != done_.end()) {
    done_tasks_ -= done->second;
    done_.erase(done);
  }
  by_sequence_.erase(found->second.sequence);
  entry = std::move(found->second);
  jobs_.erase(found);
  return absl::OkStatus();
}

void JobTable::Drain() {
  absl::MutexLock lock(&mutex_);
  draining_ = true;
}

bool JobTable::draining() const {
  absl::MutexLock lock(&mutex_);
  return draining_;
}

std::int64_t JobTable::active_jobs() const {
  absl::MutexLock lock(&mutex_);
  return active_jobs_;
}

bool JobTable::WaitUntilIdle(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return active_jobs_ == 0; };
  return mutex_.AwaitWithTimeout(absl::Condition(&idle), timeout);
}

JobTable::Counts JobTable::counts() const {
  absl::MutexLock lock(&mutex_);
  Counts counts;
  counts.ended = ended_;
  counts.created = created_;
  counts.active_tasks = active_tasks_;
  counts.refused = refused_;
  for (const auto& [id, entry] : jobs_) {
    if (entry.job != nullptr) ++counts.jobs[static_cast<std::size_t>(entry.job->state())];
  }
  return counts;
}

}  // namespace jackdaw
