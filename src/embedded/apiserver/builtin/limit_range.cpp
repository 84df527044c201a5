#include "embedded/apiserver/builtin/limit_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/printing/table.h"
#include "api/resources.h"
#include "embedded/apiserver/builtin/checks.h"
#include "embedded/apiserver/builtin/kinds.h"
#include "embedded/apiserver/builtin/pod_resources.h"

namespace berth::apiserver {
namespace {

constexpr const char* kAnnotation = "kubernetes.io/limit-ranger";

// Sorted by name, because the order of the messages depends on it.
std::vector<JsonPtr> limit_ranges_of(const Json& pod, const Lookup& lookup) {
  auto all = lookup.list(api::kLimitRanges, string_at(pod, {"metadata", "namespace"}));
  std::sort(all.begin(), all.end(), [](const JsonPtr& a, const JsonPtr& b) {
    return string_at(*a, {"metadata", "name"}) < string_at(*b, {"metadata", "name"});
  });
  return all;
}

ResourceTotals totals_of(const JsonObject& list) {
  ResourceTotals totals;
  for (const auto& member : list) {
    if (auto quantity = quantity_of(member.value())) totals.emplace(std::string_view(member.key()), *quantity);
  }
  return totals;
}

// Adds missing entries to resources.<what> of the container; returns the added names, in order.
std::vector<std::string> fill(Json& container, std::string_view what, const ResourceTotals& defaults) {
  std::vector<std::string> added;
  for (const auto& [name, quantity] : defaults) {
    Json& list = ensure_path(container, {"resources", what});
    if (!list.is_object()) list = JsonObject();
    if (list.get_object().contains(name)) continue;
    list.get_object()[name] = quantity.to_string();
    added.push_back(name);
  }
  return added;
}

void note(std::vector<std::string>& notes, const std::vector<std::string>& names, std::string_view what,
          std::string_view kind, std::string_view container) {
  if (!names.empty()) notes.push_back(fmt::format("{} {} for {} {}", fmt::join(names, ", "), what, kind, container));
}

struct ContainerDefaults {
  ResourceTotals requests, limits;
};

ContainerDefaults defaults_of(const Json& limit_range) {
  ContainerDefaults defaults;
  for (const auto& item : array_at(limit_range, {"spec", "limits"})) {
    if (string_at(item, {"type"}) != "Container") continue;
    for (auto& [name, quantity] : totals_of(object_at(item, {"default"}))) defaults.limits[name] = quantity;
    for (auto& [name, quantity] : totals_of(object_at(item, {"defaultRequest"}))) defaults.requests[name] = quantity;
  }
  return defaults;
}

// Checks one bound of one resource against a container or pod.
class Check {
 public:
  Check(const ResourceTotals& requests, const ResourceTotals& limits, std::string_view kind,
        std::vector<std::string>& broken)
      : requests_(requests), limits_(limits), kind_(kind), broken_(broken) {}

  void run(const Json& item) {
    for (const auto& [name, bound] : totals_of(object_at(item, {"min"}))) at_least(name, bound);
    for (const auto& [name, bound] : totals_of(object_at(item, {"max"}))) at_most(name, bound);
    for (const auto& [name, bound] : totals_of(object_at(item, {"maxLimitRequestRatio"}))) ratio(name, bound);
  }

 private:
  static const Quantity* value(const ResourceTotals& totals, std::string_view name) {
    auto it = totals.find(name);
    return it == totals.end() ? nullptr : &it->second;
  }

  void at_least(const std::string& name, const Quantity& bound) {
    const Quantity *request = value(requests_, name), *limit = value(limits_, name);
    if (request == nullptr) {
      say(fmt::format("minimum {} usage per {} is {}.  No request is specified", name, kind_, bound.to_string()));
    } else if (*request < bound) {
      say(fmt::format("minimum {} usage per {} is {}, but request is {}", name, kind_, bound.to_string(),
                      request->to_string()));
    } else if (limit != nullptr && *limit < bound) {
      say(fmt::format("minimum {} usage per {} is {}, but limit is {}", name, kind_, bound.to_string(),
                      limit->to_string()));
    }
  }

