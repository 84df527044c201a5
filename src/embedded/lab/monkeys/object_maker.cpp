#include "embedded/lab/monkeys/object_maker.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace berth::lab {
namespace {

constexpr int kDeepest = 14;     // nesting depth of values; bounds recursive schemas
constexpr int kTriesOfText = 8;  // attempts to make a text that matches its pattern

// Strings that mean something somewhere, and some that mean nothing.
constexpr std::array<std::string_view, 28> kOddTexts = {"",
                                                        "a",
                                                        "x1",
                                                        "default",
                                                        "None",
                                                        "True",
                                                        "0",
                                                        "1",
                                                        "-1",
                                                        "2147483648",
                                                        "9223372036854775807",
                                                        "0-3,5",
                                                        "*",
                                                        ".",
                                                        "a.b",
                                                        "a/b",
                                                        "a.b/c",
                                                        "volcano.x",
                                                        "cpu",
                                                        "pods",
                                                        "nvidia.com/gpu",
                                                        "kueue.x-k8s.io/resource-in-use",
                                                        "Unknown",
                                                        "Invalid",
                                                        "1s",
                                                        "1h",
                                                        "\xf0\x9f\x90\x92",
                                                        "A name with spaces"};

constexpr std::array<std::string_view, 19> kEdgeQuantities = {"0",
                                                              "1n",
                                                              "-1",
                                                              "-1n",
                                                              "1m",
                                                              "9223372036854775807",
                                                              "9223372036854775808",
                                                              "-9223372036854775808",
                                                              "9223372036854775807m",
                                                              "1e18",
                                                              "1e-9",
                                                              "1Ei",
                                                              "8Ei",
                                                              "999999999999999999999",
                                                              "0.000000001",
                                                              "1.5",
                                                              "1e3",
                                                              "100k",
                                                              "-0"};

const re2::RE2& expression(std::string_view pattern) {
  static std::map<std::string, std::unique_ptr<re2::RE2>, std::less<>>
      known;  // bounded by the schemas: a few dozen patterns
  auto it = known.find(pattern);
  if (it == known.end()) {
    it = known
             .emplace(pattern,
                      std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), re2::RE2::Quiet))
             .first;
  }
  return *it->second;
}

bool matches(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return true;
  const auto& re = expression(pattern);
  return !re.ok() || re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), re);
}

bool is_quantity(const Json& schema) {
  if (bool_at(schema, {"x-kubernetes-int-or-string"}) || string_at(schema, {"format"}) == "quantity") return true;
  const auto& one_of = array_at(schema, {"oneOf"});
  return one_of.size() == 2 && find(schema, "type") == nullptr && string_at(one_of[1], {"type"}) == "number";
}

}  // namespace

struct ObjectMaker::Look {
  const MonkeyKind& kind;
  const Manner& manner;
  Time now;
};

Json ObjectMaker::make(const MonkeyKind& kind, const Manner& manner, Time now) {
  const Look look{kind, manner, now};
  Json out = object(look, kinds_.resolve(kind, *kind.schema), kind.kind, 0);
  out.as_object()["apiVersion"] = kind.api_version();
  out.as_object()["kind"] = kind.kind;
  out.as_object().erase("metadata");
  return out;
}

void ObjectMaker::change(const MonkeyKind& kind, Json& object, std::string_view member, const Manner& manner,
                         Time now) {
  const Look look{kind, manner, now};
  const Json& schema = kinds_.resolve(kind, *kind.schema);
  const Json* of_member = find_path(schema, {"properties", member});
  if (of_member == nullptr || !object.is_object()) return;
  Json& at = object.as_object()[member];
  if (at.is_null()) {
    at = value(look, *of_member, member, 1);
  } else {
    change_at(look, *of_member, at, member, 1);
  }
}

Json ObjectMaker::value(const Look& look, const Json& unresolved, std::string_view member, int depth) {
  const Json& schema = kinds_.resolve(look.kind, unresolved);
  const auto& manner = look.manner;
  if (random_.chance(manner.odd / 4)) return anything(look);
  const auto& words = array_at(schema, {"enum"});
  if (!words.empty() && !random_.chance(manner.odd)) return words[random_.below(words.size())];
  if (is_quantity(schema)) return quantity(manner);
  const auto type = string_at(schema, {"type"});
  if (type == "object" || find(schema, "properties") != nullptr) return object(look, schema, member, depth);
  if (type == "array") return array(look, schema, member, depth);
  if (type == "string") return string(look, schema, member);
  if (type == "integer" || type == "number") return integer(look, schema);
  if (type == "boolean") return Json(random_.chance(500));
  return anything(look);
}

