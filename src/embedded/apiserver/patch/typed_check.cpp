// Checks whether a configuration can be applied.
#include <set>
#include <string>
#include <vector>

#include "embedded/apiserver/patch/typed_value.h"

namespace berth::apiserver {
namespace {

// At most this many errors are reported; more are probably consequences of the same mistake.
constexpr std::size_t kMaxErrors = 10;

std::string_view form(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return "null";
    case boost::json::kind::bool_:
      return "boolean";
    case boost::json::kind::string:
      return "string";
    case boost::json::kind::array:
      return "list";
    case boost::json::kind::object:
      return "map";
    default:
      return "number";
  }
}

std::string_view expected_form(const Schema& schema) {
  if (schema.int_or_string) return "scalar";
  switch (schema.type) {
    case SchemaType::kObject:
      return "map";
    case SchemaType::kArray:
      return "list";
    case SchemaType::kString:
      return "string";
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kAny:
      return {};
  }
  return {};
}

bool agrees(const Json& value, const Schema& schema) {
  const auto wanted = expected_form(schema);
  if (value.is_null() || wanted.empty()) return true;
  if (wanted == "scalar") return !value.is_object() && !value.is_array();
  // Quantities are strings; clients may also write them as numbers.
  if (wanted == "string" && schema.codec == Codec::kQuantity && value.is_number()) return true;
  return form(value) == wanted;
}

class Checker {
 public:
  void check(const Json& value, const TypeRef& type) {
    if (errors_.size() >= kMaxErrors) return;
    if (type.schema() != nullptr && !agrees(value, *type.schema())) {
      return error("expected " + std::string(expected_form(*type.schema())) + ", got " + std::string(form(value)));
    }
    if (value.is_object()) {
      check_map(value.get_object(), type);
    } else if (value.is_array()) {
      check_list(value, type);
    }
  }

  std::string text() const {
    if (errors_.size() == 1) return errors_.front();
    std::string out;
    for (const auto& e : errors_) out += out.empty() ? "errors:\n  " + e : "\n  " + e;
    return out;
  }

 private:
  void error(std::string_view what) {
    if (errors_.size() < kMaxErrors) errors_.push_back(path_text(path_) + ": " + std::string(what));
  }

  void check_map(const JsonObject& object, const TypeRef& type) {
    for (const auto& [key, child] : object) {
      const auto member = type.member({key.data(), key.size()});
      path_.push_back(PathElement::field({key.data(), key.size()}));
      if (member.declared) {
        check(child, member.type);
      } else {
        error("field not declared in schema");
      }
      path_.pop_back();
    }
  }

  void check_list(const Json& value, const TypeRef& type) {
    const auto shape = type.shape(value);
    std::set<PathElement> seen;
    std::size_t i = 0;
    for (const auto& item : value.get_array()) {
      auto element = shape == TypeRef::Shape::kLeaf ? PathElement{PathElement::Kind::kIndex, std::to_string(i)}
                                                    : keyed(item, type, shape, i);
      ++i;
      if (element.text.empty()) continue;
      if (!seen.insert(element).second) {
        error("duplicate entries for key " + path_text(element));
        continue;
      }
      path_.push_back(std::move(element));
      check(item, type.item());
      path_.pop_back();
    }
  }

  PathElement keyed(const Json& item, const TypeRef& type, TypeRef::Shape shape, std::size_t i) {
    if (auto element = type.element(item)) return *std::move(element);
    const std::string where = "element " + std::to_string(i) + ": ";
    if (shape == TypeRef::Shape::kSet) {
      error(where + "set elements must be scalars");
    } else if (!item.is_object()) {
      error(where + "associative list with keys may not have non-map elements");
    } else {
      const auto& keys = type.schema()->list_map_keys;
      error(where + "associative list with keys has an element that omits key field \"" +
            (keys.empty() ? std::string() : keys.front()) + "\" (and doesn't have default value)");
    }
    return {};
  }

  FieldPath path_;
  std::vector<std::string> errors_;
};

}  // namespace

std::string check_typed(const Json& value, const Schema& schema) {
  Checker checker;
  checker.check(value, TypeRef::root(schema));
  return checker.text();
}

}  // namespace berth::apiserver
