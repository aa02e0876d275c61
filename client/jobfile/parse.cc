#include "client/jobfile/parse.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/jobfile/check.h"
#include "client/jobfile/errors.h"
#include "client/jobfile/field.h"
#include "client/jobfile/words.h"

namespace jackdaw::jobfile {
namespace {

constexpr int kMaxAttempts = 1000;
constexpr double kMaxMultiplier = 100;
constexpr std::size_t kMaxIdBytes = 128;
// As the server has it.
constexpr Field::MapLimits kLabelLimits = {64, 63, 255};
constexpr char kCommandExpected[] =
    "a list: the program and its arguments, such as [sh, -c, \"echo hello\"]";

// Puts what a reader found into its place; nothing where it found a mistake.
template <typename T, typename U>
void Put(T& place, std::optional<U> value) {
  if (value.has_value()) place = *std::move(value);
}

void ReadRetry(const Field& field, std::optional<Retry>& retry) {
  Retry read = retry.value_or(Retry());
  field.Mapping(
      "a mapping such as {attempts: 3, initial_backoff: 100ms}",
      {{"attempts", [&](const Field& f) { Put(read.attempts, f.Integer(1, kMaxAttempts)); }},
       {"initial_backoff", [&](const Field& f) { Put(read.initial_backoff, f.Duration()); }},
       {"max_backoff", [&](const Field& f) { Put(read.max_backoff, f.Duration()); }},
       {"multiplier", [&](const Field& f) { Put(read.multiplier, f.Number(1, kMaxMultiplier)); }},
       {"jitter", [&](const Field& f) { Put(read.jitter, f.Number(0, 1)); }},
       {"codes", [&](const Field& f) {
          const auto items = f.Items("a list of status codes such as [UNAVAILABLE, ABORTED]");
          if (!items.has_value()) return;
          std::vector<absl::StatusCode> codes;
          for (const Field& item : *items) {
            if (const auto code = item.Word(StatusCodeWords())) codes.push_back(*code);
          }
          read.codes = std::move(codes);
        }}});
  retry = std::move(read);
}

// The readers of what a task and `defaults` have in common.
std::vector<Field::Reader> PolicyReaders(Policy& policy, Surroundings& surroundings) {
  return {{"run_if", [&](const Field& f) { Put(policy.run_if, f.Word(RunIfWords())); }},
          {"retry", [&](const Field& f) { ReadRetry(f, policy.retry); }},
          {"timeout", [&](const Field& f) { Put(policy.timeout, f.Duration()); }},
          {"queue_timeout", [&](const Field& f) { Put(policy.queue_timeout, f.Duration()); }},
          {"priority", [&](const Field& f) { Put(policy.priority, f.Word(PriorityWords())); }},
          {"runner", [&](const Field& f) { Put(policy.runner, f.Name()); }},
          {"env",
           [&](const Field& f) {
             const auto read = f.TextMap({});
             if (!read.has_value()) return;
             for (const auto& [name, value] : *read) surroundings.env[name] = value;
           }},
          {"workdir", [&](const Field& f) { Put(surroundings.workdir, f.Name()); }}};
}

// A task's id stands in its resource name, and digits only would be an index.
std::optional<std::string> ReadId(const Field& field) {
  std::optional<std::string> id = field.Text();
  if (!id.has_value()) return std::nullopt;
  const auto fits = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
  };
  const auto digit = [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); };
  if (!id->empty() && id->size() <= kMaxIdBytes && std::all_of(id->begin(), id->end(), fits) &&
      !std::all_of(id->begin(), id->end(), digit)) {
    return id;
  }
  field.FailExpected("1 to 128 of a-z, A-Z, 0-9, '_', '-' and '.', not digits only");
  return std::nullopt;
}

// What of a task was written, where that matters beside its value.
struct Given {
  bool function = false, command = false, payload = false, id = false;
  std::optional<Stdin> stdin_from;
  std::vector<Field> command_only;  // stdin, env, workdir.
};

