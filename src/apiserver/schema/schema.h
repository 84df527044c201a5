// Structural schemas: one description of a kind serves defaults, pruning, validation, merging and OpenAPI,
// for CustomResourceDefinitions and built-in kinds alike.
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

namespace berth::apiserver {

namespace cel {
struct Program;
}

enum class SchemaType : std::uint8_t { kAny, kObject, kArray, kString, kInteger, kNumber, kBoolean };
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

struct Rule {  // x-kubernetes-validations
  std::string rule, message, message_expression, reason, field_path;
  bool optional_old_self = false;
  std::shared_ptr<const cel::Program> program,
      message_program;  // of `rule` and `message_expression`, set on compiling
};

// How a member of a built-in kind is brought into the form it is stored in. Custom resources keep what was
// sent (kPlain).
enum class Codec : std::uint8_t { kPlain, kQuantity, kTime, kMicroTime, kBytes };
// What becomes of a member of a built-in kind whose value is zero ("", 0, false, [], {} of a map, null).
enum class Zero : std::uint8_t {
  kKeep,   // stays as sent, but null is dropped: optional values
  kOmit,   // dropped: there is no difference between zero and absent
  kAlways  // filled in when absent: members that every object has
};

// An immutable node. Children are shared: built-in kinds use the same PodSpec.
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
  std::shared_ptr<const Schema> additional;  // additionalProperties: a schema
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
  bool rules_below = false;                    // this node or one below it has rules
  std::shared_ptr<const re2::RE2> expression;  // of `pattern`, set on compiling

  ListType list_type = ListType::kAtomic;  // of arrays, for apply and uniqueness
  bool atomic_list = false;                // kAtomic was written out
  std::vector<std::string> list_map_keys;  // of ListType::kMap
  bool atomic_map = false;                 // x-kubernetes-map-type: atomic
  // Strategic merge patch of built-ins: the key by which list members are merged; empty: the list is
  // replaced, except that a kSet list of primitives is merged when patch_merge is set.
  std::string patch_merge_key;
  bool patch_merge = false;
  std::vector<std::string> retain_keys;  // unused unless patchStrategy=retainKeys is set on the field
};
using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace berth::apiserver
