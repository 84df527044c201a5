#include "api/kueue/topology_spreading.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/kueue/job_uid.h"
#include "api/kueue/names.h"
#include "base/quantity.h"

namespace berth::api::kueue {
namespace {

constexpr std::size_t kMostRules = 2;

std::optional<std::string> text_at(const JsonObject& annotations, std::string_view key) {
  const auto it = annotations.find(key);
  if (it == annotations.end() || !it->value().is_string()) return std::nullopt;
  return std::string(view(it->value().get_string()));
}

// A quantity between 0 and 1, as a string or as a number; in thousandths, rounded up.
Result<std::int32_t> share_of(const Json& rule) {
  const Json* value = find(rule, "maxShareAllowingPlacement");
  const auto wrong = [] { return fail("maxShareAllowingPlacement must be greater than 0 and less than 1"); };
  if (value == nullptr || !(value->is_string() || value->is_number())) return wrong();
  const auto share = Quantity::parse(value->is_string() ? std::string(view(value->get_string())) : to_string(*value));
  if (!share || share->sign() <= 0 || *share >= Quantity::of(1)) return wrong();
  return static_cast<std::int32_t>(share->milli_value());
}

Result<SpreadingRule> rule_of(const Json& value) {
  SpreadingRule out;
  out.topology_key = string_at(value, {"topologyKey"});
  if (const std::string broken = check_qualified_name(out.topology_key); !broken.empty())
    return fail("topologyKey must be the label of a level: " + broken);
  const auto share = share_of(value);
  if (!share) return tl::unexpected(share.error());
  out.most_share = *share;
  const std::string_view mode = string_at(value, {"enforcementMode"});
  if (mode != "" && mode != "Required" && mode != "Preferred")
    return fail("enforcementMode must be Required or Preferred");
  out.preferred = mode == "Preferred";
  return out;
}

Result<void> read_selector(const JsonArray& selectors, TopologySpreading& out) {
  out.label = kJobUidLabel;
  if (selectors.empty()) return {};
  if (selectors.size() > 1) return fail("workloadLabelSelectors must have one requirement");
  out.label = string_at(selectors[0], {"key"});
  if (const std::string broken = check_qualified_name(out.label); !broken.empty())
    return fail("workloadLabelSelectors[0].key must be a label: " + broken);
  if (string_at(selectors[0], {"operator"}) != "In") return fail("workloadLabelSelectors[0].operator must be In");
  for (const Json& value : array_at(selectors[0], {"values"})) {
    if (value.is_string()) out.values.emplace_back(view(value.get_string()));
  }
  if (out.values.empty()) return fail("workloadLabelSelectors[0].values must have at least one value");
  return {};
}

}  // namespace

bool TopologySpreading::counts(const StringMap& labels) const {
  const auto found = labels.find(label);
  return found != labels.end() && std::ranges::find(values, found->second) != values.end();
}

Result<TopologySpreading> parse_topology_spreading(std::string_view text) {
  const auto parsed = parse_json(text);
  if (!parsed || !parsed->is_object())
    return fail(
        R"(must be a JSON object such as {"rules": [{"topologyKey": "zone", "maxShareAllowingPlacement": "0.45"}]})");
  TopologySpreading out;
  if (const auto read = read_selector(array_at(*parsed, {"workloadLabelSelectors"}), out); !read)
    return tl::unexpected(read.error());
  const JsonArray& rules = array_at(*parsed, {"rules"});
  if (rules.empty() || rules.size() > kMostRules) return fail("rules must have one or two entries");
  for (const Json& each : rules) {
    auto rule = rule_of(each);
    if (!rule) return fail(fmt::format("rules[{}].{}", out.rules.size(), rule.error().message));
    if (std::ranges::find(out.rules, rule->topology_key, &SpreadingRule::topology_key) != out.rules.end())
      return fail("rules must have different topology keys");
    out.rules.push_back(std::move(*rule));
  }
  return out;
}

void check_topology_spreading(const JsonObject& annotations, const JsonObject* before, const std::string& path,
                              FieldErrors& errors) {
  const auto spreading = text_at(annotations, kTopologySpreading);
  if (!spreading) return;
  const auto required = text_at(annotations, kRequiredTopology);
  if (before != nullptr && text_at(*before, kTopologySpreading) == spreading &&
      text_at(*before, kRequiredTopology) == required)
    return;
  const std::string field = fmt::format("{}[{}]", path, kTopologySpreading);
  if (!required) {
    errors.push_back(forbidden_field(field, fmt::format("may only be set together with {}", kRequiredTopology)));
  } else if (const auto parsed = parse_topology_spreading(*spreading); !parsed) {
    errors.push_back(invalid_value(field, Json(*spreading), parsed.error().message));
  }
}

}  // namespace berth::api::kueue