void ReadCommand(const Field& field, Task& task) {
  std::optional<std::vector<std::string>> command = field.Texts(kCommandExpected);
  if (!command.has_value()) return;
  task.command = *std::move(command);
  if (task.command.empty()) {
    field.FailExpected(kCommandExpected);
    return;
  }
  if (task.command.front().empty()) {
    field.Fail("found an empty program name, expected the name or path of a program");
  }
  for (const std::string& argument : task.command) {
    if (argument.find('\0') != std::string::npos) {
      field.Fail("found a NUL character, expected text that a program can receive");
    }
  }
}

// Mistakes that only several fields together make.
void CheckAction(const Field& field, Task& task, const Given& given) {
  if (!given.id) field.Fail("found no id, expected the field `id`");
  if (given.function == given.command) {
    field.Fail(given.function ? "found both function and command, expected one of them"
                              : "found neither function nor command, expected one of them");
    return;
  }
  if (given.function) {
    for (const Field& only : given.command_only) {
      only.Fail("found in a task with a function, expected only with a command");
    }
    return;
  }
  task.stdin_from = given.stdin_from.value_or(given.payload ? Stdin::kPayload : Stdin::kEmpty);
  if (given.payload && task.stdin_from != Stdin::kPayload) {
    field.Fail("found a payload that the command would not see, expected `stdin: payload` with it");
  }
  if (!given.payload && task.stdin_from == Stdin::kPayload) {
    field.Fail("found `stdin: payload` without a payload, expected the field `payload`");
  }
}

void ReadTask(const Field& field, const Policy& policy, const Surroundings& surroundings,
              Task& task, TaskPlaces& places) {
  task.policy = policy;
  Surroundings around = surroundings;
  Given given;
  std::vector<Field::Reader> readers = PolicyReaders(task.policy, around);
  for (Field::Reader& reader : readers) {
    if (reader.name != "env" && reader.name != "workdir") continue;
    reader.read = [&given, read = std::move(reader.read)](const Field& f) {
      given.command_only.push_back(f);
      read(f);
    };
  }
  std::vector<Field::Reader> own = {
      {"id",
       [&](const Field& f) {
         given.id = true;
         places.id = f.place();
         Put(task.id, ReadId(f));
       }},
      {"function",
       [&](const Field& f) {
         given.function = true;
         Put(task.function, f.Name());
       }},
      {"command",
       [&](const Field& f) {
         given.command = true;
         ReadCommand(f, task);
       }},
      {"payload",
       [&](const Field& f) {
         given.payload = true;
         Put(task.payload, f.Text());
       }},
      {"after",
       [&](const Field& f) {
         for (const Field& item : f.OneOrMore()) {
           std::optional<std::string> id = item.Name();
           if (!id.has_value()) continue;
           task.after.push_back(*std::move(id));
           places.after.push_back(item.place());
         }
       }},
      {"labels", [&](const Field& f) { Put(task.labels, f.TextMap(kLabelLimits)); }},
      {"stdin", [&](const Field& f) {
         given.command_only.push_back(f);
         Put(given.stdin_from, f.Word(StdinWords()));
       }}};
  own.insert(own.end(), readers.begin(), readers.end());
  places.task = field.place();
  if (!field.Mapping("a task: a mapping with an id and a function or a command", own)) return;
  CheckAction(field, task, given);
  if (given.command) task.surroundings = std::move(around);
}

struct Document {
  JobFile job;
  Policy policy;
  Surroundings surroundings;
  std::optional<Field> tasks;
};

void ReadDefaults(const Field& field, Document& document) {
  field.Mapping("a mapping of fields for every task",
                PolicyReaders(document.policy, document.surroundings));
}

void ReadDocument(const Field& top, Document& document) {
  JobFile& job = document.job;
  const bool mapping = top.Mapping(
      "a job: a mapping with the field `tasks`",
      {{"name", [&](const Field& f) { Put(job.name, f.Name()); }},
       {"failure_policy",
        [&](const Field& f) { Put(job.failure_policy, f.Word(FailurePolicyWords())); }},
       {"priority", [&](const Field& f) { Put(job.priority, f.Word(PriorityWords())); }},
       {"timeout", [&](const Field& f) { Put(job.timeout, f.Duration()); }},
       {"labels", [&](const Field& f) { Put(job.labels, f.TextMap(kLabelLimits)); }},
       {"defaults", [&](const Field& f) { ReadDefaults(f, document); }},
       {"tasks", [&](const Field& f) { document.tasks.emplace(f); }}});
  if (mapping && !document.tasks.has_value()) {
    top.Fail("found no tasks, expected the field `tasks`");
  }
}

