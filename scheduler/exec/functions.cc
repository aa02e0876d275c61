#include "scheduler/exec/functions.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/exec/coroutine_action.h"

namespace jackdaw {
namespace {

absl::Status ValidateName(absl::string_view name) {
  if (name.empty()) return absl::InvalidArgumentError("function name: must not be empty");
  if (name.size() > Functions::kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "function name: ", name.size(), " bytes exceed the limit of ", Functions::kMaxNameBytes));
  }
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) &&
        absl::string_view("_-./").find(c) == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("function name \"", absl::CHexEscape(name),
                       "\": only a-z, A-Z, 0-9, '_', '-', '.' and '/' are allowed"));
    }
  }
  return absl::OkStatus();
}

class FunctionAction final : public Action {
 public:
  FunctionAction(absl::string_view name, Functions::Function function)
      : Action("function", std::make_shared<ActionStats>(std::string(name))),
        name_(name),
        function_(std::move(function)) {}

  std::optional<Outcome> Start(Attempt& attempt) override {
    absl::StatusOr<Bytes> result = Call(attempt);
    Outcome outcome;
    if (result.ok()) {
      outcome.output = *std::move(result);
    } else {
      outcome.status = std::move(result).status();
    }
    return outcome;
  }

 private:
  absl::StatusOr<Bytes> Call(Attempt& attempt) {
    try {
      return function_(attempt);
    } catch (const std::exception& e) {
      return absl::UnknownError(absl::StrCat("function ", name_, " threw: ", e.what()));
    } catch (...) {
      return absl::UnknownError(
          absl::StrCat("function ", name_, " threw something that is not a std::exception"));
    }
  }

  const std::string name_;
  const Functions::Function function_;
};

}  // namespace

absl::Status Functions::Register(absl::string_view name, Function function) {
  if (!function) {
    return absl::InvalidArgumentError(absl::StrCat("function ", name, ": no body was given"));
  }
  return Register(name, std::make_shared<FunctionAction>(name, std::move(function)));
}

absl::Status Functions::Register(absl::string_view name, Coroutine coroutine) {
  if (!coroutine) {
    return absl::InvalidArgumentError(absl::StrCat("function ", name, ": no body was given"));
  }
  return Register(name, std::make_shared<CoroutineAction>(name, std::move(coroutine)));
}

absl::Status Functions::Register(absl::string_view name, std::shared_ptr<Action> action) {
  if (absl::Status valid = ValidateName(name); !valid.ok()) return valid;
  if (action == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("function ", name, ": the action is null"));
  }
  if (!actions_.try_emplace(std::string(name), std::move(action)).second) {
    return absl::AlreadyExistsError(absl::StrCat("function ", name, ": the name is taken"));
  }
  return absl::OkStatus();
}

std::shared_ptr<Action> Functions::Find(absl::string_view name) const {
  const auto found = actions_.find(name);
  return found == actions_.end() ? nullptr : found->second;
}

std::vector<std::string> Functions::names() const {
  std::vector<std::string> names;
  names.reserve(actions_.size());
  for (const auto& [name, action] : actions_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::shared_ptr<Action>> Functions::actions() const {
  std::vector<std::shared_ptr<Action>> actions;
  actions.reserve(actions_.size());
  for (const std::string& name : names()) actions.push_back(actions_.at(name));
  return actions;
}

}  // namespace jackdaw
