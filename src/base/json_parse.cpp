#include "base/json.h"

#include <algorithm>
#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_set>

#include "base/lean_json.h"
#include "base/text.h"

namespace berth {
namespace {

namespace bj = boost::json;

enum class Keep : std::uint8_t { kAll, kAllButManagedFields, kMetadata };

// Duplicate keys that are reported; kube-apiserver reports as many. And the bytes of the path of each: keys may be as
// long as the document, and many duplicates may lie below one.
constexpr std::size_t kMaxDuplicates = 100, kMaxPathBytes = 1024;

// Builds the document. On request it also remembers the keys of all open objects, to find duplicates.
class Builder {
 public:
  static constexpr std::size_t max_object_size = bj::object::max_size();
  static constexpr std::size_t max_array_size = bj::array::max_size();
  static constexpr std::size_t max_key_size = bj::string::max_size();
  static constexpr std::size_t max_string_size = bj::string::max_size();

  Builder(std::vector<std::string>* duplicates, Keep keep)
      : stack_({}, stack_memory_, sizeof stack_memory_), duplicates_(duplicates), keep_(keep) {
    stack_.reset();
  }

  // Whether the value of the key that was just read is left out.
  bool leaves_out_value() const { return dropping_ && drop_depth_ == 0; }

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
  // The parser gets no number in parts, so `text` is the complete number. Parse it again exactly: Boost's value is
  // inexact in the last bits.
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
    if (duplicates_->size() >= kMaxDuplicates) return;
    if (frame.keys.insert(frame.key).second || !frame.reported.insert(frame.key).second) return;
    duplicates_->push_back(path_here());
  }
  std::string path_here() const {
    std::string path;
    for (const Open& o : open_) {
      if (path.size() > kMaxPathBytes) break;
      if (o.is_array) {
        path += "[" + std::to_string(o.next_index - 1) + "]";
      } else {
        if (!path.empty()) path += '.';
        path.append(o.key, 0, kMaxPathBytes + 1);
      }
    }
    return path.size() > kMaxPathBytes ? std::string(cut_text(path, kMaxPathBytes)) + "..." : path;
  }

  struct Object {
    bool is_metadata = false;
    std::size_t dropped = 0;  // members
  };

  unsigned char stack_memory_[4096];  // enough for most objects
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

// Whether a character decides where an object or array ends.
constexpr auto kDecides = [] {
  std::array<bool, 256> out{};
  for (const unsigned char c : std::string_view("{}[]\"")) out[c] = true;
  return out;
}();

// The end of the string whose opening quote stands before `at`; null when there is none.
const char* end_of_string(const char* at, const char* end) {
  for (; at != end; ++at) {
    if (*at == '"') return at + 1;
    if (*at == '\\' && ++at == end) return nullptr;
  }
  return nullptr;
}

// The end of the object or array that begins at `at`; null when there is none. What is inside is not checked.
const char* end_of_composite(const char* at, const char* end) {
  if (at == end || (*at != '{' && *at != '[')) return nullptr;
  for (int depth = 0; at != nullptr;) {
    while (at != end && !kDecides[static_cast<unsigned char>(*at)]) ++at;
    if (at == end) return nullptr;
    const char c = *at++;
    if (c == '"') {
      at = end_of_string(at, end);
    } else {
      depth += c == '{' || c == '[' ? 1 : -1;
      if (depth == 0) return at;
    }
  }
  return nullptr;
}

using Parser = bj::basic_parser<Builder>;

// Parses up to the last managedFields that is left out, and returns the number of bytes until there. The parser gets
// `null` in place of the value, which is not read.
std::size_t parse_without_managed_fields(Parser& parser, std::string_view text, bj::error_code& error) {
  constexpr std::string_view kKey = "\"managedFields\":";
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  const auto next = [&] { return static_cast<const char*>(memmem(at, end - at, kKey.data(), kKey.size())); };
  for (const char* key = next(); key != nullptr; key = next()) {
    const char* const value = key + kKey.size();
    at += parser.write_some(true, at, value - at, error);
    if (error || parser.done()) break;
    if (!parser.handler().leaves_out_value()) continue;
    const char* const rest = end_of_composite(value, end);
    if (rest == nullptr) break;
    parser.write_some(true, "null", 4, error);
    if (error) break;
    at = rest;
  }
  return at - text.data();
}

Result<Json> parse(std::string_view text, const JsonLimits& limits, std::vector<std::string>* duplicates, Keep keep) {
  if (text.size() > limits.max_bytes)
    return fail("JSON document of " + std::to_string(text.size()) + " bytes: at most " +
                std::to_string(limits.max_bytes) + " are accepted");
  bj::parse_options options;
  options.max_depth = limits.max_depth;
  Parser parser(options, duplicates, keep);
  bj::error_code error;
  std::size_t used = keep == Keep::kAll ? 0 : parse_without_managed_fields(parser, text, error);
  if (!error && !parser.done()) used += parser.write_some(false, text.data() + used, text.size() - used, error);
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

}  // namespace berth
