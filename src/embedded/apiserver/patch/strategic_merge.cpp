// Strategic merge patch: maps are merged, lists with a merge key are merged by item, other lists are replaced;
// directives change this.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeleteFromList = "$deleteFromPrimitiveList/";
constexpr std::string_view kElementOrder = "$setElementOrder/";

using MergedJson = tl::expected<Json, PatchError>;

tl::unexpected<PatchError> refuse_merge(int code, std::string message) {
  return tl::unexpected<PatchError>(PatchError{code, std::move(message)});
}

bool is_directive(std::string_view key) { return key.starts_with('$'); }

// How the items of a merged list are identified: by `key`, or by their value when `key` is empty.
struct ListRule {
  bool merges = false;
  std::string key;
};
ListRule list_rule(const TypeRef& type) {
  const Schema* schema = type.schema();
  if (schema == nullptr || schema->type != SchemaType::kArray) return {};
  if (!schema->patch_merge_key.empty()) return {true, schema->patch_merge_key};
  return {schema->patch_merge, {}};
}

// A value of the patch for a field that the object does not have: without directives, and without nulls, which would
// delete nothing.
Json without_directives(const Json& value) {
  if (value.is_array()) {
    JsonArray out;
    for (const auto& item : value.get_array()) {
      if (item.is_object() && item.get_object().contains(kDirective)) continue;
      out.push_back(without_directives(item));
    }
    return out;
  }
  if (!value.is_object()) return value;
  JsonObject out;
  for (const auto& [key, child] : value.get_object()) {
    if (!child.is_null() && !is_directive({key.data(), key.size()})) out.emplace(key, without_directives(child));
  }
  return out;
}

// Finds items in a merged list.
class Identity {
 public:
  explicit Identity(std::string key) : key_(std::move(key)) {}

  bool by_value() const { return key_.empty(); }
  // The value that identifies the item; nullptr when it has no key.
  const Json* of(const Json& member) const { return key_.empty() ? &member : find(member, key_); }
  std::optional<std::size_t> place(const JsonArray& list, const Json& member) const {
    const Json* wanted = of(member);
    if (wanted == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Json* other = of(list[i]);
      if (other != nullptr && json_equal(*other, *wanted)) return i;
    }
    return std::nullopt;
  }

 private:
  std::string key_;
};

