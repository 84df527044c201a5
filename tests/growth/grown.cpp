#include "growth/grown.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "embedded/apiserver/schema/structural.h"

namespace berth::growth {
namespace {

using apiserver::Codec;
using apiserver::Schema;
using apiserver::SchemaType;

constexpr int kDeepest = 16;  // bounds schemas that contain themselves
constexpr std::string_view kMapKey = "example.com/k", kUnknownKey = "f:k";
constexpr std::size_t kFirstNumber = 1000;  // so that texts sort like their numbers: a sort of them is no surprise
constexpr std::string_view kTime = "2026-11-21T09:00:00Z";

// Words that rules outside of the schemas expect, by the member. Other texts are made up.
const std::map<std::string_view, std::string_view>& usual_words() {
  static const std::map<std::string_view, std::string_view> words = {
      {"operator", "In"},
      {"effect", "NoSchedule"},
      {"restartPolicy", "Never"},
      {"protocol", "TCP"},
      {"operation", "Update"},
      {"fieldsType", "FieldsV1"},
      {"topologyKey", "kubernetes.io/hostname"},
      {"whenUnsatisfiable", "DoNotSchedule"},
      {"apiVersion", "batch/v1"},
      {"completionMode", "Indexed"},
      {"status", "True"},
      {"image", "example.com/image:1"},
      {"mode", "0644"},
  };
  return words;
}

// A text for entry `i`: the first that the pattern takes.
std::string text_for(const Schema& schema, std::size_t i) {
  const std::string number = std::to_string(kFirstNumber + i);
  const std::array<std::string, 10> choices = {"n" + number,
                                               "example.com/n" + number,
                                               number,
                                               "N" + number,
                                               "/n" + number,
                                               number + "m",
                                               number + "h",
                                               "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256),
                                               "a" + std::string(40, 'a') + number,
                                               "https://example.com/" + number};
  const auto fits = [&](const std::string& text) {
    return schema.expression == nullptr || !schema.expression->ok() || re2::RE2::PartialMatch(text, *schema.expression);
  };
  const auto found = std::ranges::find_if(choices, fits);
  return found == choices.end() ? choices.front() : *found;
}

class Grower {
 public:
  explicit Grower(const Growth& growth) : growth_(growth) {}

  // `i` is the number of the entry that the value belongs to; `first` says that the value contains lists and maps.
  Json value(const Schema& schema, std::string_view member, std::size_t i, bool first, int depth) {
    if (!schema.enumeration.empty()) return schema.enumeration[i % schema.enumeration.size()];
    if (schema.codec == Codec::kQuantity || schema.int_or_string) return Json(std::to_string(1 + i));
    if (schema.codec == Codec::kMicroTime) return Json("2026-11-21T09:00:00.000000Z");
    if (schema.codec == Codec::kTime || schema.format == "date-time") return Json(kTime);
    if (schema.codec == Codec::kBytes || schema.format == "byte") return Json("YQ==");
    switch (schema.type) {
      case SchemaType::kBoolean:
        return Json(true);
      case SchemaType::kInteger:
      case SchemaType::kNumber:
        return number(schema, i);
      case SchemaType::kString:
        return text(schema, member, i);
      case SchemaType::kArray:
        return first && depth < kDeepest ? list(schema, member, depth) : Json(JsonArray());
      case SchemaType::kObject:
      case SchemaType::kAny:
        break;
    }
    return object(schema, i, first, depth);
  }

  JsonObject members(const Schema& schema, std::size_t i, bool first, int depth) {
    JsonObject out;
    for (const auto& [name, property] : schema.properties) {
      const bool nests = property->type == SchemaType::kArray || property->type == SchemaType::kObject;
      const bool required = std::ranges::find(schema.required, name) != schema.required.end();
      if (first || !nests || required) out[name] = value(*property, name, i, first, depth + 1);
    }
    return out;
  }

 private:
  static Json number(const Schema& schema, std::size_t i) {
    const double least = schema.minimum.value_or(1), most = schema.maximum.value_or(1e6);
    return Json(static_cast<std::int64_t>(std::clamp(static_cast<double>(i + 1), least, most)));
  }

