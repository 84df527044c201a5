#include "cli/migrate/mapping.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "api/kueue/job_rules.h"
#include "base/similar.h"
#include "base/yaml.h"

namespace berth::cli::migrate {
namespace {

constexpr std::array<std::string_view, 4> kRuleFields = {"match", "toLocalQueue", "skip", "flavor"};
constexpr std::array<std::string_view, 2> kMatchFields = {"priorityClassName", "labels"};

// Reads the fields of an object that may have only some. The first error is kept.
class Fields {
 public:
  Fields(const Json& value, std::string path, std::span<const std::string_view> known) : path_(std::move(path)) {
    if (!value.is_object()) {
      wrong("", "an object");
      return;
    }
    object_ = &value.get_object();
    for (const auto& [key, ignored] : *object_) {
      if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
      const std::string_view meant = most_similar(key, known);
      wrong(key, meant.empty() ? "no such field" : "no such field; did you mean " + std::string(meant) + "?");
    }
  }

  const Json* at(std::string_view key) const {
    const Json* value = object_ == nullptr ? nullptr : object_->if_contains(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  std::string text(std::string_view key) {
    const Json* value = at(key);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong(key, "a text"), std::string();
    return std::string(view(value->get_string()));
  }
  bool flag(std::string_view key) {
    const Json* value = at(key);
    if (value == nullptr) return false;
    if (!value->is_bool()) return wrong(key, "true or false"), false;
    return value->get_bool();
  }
  api::StringMap texts(std::string_view key) {
    api::StringMap out;
    const Json* value = at(key);
    if (value == nullptr) return out;
    if (!value->is_object()) return wrong(key, "labels and their values"), out;
    for (const auto& [name, one] : value->get_object()) {
      if (!one.is_string()) return wrong(std::string(key) + "." + std::string(name), "a text; put it in quotes"), out;
      out.emplace(name, view(one.get_string()));
    }
    return out;
  }
  void wrong(std::string_view key, const std::string& expected) {
    if (!error.empty()) return;
    error = path_ + (key.empty() ? "" : "." + std::string(key)) + ": expected " + expected;
    if (expected.starts_with("no such field")) error = path_ + "." + std::string(key) + ": " + expected;
  }

  std::string error;

 private:
  std::string path_;
  const JsonObject* object_ = nullptr;
};

Result<MappingRule> parse_rule(const Json& value, const std::string& path) {
  MappingRule rule;
  Fields fields(value, path, kRuleFields);
  rule.local_queue = fields.text("toLocalQueue");
  rule.skip = fields.flag("skip");
  rule.flavor = fields.text("flavor");
  if (const Json* match = fields.at("match")) {
    Fields matched(*match, path + ".match", kMatchFields);
    rule.labels = matched.texts("labels");
    rule.priority_class = matched.text("priorityClassName");
    if (!matched.error.empty()) return fail(matched.error);
  }
  if (fields.error.empty() && rule.local_queue.empty() && !rule.skip)
    fields.wrong("toLocalQueue", "the name of a LocalQueue, or skip: true");
  if (!fields.error.empty()) return fail(fields.error);
  return rule;
}

}  // namespace

Result<Mapping> parse_mapping(std::string_view yaml, const std::string& origin) {
  const auto documents = parse_yaml(yaml);
  if (!documents) return fail(origin + ": " + documents.error().message);
  if (documents->size() != 1 || !documents->front().is_array())
    return fail(origin + ": expected one list of rules, each with match and toLocalQueue or skip");
  Mapping mapping;
  for (const Json& value : documents->front().get_array()) {
    auto rule = parse_rule(value, origin + ": rule " + std::to_string(mapping.size() + 1));
    if (!rule) return tl::unexpected(rule.error());
    mapping.push_back(std::move(*rule));
  }
  return mapping;
}

Result<Mapping> mapping_of_label(const std::string& label, const std::vector<std::string>& values) {
  Mapping mapping;
  for (const std::string& each : values) {
    const auto equals = each.find('=');
    if (equals == std::string::npos || equals + 1 == each.size())
      return fail("--queuemapping \"" + each + "\": expected VALUE=LOCALQUEUE");
    MappingRule rule;
    rule.labels.emplace(label, each.substr(0, equals));
    rule.local_queue = each.substr(equals + 1);
    mapping.push_back(std::move(rule));
  }
  return mapping;
}

const MappingRule* rule_for(const Mapping& mapping, const Json& pod) {
  const auto priority_class = string_at(pod, {"spec", "priorityClassName"});
  const auto found = std::ranges::find_if(mapping, [&](const MappingRule& rule) {
    return (rule.priority_class.empty() || rule.priority_class == priority_class) &&
           std::ranges::all_of(
               rule.labels, [&](const auto& label) { return api::kueue::label_of(pod, label.first) == label.second; });
  });
  return found == mapping.end() ? nullptr : &*found;
}

}  // namespace berth::cli::migrate
