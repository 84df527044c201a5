// A cluster with devices, written as JSON.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/kueue/types.h"
#include "jobs/devices/workload_charge.h"

namespace berth::jobs::devices::test {

struct Cluster {
  ByName<api::ResourceClaimTemplate> templates;
  ByName<api::DeviceClass> classes;
  ByName<api::ResourceSlice> slices;
  Rules rules;

  static Json json(std::string_view text) { return *parse_json(text); }

  // `requests`: the JSON of spec.spec.devices.requests.
  void give_template(const std::string& name, std::string_view requests) {
    Json object = json(R"({"metadata":{"namespace":"ns"},"spec":{"spec":{"devices":{}}}})");
    object.at("metadata").as_object()["name"] = name;
    object.at("spec").at("spec").at("devices").as_object()["requests"] = json(requests);
    templates["ns/" + name] =
        std::make_shared<const api::ResourceClaimTemplate>(*api::decode_resource_claim_template(object));
  }
  void give_class(const std::string& name, std::string_view spec = "{}",
                  std::string_view created = "2026-01-01T00:00:00Z") {
    Json object = JsonObject{{"metadata", JsonObject{{"name", name}, {"creationTimestamp", Json(created)}}},
                             {"spec", json(spec)}};
    classes[name] = std::make_shared<const api::DeviceClass>(*api::decode_device_class(object));
  }
  void give_slice(const std::string& name, std::string_view spec) {
    Json object = JsonObject{{"metadata", JsonObject{{"name", name}}}, {"spec", json(spec)}};
    slices[name] = std::make_shared<const api::ResourceSlice>(*api::decode_resource_slice(object));
  }
  void map(std::string name, std::vector<std::string> of_classes, std::vector<api::config::DeviceSource> sources = {}) {
    rules.mappings.push_back({std::move(name), std::move(of_classes), std::move(sources)});
  }

  static api::kueue::Workload workload(std::string_view pod_spec, int pods = 1) {
    api::kueue::Workload out;
    out.meta.ns = "ns";
    out.meta.name = "w";
    api::kueue::PodSet& pod_set = out.pod_sets.emplace_back();
    pod_set.count = pods;
    pod_set.template_ = std::make_shared<const Json>(JsonObject{{"spec", json(pod_spec)}});
    return out;
  }
  static api::kueue::Workload with_template(const std::string& name) {
    return workload(R"({"containers":[{}],"resourceClaims":[{"name":"d","resourceClaimTemplateName":")" + name +
                    R"("}]})");
  }

  // "gpus: 2, nics: 1", what is refused, or "null". Extended resources as "name -> logical".
  std::string charge(const api::kueue::Workload& workload, const std::string& unavailable = {}) {
    Charges charges(rules, Inventory{templates, classes, slices});
    const auto out = charges.charge(workload, uses_of(workload), unavailable);
    if (!out) return "null";
    if (!out->refused.empty()) return out->refused;
    std::string text;
    const auto add = [&](const std::string& part) { text.append(text.empty() ? "" : ", ").append(part); };
    for (const auto& pod_set : out->pod_sets) {
      for (const auto& [name, amount] : pod_set.per_pod) add(name + ": " + amount.to_string());
      for (const auto& [name, logical] : pod_set.extended) add(name + " -> " + logical);
    }
    return text;
  }
  std::string charge_of_template(const std::string& name) { return charge(with_template(name)); }
};

inline std::string exactly(std::string_view name, std::string_view device_class, std::string_view rest = "") {
  return R"({"name":")" + std::string(name) + R"(","exactly":{"deviceClassName":")" + std::string(device_class) +
         R"(","allocationMode":"ExactCount","count":1)" + (rest.empty() ? "" : "," + std::string(rest)) + "}}";
}

}  // namespace berth::jobs::devices::test
