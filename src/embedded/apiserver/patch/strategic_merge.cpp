// Strategic merge patch: maps are merged, lists with a merge key are merged by item, other lists are replaced;
// directives change this.
// https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json_members.h"
#include "embedded/apiserver/patch/list_identity.h"
#include "embedded/apiserver/patch/patch.h"
#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

// List items and map members that the patch visits. One body holds fewer, so only a patch that names the same items
// again and again reaches it; without this bound it takes minutes.
constexpr std::size_t kMaxVisited = 1u << 20;

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

// Items that `order` names come in its order. The other items keep the order of the live list, each before the first
// ordered item that followed it there.
JsonArray arrange(JsonArray merged, const JsonArray& order, const ListPlaces& in_live, const ListIdentity& identity) {
  const ListPlaces in_order(identity, order);
  std::vector<std::pair<std::size_t, Json*>> ordered;
  std::vector<Json*> others;
  for (auto& member : merged) {
    if (const auto place = in_order.of(member)) {
      ordered.emplace_back(*place, &member);
    } else {
      others.push_back(&member);
    }
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  JsonArray out;
  auto other = others.begin();
  for (auto& [place, member] : ordered) {
    const auto here = in_live.of(*member);
    while (other != others.end() && here && in_live.of(**other) < here) out.push_back(std::move(**other++));
    out.push_back(std::move(*member));
  }
  for (; other != others.end(); ++other) out.push_back(std::move(**other));
  return out;
}

class StrategicMerge {
 public:
  MergedJson merge_maps(JsonObject out, const JsonObject& patch, const TypeRef& type) {
    if (const Json* directive = patch.if_contains(kDirective)) {
      if (!directive->is_string()) return refuse_merge(400, "$patch must be a string");
      if (directive->get_string() == "delete") return JsonObject();
      if (directive->get_string() == "replace") return without_directives(patch);
      if (directive->get_string() != "merge") {
        return refuse_merge(422, "Unknown patch type " + to_string(*directive) + " found");
      }
    }
    LiveLists live;
    if (auto retained = retain_keys(out, patch); !retained) return tl::unexpected(retained.error());
    if (auto deleted = delete_from_lists(out, patch, live); !deleted) return tl::unexpected(deleted.error());
    if (auto erased = erase_nulls(out, patch); !erased) return tl::unexpected(erased.error());
    for (const auto& [key, value] : patch) {
      const std::string_view name(key.data(), key.size());
      if (is_directive(name) || value.is_null()) continue;
      if (auto merged = merge_member(out, live, patch, name, value, type); !merged) {
        return tl::unexpected(merged.error());
      }
    }
    if (auto done = reorder_untouched(out, patch, type); !done) return tl::unexpected(done.error());
    return out;
  }

 private:
  using Done = tl::expected<void, PatchError>;
  using LiveLists = std::map<std::string, JsonArray, std::less<>>;  // as they were, where items were deleted since

  static tl::unexpected<PatchError> below(std::string_view name, const PatchError& error) {
    return refuse_merge(error.code, std::string(name) + ": " + error.message);
  }

  Done visit(std::size_t entries) {
    visited_ += entries;
    if (visited_ <= kMaxVisited) return {};
    return refuse_merge(422, "the patch visits more than " + std::to_string(kMaxVisited) +
                                 " list items and members: it must not name the same ones so often");
  }

  Done erase_nulls(JsonObject& object, const JsonObject& patch) {
    const auto is_erased = [&patch](std::string_view name) {
      const Json* value = is_directive(name) ? nullptr : patch.if_contains(name);
      return value != nullptr && value->is_null();
    };
    if (std::none_of(patch.begin(), patch.end(), [](const auto& member) { return member.value().is_null(); }))
      return {};
    erase_members_if(object, [&](const auto& member) { return is_erased(member.key()); });
    return visit(object.size());
  }

  Done retain_keys(JsonObject& object, const JsonObject& patch) {
    const Json* keys = patch.if_contains(kRetainKeys);
    if (keys == nullptr) return {};
    if (!keys->is_array()) return refuse_merge(400, "$retainKeys must be a list of strings");
    std::unordered_set<std::string_view> retained;
    for (const Json& key : keys->get_array()) {
      if (key.is_string()) retained.insert(view(key.get_string()));
    }
    for (const auto& [key, value] : patch) {
      const std::string_view name(key.data(), key.size());
      if (!is_directive(name) && !value.is_null() && !retained.contains(name)) {
        return refuse_merge(400, "$retainKeys does not name \"" + std::string(name) + "\", which the patch sets");
      }
    }
    erase_members_if(object, [&](const auto& member) { return !retained.contains(member.key()); });
    return visit(object.size());
  }

  Done delete_from_lists(JsonObject& object, const JsonObject& patch, LiveLists& live) {
    for (const auto& [key, values] : patch) {
      const std::string_view name(key.data(), key.size());
      if (!name.starts_with(kDeleteFromList)) continue;
      if (!values.is_array()) return refuse_merge(400, std::string(name) + " must be a list");
      Json* list = object.if_contains(name.substr(kDeleteFromList.size()));
      if (list == nullptr || !list->is_array()) continue;
      JsonArray kept;
      const ListIdentity by_value{std::string()};
      const ListPlaces deleted(by_value, values.get_array());
      for (const auto& member : list->get_array()) {
        if (!deleted.of(member)) kept.push_back(member);
      }
      if (auto visited = visit(list->get_array().size()); !visited) return visited;
      live.emplace(name.substr(kDeleteFromList.size()), std::move(list->get_array()));
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

  Done merge_member(JsonObject& out, const LiveLists& live, const JsonObject& patch, std::string_view name,
                    const Json& value, const TypeRef& type) {
    const auto member = type.member(name).type;
    Json* mine = out.if_contains(name);
    if (value.is_object()) {
      const bool merges = mine != nullptr && mine->is_object();
      auto merged = merge_maps(merges ? std::move(mine->get_object()) : JsonObject(), value.get_object(), member);
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
    JsonArray base = mine != nullptr && mine->is_array() ? std::move(mine->get_array()) : JsonArray();
    if (auto visited = visit(base.size()); !visited) return below(name, visited.error());
    const ListIdentity identity(rule.key);
    const auto before = live.find(name);
    const ListPlaces in_live(identity, before != live.end() ? before->second : base);
    auto merged = merge_lists(std::move(base), value.get_array(), *order, in_live, rule, member.item());
    if (!merged) return below(name, merged.error());
    out[name] = *std::move(merged);
    return {};
  }

  MergedJson merge_lists(JsonArray base, const JsonArray& patch, const JsonArray* order, const ListPlaces& in_live,
                         const ListRule& rule, const TypeRef& item_type) {
    const ListIdentity identity(rule.key);
    JsonArray members, deleted;  // items of the patch that are not directives, and those that it deletes
    for (const auto& member : patch) {
      if (auto checked = check_member(member, identity, rule.key); !checked) return tl::unexpected(checked.error());
      const auto directive = string_at(member, {kDirective});
      if (directive == "replace") {
        return without_directives(patch);
      }
      if (directive == "delete") {
        deleted.push_back(member);
      } else if (directive != "merge" || find(member, rule.key) != nullptr) {
        members.push_back(member);
      }
    }
    if (order != nullptr) {
      if (auto checked = check_order(members, *order, identity); !checked) return tl::unexpected(checked.error());
    }
    auto merged = merge_members(without(std::move(base), deleted, identity), members, identity, item_type);
    if (!merged) return tl::unexpected(merged.error());
    return arrange(*std::move(merged), order != nullptr ? *order : members, in_live, identity);
  }

  static JsonArray without(JsonArray list, const JsonArray& deleted, const ListIdentity& identity) {
    if (deleted.empty()) return list;
    const ListPlaces gone(identity, deleted);
    JsonArray out;
    for (auto& member : list) {
      if (!gone.of(member)) out.push_back(std::move(member));
    }
    return out;
  }

  tl::expected<JsonArray, PatchError> merge_members(JsonArray merged, const JsonArray& members,
                                                    const ListIdentity& identity, const TypeRef& item_type) {
    ListPlaces places(identity, merged);
    for (const auto& member : members) {
      const auto place = places.of(member);
      if (identity.by_value() && place) continue;
      Json one = member;
      if (!identity.by_value()) {
        JsonObject live = place ? std::move(merged[*place].get_object()) : JsonObject();
        auto made = merge_maps(std::move(live), member.get_object(), item_type);
        if (!made) return tl::unexpected(made.error());
        one = *std::move(made);
      }
      if (place) {
        merged[*place] = std::move(one);
      } else {
        merged.push_back(std::move(one));
        places.append(merged.back());
      }
    }
    return merged;
  }

  static Done check_member(const Json& member, const ListIdentity& identity, const std::string& key) {
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

  static Done check_order(const JsonArray& members, const JsonArray& order, const ListIdentity& identity) {
    const ListPlaces places(identity, order);
    std::optional<std::size_t> last;
    for (const auto& member : members) {
      const auto place = places.of(member);
      if (!place || (last && *place < *last)) {
        return refuse_merge(422, "The order in patch list:\n" + to_string(Json(members)) +
                                     "\n doesn't match $setElementOrder list:\n" + to_string(Json(order)));
      }
      last = place;
    }
    return {};
  }

  // A patch may reorder a list without changing its items.
  Done reorder_untouched(JsonObject& object, const JsonObject& patch, const TypeRef& type) {
    for (const auto& [key, order] : patch) {
      const std::string_view directive(key.data(), key.size());
      if (!directive.starts_with(kElementOrder)) continue;
      const auto name = directive.substr(kElementOrder.size());
      if (patch.contains(name)) continue;
      if (!order.is_array()) return refuse_merge(400, std::string(directive) + " must be a list");
      const ListRule rule = list_rule(type.member(name).type);
      Json* list = object.if_contains(name);
      if (!rule.merges || list == nullptr || !list->is_array()) continue;
      if (auto visited = visit(list->get_array().size()); !visited) return visited;
      const ListIdentity identity(rule.key);
      const ListPlaces in_live(identity, list->get_array());
      *list = arrange(std::move(list->get_array()), order.get_array(), in_live, identity);
    }
    return {};
  }

  std::size_t visited_ = 0;
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
