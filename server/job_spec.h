// JobSpec: what a client said about a job and the graph does not keep, so that it can be
// told again. Messages are kept serialised, each kind of task once.
//
// Thread safety: not changed after it was made; shared freely.

#ifndef JACKDAW_SERVER_JOB_SPEC_H_
#define JACKDAW_SERVER_JOB_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace jackdaw {

struct JobSpec {
  std::string display_name;
  std::string job;                  // A v1.Job: what the client set, without its tasks.
  std::vector<std::string> kinds;   // A v1.Task each: action and policy.
  std::vector<std::uint32_t> kind;  // One a task; empty: all are of kind 0.
  absl::flat_hash_map<std::uint32_t, std::string> labels;  // By task: a v1.Task with labels.
  std::string upload_id;

  [[nodiscard]] absl::string_view KindOf(std::uint32_t task) const {
    return kinds[kind.empty() ? 0 : kind[task]];
  }
};

}  // namespace jackdaw

#endif  // JACKDAW_SERVER_JOB_SPEC_H_