  Json text(const Schema& schema, std::string_view member, std::size_t i) const {
    if (const auto usual = usual_words().find(member); usual != usual_words().end()) return Json(usual->second);
    std::string out = text_for(schema, i);
    if (growth_.entries == Entries::kReversed && (member == "value" || member == "message")) out += "x";
    return Json(out);
  }

  Json object(const Schema& schema, std::size_t i, bool first, int depth) {
    JsonObject out = members(schema, i, first, depth);
    if (!first || depth >= kDeepest) return Json(std::move(out));
    if (schema.additional) {
      fill(limited(schema.max_properties), [&](std::size_t entry, bool is_first) {
        const Json added = of_entry(*schema.additional, "", entry, is_first, depth);
        out.insert_or_assign(std::string(kMapKey) + std::to_string(kFirstNumber + entry), added);
      });
    } else if (schema.preserve_unknown && schema.properties.empty()) {
      fill(growth_.size, [&](std::size_t entry, bool) {
        out[std::string(kUnknownKey) + std::to_string(kFirstNumber + entry)] = JsonObject();
      });
    }
    return Json(std::move(out));
  }

  Json list(const Schema& schema, std::string_view member, int depth) {
    JsonArray out;
    if (!schema.items) return Json(std::move(out));
    fill(limited(schema.max_items), [&](std::size_t entry, bool is_first) {
      out.push_back(of_entry(*schema.items, member, entry, is_first, depth));
    });
    return Json(std::move(out));
  }

  Json of_entry(const Schema& schema, std::string_view member, std::size_t entry, bool first, int depth) {
    if (growth_.entries == Entries::kEmpty && !first) {
      return schema.type == SchemaType::kObject ? Json(JsonObject()) : Json("");
    }
    if (growth_.entries == Entries::kNull && !first) return Json();
    return value(schema, member, entry, first, depth + 1);
  }

  std::size_t limited(const std::optional<std::uint64_t>& most) const {
    return growth_.within_limits && most ? std::min<std::size_t>(growth_.size, *most) : growth_.size;
  }

  // Calls `add` with the number of each entry and whether it is the one that contains lists and maps.
  template <typename Add>
  void fill(std::size_t size, const Add& add) const {
    for (std::size_t i = 0; i < size; ++i) {
      switch (growth_.entries) {
        case Entries::kReversed:
          add(size - 1 - i, i == size - 1);
          break;
        case Entries::kOthers:
          add(1'000'000 + i, i == 0);
          break;
        case Entries::kEqual:
          add(0, i == 0);
          break;
        default:
          add(i, i == 0);
      }
    }
  }

  const Growth growth_;
};

}  // namespace

Json grow(const apiserver::ResourceInfo& resource, const Growth& growth) {
  Grower grower(growth);
  static const Schema kNone;
  const Schema& schema = resource.schema != nullptr ? *resource.schema : kNone;
  Json out = grower.members(schema, 0, true, 0);
  static const apiserver::SchemaPtr meta = apiserver::meta_schema();
  Json metadata = grower.members(*meta, 0, true, 0);
  metadata.as_object()["name"] = "n0";
  metadata.as_object()["namespace"] = "default";
  metadata.as_object()["uid"] = "u0";
  metadata.as_object()["resourceVersion"] = "";
  for (const std::string_view gone : {"generateName", "deletionTimestamp", "selfLink"})
    metadata.as_object().erase(gone);
  out.as_object()["metadata"] = std::move(metadata);
  out.as_object()["kind"] = resource.kind;
  out.as_object()["apiVersion"] =
      resource.gvr.group.empty() ? resource.gvr.version : resource.gvr.group + "/" + resource.gvr.version;
  return out;
}

void add_strangers(Json& object, std::size_t size) {
  if (object.is_array()) {
    if (!object.get_array().empty()) add_strangers(object.get_array().front(), size);
  } else if (object.is_object()) {
    bool in_map = false;  // a map knows all its members; of its entries only the first gets some
    for (auto& [name, member] : object.get_object()) {
      const bool is_entry =
          std::string_view(name).starts_with(kMapKey) || std::string_view(name).starts_with(kUnknownKey);
      if (!is_entry || !std::exchange(in_map, true)) add_strangers(member, size);
    }
    for (std::size_t i = 0; i < size && !in_map; ++i)
      object.get_object()["stranger" + std::to_string(kFirstNumber + i)] = static_cast<std::int64_t>(i);
  }
}

}  // namespace berth::growth