// Defaults may stand below the tasks, so the tasks are read last.
void ReadTasks(Document& document, Errors& errors) {
  const auto items = document.tasks->Items("a list of tasks");
  if (!items.has_value()) return;
  if (items->empty()) document.tasks->Fail("found an empty list, expected at least one task");
  std::vector<Task>& tasks = document.job.tasks;
  tasks.resize(items->size());
  std::vector<TaskPlaces> places(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    ReadTask((*items)[i], document.policy, document.surroundings, tasks[i], places[i]);
  }
  CheckGraph(tasks, places, errors);
}

std::string NameFrom(absl::string_view file_name) {
  const std::string stem = std::filesystem::path(std::string(file_name)).stem().string();
  return stem.empty() || file_name == "-" ? "job" : stem;
}

Place PlaceAt(absl::string_view text, std::size_t offset) {
  const absl::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == absl::string_view::npos ? 0 : newline + 1;
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - start) + 1};
}

absl::StatusOr<YAML::Node> ParseYaml(const std::string& text, Errors& errors) {
  // yaml-cpp throws; its exceptions end here.
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty()) {
      errors.Add({1, 1}, "", "found nothing, expected a job: a mapping with the field `tasks`");
    } else if (documents.size() > 1) {
      const YAML::Mark mark = documents[1].Mark();
      errors.Add({mark.line + 1, mark.column + 1}, "",
                 absl::StrCat("found ", documents.size(), " documents, expected one"));
    } else {
      return documents[0];
    }
  } catch (const YAML::Exception& e) {
    errors.Add({e.mark.line + 1, e.mark.column + 1}, "",
               absl::StrCat("found ", e.msg, ", expected YAML or JSON"));
  }
  return errors.ToStatus();
}

}  // namespace

absl::StatusOr<JobFile> ParseJobFile(const std::string& text, absl::string_view file_name) {
  Errors errors(file_name == "-" ? "standard input" : file_name);
  if (text.size() > kMaxFileBytes) {
    errors.Add({}, "",
               absl::StrCat("found ", text.size(), " bytes, expected at most ", kMaxFileBytes,
                            "; build a larger job with the client library"));
    return errors.ToStatus();
  }
  if (const auto offset = FindInvalidUtf8(text)) {
    errors.Add(PlaceAt(text, *offset), "", "found a byte that is not UTF-8, expected UTF-8 text");
    return errors.ToStatus();
  }
  absl::StatusOr<YAML::Node> yaml = ParseYaml(text, errors);
  if (!yaml.ok()) return yaml.status();
  Document document;
  try {
    ReadDocument(Field(*yaml, &errors), document);
    if (document.tasks.has_value()) ReadTasks(document, errors);
  } catch (const YAML::Exception& e) {
    errors.Add({e.mark.line + 1, e.mark.column + 1}, "", e.msg);
  }
  if (!errors.empty()) return errors.ToStatus();
  if (document.job.name.empty()) document.job.name = NameFrom(file_name);
  return std::move(document.job);
}

absl::StatusOr<JobFile> LoadJobFile(const std::string& path) {
  std::error_code folder_error;
  if (std::filesystem::is_directory(path, folder_error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a directory, expected a job file"));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(nullptr, &std::fclose);
  std::FILE* file = stdin;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rbe"));
    file = opened.get();
  }
  if (file == nullptr) return absl::ErrnoToStatus(errno, path);
  std::string text;
  std::vector<char> buffer(64 << 10);
  while (text.size() <= kMaxFileBytes) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file);
    if (got == 0) break;
    text.append(buffer.data(), got);
  }
  if (std::ferror(file) != 0) return absl::ErrnoToStatus(errno, path);
  return ParseJobFile(text, path);
}

}  // namespace jackdaw::jobfile
