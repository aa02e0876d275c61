#include "scheduler/exec/stock_functions.h"

#include <openssl/evp.h>
#include <time.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "scheduler/base/bytes.h"
#include "scheduler/exec/payload.h"
#include "scheduler/exec/sleep_action.h"

namespace jackdaw {
namespace {

// An action of its own, because only an action can promise to be instant.
class NoopAction final : public Action {
 public:
  NoopAction() : Action("function", std::make_shared<ActionStats>("noop")) {}
  std::optional<Outcome> Start(Attempt&) override { return Outcome{}; }
  bool instant() const override { return true; }
};

// A single input is passed on without a copy.
absl::StatusOr<Bytes> JoinInputs(absl::string_view function, const Attempt& attempt) {
  const std::size_t count = attempt.input_count();
  if (count == 0) return Bytes();
  if (count == 1) return attempt.input(0);
  std::size_t size = 0;
  for (std::size_t i = 0; i < count; ++i) size += attempt.input(i).size();
  if (size > kMaxJoinedBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("function ", function, ": ", count, " inputs of ", size,
                     " bytes together exceed the limit of ", kMaxJoinedBytes));
  }
  std::string joined;
  joined.reserve(size);
  for (std::size_t i = 0; i < count; ++i) {
    const Bytes input = attempt.input(i);
    joined.append(input.view().data(), input.view().size());
  }
  return Bytes(std::move(joined));
}

absl::StatusOr<Bytes> Echo(Attempt& attempt) {
  Bytes payload = attempt.payload();
  if (!payload.empty()) return payload;
  return JoinInputs("echo", attempt);
}

absl::StatusOr<Bytes> Concat(Attempt& attempt) { return JoinInputs("concat", attempt); }

absl::StatusOr<Bytes> Sha256(Attempt& attempt) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        &EVP_MD_CTX_free);
  bool good = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  const auto add = [&](const Bytes& bytes) {
    good = good && EVP_DigestUpdate(context.get(), bytes.view().data(), bytes.size()) == 1;
  };
  add(attempt.payload());
  for (std::size_t i = 0; i < attempt.input_count(); ++i) add(attempt.input(i));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  good = good && EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1;
  if (!good) return absl::InternalError("function sha256: libcrypto refused the digest");
  return Bytes(absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), length)));
}

// The code called `name`, such as "NOT_FOUND". Null for OK and for what is no code.
std::optional<absl::StatusCode> FailureCode(absl::string_view name) {
  for (int i = 1; i <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++i) {
    const auto code = static_cast<absl::StatusCode>(i);
    if (absl::StatusCodeToString(code) == name) return code;
  }
  return std::nullopt;
}

absl::StatusOr<Bytes> Fail(Attempt& attempt) {
  const Bytes payload = attempt.payload();
  const absl::string_view text = absl::StripAsciiWhitespace(payload.view());
  if (text.empty()) return absl::UnknownError("failed as asked");
  const std::size_t colon = text.find(':');
  const absl::string_view name = absl::StripTrailingAsciiWhitespace(text.substr(0, colon));
  const std::optional<absl::StatusCode> code = FailureCode(name);
  if (!code.has_value()) {
    return BadPayload("fail", payload.view(),
                      "CODE or CODE: message, with a canonical code other than OK, such as "
                      "UNAVAILABLE");
  }
  if (colon == absl::string_view::npos) return absl::Status(*code, "failed as asked");
  return absl::Status(*code, absl::StripLeadingAsciiWhitespace(text.substr(colon + 1)));
}

std::int64_t ThreadCpuNanos() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

absl::StatusOr<Bytes> Spin(Attempt& attempt) {
  const Bytes payload = attempt.payload();
  std::int64_t microseconds;
  if (!absl::SimpleAtoi(payload.view(), &microseconds) || microseconds < 0 ||
      microseconds > kMaxSpinMicroseconds) {
    return BadPayload("spin", payload.view(),
                      absl::StrCat("whole microseconds from 0 to ", kMaxSpinMicroseconds));
  }
  const std::int64_t end = ThreadCpuNanos() + microseconds * 1000;
  while (ThreadCpuNanos() < end) {
    if (attempt.stop_requested()) return absl::CancelledError("function spin: stopped");
  }
  return Bytes();
}

}  // namespace

absl::Status RegisterStockFunctions(Functions& functions, TimerQueue& timers) {
  absl::Status status = functions.Register("noop", std::make_shared<NoopAction>());
  status.Update(functions.Register("echo", &Echo));
  status.Update(functions.Register("concat", &Concat));
  status.Update(functions.Register("sha256", &Sha256));
  status.Update(functions.Register("sleep", std::make_shared<SleepAction>(timers)));
  status.Update(functions.Register("fail", &Fail));
  status.Update(functions.Register("spin", &Spin));
  return status;
}

}  // namespace jackdaw
