#include <memory>
#include <string>
#include <utility>

#include "api/selector.h"
#include "embedded/apiserver/crd/crd.h"
#include "embedded/apiserver/http/encode.h"
#include "embedded/apiserver/requests/answers.h"
#include "embedded/apiserver/requests/decode.h"
#include "embedded/apiserver/requests/metadata.h"
#include "embedded/apiserver/schema/structural.h"
#include "growth/acts.h"
#include "growth/grown.h"

namespace berth::growth {
namespace {

using apiserver::ResourceInfo;

// Every other object that a rule asks for is the object itself.
apiserver::Lookup lookup_of(const Json& object) {
  auto shared = std::make_shared<const Json>(object);
  return {[shared](const auto&, auto, auto) { return shared; },
          [shared](const auto&, auto) { return std::vector<JsonPtr>{shared}; }};
}

std::function<void()> read_text(const Subject& s) {
  Json object = s.object;
  add_strangers(object, s.size);
  std::string text = to_string(object);
  text.pop_back();
  text += R"(,"twice":{"a":0)";
  for (std::size_t i = 0; i < s.size; ++i)
    text += R"(,"k)" + std::to_string(i) + R"(":1,"k)" + std::to_string(i) + R"(":2)";
  text += "}}";
  return [text] {
    std::vector<std::string> duplicates;
    const auto parsed = parse_json(text, {}, &duplicates);
    to_pretty_string(*parsed);
    canonical_json(*parsed);
  };
}

std::function<void()> decode(const Subject& s, api::FieldValidation validation) {
  auto object = std::make_shared<Json>(s.object);
  add_strangers(*object, s.size);
  return [object, validation, &s] {
    std::vector<std::string> warnings;
    (void)apiserver::decode_object(s.resource, *object, validation, {}, warnings);
    apiserver::http::HttpResponse response = apiserver::http::encode_document({200, JsonObject(), std::move(warnings)});
  };
}

std::function<void()> fill(const Subject& s) {
  auto object = std::make_shared<Json>(s.object);
  return [object, &s] {
    if (s.resource.schema != nullptr) apiserver::apply_defaults(*object, *s.resource.schema);
    if (s.resource.strategy.decode) (void)s.resource.strategy.decode(*object);
    apiserver::normalize_metadata(*object);
  };
}

std::function<void()> create(const Subject& s) {
  auto object = std::make_shared<Json>(s.object);
  return [object, &s] {
    const auto lookup = lookup_of(s.object);
    const auto& strategy = s.resource.strategy;
    if (strategy.prepare_create) strategy.prepare_create(*object, lookup);
    if (strategy.admit) (void)strategy.admit(*object, nullptr, lookup);
  };
}

std::function<void()> validate(const Subject& s) {
  return [&s] {
    api::FieldErrors errors = apiserver::validate_metadata(s.resource, s.object);
    if (s.resource.schema != nullptr)
      apiserver::add_new(errors, apiserver::validate_schema(s.object, nullptr, *s.resource.schema, ""));
    if (s.resource.custom)
      apiserver::add_new(errors, apiserver::validate_custom_object(s.object, nullptr, s.resource, ""));
    if (s.resource.strategy.validate)
      apiserver::add_new(errors, s.resource.strategy.validate(s.object, lookup_of(s.object)));
    (void)apiserver::invalid_object(s.resource, "n0", errors);
  };
}

std::function<void()> convert(const Subject& s) {
  auto object = std::make_shared<Json>(s.object);
  return [object, &s] {
    if (!s.resource.strategy.convert) return;
    for (const std::string_view version : {"v1beta1", "v1beta2", "v1beta1"})
      (void)s.resource.strategy.convert(*object, version);
  };
}

std::function<void()> print(const Subject& s) {
  return [&s] {
    const apiserver::http::TableOptions options{"v1", apiserver::http::IncludeObject::kObject, true};
    (void)apiserver::http::to_table(s.object, s.resource, options, Time{});
    (void)apiserver::http::to_partial_metadata(s.object, "v1");
  };
}

std::function<void()> select(const Subject& s) {
  std::string selector, fields;
  for (std::size_t i = 0; i < s.size; ++i) {
    selector +=
        (i == 0 ? "" : ",") + std::string("example.com/k") + std::to_string(i) + " in (a,n" + std::to_string(i) + ")";
    fields += (i == 0 ? "" : ",") + std::string("metadata.name=n0");
  }
  return [selector, fields, &s] {
    const auto labels = api::LabelSelector::parse(selector);
    if (labels) (void)labels->matches(object_at(s.object, {"metadata", "labels"}));
    (void)api::parse_field_selector(fields);
    for (const auto& field : s.resource.strategy.selectable_fields) (void)s.resource.strategy.field(s.object, field);
  };
}

// A definition whose schema has that many properties, rules and branches, and a list with that many keys.
Json definition_of(std::size_t size) {
  JsonObject properties;
  JsonArray names, rules, branches, words;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string name = "k" + std::to_string(i);
    properties[name] = JsonObject{{"type", "string"}, {"maxLength", 10}};
    names.emplace_back(name);
    words.emplace_back(name);
    rules.push_back(JsonObject{{"rule", "self." + name + " != 'x'"}, {"message", "no"}});
    branches.push_back(JsonObject{{"required", JsonArray{name}}});
  }
  properties["k0"].as_object()["enum"] = words;
  const JsonObject item{{"type", "object"}, {"properties", properties}, {"required", names}};
  JsonObject spec = item;
  spec["x-kubernetes-validations"] = rules;
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"}) spec[key] = branches;
  JsonArray strange = names;
  for (std::size_t i = 0; i < size; ++i) strange.emplace_back("stranger" + std::to_string(i));
  const JsonObject list{
      {"type", "array"}, {"items", item}, {"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", strange}};
  return JsonObject{{"type", "object"}, {"properties", JsonObject{{"spec", spec}, {"list", list}}}};
}

std::function<void()> define(const Subject& s) {
  const bool is_definition = s.resource.kind == "CustomResourceDefinition";
  const auto schema = std::make_shared<Json>(is_definition ? definition_of(s.size) : Json());
  return [schema] {
    if (schema->is_null()) return;
    api::FieldErrors errors;
    if (const auto compiled = apiserver::compile_schema(*schema, "", errors)) (void)apiserver::to_openapi(*compiled);
  };
}

}  // namespace

const std::vector<Act>& acts_on_objects() {
  static const std::vector<Act> acts = {
      {"read its text", read_text, true},
      {"decode it", [](const Subject& s) { return decode(s, api::FieldValidation::kWarn); }, true},
      {"decode it strictly", [](const Subject& s) { return decode(s, api::FieldValidation::kStrict); }, true},
      {"fill its defaults", fill, true},
      {"create it", create},
      {"validate it", validate},
      {"convert it", convert},
      {"print it", print},
      {"select it", select},
      {"define a kind", define},
  };
  return acts;
}

}  // namespace berth::growth
