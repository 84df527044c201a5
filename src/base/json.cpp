#include "base/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_set>

#include "base/lean_json.h"
#include "base/text.h"

namespace berth {
namespace {

namespace bj = boost::json;

enum class Keep : std::uint8_t { kAll, kAllButManagedFields, kMetadata };

// Builds the document. On request it also remembers the keys of all open objects, to find duplicates.
class Builder {
 public:
  static constexpr std::size_t max_object_size = bj::object::max_size();
  static constexpr std::size_t max_array_size = bj::array::max_size();
  static constexpr std::size_t max_key_size = bj::string::max_size();
  static constexpr std::size_t max_string_size = bj::string::max_size();

  Builder(std::vector<std::string>* duplicates, Keep keep) : duplicates_(duplicates), keep_(keep) { stack_.reset(); }

  Json release() { return stack_.release(); }

  bool on_document_begin(bj::error_code&) { return true; }
  bool on_document_end(bj::error_code&) { return true; }
  bool on_object_begin(bj::error_code&) {
    if (drops(+1)) return true;
    if (keep_ != Keep::kAll) objects_.push_back({std::exchange(in_metadata_, false), 0});
    if (duplicates_) open(false);
    return true;
  }
  bool on_object_end(std::size_t n, bj::error_code&) {
    if (drops(-1)) return true;
    if (keep_ != Keep::kAll) {
      n -= objects_.back().dropped;
      objects_.pop_back();
    }
    if (duplicates_) open_.pop_back();
    stack_.push_object(n);
    return true;
  }
  bool on_array_begin(bj::error_code&) {
    if (drops(+1)) return true;
    in_metadata_ = false;
    if (duplicates_) open(true);
    return true;
  }
  bool on_array_end(std::size_t n, bj::error_code&) {
    if (drops(-1)) return true;
    if (duplicates_) open_.pop_back();
    stack_.push_array(n);
    return true;
  }
  bool on_key_part(bj::string_view s, std::size_t, bj::error_code&) {
    if (dropping_) return true;
    if (duplicates_) key_.append(s.data(), s.size());
    stack_.push_chars(s);
    return true;
  }
  bool on_key(bj::string_view s, std::size_t n, bj::error_code&) {
    if (dropping_ || begins_dropping(s, n)) return true;
    in_metadata_ = s == "metadata";
    if (duplicates_) {
      key_.append(s.data(), s.size());
      note_key();
    }
    stack_.push_key(s);
    return true;
  }
  bool on_string_part(bj::string_view s, std::size_t, bj::error_code&) {
    if (!dropping_) stack_.push_chars(s);
    return true;
  }
  bool on_string(bj::string_view s, std::size_t, bj::error_code&) {
    if (drops(0)) return true;
    value_begins();
    stack_.push_string(s);
    return true;
  }
  bool on_number_part(bj::string_view, bj::error_code&) { return true; }
  bool on_int64(std::int64_t i, bj::string_view, bj::error_code&) {
    if (drops(0)) return true;
    value_begins();
    stack_.push_int64(i);
    return true;
  }
  bool on_uint64(std::uint64_t u, bj::string_view, bj::error_code&) {
    if (drops(0)) return true;
    value_begins();
    stack_.push_uint64(u);
    return true;
  }
  // The input is one buffer, so `text` is the complete number. Parse it again exactly: Boost's value is inexact in
  // the last bits.
  bool on_double(double d, bj::string_view text, bj::error_code& error_code) {
    if (drops(0)) return true;
    value_begins();
    if (!std::isfinite(d)) {
      error_code = bj::error::exponent_overflow;
      return false;
    }
    double exact = d;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
    stack_.push_double(error == std::errc() && end == text.data() + text.size() ? exact : d);
    return true;
  }
  bool on_bool(bool b, bj::error_code&) {
    if (drops(0)) return true;
    value_begins();
    stack_.push_bool(b);
    return true;
  }
  bool on_null(bj::error_code&) {
    if (drops(0)) return true;
    value_begins();
    stack_.push_null();
    return true;
  }
  bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
  bool on_comment(bj::string_view, bj::error_code&) { return true; }

 private:
  struct Open {
    bool is_array = false;
    std::size_t next_index = 0;
    std::string key;
    std::unordered_set<std::string> keys;
    std::unordered_set<std::string> reported;
  };

  // Whether the current value is part of a dropped member. `depth`: +1 opens an object or array, -1 closes one, 0 for
  // a scalar. Dropping ends with the last part of the member.
  bool drops(int depth) {
    if (!dropping_) return false;
    drop_depth_ += depth;
    if (drop_depth_ == 0) dropping_ = false;
    return true;
  }
  bool begins_dropping(bj::string_view key, std::size_t size) {
    if (keep_ == Keep::kAll || size != key.size()) return false;
    const bool of_others = keep_ == Keep::kMetadata && objects_.size() == 1 && key != "metadata";
    if (!of_others && (key != "managedFields" || !objects_.back().is_metadata)) return false;
    ++objects_.back().dropped;
    return dropping_ = true;
  }

