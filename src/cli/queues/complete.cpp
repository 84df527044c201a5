#include "cli/queues/complete.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <utility>

#include "cli/queues/discovery.h"
#include "cli/queues/flags.h"
#include "kube/kubeconfig.h"

namespace berth::cli::queues {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kMostNames = 500;  // more are no help on a terminal

// What the words before the cursor say.
struct Place {
  const CLI::App* app = nullptr;
  Words path;                                 // the names of the commands: {"stop", "clusterqueue"}
  Words given;                                // the other words, without flags: {"job"}
  std::map<std::string, std::string> values;  // of flags, by their long name
  const CLI::Option* pending = nullptr;       // a flag whose value is being typed
};

const CLI::App* sub_of(const CLI::App& app, const std::string& word) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->check_name(word)) return sub;
  }
  return nullptr;
}

const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
    if (option->check_name(word)) return option;
  }
  return nullptr;
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
}

bool takes_value(const CLI::Option& option) { return option.get_expected_min() > 0; }

Place place_of(const CLI::App& root, const Words& before) {
  Place place;
  place.app = &root;
  for (const std::string& word : before) {
    if (place.pending != nullptr) {
      // Shells split --flag=value at the sign.
      if (word == "=") continue;
      place.values[long_name(*std::exchange(place.pending, nullptr))] = word;
      continue;
    }
    if (word.starts_with('-')) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = option_of(*place.app, word.substr(0, equals));
      if (option == nullptr || !takes_value(*option)) continue;
      if (equals == std::string::npos) {
        place.pending = option;
      } else {
        place.values[long_name(*option)] = word.substr(equals + 1);
      }
    } else if (const CLI::App* sub = sub_of(*place.app, word)) {
      place.app = sub;
      place.path.push_back(sub->get_name());
    } else {
      place.given.push_back(word);
    }
  }
  return place;
}

// The names of objects of the cluster, as far as it tells them soon.
class Names {
 public:
  Names(const Connect& connect, const Place& place) {
    const auto value = [&](const char* flag) {
      const auto at = place.values.find(flag);
      return at == place.values.end() ? std::string() : at->second;
    };
    auto server = connect({value("kubeconfig"), value("context")});
    if (!server) return;
    server_ = std::move(*server);
    ns_ = value("namespace");
    if (ns_.empty()) ns_ = server_->default_namespace();
  }

  Words of(const api::GroupVersionResource& resource, bool namespaced) {
    if (!server_) return {};
    api::RestRequest request;
    request.verb = api::Verb::kList;
    request.resource = resource;
    if (namespaced) request.ns = ns_;
    request.limit = kMostNames;
    const api::RestResponse listed = server_->call(std::move(request));
    Words names;
    for (const Json& item : array_at(listed.body, {"items"})) names.emplace_back(string_at(item, {"metadata", "name"}));
    return names;
  }
  Words of(const Kind& kind) { return of(kind.resource(), kind.namespaced); }

  // Of a TYPE as on the command line: "cq", "job", "rayjob.ray.io".
  Words of(const std::string& type) {
    for (const Kind* kind : {&kWorkload, &kClusterQueue, &kLocalQueue, &kResourceFlavor}) {
      if (type == kind->singular || std::ranges::find(kind->aliases, type) != kind->aliases.end()) return of(*kind);
    }
    if (!server_) return {};
    const auto found = Discovery(*server_).by_type(type);
    return found ? of(found->resource, found->namespaced) : Words();
  }

  // Each after `before`: "job/train"
  static Words after(const std::string& before, Words names) {
    for (std::string& name : names) name.insert(0, before);
    return names;
  }
  void use_namespace(const std::string& ns) { ns_ = ns; }

 private:
  std::unique_ptr<Server> server_;
  std::string ns_;
};

Words contexts(const Place& place) {
  const auto flag = place.values.find("kubeconfig");
  Words names;
  for (const std::string& file : kube::kubeconfig_files(flag == place.values.end() ? "" : flag->second,
                                                        std::getenv("KUBECONFIG"), std::getenv("HOME"))) {
    for (std::string& name : kube::context_names(file)) names.push_back(std::move(name));
  }
  return names;
}

// The values that a flag may have, if there are few.
const std::map<std::string, Words>& fixed_values() {
  static const std::map<std::string, Words> kValues = {
      {"dry-run", {"none", "client", "server"}},
      {"output", {"json", "yaml", "name", "wide", "jsonpath="}},
      {"status", {"all", "pending", "quotareserved", "admitted", "finished"}},
      {"active", {"true", "false"}},
      {"queuing-strategy", {"BestEffortFIFO", "StrictFIFO"}},
      {"reclaim-within-cohort", {"Never", "LowerPriority", "Any"}},
      {"preemption-within-cluster-queue", {"Never", "LowerPriority", "LowerOrNewerEqualPriority"}}};
  return kValues;
}

