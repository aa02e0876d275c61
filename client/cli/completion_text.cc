#include "client/cli/completion_text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace jackdaw::cli {
namespace {

std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::vector<std::string> Names(const std::vector<CompletionOption>& options) {
  std::vector<std::string> names;
  for (const CompletionOption& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// "run" --format) ... for every option with a value.
std::string BashValues(const std::string& verb, const std::vector<CompletionOption>& options) {
  std::string out;
  for (const CompletionOption& option : options) {
    if (!option.takes_value) continue;
    for (const std::string& name : option.names) {
      absl::StrAppend(&out, "    ", verb, ":", name, ") COMPREPLY=(",
                      option.choices.empty()
                          ? ""
                          : absl::StrCat("$(compgen -W '", absl::StrJoin(option.choices, " "),
                                         "' -- \"$cur\")"),
                      "); return ;;\n");
    }
  }
  return out;
}

std::string BashVerb(const CompletionVerb& verb, const std::vector<CompletionOption>& global) {
  std::vector<std::string> words = Names(verb.options);
  const std::vector<std::string> more = Names(global);
  words.insert(words.end(), more.begin(), more.end());
  std::string out = absl::StrCat("    ", verb.name, ")\n      if [[ \"$cur\" == -* ]]; then\n",
                                 "        COMPREPLY=($(compgen -W '", absl::StrJoin(words, " "),
                                 "' -- \"$cur\"))\n");
  if (verb.takes_file) {
    absl::StrAppend(&out, "      else\n        compopt -o filenames 2>/dev/null\n",
                    "        COMPREPLY=($(compgen -f -- \"$cur\"))\n");
  } else if (!verb.choices.empty()) {
    absl::StrAppend(&out, "      else\n        COMPREPLY=($(compgen -W '",
                    absl::StrJoin(verb.choices, " "), "' -- \"$cur\"))\n");
  }
  return absl::StrCat(out, "      fi\n      ;;\n");
}

// In _arguments, a colon ends and brackets enclose the help.
std::string ZshOption(const CompletionOption& option, const std::string& name) {
  std::string spec = absl::StrCat(
      name, "[", absl::StrReplaceAll(option.help, {{"[", "("}, {"]", ")"}, {":", " -"}}), "]");
  if (option.takes_value) {
    absl::StrAppend(
        &spec, ":value:",
        option.choices.empty() ? "" : absl::StrCat("(", absl::StrJoin(option.choices, " "), ")"));
  }
  return Quoted(spec);
}

std::string ZshOptions(const std::vector<CompletionOption>& options, absl::string_view indent) {
  std::string out;
  for (const CompletionOption& option : options) {
    for (const std::string& name : option.names) {
      absl::StrAppend(&out, " \\\n", indent, ZshOption(option, name));
    }
  }
  return out;
}

std::string FishOption(const std::string& program, const std::string& condition,
                       const CompletionOption& option) {
  std::string out = absl::StrCat("complete -c ", program);
  if (!condition.empty()) absl::StrAppend(&out, " -n ", Quoted(condition));
  for (const std::string& name : option.names) {
    absl::string_view bare = name;
    const bool is_long = absl::StartsWith(bare, "--");
    bare.remove_prefix(is_long ? 2 : 1);
    absl::StrAppend(&out, is_long ? " -l " : " -s ", bare);
  }
  if (option.takes_value) absl::StrAppend(&out, " -x");
  if (!option.choices.empty()) {
    absl::StrAppend(&out, " -a ", Quoted(absl::StrJoin(option.choices, " ")));
  }
  return absl::StrCat(out, " -d ", Quoted(option.help), "\n");
}

}  // namespace

std::string BashCompletion(const CompletionTable& table) {
  std::vector<std::string> verbs;
  for (const CompletionVerb& verb : table.verbs) verbs.push_back(verb.name);
  std::vector<std::string> skipped;  // Options whose value is not the verb.
  for (const CompletionOption& option : table.options) {
    if (option.takes_value) skipped.insert(skipped.end(), option.names.begin(), option.names.end());
  }
  std::string out = absl::StrCat(
      "# bash completion for ", table.program, "\n_", table.program, "() {\n",
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" verb= i\n",
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case \"${COMP_WORDS[i]}\" in\n",
      skipped.empty() ? "" : absl::StrCat("      ", absl::StrJoin(skipped, "|"), ") ((i++)) ;;\n"),
      "      -*) ;;\n      *) verb=\"${COMP_WORDS[i]}\"; break ;;\n    esac\n  done\n",
      "  COMPREPLY=()\n  case \"$verb:$prev\" in\n");
  for (const CompletionVerb& verb : table.verbs) {
    absl::StrAppend(&out, BashValues(verb.name, verb.options));
  }
  absl::StrAppend(&out, BashValues("*", table.options), "  esac\n  case \"$verb\" in\n    '')\n",
                  "      COMPREPLY=($(compgen -W '", absl::StrJoin(verbs, " "), " ",
                  absl::StrJoin(Names(table.options), " "), "' -- \"$cur\"))\n      ;;\n");
  for (const CompletionVerb& verb : table.verbs) {
    absl::StrAppend(&out, BashVerb(verb, table.options));
  }
  return absl::StrCat(out, "  esac\n}\ncomplete -F _", table.program, " ", table.program, "\n");
}

std::string ZshCompletion(const CompletionTable& table) {
  std::string out = absl::StrCat("#compdef ", table.program, "\n_", table.program,
                                 "() {\n  local -a verbs\n  local state\n  verbs=(\n");
  for (const CompletionVerb& verb : table.verbs) {
    absl::StrAppend(
        &out, "    ",
        Quoted(absl::StrCat(verb.name, ":", absl::StrReplaceAll(verb.help, {{":", "\\:"}}))), "\n");
  }
  absl::StrAppend(&out, "  )\n  _arguments -C", ZshOptions(table.options, "    "),
                  " \\\n    '1:verb:->verb' \\\n    '*::argument:->arguments'\n",
                  "  case $state in\n    verb) _describe verb verbs ;;\n",
                  "    arguments)\n      case $words[1] in\n");
  for (const CompletionVerb& verb : table.verbs) {
    absl::StrAppend(&out, "        ", verb.name, ")\n          _arguments",
                    ZshOptions(verb.options, "            "),
                    ZshOptions(table.options, "            "));
    if (verb.takes_file) {
      absl::StrAppend(&out, " \\\n            '1:file:_files'");
    } else if (!verb.choices.empty()) {
      absl::StrAppend(&out, " \\\n            '1:argument:(", absl::StrJoin(verb.choices, " "),
                      ")'");
    }
    absl::StrAppend(&out, "\n          ;;\n");
  }
  return absl::StrCat(out, "      esac\n      ;;\n  esac\n}\nif [ \"$funcstack[1]\" = \"_",
                      table.program, "\" ]; then\n  _", table.program, " \"$@\"\nelse\n  compdef _",
                      table.program, " ", table.program, "\nfi\n");
}

std::string FishCompletion(const CompletionTable& table) {
  std::string out = absl::StrCat("# fish completion for ", table.program, "\n");
  for (const CompletionVerb& verb : table.verbs) {
    absl::StrAppend(&out, "complete -c ", table.program, " -f -n '__fish_use_subcommand' -a ",
                    verb.name, " -d ", Quoted(verb.help), "\n");
  }
  for (const CompletionOption& option : table.options) {
    absl::StrAppend(&out, FishOption(table.program, "", option));
  }
  for (const CompletionVerb& verb : table.verbs) {
    const std::string condition = absl::StrCat("__fish_seen_subcommand_from ", verb.name);
    for (const CompletionOption& option : verb.options) {
      absl::StrAppend(&out, FishOption(table.program, condition, option));
    }
    if (!verb.takes_file) {
      absl::StrAppend(&out, "complete -c ", table.program, " -f -n ", Quoted(condition));
      if (!verb.choices.empty()) {
        absl::StrAppend(&out, " -a ", Quoted(absl::StrJoin(verb.choices, " ")));
      }
      absl::StrAppend(&out, "\n");
    }
  }
  return out;
}

}  // namespace jackdaw::cli