  void at_most(const std::string& name, const Quantity& bound) {
    const Quantity *request = value(requests_, name), *limit = value(limits_, name);
    if (limit == nullptr) {
      say(fmt::format("maximum {} usage per {} is {}.  No limit is specified", name, kind_, bound.to_string()));
    } else if (*limit > bound) {
      say(fmt::format("maximum {} usage per {} is {}, but limit is {}", name, kind_, bound.to_string(),
                      limit->to_string()));
    } else if (request != nullptr && *request > bound) {
      say(fmt::format("maximum {} usage per {} is {}, but request is {}", name, kind_, bound.to_string(),
                      request->to_string()));
    }
  }

  void ratio(const std::string& name, const Quantity& bound) {
    const Quantity *request = value(requests_, name), *limit = value(limits_, name);
    if (request == nullptr || request->is_zero()) {
      say(fmt::format("{} max limit to request ratio per {} is {}, but no request is specified or request is 0", name,
                      kind_, bound.to_string()));
    } else if (limit == nullptr || limit->is_zero()) {
      say(fmt::format("{} max limit to request ratio per {} is {}, but no limit is specified or limit is 0", name,
                      kind_, bound.to_string()));
    } else if (exceeds(*limit, *request, bound)) {
      say(fmt::format("{} max limit to request ratio per {} is {}, but provided ratio is {:.6f}", name, kind_,
                      bound.to_string(),
                      static_cast<double>(limit->milli_value()) / static_cast<double>(request->milli_value())));
    }
  }

  // limit / request > bound, without a division.
  static bool exceeds(const Quantity& limit, const Quantity& request, const Quantity& bound) {
    __extension__ typedef __int128 Wide;
    return static_cast<Wide>(limit.milli_value()) * 1000 >
           static_cast<Wide>(request.milli_value()) * static_cast<Wide>(bound.milli_value());
  }

  void say(std::string text) { broken_.push_back(std::move(text)); }

  const ResourceTotals& requests_;
  const ResourceTotals& limits_;
  std::string_view kind_;
  std::vector<std::string>& broken_;
};

FieldErrors validate_limit_range(const Json& object, const Lookup&) {
  FieldErrors errors;
  const JsonArray& items = array_at(object, {"spec", "limits"});
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::string path = api::index_path("spec.limits", i);
    std::string_view type = string_at(items[i], {"type"});
    if (!check_required(items[i], "type", path, errors)) continue;
    if (!types.insert(type).second) errors.push_back(api::duplicate(path + ".type", member_or_null(items[i], "type")));
    if (type == "Pod") {
      for (std::string_view field : {"default", "defaultRequest"}) {
        if (!object_at(items[i], {field}).empty()) {
          errors.push_back(
              api::forbidden_field(api::field_path(path, field), "may not be specified when `type` is 'Pod'"));
        }
      }
    }
    auto order = [&](std::string_view low, std::string_view high) {
      ResourceTotals lows = totals_of(object_at(items[i], {low})), highs = totals_of(object_at(items[i], {high}));
      for (const auto& [name, quantity] : lows) {
        auto other = highs.find(name);
        if (other == highs.end() || !(quantity > other->second)) continue;
        errors.push_back(api::invalid_value(api::key_path(api::field_path(path, low), name), Json(quantity.to_string()),
                                            fmt::format("{} value {} is greater than {} value {}", low,
                                                        quantity.to_string(), high, other->second.to_string())));
      }
    };
    order("min", "max");
    order("min", "defaultRequest");
    order("defaultRequest", "max");
    order("defaultRequest", "default");
    order("default", "max");
    for (const auto& [name, quantity] : totals_of(object_at(items[i], {"maxLimitRequestRatio"}))) {
      if (quantity < Quantity::of(1)) {
        errors.push_back(api::invalid_value(api::key_path(path + ".maxLimitRequestRatio", name),
                                            Json(quantity.to_string()),
                                            fmt::format("ratio {} is less than 1", quantity.to_string())));
      }
    }
  }
  return errors;
}

// Defaults for containers: `default` is taken from `max`; `defaultRequest` from `default`, else from `min`.
Result<void> finish_decoding_limit_range(Json& object) {
  Json& limits = ensure_path(object, {"spec", "limits"});
  if (!limits.is_array()) return {};
  for (auto& item : limits.get_array()) {
    if (string_at(item, {"type"}) != "Container") continue;
    auto copy_missing = [&item](std::string_view from, std::string_view to) {
      const JsonObject source = object_at(item, {from});
      for (const auto& member : source) {
        Json& target = ensure_path(item, {to});
        if (!target.is_object()) target = JsonObject();
        if (!target.get_object().contains(member.key())) target.get_object()[member.key()] = member.value();
      }
    };
    copy_missing("max", "default");
    copy_missing("default", "defaultRequest");
    copy_missing("min", "defaultRequest");
  }
  return {};
}

}  // namespace

