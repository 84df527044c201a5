#include "jobs/kinds/hooks/spark_pods.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>
#include <utility>

#include "base/quantity.h"
#include "base/text.h"

namespace berth::jobs::kinds {
namespace {

using api::FieldErrors;

constexpr std::int64_t kDefaultMebibytes = 1024;                  // spark.driver.memory, spark.executor.memory
constexpr std::int64_t kLeastOverhead = 384;                      // spark.driver.minMemoryOverhead, in MiB
constexpr double kOverheadOfJava = 0.1, kOverheadOfOthers = 0.4;  // spark.kubernetes.memoryOverheadFactor

// One section of an application, and where its errors are.
struct Section {
  const Json& application;
  const Json& fields;
  std::string path;
  FieldErrors& errors;

  void error(std::string_view field, const Json& value, std::string_view why) const {
    errors.push_back(api::invalid_value(api::field_path(path, field), value, why));
  }
};

void set_amount(Json& container, std::string_view part, std::string_view resource, std::string_view amount) {
  ensure_path(container, {"resources", part, resource}) = amount;
}

// A quantity of Kubernetes in a string field.
void take_quantity(const Section& section, std::string_view field, Json& container, std::string_view part) {
  const Json* value = find(section.fields, field);
  if (value == nullptr || value->is_null()) return;
  const auto quantity = value->is_string() ? Quantity::parse(view(value->get_string())) : Quantity::parse("");
  if (!quantity) return section.error(field, *value, quantity.error().message);
  set_amount(container, part, "cpu", quantity->to_string());
}

// Null when the field is absent or wrong; the latter is an error.
std::optional<std::int64_t> take_memory(const Section& section, std::string_view field) {
  const Json* value = find(section.fields, field);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto amount = java_mebibytes(value->is_string() ? view(value->get_string()) : std::string_view());
  if (amount) return *amount;
  section.error(field, *value, amount.error().message);
  return std::nullopt;
}

std::string mebibytes(std::int64_t amount) {
  return Quantity::of(amount * (std::int64_t{1} << 20), Quantity::Format::kBinarySi).to_string();
}

double overhead_factor(const Section& section) {
  const auto text = string_at(section.application, {"spec", "memoryOverheadFactor"});
  double factor = 0;
  const auto [end, broken] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (!text.empty() && broken == std::errc() && end == text.data() + text.size() && factor >= 0 && factor <= 100)
    return factor;
  const auto type = string_at(section.application, {"spec", "type"});
  return type == "Python" || type == "R" ? kOverheadOfOthers : kOverheadOfJava;
}

// Spark asks for the memory and its overhead. The limit of a template does not count: Spark writes its own.
void add_memory(const Section& section, Json& container) {
  const std::int64_t heap = take_memory(section, "memory").value_or(kDefaultMebibytes);
  const auto overhead = take_memory(section, "memoryOverhead");
  const auto factored = static_cast<std::int64_t>(static_cast<double>(heap) * overhead_factor(section));
  const auto all = mebibytes(heap + overhead.value_or(std::max(factored, kLeastOverhead)));
  set_amount(container, "requests", "memory", all);
  if (const auto limit = take_memory(section, "memoryLimit")) {
    set_amount(container, "limits", "memory", mebibytes(*limit));
  } else if (find_path(container, {"resources", "limits", "memory"}) != nullptr) {
    set_amount(container, "limits", "memory", all);
  }
}

// Without coreRequest, Spark asks for its cores.
void add_cpu(const Section& section, Json& container) {
  const auto cores = optional_int32_at(section.fields, {"cores"});
  set_amount(container, "requests", "cpu", std::to_string(std::max(cores.value_or(1), 0)));
  take_quantity(section, "coreRequest", container, "requests");
  take_quantity(section, "coreLimit", container, "limits");
  const auto device = string_at(section.fields, {"gpu", "name"});
  if (!device.empty())
    set_amount(container, "limits", device, std::to_string(int_at(section.fields, {"gpu", "quantity"})));
}

// Nothing when the section has no such list. An empty one stays visible: a stop restores it.
void append(Json& pod_template, std::string_view list, const Json* more) {
  if (more == nullptr || !more->is_array()) return;
  JsonArray all = array_at(pod_template, {"spec", list});
  for (const Json& one : more->get_array()) all.push_back(one);
  ensure_path(pod_template, {"spec", list}) = std::move(all);
}

// Members of `from` come over those that are there. Nothing when the section has no such member.
void overlay(Json& pod_template, std::initializer_list<std::string_view> place, const Json* from) {
  if (from == nullptr || !from->is_object()) return;
  Json& target = ensure_path(pod_template, place);
  if (!target.is_object()) target = JsonObject();
  for (const auto& [key, value] : from->get_object()) target.as_object()[key] = value;
}

void add_fields(const Section& section, Json& pod_template) {
  overlay(pod_template, {"metadata", "labels"}, find(section.fields, "labels"));
  overlay(pod_template, {"metadata", "annotations"}, find(section.fields, "annotations"));
  overlay(pod_template, {"spec", "nodeSelector"}, find_path(section.application, {"spec", "nodeSelector"}));
  overlay(pod_template, {"spec", "nodeSelector"}, find(section.fields, "nodeSelector"));
  append(pod_template, "tolerations", find(section.fields, "tolerations"));
  append(pod_template, "initContainers", find(section.fields, "initContainers"));
  append(pod_template, "containers", find(section.fields, "sidecars"));
  for (const std::string_view name : {"affinity", "priorityClassName"}) {
    const Json* value = find(section.fields, name);
    if (value != nullptr && !value->is_null()) ensure_path(pod_template, {"spec", name}) = *value;
  }
}

// The container that runs Spark: the one with its name, else the first one.
void add_amounts(const Section& section, const SparkRole& role, Json& pod_template) {
  JsonArray containers = array_at(pod_template, {"spec", "containers"});
  auto main =
      std::ranges::find_if(containers, [&](const Json& one) { return string_at(one, {"name"}) == role.container; });
  if (main == containers.end() && !containers.empty()) main = containers.begin();
  if (main == containers.end()) {
    containers.push_back(JsonObject{{"name", role.container}});
    main = containers.begin();
  }
  add_cpu(section, *main);
  add_memory(section, *main);
  ensure_path(pod_template, {"spec", "containers"}) = std::move(containers);
}

}  // namespace

Result<std::int64_t> java_mebibytes(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // MiB
  const auto wrong = [] { return fail("must be an amount of memory as Java has it, such as 512m or 2g"); };
  std::int64_t number = 0;
  const auto [end, broken] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (broken != std::errc() || number < 0 || number > kMost) return wrong();
  std::string unit = to_lower({end, text.data() + text.size()});
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  if (unit == "b") return number >> 20;
  if (unit == "k") return number >> 10;
  if (unit.empty() || unit == "m") return number;
  for (const auto& [name, shift] : {std::pair("g", 10), std::pair("t", 20), std::pair("p", 30)}) {
    if (unit == name) return number > kMost >> shift ? wrong() : Result<std::int64_t>(number << shift);
  }
  return wrong();
}

Json empty_spark_template(const SparkRole& role) {
  return JsonObject{{"spec", JsonObject{{"containers", JsonArray{JsonObject{{"name", role.container}}}}}}};
}

Json spark_pod_template(const Json& application, const SparkRole& role, FieldErrors& errors) {
  static const Json kNothing = JsonObject();
  const Json* fields = find_path(application, {"spec", role.name});
  const Section section{application, fields != nullptr ? *fields : kNothing, api::field_path("spec", role.name),
                        errors};
  Json pod_template = JsonObject();
  if (const Json* base = find(section.fields, "template"); base != nullptr && base->is_object()) pod_template = *base;
  if (find_path(pod_template, {"spec", "containers"}) == nullptr)
    ensure_path(pod_template, {"spec", "containers"}) = JsonArray();
  add_amounts(section, role, pod_template);
  add_fields(section, pod_template);
  return pod_template;
}

}  // namespace berth::jobs::kinds