Words values_of(const std::string& flag, const Place& place, const std::string& typed, const Connect& connect) {
  // Commands that are not about queues have flags of the same name with other values.
  if (flag == "context") return contexts(place);
  const auto& commands = place.path;
  static const Words kChecks = {"import", "migrate", "config"};  // they print text or json
  if (!commands.empty() && std::ranges::find(kChecks, commands.front()) != kChecks.end()) {
    if (flag == "output") return {"text", "json"};
    return flag == "namespace" ? Names(connect, place).of({"", "v1", "namespaces"}, false) : Words();
  }
  static const Words kOurs = {"create", "list", "stop", "resume", "delete", "explain", "predict", "what-if"};
  if (commands.empty() || std::find(kOurs.begin(), kOurs.end(), commands.front()) == kOurs.end()) return {};
  if (const auto fixed = fixed_values().find(flag); fixed != fixed_values().end()) return fixed->second;
  if (flag == "clusterqueue") return Names(connect, place).of(kClusterQueue);
  if (flag == "localqueue") return Names(connect, place).of(kLocalQueue);
  if (flag == "namespace") return Names(connect, place).of({"", "v1", "namespaces"}, false);
  if (flag == "for" || flag == "without") {
    const std::size_t slash = typed.find('/');
    if (slash != std::string::npos)
      return Names::after(typed.substr(0, slash + 1), Names(connect, place).of(typed.substr(0, slash)));
    if (flag == "for") return {"job/", "pod/"};
    return {"clusterqueue/", "cohort/", "localqueue/", "node/", "resourceflavor/", "workload/"};
  }
  return {};
}

// TYPE and NAME of a question. A name may have its namespace before it. A journal is not asked for names.
Words of_question(const Place& place, const std::string& typed, const Connect& connect) {
  if (place.given.empty()) {
    Words types{"workload", "clusterqueue", "job", "pod"};
    if (place.path.front() == "predict") types.emplace_back("localqueue");
    return types;
  }
  if (place.given.size() > 1 || place.values.contains("journal")) return {};
  Names names(connect, place);
  const std::size_t slash = typed.find('/');
  if (slash == std::string::npos) return names.of(place.given.front());
  names.use_namespace(typed.substr(0, slash));
  return Names::after(typed.substr(0, slash + 1), names.of(place.given.front()));
}

Words names_of(const Place& place, const std::string& typed, const Connect& connect) {
  if (place.path.size() == 1 && (place.path[0] == "explain" || place.path[0] == "predict"))
    return of_question(place, typed, connect);
  if (place.path.size() != 2 || place.path[0] == "create" || place.path[0] == "list") return {};
  return Names(connect, place).of(place.path[1]);
}

void keep_beginnings(Words& words, const std::string& typed) {
  std::erase_if(words, [&](const std::string& word) { return !word.starts_with(typed); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

}  // namespace

std::vector<std::string> complete(const CLI::App& root, const std::vector<std::string>& words, const Connect& connect) {
  if (words.empty()) return {};
  std::string typed = words.back();
  const Place place = place_of(root, {words.begin(), words.end() - 1});
  Words out;
  std::string before;  // of the word, as it is: "--output="
  const std::size_t equals = typed.find('=');
  if (place.pending != nullptr) {
    if (typed == "=") typed.clear();
    out = values_of(long_name(*place.pending), place, typed, connect);
  } else if (typed.starts_with("--") && equals != std::string::npos) {
    before = typed.substr(0, equals + 1);
    const CLI::Option* option = option_of(*place.app, typed.substr(0, equals));
    typed = typed.substr(equals + 1);
    if (option != nullptr) out = values_of(long_name(*option), place, typed, connect);
  } else if (typed.starts_with('-')) {
    for (const CLI::Option* option : place.app->get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
      for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : place.app->get_subcommands([](const CLI::App*) { return true; })) {
      if (!sub->get_group().empty()) out.push_back(sub->get_name());
    }
    if (out.empty()) out = names_of(place, typed, connect);
  }
  keep_beginnings(out, typed);
  for (std::string& word : out) word.insert(0, before);
  return out;
}

Command add_complete(CLI::App& root, const Session& session) {
  CLI::App* app = root.add_subcommand("__complete", "Print what may come next on a command line");
  app->group("");  // not in the help: shells call it
  app->prefix_command();
  app->set_help_flag();
  return {app, [&root, app, session] {
            for (const std::string& word : complete(root, app->remaining(), connect_in_haste))
              *session.out << word << "\n";
            return 0;
          }};
}

}  // namespace berth::cli::queues
