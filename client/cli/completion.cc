// `jackdaw completion SHELL`: prints a completion script.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/completion_text.h"
#include "client/cli/exit_code.h"
#include "client/cli/verbs.h"

namespace jackdaw::cli {
namespace {

// CLI11 describes a closed set of values as "{a,b,c}" within the type's name.
std::vector<std::string> Choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

// CLI11's help may go on over lines.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

CompletionOption Describe(const CLI::Option& option) {
  CompletionOption described;
  for (const std::string& name : option.get_lnames()) {
    described.names.push_back(absl::StrCat("--", name));
  }
  for (const std::string& name : option.get_snames()) {
    described.names.push_back(absl::StrCat("-", name));
  }
  described.help = FirstLine(option.get_description());
  described.takes_value = option.get_items_expected_max() > 0;
  described.choices = Choices(option);
  return described;
}

CompletionVerb Describe(const CLI::App& verb) {
  CompletionVerb described;
  described.name = verb.get_name();
  described.help = FirstLine(verb.get_description());
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) {
      // --help is among the program's own options already.
      if (option != verb.get_help_ptr()) described.options.push_back(Describe(*option));
      continue;
    }
    if (option->get_single_name().find("FILE") != std::string::npos) described.takes_file = true;
    described.choices = Choices(*option);
  }
  return described;
}

CompletionTable Describe(const CLI::App& app, const std::string& program) {
  CompletionTable table;
  table.program = program;
  for (const CLI::Option* option : app.get_options()) table.options.push_back(Describe(*option));
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    table.verbs.push_back(Describe(*verb));
  }
  return table;
}

int Complete(const Context& context, const CLI::App& app, const std::string& shell) {
  const CompletionTable table = Describe(app, "jackdaw");
  if (shell == "bash") *context.out << BashCompletion(table);
  if (shell == "zsh") *context.out << ZshCompletion(table);
  if (shell == "fish") *context.out << FishCompletion(table);
  return kSuccess;
}

}  // namespace

void AddCompletion(CLI::App& app, Context& context, Selected& selected) {
  CLI::App* verb =
      AddVerb(app, "completion", "Print a script that lets a shell complete this program's words",
              "source <(jackdaw completion bash)\n"
              "jackdaw completion bash > /usr/share/bash-completion/completions/jackdaw\n"
              "jackdaw completion zsh > \"${fpath[1]}/_jackdaw\"\n"
              "jackdaw completion fish > ~/.config/fish/completions/jackdaw.fish");
  auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&context, &selected, &app, shell] {
    selected = [&context, &app, shell] { return Complete(context, app, *shell); };
  });
}

}  // namespace jackdaw::cli