Json ObjectMaker::object(const Look& look, const Json& schema, std::string_view member, int depth) {
  JsonObject out;
  if (depth > kDeepest) return Json(std::move(out));
  const auto& required = array_at(schema, {"required"});
  const auto is_required = [&required](std::string_view name) {
    return std::ranges::any_of(required,
                               [name](const Json& r) { return r.is_string() && view(r.get_string()) == name; });
  };
  for (const auto& property : object_at(schema, {"properties"})) {
    const bool there =
        is_required(property.key()) ? !random_.chance(look.manner.missing) : random_.chance(look.manner.optional);
    if (there) out[property.key()] = value(look, property.value(), property.key(), depth + 1);
  }
  if (const Json* additional = find(schema, "additionalProperties"); additional != nullptr && additional->is_object()) {
    for (auto n = random_.below(static_cast<std::uint64_t>(look.manner.max_items) + 1); n > 0; --n) {
      std::string key(words_.key(member, random_));
      if (key.empty() || random_.chance(200)) key = text("labels", look.manner);
      out[key] = value(look, *additional, key, depth + 1);
    }
  }
  return Json(std::move(out));
}

Json ObjectMaker::array(const Look& look, const Json& schema, std::string_view member, int depth) {
  JsonArray out;
  const Json* items = find(schema, "items");
  if (items == nullptr || depth > kDeepest) return Json(std::move(out));
  const auto least = random_.chance(look.manner.odd) ? 0 : int_at(schema, {"minItems"});
  auto most = std::min<std::int64_t>(int_at(schema, {"maxItems"}, look.manner.max_items), look.manner.max_items);
  most = std::max(most, least);
  auto n = least + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most - least) + 1));
  for (; n > 0; --n) out.push_back(value(look, *items, member, depth + 1));
  return Json(std::move(out));
}

Json ObjectMaker::string(const Look& look, const Json& schema, std::string_view member) {
  const auto format = string_at(schema, {"format"});
  if (format == "date-time") return Json(time(look.manner, look.now));
  if (format == "byte") return Json("YQ==");
  const auto pattern = string_at(schema, {"pattern"});
  const auto longest = static_cast<std::size_t>(int_at(schema, {"maxLength"}, 1 << 20));
  const auto shortest = static_cast<std::size_t>(int_at(schema, {"minLength"}));
  std::string out;
  for (int i = 0; i < kTriesOfText; ++i) {
    out = text(member, look.manner);
    if (random_.chance(look.manner.odd)) return Json(out);
    if (out.size() >= shortest && out.size() <= longest && matches(out, pattern)) return Json(out);
  }
  return Json(std::string(std::max<std::size_t>(shortest, 1), 'a'));
}

Json ObjectMaker::integer(const Look& look, const Json& schema) {
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  const bool narrow = string_at(schema, {"format"}) == "int32";
  auto least = optional_int_at(schema, {"minimum"});
  auto most = optional_int_at(schema, {"maximum"});
  if (random_.chance(look.manner.odd)) least = most = std::nullopt;
  if (random_.chance(look.manner.edge)) {
    const std::array<std::int64_t, 6> edges = {0,
                                               1,
                                               -1,
                                               least.value_or(0),
                                               most.value_or(std::numeric_limits<std::int32_t>::max()),
                                               narrow ? std::numeric_limits<std::int32_t>::min() : kLargest};
    const auto edge = edges[random_.below(edges.size())];
    if ((!least || edge >= *least) && (!most || edge <= *most)) return Json(edge);
  }
  const std::int64_t low = least.value_or(0);
  const std::int64_t width = most ? std::min<std::int64_t>(*most - low, 6) : 6;
  return Json(
      low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0)) + 1)));
}

Json ObjectMaker::anything(const Look& look) {
  switch (random_.below(8)) {
    case 0:
      return Json(nullptr);
    case 1:
      return Json(true);
    case 2:
      return Json(static_cast<std::int64_t>(random_.next() % 1000));
    case 3:
      return Json(0.5);
    case 4:
      return Json(JsonArray{text("name", look.manner)});
    case 5:
      return Json(JsonObject{{text("name", look.manner), 1}});
    case 6:
      return Json(JsonObject());
    default:
      return Json(text("name", look.manner));
  }
}

