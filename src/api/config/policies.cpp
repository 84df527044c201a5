// Reads the parts that change decisions.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/config/device_mappings.h"
#include "api/config/parts.h"
#include "api/core/pod_resources.h"
#include "api/field_error.h"

namespace berth::api::config {
namespace {

void read_requeuing(Fields fields, WaitForPodsReady& out) {
  if (const auto timestamp = fields.choice("timestamp", {"Eviction", "Creation"}))
    out.timestamp = *timestamp == 0 ? WaitForPodsReady::Timestamp::kEviction : WaitForPodsReady::Timestamp::kCreation;
  fields.number("backoffLimitCount", out.backoff_limit_count, 0);
  fields.number("backoffBaseSeconds", out.backoff_base_seconds, 0);
  fields.number("backoffMaxSeconds", out.backoff_max_seconds, 0);
  fields.done();
}

// v1beta2: enabled; feature gate DisableWaitForPodsReady turns it off later. v1beta1: enabled with `enable`; the
// defaults are then stricter (timeout 5 min, blockAdmission).
void read_wait_for_pods_ready(Fields fields, Version version, WaitForPodsReady& out) {
  if (version == Version::kV1beta1) {
    out.enabled = false;
    fields.flag("enable", out.enabled);
    out.timeout = std::chrono::minutes(5);
    out.block_admission = out.enabled;
  }
  Duration timeout{};
  fields.duration("timeout", timeout);
  if (timeout > Duration(0)) out.timeout = timeout;
  out.recovery_timeout = version == Version::kV1beta1 ? Duration(0) : out.timeout;
  fields.duration("recoveryTimeout", out.recovery_timeout);
  fields.flag("blockAdmission", out.block_admission);
  fields.duration("maxTimeoutOnWorkload", out.max_timeout_on_workload, std::chrono::seconds(1));
  fields.duration("unscheduledTimeout", out.unscheduled_timeout);
  if (out.unscheduled_timeout.value_or(Duration(0)) > out.timeout)
    fields.expected("unscheduledTimeout", Json(format_duration(*out.unscheduled_timeout)),
                    "at most the timeout, " + format_duration(out.timeout));
  read_requeuing(fields.object("requeuingStrategy"), out);
  fields.done();
}

void read_retention(Fields fields, WorkloadRetention& out) {
  Fields workloads = fields.object("workloads");
  workloads.duration("afterFinished", out.after_finished);
  workloads.duration("afterDeactivatedByKueue", out.after_deactivated_by_kueue);
  workloads.done();
  fields.done();
}

void check_resource_name(const Fields& fields, std::string_view at, const std::string& name) {
  if (const std::string broken = check_qualified_name(name); !broken.empty())
    fields.expected(at, Json(name), "the name of a resource: " + broken);
}

std::map<std::string, Quantity> read_outputs(Fields& fields) {
  std::map<std::string, Quantity> out;
  for (const auto& [name, value] : fields.entries("outputs")) {
    const std::string at = key_path("outputs", name);
    check_resource_name(fields, at, name);
    const auto quantity = decode_quantity(*value);
    if (name == "pods")
      fields.error(at, "cannot be an output: Berth counts pods itself");
    else if (!quantity || quantity->sign() < 0)
      fields.expected(at, *value, "a quantity such as 2, 500m or 5Gi, not a negative one");
    else
      out.emplace(name, *quantity);
  }
  return out;
}

void read_transformations(Fields& fields, std::vector<ResourceTransformation>& out) {
  std::set<std::string> inputs;
  for (Fields& item : fields.objects("transformations")) {
    ResourceTransformation read;
    item.text("input", read.input);
    if (item.present() && read.input.empty())
      item.error("input", "is missing, expected the name of a resource");
    else if (!read.input.empty() && !inputs.insert(read.input).second)
      item.error("input", "is " + read.input + ", as of another transformation; expected each input once");
    if (!read.input.empty()) check_resource_name(item, "input", read.input);
    read.replace = item.choice("strategy", {"Retain", "Replace"}).value_or(0) == 1;
    item.text("multiplyBy", read.multiply_by);
    if (!read.multiply_by.empty()) check_resource_name(item, "multiplyBy", read.multiply_by);
    read.outputs = read_outputs(item);
    item.done();
    out.push_back(std::move(read));
  }
}

void read_resources(Fields fields, QuotaResources& out, DeviceClassMappings& mappings) {
  fields.texts("excludeResourcePrefixes", out.exclude_prefixes);
  read_transformations(fields, out.transformations);
  out.ignore_undeclared = fields.choice("quotaCheckStrategy", {"BlockUndeclared", "IgnoreUndeclared"}).value_or(0) == 1;
  if (out.ignore_undeclared && !out.exclude_prefixes.empty())
    fields.error("excludeResourcePrefixes",
                 "cannot be used with quotaCheckStrategy IgnoreUndeclared; remove one of the two");
  mappings = read_device_mappings(fields);
  fields.done();
}

// v1beta2: enabled when the part is present. v1beta1: enabled with `enable`.
void read_fair_sharing(Fields fields, Version version, FairSharing& out) {
  if (!fields.present()) return;
  out.enabled = version == Version::kV1beta2;
  if (version == Version::kV1beta1) fields.flag("enable", out.enabled);
  std::vector<std::string> names;
  fields.texts("preemptionStrategies", names);
  fields.done();
  const std::vector<std::string> both{"LessThanOrEqualToFinalShare", "LessThanInitialShare"};
  if (names.empty() && version == Version::kV1beta1) names = both;
  if (names != both && names != std::vector{both[0]} && names != std::vector{both[1]})
    return fields.error("preemptionStrategies",
                        "expected [LessThanOrEqualToFinalShare], [LessThanInitialShare] or both in this order");
  out.final_share = names.front() == both[0];
  out.initial_share = names.back() == both[1];
}

constexpr std::int64_t kMostWeight = 1'000'000'000;

// A weight is any number; it is kept with nine decimals, and a positive one does not become 0.
std::optional<Quantity> read_weight(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.to_number<double>();
  if (!(number >= 0 && number <= kMostWeight)) return std::nullopt;
  const Quantity weight = Quantity::parse(fmt::format("{:.9f}", number)).value_or(Quantity());
  return number > 0 && weight.is_zero() ? Quantity::of_nano(1) : weight;
}

void read_admission_fair_sharing(Fields fields, AdmissionFairSharing& out) {
  if (!fields.present()) return;
  out.enabled = true;
  fields.duration("usageHalfLifeTime", out.half_life);
  Duration interval = out.sampling_interval;
  fields.duration("usageSamplingInterval", interval);
  if (interval <= Duration(0))
    fields.error("usageSamplingInterval", "is " + format_duration(interval) + ", expected a duration of more than 0s");
  else
    out.sampling_interval = interval;
  for (const auto& [resource, value] : fields.entries("resourceWeights")) {
    check_resource_name(fields, key_path("resourceWeights", resource), resource);
    const auto weight = read_weight(*value);
    if (weight)
      out.resource_weights.emplace(resource, *weight);
    else
      fields.expected(key_path("resourceWeights", resource), *value,
                      "a number from 0 to " + std::to_string(kMostWeight));
  }
  fields.done();
}

}  // namespace

void read_policies(Fields& top, Version version, Configuration& out) {
  read_wait_for_pods_ready(top.object("waitForPodsReady"), version, out.wait_for_pods_ready);
  read_retention(top.object("objectRetentionPolicies"), out.workload_retention);
  read_resources(top.object("resources"), out.resources, out.device_class_mappings);
  read_fair_sharing(top.object("fairSharing"), version, out.fair_sharing);
  read_admission_fair_sharing(top.object("admissionFairSharing"), out.admission_fair_sharing);
  for (const auto& [gate, value] : top.entries("featureGates")) {
    if (value->is_bool())
      out.feature_gates.emplace(gate, value->get_bool());
    else
      top.expected("featureGates." + gate, *value, "true or false");
  }
}

}  // namespace berth::api::config