void apply_limit_range_defaults(Json& pod, const Lookup& lookup) {
  std::vector<std::string> notes;
  for (const auto& range : limit_ranges_of(pod, lookup)) {
    const ContainerDefaults defaults = defaults_of(*range);
    for (bool init : {false, true}) {
      Json* list = pod.as_object()["spec"].as_object().if_contains(init ? "initContainers" : "containers");
      if (list == nullptr || !list->is_array()) continue;
      std::string_view kind = init ? "init container" : "container";
      for (auto& container : list->get_array()) {
        std::string name(string_at(container, {"name"}));
        note(notes, fill(container, "requests", defaults.requests), "request", kind, name);
        note(notes, fill(container, "limits", defaults.limits), "limit", kind, name);
      }
    }
  }
  if (!notes.empty()) {
    ensure_path(pod, {"metadata", "annotations", kAnnotation}) =
        fmt::format("LimitRanger plugin set: {}", fmt::join(notes, "; "));
  }
}

std::vector<std::string> broken_limits(const Json& pod, const Lookup& lookup) {
  std::vector<std::string> broken;
  const Json& spec = member_or_null(pod, "spec");
  for (const auto& range : limit_ranges_of(pod, lookup)) {
    for (const auto& item : array_at(*range, {"spec", "limits"})) {
      std::string_view type = string_at(item, {"type"});
      if (type == "Container") {
        for (std::string_view list : {"containers", "initContainers"}) {
          for (const auto& container : array_at(spec, {list})) {
            ResourceTotals requests = totals_of(object_at(container, {"resources", "requests"}));
            ResourceTotals limits = totals_of(object_at(container, {"resources", "limits"}));
            Check(requests, limits, type, broken).run(item);
          }
        }
      } else if (type == "Pod") {
        ResourceTotals requests = container_requests(spec), limits = container_limits(spec);
        for (auto& [name, quantity] : totals_of(object_at(spec, {"resources", "requests"}))) requests[name] = quantity;
        for (auto& [name, quantity] : totals_of(object_at(spec, {"resources", "limits"}))) limits[name] = quantity;
        Check(requests, limits, type, broken).run(item);
      }
    }
  }
  return broken;
}

ResourceInfo limit_range_resource() {
  ResourceInfo info = make_kind({"", "v1", "limitranges", "LimitRange", "limitrange", {"limits"}, {}}, "LimitRange",
                                finish_decoding_limit_range);
  info.strategy.counts_generation = false;
  info.columns = {api::text_column("Created At", "Time of the creation.")};
  info.strategy.validate = validate_limit_range;
  info.strategy.cells = [](const Json& object, Time) {
    return JsonArray{Json(string_at(object, {"metadata", "creationTimestamp"}))};
  };
  return info;
}

}  // namespace berth::apiserver
