// `jackdaw version`: what this program is, and the server if one answers.

#include <memory>
#include <string>

#include "client/cli/exit_code.h"
#include "client/cli/json.h"
#include "client/cli/verbs.h"

namespace jackdaw::cli {
namespace {

int Version(const Context& context, bool ask_server) {
  JsonObject json;
  json.Text("version", JACKDAW_VERSION);
  std::string text = "jackdaw " JACKDAW_VERSION "\n";
  if (ask_server) {
    const std::unique_ptr<Client> client = context.Connect();
    if (client == nullptr) return kUsage;
    const absl::StatusOr<v1::Server> server = client->GetServer();
    if (!server.ok()) return context.Fail(server.status());
    json.Text("server_version", server->version());
    text += "jackdawd " + server->version() + "\n";
  }
  *context.out << (context.json ? json.str() + "\n" : text);
  return kSuccess;
}

}  // namespace

void AddVersion(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb = AddVerb(app, "version", "Print this program's version",
                           "jackdaw version\n"
                           "jackdaw version --ask-server");
  auto ask = std::make_shared<bool>(false);
  verb->add_flag("--ask-server", *ask, "Print the server's version too");
  AddJsonFlag(verb, context);
  verb->callback([&context, &selected, ask] {
    selected = [&context, ask] { return Version(context, *ask); };
  });
}

}  // namespace jackdaw::cli