Json ObjectMaker::quantity(const Manner& manner) {
  if (random_.chance(manner.edge)) return Json(kEdgeQuantities[random_.below(kEdgeQuantities.size())]);
  const auto small = static_cast<std::int64_t>(random_.below(9));
  switch (random_.below(6)) {
    case 0:
      return Json(std::to_string(small * 100) + "m");
    case 1:
      return Json(std::to_string(small) + "Gi");
    case 2:
      return Json(small);
    default:
      return Json(std::to_string(small));
  }
}

std::string ObjectMaker::time(const Manner& manner, Time now) {
  if (random_.chance(manner.edge))
    return random_.chance(500)   ? "0001-01-01T00:00:00Z"
           : random_.chance(500) ? "9999-12-31T23:59:59Z"
                                 : "1970-01-01T00:00:00Z";
  const auto seconds = std::chrono::seconds(static_cast<std::int64_t>(random_.below(7200)) - 3600);
  return format_time(now + (random_.chance(300) ? seconds : std::min(seconds, std::chrono::seconds(0))));
}

std::string ObjectMaker::text(std::string_view member, const Manner& manner) {
  if (!random_.chance(manner.edge)) {
    auto word = words_.value(member, random_);
    if (word.empty() || random_.chance(100)) word = words_.name(random_);
    if (!word.empty()) return std::string(word);
  }
  if (random_.chance(50)) return std::string(random_.chance(500) ? 253 : 64, 'a');
  return std::string(kOddTexts[random_.below(kOddTexts.size())]);
}

void ObjectMaker::change_at(const Look& look, const Json& unresolved, Json& at, std::string_view member, int depth) {
  const Json& schema = kinds_.resolve(look.kind, unresolved);
  if (at.is_object() && random_.chance(900)) return change_object(look, schema, at, member, depth);
  if (at.is_array() && random_.chance(900)) return change_array(look, schema, at, member, depth);
  at = value(look, schema, member, depth);
}

void ObjectMaker::change_object(const Look& look, const Json& schema, Json& at, std::string_view member, int depth) {
  auto& members = at.as_object();
  const auto& properties = object_at(schema, {"properties"});
  const Json* additional = find(schema, "additionalProperties");
  const bool is_map = properties.empty() && additional != nullptr && additional->is_object();
  const auto how = random_.below(10);
  // More than half of the changes go to existing members or below them.
  if (how < 6 && !members.empty()) {
    auto it = members.begin() + static_cast<std::ptrdiff_t>(random_.below(members.size()));
    const Json* below = is_map ? additional : properties.if_contains(it->key());
    if (how == 0) {
      members.erase(it);
    } else if (below != nullptr && depth < kDeepest) {
      const std::string key(it->key());
      change_at(look, *below, it->value(), key, depth + 1);
    }
    return;
  }
  if (is_map) {
    std::string key(words_.key(member, random_));
    if (key.empty() || random_.chance(200)) key = text("labels", look.manner);
    members[key] = value(look, *additional, key, depth + 1);
    return;
  }
  if (properties.empty()) return;
  const auto& property = *(properties.begin() + static_cast<std::ptrdiff_t>(random_.below(properties.size())));
  members[property.key()] = value(look, property.value(), property.key(), depth + 1);
}

void ObjectMaker::change_array(const Look& look, const Json& schema, Json& at, std::string_view member, int depth) {
  auto& items = at.as_array();
  const Json* of_item = find(schema, "items");
  if (of_item == nullptr) return;
  const auto how = random_.below(10);
  if (items.empty() || how == 0) {
    items.push_back(value(look, *of_item, member, depth + 1));
    return;
  }
  const auto i = random_.below(items.size());
  if (how == 1) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (how == 2) {
    items.push_back(Json(items[i]));  // a copy, in half of the cases changed
    if (random_.chance(500)) change_at(look, *of_item, items.back(), member, depth + 1);
  } else if (how == 3) {
    std::swap(items[i], items[random_.below(items.size())]);
  } else {
    change_at(look, *of_item, items[i], member, depth + 1);
  }
}

}  // namespace berth::lab