  void open(bool is_array) {
    value_begins();
    open_.push_back({is_array, 0, {}, {}, {}});
  }
  void value_begins() {
    if (!open_.empty() && open_.back().is_array) ++open_.back().next_index;
  }
  void note_key() {
    Open& frame = open_.back();
    frame.key = std::exchange(key_, {});
    if (frame.keys.insert(frame.key).second || !frame.reported.insert(frame.key).second) return;
    std::string path;
    for (const Open& o : open_) {
      if (o.is_array) {
        path += "[" + std::to_string(o.next_index - 1) + "]";
      } else {
        if (!path.empty()) path += '.';
        path += o.key;
      }
    }
    duplicates_->push_back(std::move(path));
  }

  struct Object {
    bool is_metadata = false;
    std::size_t dropped = 0;  // members
  };

  bj::value_stack stack_;
  std::vector<std::string>* duplicates_;
  const Keep keep_;
  std::vector<Object> objects_;  // the open ones; unused with Keep::kAll
  bool in_metadata_ = false;     // the last key was "metadata"
  bool dropping_ = false;
  int drop_depth_ = 0;
  std::vector<Open> open_;
  std::string key_;
};

const JsonArray& empty_array() {
  static const JsonArray empty;
  return empty;
}

const JsonObject& empty_object() {
  static const JsonObject empty;
  return empty;
}

}  // namespace

namespace {

Result<Json> parse(std::string_view text, const JsonLimits& limits, std::vector<std::string>* duplicates, Keep keep) {
  if (text.size() > limits.max_bytes)
    return fail("JSON document of " + std::to_string(text.size()) + " bytes: at most " +
                std::to_string(limits.max_bytes) + " are accepted");
  bj::parse_options options;
  options.max_depth = limits.max_depth;
  bj::basic_parser<Builder> parser(options, duplicates, keep);
  bj::error_code error;
  std::size_t used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = bj::error::extra_data;
  if (error) return fail("invalid JSON at " + describe_position(text, used) + ": " + error.message());
  return parser.handler().release();
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits, std::vector<std::string>* duplicates) {
  return parse(text, limits, duplicates, Keep::kAll);
}

Result<Json> parse_lean_json(std::string_view text, const JsonLimits& limits) {
  return parse(text, limits, nullptr, Keep::kAllButManagedFields);
}

Result<Json> parse_metadata(std::string_view text, const JsonLimits& limits) {
  return parse(text, limits, nullptr, Keep::kMetadata);
}

const Json* find(const Json& value, std::string_view key) {
  const JsonObject* object = value.if_object();
  return object ? object->if_contains(bj::string_view(key.data(), key.size())) : nullptr;
}

const Json* find_path(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = &value;
  for (const std::string_view key : keys) {
    at = find(*at, key);
    if (!at) return nullptr;
  }
  return at;
}

std::string_view string_at(const Json& value, std::initializer_list<std::string_view> keys,
                           std::string_view otherwise) {
  const Json* at = find_path(value, keys);
  const bj::string* text = at ? at->if_string() : nullptr;
  return text ? view(*text) : otherwise;
}

std::optional<std::int64_t> optional_int_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  if (!at) return std::nullopt;
  if (const std::int64_t* number = at->if_int64()) return *number;
  // JSON written by others may say 1.0 where 1 is meant; Kubernetes takes both.
  const double* number = at->if_double();
  if (number && *number >= -0x1p63 && *number < 0x1p63 &&
      static_cast<double>(static_cast<std::int64_t>(*number)) == *number)
    return static_cast<std::int64_t>(*number);
  return std::nullopt;
}

std::optional<std::int32_t> optional_int32_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const auto number = optional_int_at(value, keys);
  return number ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

std::int64_t int_at(const Json& value, std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  return optional_int_at(value, keys).value_or(otherwise);
}

bool bool_at(const Json& value, std::initializer_list<std::string_view> keys, bool otherwise) {
  const Json* at = find_path(value, keys);
  const bool* flag = at ? at->if_bool() : nullptr;
  return flag ? *flag : otherwise;
}

const JsonArray& array_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  const JsonArray* array = at ? at->if_array() : nullptr;
  return array ? *array : empty_array();
}

const JsonObject& object_at(const Json& value, std::initializer_list<std::string_view> keys) {
  const Json* at = find_path(value, keys);
  const JsonObject* object = at ? at->if_object() : nullptr;
  return object ? *object : empty_object();
}

Json& ensure_path(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (const std::string_view key : keys) {
    if (!at->is_object()) at->emplace_object();
    at = &at->get_object()[bj::string_view(key.data(), key.size())];
  }
  return *at;
}

bool erase_path(Json& value, std::initializer_list<std::string_view> keys) {
  Json* at = &value;
  for (auto key = keys.begin(); key != keys.end(); ++key) {
    JsonObject* object = at->if_object();
    if (!object) return false;
    const auto member = object->find(bj::string_view(key->data(), key->size()));
    if (member == object->end()) return false;
    if (std::next(key) == keys.end()) {
      object->stable_erase(member);
      return true;
    }
    at = &member->value();
  }
  return false;
}

}  // namespace berth
