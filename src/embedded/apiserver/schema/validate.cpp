// Validates types, formats, limits and enums, with the messages and the order of kube-apiserver's OpenAPI validation.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "embedded/apiserver/schema/internal.h"
#include "embedded/apiserver/schema/structural.h"

namespace berth::apiserver {
namespace {

using api::FieldError;
using api::FieldErrors;
using api::FieldErrorType;

// The path of a value below the validated root. Built on the stack; converted to text only for an error.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  std::int64_t index = -1;

  std::string text() const {
    if (parent == nullptr) return "";
    std::string before = parent->text();
    if (index >= 0) return fmt::format("{}[{}]", before, index);
    return before.empty() ? std::string(name) : fmt::format("{}.{}", before, name);
  }
};

// The result of one schema for one value. `matches` counts the checks made: if all branches fail, the errors of the
// branch with the most checks (the one that got furthest) are reported.
struct Outcome {
  FieldErrors errors;
  int matches = 0;

  void merge(Outcome&& other) {
    matches += other.matches;
    for (FieldError& error : other.errors) errors.push_back(std::move(error));
  }
};

// Formats numbers in messages as Go prints a float64 with %v.
std::string go_number(double value) {
  if (value == std::trunc(value) && std::abs(value) < 1e6) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{}", value);
  if (std::abs(value) >= 1e21 || value != std::trunc(value)) return text;
  // All digits; below, convert to one digit, a point, and the rest without trailing zeros.
  text = fmt::format("{:.0f}", value);
  const bool negative = text.front() == '-';
  std::string digits = negative ? text.substr(1) : text;
  const std::size_t exponent = digits.size() - 1;
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (digits.size() > 1) digits.insert(1, ".");
  return fmt::format("{}{}e+{:02}", negative ? "-" : "", digits, exponent);
}

std::size_t count_runes(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return count;
}

bool is_whole(const Json& value) {
  if (!value.is_double()) return value.is_number();
  double d = value.get_double();
  constexpr double kMaxExact = 9007199254740991.0;  // 2^53 - 1, the limit in kube-apiserver's validation library
  return std::isfinite(d) && std::abs(d) <= kMaxExact && d == std::trunc(d);
}

bool fits_format(const Json& value, const Schema& schema) {
  if (schema.type != SchemaType::kInteger && !schema.int_or_string) return true;
  if (value.is_double() && !is_whole(value)) return false;
  double number = as_double(value);
  if (schema.format == "int32") return number >= -2147483648.0 && number <= 2147483647.0;
  return value.is_double() ? std::abs(number) < 9.3e18 : !value.is_uint64();
}

class Validator {
 public:
  explicit Validator(std::string_view path) : path_(path) {}

  // `old` is the corresponding part of the old object; null when there is none.
  Outcome value(const Json& value, const Json* old, const Schema& schema, const Place& place) {
    Outcome out;
    check_type(value, schema, place, out);
    if (!value.is_null()) {
      check_branches(value, schema, place, out);
      if (value.is_string()) check_string(value, schema, place, out);
      if (value.is_number()) check_number(value, schema, place, out);
      if (value.is_array()) check_array(value, old, schema, place, out);
    }
    check_enum(value, schema, place, out);
    if (value.is_object()) check_object(value.get_object(), old, schema, place, out);
    ++out.matches;
    if (!out.errors.empty() && old != nullptr && json_equal(value, *old)) out.errors.clear();
    return out;
  }

 private:
  std::string field(const std::string& name) const {
    if (name.empty()) return path_.empty() ? "<nil>" : path_;
    return path_.empty() ? name : name.front() == '[' ? path_ + name : path_ + "." + name;
  }

  void add(Outcome& out, const Place& place, const Json& value, std::string_view detail) {
    std::string name = place.text();
    out.errors.push_back(api::invalid_value(field(name), value, fmt::format("{} in body {}", name, detail)));
  }

  // Errors without a path: kube-apiserver's library reports them for the whole document.
  void add_general(Outcome& out, std::string_view detail) {
    out.errors.push_back(api::invalid_value(field(""), Json(""), detail));
  }

  void add_type(Outcome& out, const Place& place, std::string_view wanted, const Json& shown) {
    std::string name = place.text();
    out.errors.push_back(api::type_invalid(
        field(name), shown, fmt::format("{} in body must be of type {}: {}", name, wanted, to_string(shown))));
  }

