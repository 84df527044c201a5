// Structural schemas: one description of a kind is used for defaulting, pruning, validation, merging and OpenAPI,
// both for CustomResourceDefinitions and for built-in kinds.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace re2 {
class RE2;
}

namespace berth::cel {

struct Program;

enum class SchemaType : std::uint8_t { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

struct Rule {  // an entry of x-kubernetes-validations
  std::string rule, message, message_expression, reason, field_path;
  bool optional_old_self = false;
  std::shared_ptr<const Program> program,
      message_program;  // compiled `rule` and `message_expression`
};

// How a value of a built-in kind is converted to its stored form. Custom resources keep what the client sent
// (kPlain).
enum class Codec : std::uint8_t { kPlain, kQuantity, kTime, kMicroTime, kBytes };
// How a built-in kind stores a member whose value is zero ("", 0, false, [], {} of a map, null).
enum class Zero : std::uint8_t {
  kKeep,   // keep the value, but drop null: optional (pointer) fields
  kOmit,   // drop it: zero and absent mean the same (omitempty)
  kAlways  // fill it in when absent: fields that every stored object has
};

// An immutable schema node. Nodes are shared: several built-in kinds use the same PodSpec.
struct Schema {
  SchemaType type = SchemaType::kAny;
  std::string format, description, pattern, title;
  bool nullable = false;
  bool int_or_string = false;
  bool preserve_unknown = false;
  bool embedded_resource = false;
  bool additional_allowed = false;  // additionalProperties: true
  Codec codec = Codec::kPlain;
  Zero zero = Zero::kKeep;

  std::map<std::string, std::shared_ptr<const Schema>, std::less<>> properties;
  std::shared_ptr<const Schema> items;
  std::shared_ptr<const Schema> additional;  // additionalProperties: <schema>
  std::vector<std::string> required;
  std::optional<Json> default_value;
  std::vector<Json> enumeration;
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::uint64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
  std::vector<std::shared_ptr<const Schema>> all_of, any_of, one_of;
  std::shared_ptr<const Schema> not_;
  std::vector<Rule> rules;
  bool rules_below = false;                    // this node or a node below it has rules
  std::shared_ptr<const re2::RE2> expression;  // compiled `pattern`

  ListType list_type = ListType::kAtomic;  // for arrays: used by apply and uniqueness checks
  bool atomic_list = false;                // the schema says "atomic" explicitly
  std::vector<std::string> list_map_keys;  // for ListType::kMap
  bool atomic_map = false;                 // x-kubernetes-map-type: atomic
  // Strategic merge patch of built-in kinds: the key that identifies list items for merging. Empty: the list is
  // replaced, but a kSet list of primitives is merged when patch_merge is set.
  std::string patch_merge_key;
  bool patch_merge = false;
  std::vector<std::string> retain_keys;  // set for patchStrategy=retainKeys: the field names of the type
};
using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace berth::cel
