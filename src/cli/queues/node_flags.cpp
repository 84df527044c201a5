#include "cli/queues/node_flags.h"

#include <optional>

#include "api/core/validation.h"
#include "api/selector.h"
#include "cli/queues/words.h"

namespace berth::cli::queues {
namespace {

const std::vector<std::string> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

// The errors of a part of an object, after the flag that it came from.
Result<void> none_of(std::string_view flag, const api::FieldErrors& errors) {
  if (errors.empty()) return {};
  return fail(std::string(flag) + ": " + api::to_string(errors));
}

struct TaintText {
  std::string key, value, effect;
  bool has_value = false;
};

// KEY[=VALUE][:EFFECT]; none when the text has another form.
std::optional<TaintText> read_taint(const std::string& text) {
  TaintText out;
  const std::size_t colon = text.find(':');
  const std::string front = text.substr(0, colon);
  if (colon != std::string::npos) {
    out.effect = text.substr(colon + 1);
    bool known = false;
    for (const std::string& effect : kEffects) known = known || effect == out.effect;
    if (!known) return std::nullopt;
  }
  const std::size_t equals = front.find('=');
  out.key = front.substr(0, equals);
  out.has_value = equals != std::string::npos;
  if (out.has_value) out.value = front.substr(equals + 1);
  if (out.key.empty() && (out.has_value || out.effect.empty())) return std::nullopt;
  return out;
}

}  // namespace

Result<JsonObject> parse_labels(std::string_view flag, const std::vector<std::string>& values) {
  JsonObject labels;
  for (const std::string& value : values) {
    for (const std::string& part : split(value, ',')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) return wrong_value(flag, part, "expected KEY=VALUE");
      labels[part.substr(0, equals)] = part.substr(equals + 1);
    }
  }
  api::FieldErrors errors;
  api::check_labels(labels, "labels", errors);
  if (auto valid = none_of(flag, errors); !valid) return tl::unexpected(valid.error());
  return labels;
}

Result<JsonArray> parse_taints(std::string_view flag, const std::vector<std::string>& values) {
  JsonArray taints;
  for (const std::string& value : values) {
    for (const std::string& part : split(value, ',')) {
      const auto read = read_taint(part);
      if (!read || read->key.empty() || read->effect.empty())
        return wrong_value(flag, part, "expected KEY=VALUE:EFFECT or KEY:EFFECT, with effect " + either(kEffects));
      JsonObject taint{{"effect", read->effect}, {"key", read->key}};
      if (read->has_value && !read->value.empty()) taint["value"] = read->value;
      taints.push_back(std::move(taint));
    }
  }
  api::FieldErrors errors;
  api::check_taints(taints, "taints", errors);
  if (auto valid = none_of(flag, errors); !valid) return tl::unexpected(valid.error());
  return taints;
}

Result<JsonArray> parse_tolerations(std::string_view flag, const std::vector<std::string>& values) {
  JsonArray tolerations;
  for (const std::string& value : values) {
    for (const std::string& part : split(value, ',')) {
      const auto read = read_taint(part);
      if (!read)
        return wrong_value(
            flag, part,
            "expected KEY=VALUE:EFFECT, KEY=VALUE, KEY:EFFECT, KEY or :EFFECT, with effect " + either(kEffects));
      JsonObject toleration;
      if (!read->effect.empty()) toleration["effect"] = read->effect;
      if (!read->key.empty()) toleration["key"] = read->key;
      toleration["operator"] = read->has_value ? "Equal" : "Exists";
      if (read->has_value && !read->value.empty()) toleration["value"] = read->value;
      tolerations.push_back(std::move(toleration));
    }
  }
  api::FieldErrors errors;
  api::check_tolerations(tolerations, "tolerations", errors);
  if (auto valid = none_of(flag, errors); !valid) return tl::unexpected(valid.error());
  return tolerations;
}

Result<JsonObject> parse_selector(std::string_view flag, std::string_view value) {
  const auto selector = api::LabelSelector::parse(value);
  if (!selector)
    return wrong_value(flag, value,
                       "expected a label selector such as team=a,env in (dev,test): " + selector.error().message);
  using Op = api::LabelRequirement::Op;
  JsonObject out, labels;
  JsonArray expressions;
  for (const auto& requirement : selector->requirements()) {
    if (requirement.op == Op::kIn && requirement.values.size() == 1 && !labels.contains(requirement.key)) {
      labels[requirement.key] = requirement.values.front();
      continue;
    }
    std::string_view op;
    if (requirement.op == Op::kIn) op = "In";
    if (requirement.op == Op::kNotIn) op = "NotIn";
    if (requirement.op == Op::kExists) op = "Exists";
    if (requirement.op == Op::kDoesNotExist) op = "DoesNotExist";
    if (op.empty())
      return wrong_value(flag, value, "expected no < and no >, which selectors of namespaces do not have");
    JsonObject expression{{"key", requirement.key}, {"operator", op}};
    if (!requirement.values.empty())
      expression["values"] = JsonArray(requirement.values.begin(), requirement.values.end());
    expressions.push_back(std::move(expression));
  }
  if (!expressions.empty()) out["matchExpressions"] = std::move(expressions);
  if (!labels.empty()) out["matchLabels"] = std::move(labels);
  return out;
}

}  // namespace berth::cli::queues