  static bool has_type(const Json& value, const Schema& schema) {
    if (schema.int_or_string) return value.is_string() || is_whole(value);
    switch (schema.type) {
      case SchemaType::kAny:
        return true;
      case SchemaType::kObject:
        return value.is_object();
      case SchemaType::kArray:
        return value.is_array();
      case SchemaType::kString:
        return value.is_string();
      case SchemaType::kInteger:
        return is_whole(value);
      case SchemaType::kNumber:
        return value.is_number();
      case SchemaType::kBoolean:
        return value.is_bool();
    }
    return false;
  }

  void check_type(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    ++out.matches;
    if (schema.type == SchemaType::kAny && !schema.int_or_string) return;
    if (value.is_null() ? schema.nullable : has_type(value, schema)) return;
    add_type(out, place, schema.int_or_string ? "integer,string" : type_name(schema.type), Json(kind_of(value)));
  }

  void check_string(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    const std::string_view text = view(value.get_string());
    ++out.matches;
    if (schema.max_length && count_runes(text) > *schema.max_length) {
      out.errors.push_back(api::too_long(field(place.text()), *schema.max_length));
      return check_format(value, schema, place, out);
    }
    if (schema.min_length && count_runes(text) < *schema.min_length) {
      add(out, place, value, fmt::format("should be at least {} chars long", *schema.min_length));
      return check_format(value, schema, place, out);
    }
    if (schema.expression && schema.expression->ok() &&
        !re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *schema.expression)) {
      add(out, place, value, fmt::format("should match '{}'", schema.pattern));
    }
    check_format(value, schema, place, out);
  }

  void check_format(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    if (schema.format.empty() || schema.type != SchemaType::kString) return;
    if (!has_format(view(value.get_string()), schema.format)) add_type(out, place, schema.format, value);
  }

  void check_number(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    ++out.matches;
    const double number = as_double(value);
    if (!fits_format(value, schema)) {
      std::string type = schema.int_or_string ? "integer,string" : std::string(type_name(schema.type));
      std::string format = schema.format.empty() ? "(default format)" : "with format " + schema.format;
      add_general(out, fmt::format("Checked value must be of type {} {} in {}", type, format, place.text()));
    }
    if (schema.multiple_of && *schema.multiple_of > 0 && std::fmod(number, *schema.multiple_of) != 0) {
      add(out, place, value, "should be a multiple of " + go_number(*schema.multiple_of));
    }
    if (schema.minimum && (schema.exclusive_minimum ? number <= *schema.minimum : number < *schema.minimum)) {
      add(out, place, value,
          (schema.exclusive_minimum ? "should be greater than " : "should be greater than or equal to ") +
              go_number(*schema.minimum));
    }
    if (schema.maximum && (schema.exclusive_maximum ? number >= *schema.maximum : number > *schema.maximum)) {
      add(out, place, value,
          (schema.exclusive_maximum ? "should be less than " : "should be less than or equal to ") +
              go_number(*schema.maximum));
    }
  }

  void check_array(const Json& value, const Json* old, const Schema& schema, const Place& place, Outcome& out) {
    const JsonArray& items = value.get_array();
    ++out.matches;
    if (schema.items) {
      MapItems old_items(old, schema);
      for (std::size_t i = 0; i < items.size(); ++i) {
        out.merge(this->value(items[i], old_items.take(items[i]), *schema.items,
                              Place{&place, {}, static_cast<std::int64_t>(i)}));
      }
    }
    if (schema.min_items && items.size() < *schema.min_items) {
      add(out, place, Json(items.size()), fmt::format("should have at least {} items", *schema.min_items));
    }
    if (schema.max_items && items.size() > *schema.max_items) {
      out.errors.push_back(api::too_many(field(place.text()), items.size(), *schema.max_items));
    }
    if (!schema.unique_items) return;
    std::unordered_set<std::string> seen;
    const bool unique = std::all_of(items.begin(), items.end(),
                                    [&](const Json& item) { return seen.insert(canonical_json(item)).second; });
    if (!unique) add(out, place, Json(""), "shouldn't contain duplicates");
  }