// Items that `order` names come in its order. The other items keep the order of the live list, each before the first
// ordered item that followed it there.
JsonArray arrange(JsonArray merged, const JsonArray& order, const JsonArray& live, const Identity& identity) {
  std::vector<std::pair<std::size_t, Json*>> ordered;
  std::vector<Json*> others;
  for (auto& member : merged) {
    if (const auto place = identity.place(order, member)) {
      ordered.emplace_back(*place, &member);
    } else {
      others.push_back(&member);
    }
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  JsonArray out;
  auto other = others.begin();
  for (auto& [place, member] : ordered) {
    const auto here = identity.place(live, *member);
    while (other != others.end() && here && identity.place(live, **other) < here) out.push_back(std::move(**other++));
    out.push_back(std::move(*member));
  }
  for (; other != others.end(); ++other) out.push_back(std::move(**other));
  return out;
}

class StrategicMerge {
 public:
  MergedJson merge_maps(const JsonObject& original, const JsonObject& patch, const TypeRef& type) {
    if (const Json* directive = patch.if_contains(kDirective)) {
      if (!directive->is_string()) return refuse_merge(400, "$patch must be a string");
      if (directive->get_string() == "delete") return JsonObject();
      if (directive->get_string() == "replace") return without_directives(patch);
      if (directive->get_string() != "merge") {
        return refuse_merge(422, "Unknown patch type " + to_string(*directive) + " found");
      }
    }
    JsonObject out = original;
    if (auto retained = retain_keys(out, patch); !retained) return tl::unexpected(retained.error());
    if (auto deleted = delete_from_lists(out, patch); !deleted) return tl::unexpected(deleted.error());
    for (const auto& [key, value] : patch) {
      const std::string_view name(key.data(), key.size());
      if (is_directive(name)) continue;
      if (auto merged = merge_member(out, original, patch, name, value, type); !merged) {
        return tl::unexpected(merged.error());
      }
    }
    if (auto done = reorder_untouched(out, patch, type); !done) return tl::unexpected(done.error());
    return out;
  }

 private:
  using Done = tl::expected<void, PatchError>;

  static Done retain_keys(JsonObject& object, const JsonObject& patch) {
    const Json* keys = patch.if_contains(kRetainKeys);
    if (keys == nullptr) return {};
    if (!keys->is_array()) return refuse_merge(400, "$retainKeys must be a list of strings");
    const auto retained = [&](std::string_view name) {
      return std::any_of(keys->get_array().begin(), keys->get_array().end(),
                         [&](const Json& key) { return key.is_string() && view(key.get_string()) == name; });
    };
    for (const auto& [key, value] : patch) {
      const std::string_view name(key.data(), key.size());
      if (!is_directive(name) && !value.is_null() && !retained(name)) {
        return refuse_merge(400, "$retainKeys does not name \"" + std::string(name) + "\", which the patch sets");
      }
    }
    JsonObject out;
    for (const auto& [key, value] : object) {
      if (retained({key.data(), key.size()})) out.emplace(key, value);
    }
    object = std::move(out);
    return {};
  }

  static Done delete_from_lists(JsonObject& object, const JsonObject& patch) {
    for (const auto& [key, values] : patch) {
      const std::string_view name(key.data(), key.size());
      if (!name.starts_with(kDeleteFromList)) continue;
      if (!values.is_array()) return refuse_merge(400, std::string(name) + " must be a list");
      Json* list = object.if_contains(name.substr(kDeleteFromList.size()));
      if (list == nullptr || !list->is_array()) continue;
      JsonArray kept;
      const Identity identity{std::string()};
      for (auto& member : list->get_array()) {
        if (!identity.place(values.get_array(), member)) kept.push_back(std::move(member));
      }
      *list = std::move(kept);
    }
    return {};
  }

  static tl::expected<const JsonArray*, PatchError> element_order(const JsonObject& patch, std::string_view name) {
    const Json* order = patch.if_contains(std::string(kElementOrder) + std::string(name));
    if (order == nullptr) return nullptr;
    if (!order->is_array())
      return refuse_merge(400, std::string(kElementOrder) + std::string(name) + " must be a list");
    return &order->get_array();
  }

  Done merge_member(JsonObject& out, const JsonObject& original, const JsonObject& patch, std::string_view name,
                    const Json& value, const TypeRef& type) {
    if (value.is_null()) {
      if (const auto at = out.find(name); at != out.end()) out.stable_erase(at);
      return {};
    }
    const auto member = type.member(name).type;
    Json* mine = out.if_contains(name);
    if (value.is_object()) {
      const JsonObject none;
      const bool merges = mine != nullptr && mine->is_object();
      auto merged = merge_maps(merges ? mine->get_object() : none, value.get_object(), member);
      if (!merged) return tl::unexpected(merged.error());
      out[name] = *std::move(merged);
      return {};
    }
    const ListRule rule = list_rule(member);
    if (!value.is_array() || !rule.merges) {
      out[name] = without_directives(value);
      return {};
    }
    auto order = element_order(patch, name);
    if (!order) return tl::unexpected(order.error());
    static const JsonArray kNone;
    const Json* before = original.if_contains(name);
    const JsonArray& live = before != nullptr && before->is_array() ? before->get_array() : kNone;
    const JsonArray base = mine != nullptr && mine->is_array() ? mine->get_array() : kNone;
    auto merged = merge_lists(base, value.get_array(), *order, live, rule, member.item());
    if (!merged) return refuse_merge(merged.error().code, std::string(name) + ": " + merged.error().message);
    out[name] = *std::move(merged);
    return {};
  }

  MergedJson merge_lists(const JsonArray& base, const JsonArray& patch, const JsonArray* order, const JsonArray& live,
                         const ListRule& rule, const TypeRef& item_type) {
    const Identity identity(rule.key);
    JsonArray members;  // items of the patch that are not directives
    JsonArray merged = base;
    for (const auto& member : patch) {
      if (auto checked = check_member(member, identity, rule.key); !checked) return tl::unexpected(checked.error());
      const auto directive = string_at(member, {kDirective});
      if (directive == "replace") {
        return without_directives(patch);
      }
      if (directive == "delete") {
        while (const auto place = identity.place(merged, member))
          merged.erase(merged.begin() + static_cast<long>(*place));
      } else if (directive != "merge" || find(member, rule.key) != nullptr) {
        members.push_back(member);
      }
    }
    if (order != nullptr) {
      if (auto checked = check_order(members, *order, identity); !checked) return tl::unexpected(checked.error());
    }
    for (const auto& member : members) {
      const auto place = identity.place(merged, member);
      if (identity.by_value()) {
        if (!place) merged.push_back(member);
        continue;
      }
      const JsonObject none;
      auto one = merge_maps(place ? merged[*place].get_object() : none, member.get_object(), item_type);
      if (!one) return one;
      if (place) {
        merged[*place] = *std::move(one);
      } else {
        merged.push_back(*std::move(one));
      }
    }
    return arrange(std::move(merged), order != nullptr ? *order : members, live, identity);
  }

  static Done check_member(const Json& member, const Identity& identity, const std::string& key) {
    if (member.is_array()) return refuse_merge(422, "lists of lists are not supported");
    if (identity.by_value()) {
      if (member.is_object()) return refuse_merge(422, "expected primitive values, got a map");
      return {};
    }
    if (!member.is_object()) return refuse_merge(422, "expected maps, got a primitive value");
    const auto directive = string_at(member, {kDirective});
    if (!directive.empty() && directive != "delete" && directive != "replace" && directive != "merge") {
      return refuse_merge(422, "Unknown patch type \"" + std::string(directive) + "\" found");
    }
    if (identity.of(member) == nullptr && directive != "replace" && directive != "merge") {
      return refuse_merge(422, "map: " + to_string(member) + " does not contain declared merge key: " + key);
    }
    return {};
  }

  static Done check_order(const JsonArray& members, const JsonArray& order, const Identity& identity) {
    std::optional<std::size_t> last;
    for (const auto& member : members) {
      const auto place = identity.place(order, member);
      if (!place || (last && *place < *last)) {
        return refuse_merge(422, "The order in patch list:\n" + to_string(Json(members)) +
                                     "\n doesn't match $setElementOrder list:\n" + to_string(Json(order)));
      }
      last = place;
    }
    return {};
  }

  // A patch may reorder a list without changing its items.
  static Done reorder_untouched(JsonObject& object, const JsonObject& patch, const TypeRef& type) {
    for (const auto& [key, order] : patch) {
      const std::string_view directive(key.data(), key.size());
      if (!directive.starts_with(kElementOrder)) continue;
      const auto name = directive.substr(kElementOrder.size());
      if (patch.contains(name)) continue;
      if (!order.is_array()) return refuse_merge(400, std::string(directive) + " must be a list");
      const ListRule rule = list_rule(type.member(name).type);
      Json* list = object.if_contains(name);
      if (!rule.merges || list == nullptr || !list->is_array()) continue;
      const JsonArray live = list->get_array();
      *list = arrange(live, order.get_array(), live, Identity(rule.key));
    }
    return {};
  }
};

}  // namespace

tl::expected<Json, PatchError> apply_strategic_merge_patch(const Json& object, const Json& patch,
                                                           const Schema& schema) {
  if (!patch.is_object()) return refuse_merge(400, "error decoding patch: expected an object");
  static const JsonObject kNone;
  return StrategicMerge().merge_maps(object.is_object() ? object.get_object() : kNone, patch.get_object(),
                                     TypeRef::root(schema));
}

}  // namespace berth::apiserver
