#include "client/cli/json.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/text.h"
#include "client/cpp/convert.h"
#include "client/jobfile/words.h"
#include "google/rpc/code.pb.h"

namespace jackdaw::cli {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";  // U+FFFD.

std::string TimeText(const google::protobuf::Timestamp& time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", client::FromProto(time), absl::UTCTimeZone());
}

double Seconds(const google::protobuf::Duration& duration) {
  return absl::ToDoubleSeconds(client::FromProto(duration));
}

std::string ErrorToJson(const google::rpc::Status& error) {
  return JsonObject()
      .Text("code", google::rpc::Code_Name(static_cast<google::rpc::Code>(error.code())))
      .Text("message", error.message())
      .str();
}

std::string CountsToJson(const v1::TaskCounts& counts) {
  return JsonObject()
      .Integer("total", counts.total())
      .Integer("waiting", counts.waiting())
      .Integer("queued", counts.queued())
      .Integer("running", counts.running())
      .Integer("waiting_for_children", counts.waiting_for_children())
      .Integer("backoff", counts.backoff())
      .Integer("succeeded", counts.succeeded())
      .Integer("failed", counts.failed())
      .Integer("cancelled", counts.cancelled())
      .Integer("skipped", counts.skipped())
      .str();
}

std::string AttemptToJson(const v1::Attempt& attempt) {
  JsonObject json;
  json.Integer("number", attempt.number());
  if (attempt.has_queue_time()) json.Text("queue_time", TimeText(attempt.queue_time()));
  if (attempt.has_start_time()) json.Text("start_time", TimeText(attempt.start_time()));
  if (attempt.has_end_time()) json.Text("end_time", TimeText(attempt.end_time()));
  json.Text("runner", attempt.runner())
      .Integer("worker", attempt.worker())
      .Bool("stolen", attempt.stolen())
      .Integer("log_bytes", attempt.log_bytes());
  if (attempt.has_error()) json.Raw("error", ErrorToJson(attempt.error()));
  return json.str();
}

std::string ActionText(const v1::Task& task) {
  switch (task.action_case()) {
    case v1::Task::kFunction:
      return JsonObject().Text("function", task.function().name()).str();
    case v1::Task::kHandler:
      return JsonObject().Text("handler", task.handler().name()).str();
    case v1::Task::kCommand: {
      std::vector<std::string> words;
      for (const std::string& word : task.command().argv()) words.push_back(JsonString(word));
      return JsonObject().Raw("command", JsonArray(words)).str();
    }
    default:
      return "{}";
  }
}

}  // namespace

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  std::size_t valid_until = jobfile::FindInvalidUtf8(text).value_or(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == valid_until) {
      out += kReplacement;
      const auto next = jobfile::FindInvalidUtf8(text.substr(i + 1));
      valid_until = next.has_value() ? i + 1 + *next : text.size();
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

JsonObject& JsonObject::Raw(absl::string_view name, absl::string_view json) {
  absl::StrAppend(&fields_, fields_.empty() ? "" : ",", JsonString(name), ":", json);
  return *this;
}

JsonObject& JsonObject::Text(absl::string_view name, absl::string_view value) {
  return Raw(name, JsonString(value));
}

JsonObject& JsonObject::Integer(absl::string_view name, std::int64_t value) {
  return Raw(name, absl::StrCat(value));
}

JsonObject& JsonObject::Number(absl::string_view name, double value) {
  return Raw(name, absl::StrFormat("%.9g", value));
}

JsonObject& JsonObject::Bool(absl::string_view name, bool value) {
  return Raw(name, value ? "true" : "false");
}

std::string JsonArray(const std::vector<std::string>& values) {
  return absl::StrCat("[", absl::StrJoin(values, ","), "]");
}

std::string ToJson(const v1::Job& job) {
  JsonObject json;
  json.Text("name", job.name())
      .Text("display_name", job.display_name())
      .Text("state", StateName(job.state()))
      .Raw("task_counts", CountsToJson(job.task_counts()));
  if (!job.labels().empty()) {
    JsonObject labels;
    for (const auto& [key, value] : job.labels()) labels.Text(key, value);
    json.Raw("labels", labels.str());
  }
  if (job.has_create_time()) json.Text("create_time", TimeText(job.create_time()));
  if (job.has_start_time()) json.Text("start_time", TimeText(job.start_time()));
  if (job.has_end_time()) json.Text("end_time", TimeText(job.end_time()));
  if (job.has_error()) json.Raw("error", ErrorToJson(job.error()));
  json.Integer("revision", job.revision());
  return json.str();
}

std::string ToJson(const v1::Task& task) {
  JsonObject json;
  json.Text("name", task.name())
      .Text("task_id", task.task_id())
      .Integer("index", task.index())
      .Text("state", StateName(task.state()))
      .Raw("action", ActionText(task))
      .Integer("attempt_count", task.attempt_count())
      .Integer("output_bytes", task.output_bytes());
  if (!task.after_indices().empty()) {
    json.Raw("after_indices", absl::StrCat("[", absl::StrJoin(task.after_indices(), ","), "]"));
  }
  if (!task.attempts().empty()) {
    std::vector<std::string> attempts;
    for (const v1::Attempt& attempt : task.attempts()) attempts.push_back(AttemptToJson(attempt));
    json.Raw("attempts", JsonArray(attempts));
  }
  if (task.has_error()) json.Raw("error", ErrorToJson(task.error()));
  return json.str();
}

std::string ToJson(const v1::Worker& worker) {
  return JsonObject()
      .Text("name", worker.name())
      .Integer("index", worker.index())
      .Integer("tasks", worker.tasks())
      .Integer("own_deque_tasks", worker.own_deque_tasks())
      .Integer("stolen_tasks", worker.stolen_tasks())
      .Integer("injector_tasks", worker.injector_tasks())
      .Integer("mailbox_tasks", worker.mailbox_tasks())
      .Integer("inline_tasks", worker.inline_tasks())
      .Integer("steals_taken", worker.steals_taken())
      .Integer("steals_empty", worker.steals_empty())
      .Integer("steals_lost", worker.steals_lost())
      .Integer("idle_spins", worker.idle_spins())
      .Integer("queue_depth", worker.queue_depth())
      .Integer("parks", worker.parks())
      .Number("spin_seconds", Seconds(worker.spin_duration()))
      .Number("park_seconds", Seconds(worker.park_duration()))
      .Number("busy_seconds", Seconds(worker.busy_duration()))
      .str();
}

std::string OutputToJson(absl::string_view task, absl::string_view bytes,
                         std::int64_t total_bytes) {
  JsonObject json;
  json.Text("task", task).Integer("output_bytes", total_bytes);
  if (jobfile::FindInvalidUtf8(bytes).has_value()) {
    json.Text("output_base64", absl::Base64Escape(bytes));
  } else {
    json.Text("output", bytes);
  }
  return json.str();
}

}  // namespace jackdaw::cli
