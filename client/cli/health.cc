// `jackdaw health`: whether the server takes jobs, for probes and scripts.

#include <memory>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/verbs.h"

namespace jackdaw::cli {
namespace {

int Health(const Context& context) {
  const std::unique_ptr<Client> client = context.Connect();
  if (client == nullptr) return kUsage;
  const absl::StatusOr<bool> serving = client->IsServing();
  if (!serving.ok()) return context.Fail(serving.status());
  const std::string state = *serving ? "SERVING" : "NOT_SERVING";
  *context.out << (context.json ? JsonObject().Text("status", state).str() : state) << "\n";
  return *serving ? kSuccess : kRefused;
}

}  // namespace

void AddHealth(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "health", "Ask whether the server takes jobs; exit 0 if it does",
                           "jackdaw health\n"
                           "jackdaw health --server 127.0.0.1:7434 --deadline 2s");
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected] { selected = [&context] { return Health(context); }; });
}

}  // namespace jackdaw::cli