  void check_enum(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    if (schema.enumeration.empty()) return;
    ++out.matches;
    if (value.is_null() && schema.nullable) return;
    std::vector<std::string> owned;
    for (const Json& allowed : schema.enumeration) {
      if (json_equal(value, allowed)) return;
      owned.push_back(allowed.is_string() ? std::string(view(allowed.get_string())) : to_string(allowed));
    }
    std::vector<std::string_view> supported(owned.begin(), owned.end());
    out.errors.push_back(api::not_supported(field(place.text()), value, supported));
  }

  void check_object(const JsonObject& members, const Json* old, const Schema& schema, const Place& place,
                    Outcome& out) {
    ++out.matches;
    if (schema.min_properties && members.size() < *schema.min_properties) {
      add(out, place, Json(members.size()), fmt::format("should have at least {} properties", *schema.min_properties));
      return;
    }
    if (schema.max_properties && members.size() > *schema.max_properties) {
      out.errors.push_back(api::too_many(field(place.text()), members.size(), *schema.max_properties));
      return;
    }
    const JsonObject* before = old != nullptr && old->is_object() ? &old->get_object() : nullptr;
    for (const auto& [name, member] : members) {
      auto it = schema.properties.find(std::string_view(name));
      const Schema* child = it != schema.properties.end() ? it->second.get() : schema.additional.get();
      if (child == nullptr) continue;
      const Json* old_member = before != nullptr ? before->if_contains(name) : nullptr;
      out.merge(value(member, old_member, *child, Place{&place, std::string_view(name), -1}));
    }
    for (const std::string& name : schema.required) {
      if (members.contains(name)) continue;
      out.errors.push_back(api::required(field(Place{&place, name, -1}.text()), ""));
    }
  }

  void check_branches(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    if (!schema.any_of.empty()) check_any_of(value, schema, place, out);
    if (!schema.one_of.empty()) check_one_of(value, schema, place, out);
    if (!schema.all_of.empty()) check_all_of(value, schema, place, out);
    if (schema.not_) {
      ++out.matches;
      if (this->value(value, nullptr, *schema.not_, place).errors.empty()) {
        add_general(out, fmt::format("\"{}\" must not validate the schema (not)", place.text()));
      }
    }
  }

  void check_any_of(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    std::optional<Outcome> best;
    for (const SchemaPtr& branch : schema.any_of) {
      Outcome outcome = this->value(value, nullptr, *branch, place);
      if (outcome.errors.empty()) {
        out.matches += outcome.matches;
        return;
      }
      if (!best || outcome.matches > best->matches) best = std::move(outcome);
    }
    add_general(out, fmt::format("\"{}\" must validate at least one schema (anyOf)", place.text()));
    out.merge(std::move(*best));
  }

  void check_one_of(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    std::optional<Outcome> best;
    int valid = 0;
    for (const SchemaPtr& branch : schema.one_of) {
      Outcome outcome = this->value(value, nullptr, *branch, place);
      if (outcome.errors.empty()) {
        ++valid;
      } else if (!best || outcome.matches > best->matches) {
        best = std::move(outcome);
      }
    }
    if (valid == 1) return;
    std::string found = valid == 0 ? "Found none valid" : fmt::format("Found {} valid alternatives", valid);
    add_general(out, fmt::format("\"{}\" must validate one and only one schema (oneOf). {}", place.text(), found));
    if (valid == 0) out.merge(std::move(*best));
  }

  void check_all_of(const Json& value, const Schema& schema, const Place& place, Outcome& out) {
    std::size_t valid = 0;
    for (const SchemaPtr& branch : schema.all_of) {
      Outcome outcome = this->value(value, nullptr, *branch, place);
      valid += outcome.errors.empty() ? 1 : 0;
      out.merge(std::move(outcome));
    }
    if (valid == schema.all_of.size()) return;
    add_general(out, fmt::format("\"{}\" must validate all the schemas (allOf){}", place.text(),
                                 valid == 0 ? ". None validated" : ""));
  }

  std::string path_;
};

}  // namespace

std::string_view kind_of(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_bool()) return "boolean";
  if (value.is_double()) return "number";
  if (value.is_number()) return "integer";
  return "null";
}

api::FieldErrors validate_schema(const Json& object, const Json* old, const Schema& schema, std::string_view path) {
  if (old != nullptr && old->is_null()) old = nullptr;
  return Validator(path).value(object, old, schema, Place{}).errors;
}

}  // namespace berth::apiserver
