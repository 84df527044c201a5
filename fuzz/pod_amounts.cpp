// Bytes as a pod template with amounts wherever one can stand: containers of all kinds, the pod itself, its overhead,
// requests and limits; with a RuntimeClass, a LimitRange and transformations. What is counted is never negative, and
// never less than what a naive computation, which knows neither quantities nor templates, says the pod uses.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod_amounts.h"
#include "api/kueue/types.h"
#include "base/amount.h"
#include "base/assert.h"
#include "engine/counted_requests.h"
#include "engine/requested_pods.h"

namespace {

using berth::Json;
using berth::JsonArray;
using berth::JsonObject;
using Units = long double;
using Naive = std::map<std::string, Units>;  // what is really used, by resource

constexpr Units kMost = 1e27L;        // quantities saturate there
constexpr Units kNearly = 1 - 1e-9L;  // products and sums are compared in floating point

struct Written {
  std::string_view text;
  Units units;
};
constexpr std::array<Written, 16> kAmounts{{{"1", 1},
                                            {"0", 0},
                                            {"-1", -1},
                                            {"300m", 0.3L},
                                            {"-100", -100},
                                            {"1500m", 1.5L},
                                            {"1n", 1e-9L},
                                            {"-1n", -1e-9L},
                                            {"2Gi", 2147483648.0L},
                                            {"-8Ei", -9223372036854775807.0L},
                                            {"8Ei", 9223372036854775807.0L},
                                            {"9E", 9e18L},
                                            {"1e27", 1e27L},
                                            {"-1e27", -1e27L},
                                            {"4", 4},
                                            {"0.1", 0.1L}}};
constexpr std::array<std::string_view, 5> kResources{"cpu", "memory", "example.com/gpu", "hugepages-2Mi", "pods"};

class Source {
 public:
  Source(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  unsigned take() { return at_ == end_ ? 0U : unsigned{*at_++}; }
  unsigned below(unsigned n) { return take() % n; }
  bool wrong() const { return wrong_; }  // whether a template had what the webhooks must refuse

  // A list of at most three amounts.
  std::pair<Json, Naive> list(bool in_template) {
    JsonObject out;
    Naive naive;
    for (unsigned left = below(4); left > 0; --left) {
      const std::string_view name = kResources[below(kResources.size())];
      const Written& amount = kAmounts[below(kAmounts.size())];
      out[name] = amount.text;
      naive[std::string(name)] = std::max<Units>(amount.units, 0);
      wrong_ = wrong_ || (in_template && (amount.units < 0 || name == "pods"));
    }
    return {std::move(out), std::move(naive)};
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool wrong_ = false;
};

void fill(Naive& list, const Naive& defaults) { list.insert(defaults.begin(), defaults.end()); }
void add(Naive& sum, const Naive& more) {
  for (const auto& [name, units] : more) sum[name] = std::min(sum[name] + units, kMost);
}
void raise(Naive& most, const Naive& other) {
  for (const auto& [name, units] : other) most[name] = std::max(most[name], units);
}

struct Defaults {
  Naive requests, limits;  // of a LimitRange, for containers
};

// One container: what is written, and what it uses once the API server has filled in the rest.
std::pair<Json, Naive> container(Source& source, const Defaults& defaults) {
  auto [requests, uses] = source.list(true);
  auto [limits, most] = source.list(true);
  fill(uses, most);
  fill(uses, defaults.requests);
  fill(most, defaults.limits);
  fill(uses, most);
  return {JsonObject{{"resources", JsonObject{{"requests", std::move(requests)}, {"limits", std::move(limits)}}}},
          std::move(uses)};
}

struct Pod {
  Json spec = JsonObject();
  Naive uses;
};

// The highest use at any moment of the start: init containers one after another beside the sidecars before them, then
// all containers.
Pod pod_of(Source& source, const Defaults& defaults, const Naive& class_overhead) {
  Pod out;
  JsonArray inits, mains, ephemeral;
  Naive sidecars;
  for (unsigned left = source.below(4); left > 0; --left) {
    auto [json, uses] = container(source, defaults);
    Naive moment = sidecars;
    add(moment, uses);
    raise(out.uses, moment);
    if (source.below(2) == 1) {
      json.as_object()["restartPolicy"] = "Always";
      add(sidecars, uses);
    }
    inits.push_back(std::move(json));
  }
  Naive running = sidecars;
  for (unsigned left = source.below(4); left > 0; --left) {
    auto [json, uses] = container(source, defaults);
    add(running, uses);
    mains.push_back(std::move(json));
  }
  raise(out.uses, running);
  if (source.below(4) == 1) ephemeral.push_back(container(source, {}).first);  // they request nothing
  auto [requests, own] = source.list(true);
  auto [limits, most] = source.list(true);
  fill(own, most);
  std::erase_if(own, [](const auto& each) { return each.first == "pods" || each.first == "example.com/gpu"; });
  raise(out.uses, own);
  auto [overhead, on_top] = source.list(true);
  add(out.uses, overhead.as_object().empty() ? class_overhead : on_top);
  out.spec = JsonObject{{"containers", std::move(mains)},
                        {"initContainers", std::move(inits)},
                        {"ephemeralContainers", std::move(ephemeral)},
                        {"resources", JsonObject{{"requests", std::move(requests)}, {"limits", std::move(limits)}}},
                        {"overhead", std::move(overhead)}};
  return out;
}

Units units_of(const berth::Quantity& quantity) { return static_cast<Units>(quantity.nano_value()) / 1e9L; }

void check_counted(const berth::api::ResourceList& counted, const Naive& uses) {
  for (const auto& [name, quantity] : counted) BERTH_INVARIANT(quantity.sign() >= 0);
  for (const auto& [name, units] : uses) {
    const auto found = counted.find(name);
    BERTH_INVARIANT((found == counted.end() ? 0 : units_of(found->second)) >= units * kNearly);
  }
}

// The use in terms of quota: excluded resources do not count, transformed ones count as their outputs.
void check_transformed(Source& source, const berth::api::ResourceList& requests, const Naive& uses) {
  berth::api::config::QuotaResources rules;
  if (source.below(2) == 1) rules.exclude_prefixes.emplace_back(kResources[source.below(kResources.size())]);
  const auto excluded = [&](const std::string& name) {
    return !rules.exclude_prefixes.empty() && name.starts_with(rules.exclude_prefixes[0]);
  };
  Naive expected;
  for (unsigned i = 0; i < 2; ++i) {
    berth::api::config::ResourceTransformation rule{std::string(kResources[2 * i]),
                                                    source.below(2) == 1,
                                                    std::string(kResources[source.below(kResources.size())]),
                                                    {}};
    const auto [outputs, units] = source.list(false);
    const auto read = berth::api::decode_resource_list(outputs);
    rule.outputs.insert(read->begin(), read->end());
    const auto input = uses.find(rule.input), factor = uses.find(rule.multiply_by);
    if (input != uses.end() && !excluded(rule.input)) {
      for (const auto& [output, per_unit] : units)
        add(expected, {{output, per_unit * input->second * (factor == uses.end() ? 1 : factor->second)}});
    }
    rules.transformations.push_back(std::move(rule));
  }
  for (const auto& [name, units] : uses) {
    const bool replaced = std::ranges::any_of(rules.transformations,
                                              [&](const auto& rule) { return rule.input == name && rule.replace; });
    if (!excluded(name) && !replaced) add(expected, {{name, units}});
  }
  check_counted(berth::engine::counted_requests(requests, rules), expected);
}

// What is stored in a status or in a queue pays for nothing either.
void check_stored(Source& source, const Json& spec) {
  auto usage = source.list(false).first;
  const auto count = static_cast<int>(source.below(8)) - 3, gone = static_cast<int>(source.below(8)) - 3;
  JsonObject flavors;
  for (const auto& [resource, amount] : usage.as_object()) flavors[resource] = "f";
  const auto w = berth::api::kueue::decode_workload(JsonObject{
      {"spec",
       JsonObject{{"podSets", JsonArray{JsonObject{{"count", count}, {"template", JsonObject{{"spec", spec}}}}}}}},
      {"status",
       JsonObject{{"reclaimablePods", JsonArray{JsonObject{{"name", "main"}, {"count", gone}}}},
                  {"admission", JsonObject{{"clusterQueue", "q"},
                                           {"podSetAssignments", JsonArray{JsonObject{{"count", count},
                                                                                      {"flavors", std::move(flavors)},
                                                                                      {"resourceUsage", usage}}}}}}}}});
  BERTH_INVARIANT(w.has_value());
  for (const auto& held : berth::engine::amounts_held(*w->status.admission, *w, {}))
    BERTH_INVARIANT(held.amount >= berth::Amount());
  const std::string_view quota = kAmounts[source.below(kAmounts.size())].text;
  const auto queue = berth::api::kueue::decode_cluster_queue(*berth::parse_json(
      R"({"spec":{"resourceGroups":[{"flavors":[{"name":"f","resources":[{"name":"cpu","nominalQuota":")" +
      std::string(quota) + R"(","borrowingLimit":")" + std::string(quota) + R"(","lendingLimit":")" +
      std::string(quota) + R"("}]}]}]}})"));
  BERTH_INVARIANT(queue.has_value());
  const auto& read = queue->resource_groups[0].flavors[0].resources[0];
  BERTH_INVARIANT(read.nominal.sign() >= 0 && read.borrowing_limit->sign() >= 0 && read.lending_limit->sign() >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Source source(data, size);
  Defaults defaults;
  auto [default_requests, of_requests] = source.list(false);
  auto [default_limits, of_limits] = source.list(false);
  defaults.requests = of_requests;
  defaults.limits = of_limits;
  const auto limits = berth::api::decode_limit_range(
      JsonObject{{"spec", JsonObject{{"limits", JsonArray{JsonObject{{"type", "Container"},
                                                                     {"defaultRequest", std::move(default_requests)},
                                                                     {"default", std::move(default_limits)}}}}}}});
  const auto [overhead, of_class] = source.list(false);
  const Pod pod = pod_of(source, defaults, of_class);

  berth::api::FieldErrors errors;
  berth::api::check_pod_amounts(pod.spec, "spec", errors);
  BERTH_INVARIANT(errors.empty() == !source.wrong());

  const auto requests = berth::api::pod_requests(berth::api::adjust_pod_spec(pod.spec, limits, overhead));
  check_counted(requests, pod.uses);
  for (const auto& [name, quantity] : requests) {  // the sum of many pods saturates
    const berth::Amount one = berth::to_amount(name, quantity);
    BERTH_INVARIANT(one * 2147483647 >= one && one + one >= one);
  }
  check_transformed(source, requests, pod.uses);
  check_stored(source, pod.spec);
  return 0;
}
