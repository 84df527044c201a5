// Compares two values field by field.
#include <map>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

using Shape = TypeRef::Shape;

bool empty_or_null(const Json* value) {
  if (value == nullptr || value->is_null()) return true;
  if (value->is_object()) return value->get_object().empty();
  if (value->is_array()) return value->get_array().empty();
  return false;
}

int form_of_value(const Json& value) { return value.is_object() ? 1 : value.is_array() ? 2 : 0; }

class Comparer {
 public:
  // At least one side is not null.
  void compare(const Json* before, const Json* after, const TypeRef& type) {
    const bool both = before != nullptr && after != nullptr;
    if (both && !before->is_null() && !after->is_null() && form_of_value(*before) != form_of_value(*after)) {
      // The value changed its type: all old fields are removed and all new ones are added.
      const Json null;
      out_.modified.insert(path_);
      descend(before, &null, type);
      descend(&null, after, type);
      return;
    }
    if (!descend(before, after, type)) leaf(before, after);
    if (before == nullptr) out_.added.insert(path_);
    if (after == nullptr) out_.removed.insert(path_);
  }

  Comparison take() { return std::move(out_); }

 private:
  // Returns false when the two must be compared as a whole.
  bool descend(const Json* before, const Json* after, const TypeRef& type) {
    // Null and empty differ only when compared as a whole.
    if (empty_or_null(before) && empty_or_null(after)) return false;
    const Json& reporting = after != nullptr && !after->is_null() ? *after : *before;
    const Shape shape = type.shape(reporting.is_null() && before != nullptr ? *before : reporting);
    if (shape == Shape::kLeaf) return false;
    if (shape == Shape::kMap) {
      compare_maps(before, after, type);
    } else {
      compare_lists(before, after, type);
    }
    return true;
  }

  void leaf(const Json* before, const Json* after) {
    if (before != nullptr && after != nullptr && !json_equal(*before, *after)) out_.modified.insert(path_);
  }

  void compare_maps(const Json* before, const Json* after, const TypeRef& type) {
    static const JsonObject kNone;
    const JsonObject& old_fields = before != nullptr && before->is_object() ? before->get_object() : kNone;
    const JsonObject& new_fields = after != nullptr && after->is_object() ? after->get_object() : kNone;
    const auto visit = [&](std::string_view name, const Json* l, const Json* r) {
      path_.push_back(PathElement::field(name));
      compare(l, r, type.member(name).type);
      path_.pop_back();
    };
    for (const auto& [key, value] : old_fields) visit({key.data(), key.size()}, &value, new_fields.if_contains(key));
    for (const auto& [key, value] : new_fields) {
      if (!old_fields.contains(key)) visit({key.data(), key.size()}, nullptr, &value);
    }
  }

  using Items = std::map<PathElement, std::vector<const Json*>>;

  static Items index(const Json* list, const TypeRef& type) {
    Items out;
    if (list == nullptr || !list->is_array()) return out;
    for (const auto& item : list->get_array()) {
      if (const auto element = type.element(item)) out[*element].push_back(&item);
    }
    return out;
  }

  void compare_lists(const Json* before, const Json* after, const TypeRef& type) {
    static const std::vector<const Json*> kNone;
    const Items old_items = index(before, type);
    const Items new_items = index(after, type);
    const auto visit = [&](const PathElement& element, const auto& l, const auto& r) {
      path_.push_back(element);
      compare_members(l, r, type.item());
      path_.pop_back();
    };
    for (const auto& [element, items] : old_items) {
      const auto other = new_items.find(element);
      visit(element, items, other == new_items.end() ? kNone : other->second);
    }
    for (const auto& [element, items] : new_items) {
      if (!old_items.contains(element)) visit(element, kNone, items);
    }
  }

  // Items that occur more than once in a list (written before the list had keys) are compared as one unit.
  void compare_members(const std::vector<const Json*>& before, const std::vector<const Json*>& after,
                       const TypeRef& type) {
    if (before.size() <= 1 && after.size() <= 1) {
      return compare(before.empty() ? nullptr : before.front(), after.empty() ? nullptr : after.front(), type);
    }
    if (before.size() > 1 && after.size() > 1) {
      bool equal = before.size() == after.size();
      for (std::size_t i = 0; equal && i < before.size(); ++i) equal = json_equal(*before[i], *after[i]);
      if (!equal) out_.modified.insert(path_);
    } else if (before.size() > 1) {
      if (!after.empty()) compare(nullptr, after.front(), type);
      out_.removed.insert(path_);
    } else {
      if (!before.empty()) compare(before.front(), nullptr, type);
      out_.added.insert(path_);
    }
  }

  FieldPath path_;
  Comparison out_;
};

}  // namespace

Comparison compare_typed(const Json& before, const Json& after, const Schema& schema) {
  Comparer comparer;
  comparer.compare(&before, &after, TypeRef::root(schema));
  return comparer.take();
}

}  // namespace berth::apiserver
