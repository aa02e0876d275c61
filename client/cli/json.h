// JSON for machines: what `--json` prints. One object a line, names as in the protocol.

#ifndef JACKDAW_CLIENT_CLI_JSON_H_
#define JACKDAW_CLIENT_CLI_JSON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/rpc/status.pb.h"
#include "jackdaw/v1/job.pb.h"
#include "jackdaw/v1/server_service.pb.h"
#include "jackdaw/v1/task.pb.h"

namespace jackdaw::cli {

// `text` in quotes. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string JsonString(absl::string_view text);

// Puts an object together, field by field, in the order of the calls.
class JsonObject {
 public:
  JsonObject& Text(absl::string_view name, absl::string_view value);
  JsonObject& Integer(absl::string_view name, std::int64_t value);
  JsonObject& Number(absl::string_view name, double value);  // Finite.
  JsonObject& Bool(absl::string_view name, bool value);
  // Adds `json`, which is JSON already.
  JsonObject& Raw(absl::string_view name, absl::string_view json);
  [[nodiscard]] std::string str() const { return "{" + fields_ + "}"; }

 private:
  std::string fields_;
};

// Of values that are JSON already.
[[nodiscard]] std::string JsonArray(const std::vector<std::string>& values);

[[nodiscard]] std::string ToJson(const v1::Job& job);
[[nodiscard]] std::string ToJson(const v1::Task& task);
[[nodiscard]] std::string ToJson(const v1::Worker& worker);

// {"task": ..., "output": text} or, where the bytes are not UTF-8, {"output_base64": ...}.
// `total_bytes` tells how long the whole is of which `bytes` is the beginning.
[[nodiscard]] std::string OutputToJson(absl::string_view task, absl::string_view bytes,
                                       std::int64_t total_bytes);

}  // namespace jackdaw::cli

#endif  // JACKDAW_CLIENT_CLI_JSON_H_
