#include "client/cli/cli.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"
#include "client/jobfile/words.h"

namespace jackdaw::cli {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  jackdaw run examples/hello.yaml\n"
    "  jackdaw --server unix:/run/jackdaw.sock list\n"
    "\n"
    "Exit codes: 0 success; 1 the job did not succeed; 2 wrong arguments or job file;\n"
    "3 no server there; 4 the server refused; 130 left by a second Ctrl-C.";

bool IsVerb(const CLI::App& app, const std::string& word) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == word) return true;
  }
  return false;
}

// The first word if it should be a verb and is none; CLI11's own message would not name it.
std::string WrongVerb(const CLI::App& app, int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--server" || word == "--deadline") {
      ++i;
    } else if (!absl::StartsWith(word, "-")) {
      return IsVerb(app, word) ? "" : word;
    }
  }
  return "";
}

int FailVerb(const CLI::App& app, const Context& context, const std::string& word) {
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(verb->get_name());
  }
  return context.FailUsage(absl::StrCat("unknown verb ", jobfile::Quoted(word),
                                        jobfile::DidYouMean(word, verbs),
                                        "; jackdaw --help lists all"));
}

void AddGlobalOptions(CLI::App& app, Context& context) {
  app.add_option("--server", context.server, "The server's address: HOST:PORT or unix:PATH")
      ->capture_default_str()
      ->envname("JACKDAW_SERVER");
  app.add_option("--deadline", context.deadline, "The longest that one call may take")
      ->capture_default_str();
}

void AddVerbs(CLI::App& app, Context& context, Selected& selected) {
  AddRun(app, context, selected);
  AddSubmit(app, context, selected);
  AddJobs(app, context, selected);
  AddWatch(app, context, selected);
  AddTasks(app, context, selected);
  AddGraph(app, context, selected);
  AddWorkers(app, context, selected);
  AddBench(app, context, selected);
  AddHealth(app, context, selected);
  AddCompletion(app, context, selected);
  AddVersion(app, context, selected);
}

}  // namespace

CLI::App* AddVerb(CLI::App& app, const char* name, const char* help, const char* examples) {
  CLI::App* verb = app.add_subcommand(name, help);
  // Options of the program are welcome after the verb too.
  verb->fallthrough();
  verb->footer(absl::StrCat("Examples:\n  ", absl::StrReplaceAll(examples, {{"\n", "\n  "}})));
  return verb;
}

void AddJsonFlag(CLI::App* verb, Context& context) {
  verb->add_flag("--json", context.json, "Print JSON, for machines");
}

int RunCli(int argc, const char* const* argv, Context& context) {
  CLI::App app("Runs graphs of tasks on a Jackdaw server", "jackdaw");
  app.require_subcommand(1);
  app.footer(kFooter);
  Selected selected;
  AddGlobalOptions(app, context);
  AddVerbs(app, context, selected);
  if (argc <= 1) {
    *context.err << app.help();
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      const std::string wrong = WrongVerb(app, argc, argv);
      if (!wrong.empty()) return FailVerb(app, context, wrong);
    }
    return app.exit(error, *context.out, *context.err) == 0 ? kSuccess : kUsage;
  }
  const int code = selected();
  context.out->flush();
  context.err->flush();
  return code;
}

}  // namespace jackdaw::cli
