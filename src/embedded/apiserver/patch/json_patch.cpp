// RFC 6902 (JSON patch) over RFC 6901 (JSON pointer).
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "embedded/apiserver/patch/patch.h"

namespace berth::apiserver {
namespace {

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3u << 20;
// Items of lists that move up or down when one is inserted or removed before them. Without this bound a
// small patch of a long list takes minutes; to remove 10,000 items one by one from the start of a list stays below it.
constexpr std::size_t kMaxShifted = 64u << 20;
// Move operations can nest a document more deeply than the parser can read it back.
constexpr std::size_t kMaxPatchDepth = JsonLimits().max_depth;

using Pointer = std::vector<std::string>;

std::optional<Pointer> parse_pointer(std::string_view text) {
  Pointer out;
  if (text.empty()) return out;
  if (text.front() != '/') return std::nullopt;
  std::string token;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == '/') {
      out.push_back(std::exchange(token, {}));
    } else if (text[i] != '~') {
      token += text[i];
    } else if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      token += text[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// Digits without leading zeros; nullopt for everything else, including "-".
std::optional<std::size_t> parse_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc() || at != end) return std::nullopt;
  return index;
}

Json* step(Json& value, std::string_view token) {
  if (value.is_object()) return value.get_object().if_contains(token);
  if (!value.is_array()) return nullptr;
  const auto index = parse_index(token);
  return index && *index < value.get_array().size() ? &value.get_array()[*index] : nullptr;
}

Json* resolve(Json& root, const Pointer& pointer, std::size_t length) {
  Json* at = &root;
  for (std::size_t i = 0; i < length && at != nullptr; ++i) at = step(*at, pointer[i]);
  return at;
}
Json* resolve(Json& root, const Pointer& pointer) { return resolve(root, pointer, pointer.size()); }

using Outcome = Result<void>;

Outcome insert(Json& root, const Pointer& path, Json value, std::size_t& shifted) {
  if (path.empty()) {
    root = std::move(value);
    return {};
  }
  Json* parent = resolve(root, path, path.size() - 1);
  if (parent == nullptr) return fail("the path does not exist");
  const auto& last = path.back();
  if (parent->is_object()) {
    parent->get_object()[last] = std::move(value);
    return {};
  }
  if (!parent->is_array()) return fail("the path leads into a value that is neither object nor list");
  auto& array = parent->get_array();
  const auto index = last == "-" ? std::optional(array.size()) : parse_index(last);
  if (!index || *index > array.size())
    return fail("\"" + last + "\" is no index into a list of " + std::to_string(array.size()));
  shifted += array.size() - *index;
  array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

Result<Json> take(Json& root, const Pointer& path, std::size_t& shifted) {
  if (path.empty()) return std::exchange(root, Json());
  Json* parent = resolve(root, path, path.size() - 1);
  Json* target = parent == nullptr ? nullptr : step(*parent, path.back());
  if (target == nullptr) return fail("the path does not exist");
  Json taken = std::move(*target);
  if (parent->is_object()) {
    parent->get_object().erase(path.back());  // the last member takes its place: members have no order
  } else {
    auto& array = parent->get_array();
    const std::size_t index = *parse_index(path.back());
    shifted += array.size() - index;
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return taken;
}

bool nests_too_deeply(const Json& root) {
  std::vector<std::pair<const Json*, std::size_t>> open{{&root, 0}};
  while (!open.empty()) {
    const auto [value, depth] = open.back();
    open.pop_back();
    if (depth >= kMaxPatchDepth) return true;
    if (value->is_object()) {
      for (const auto& member : value->get_object()) open.emplace_back(&member.value(), depth + 1);
    } else if (value->is_array()) {
      for (const auto& item : value->get_array()) open.emplace_back(&item, depth + 1);
    }
  }
  return false;
}

class Patcher {
 public:
  explicit Patcher(Json object) : root_(std::move(object)) {}

  Outcome run(const Json& operation) {
    if (shifted_ > kMaxShifted) {
      return fail("the operations before this one shift more than " + std::to_string(kMaxShifted) +
                  " list items; replace the whole list instead");
    }
    if (!operation.is_object()) return fail("an operation must be an object");
    const auto op = string_at(operation, {"op"});
    auto path = pointer(operation, "path");
    if (!path) return tl::unexpected(path.error());
    if (op == "remove") return remove(*path);
    if (op == "move" || op == "copy") {
      auto from = pointer(operation, "from");
      if (!from) return tl::unexpected(from.error());
      return op == "move" ? move(*from, *path) : copy(*from, *path);
    }
    if (op != "add" && op != "replace" && op != "test") return fail("unexpected kind: \"" + std::string(op) + "\"");
    const Json* value = find(operation, "value");
    // A test without a value compares with null, as in kube-apiserver.
    static const Json kNull;
    if (value == nullptr && op != "test") return fail("\"value\" is missing");
    if (op == "test") return test(*path, value == nullptr ? kNull : *value);
    return op == "add" ? add(*path, *value) : replace(*path, *value);
  }

  Json take_result() { return std::move(root_); }

 private:
  Outcome add(const Pointer& path, Json value) { return insert(root_, path, std::move(value), shifted_); }

  static Result<Pointer> pointer(const Json& operation, std::string_view member) {
    const Json* text = find(operation, member);
    if (text == nullptr || !text->is_string()) return fail("\"" + std::string(member) + "\" must be a JSON pointer");
    auto parsed = parse_pointer(view(text->get_string()));
    if (!parsed) return fail("\"" + std::string(member) + "\" is no JSON pointer");
    return *std::move(parsed);
  }

  Outcome remove(const Pointer& path) {
    if (path.empty()) return fail("the whole document cannot be removed");
    auto taken = take(root_, path, shifted_);
    if (!taken) return tl::unexpected(taken.error());
    return {};
  }

  Outcome replace(const Pointer& path, const Json& value) {
    Json* target = resolve(root_, path);
    if (target == nullptr) return fail("the path does not exist");
    *target = value;
    return {};
  }

  Outcome test(const Pointer& path, const Json& value) {
    Json* target = resolve(root_, path);
    if (target == nullptr ? value.is_null() : json_equal(*target, value)) return {};
    return fail("the test failed");
  }

  Outcome move(const Pointer& from, const Pointer& to) {
    if (from == to) return resolve(root_, from) != nullptr ? Outcome() : fail("\"from\" does not exist");
    if (to.size() > from.size() && std::equal(from.begin(), from.end(), to.begin())) {
      return fail("a value cannot move into itself");
    }
    auto taken = take(root_, from, shifted_);
    if (!taken) return fail("\"from\" does not exist");
    return add(to, *std::move(taken));
  }

  Outcome copy(const Pointer& from, const Pointer& to) {
    Json* source = resolve(root_, from);
    if (source == nullptr) return fail("\"from\" does not exist");
    copied_ += to_string(*source).size();
    if (copied_ > kMaxCopiedBytes) {
      return fail("the copied data is more than " + std::to_string(kMaxCopiedBytes) + " bytes");
    }
    return add(to, Json(*source));
  }

  Json root_;
  std::size_t copied_ = 0;   // bytes
  std::size_t shifted_ = 0;  // list items
};

}  // namespace

tl::expected<Json, PatchError> apply_json_patch(const Json& object, const Json& patch) {
  if (!patch.is_array()) {
    return tl::unexpected(PatchError{400, "error decoding patch: json: cannot unmarshal " +
                                              std::string(patch.is_object() ? "object" : "value") +
                                              " into Go value of type []handlers.jsonPatchOp"});
  }
  const auto& operations = patch.get_array();
  if (operations.size() > kMaxOperations) {
    return tl::unexpected(PatchError{413, "The allowed maximum operations in a JSON patch is " +
                                              std::to_string(kMaxOperations) + ", got " +
                                              std::to_string(operations.size())});
  }
  Patcher patcher(object);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (auto done = patcher.run(operations[i]); !done) {
      std::string what = "json patch operation " + std::to_string(i);
      if (const auto path = string_at(operations[i], {"path"}); !path.empty()) what += " at " + std::string(path);
      return tl::unexpected(PatchError{422, what + ": " + done.error().message});
    }
  }
  Json result = patcher.take_result();
  if (nests_too_deeply(result)) {
    return tl::unexpected(PatchError{422, "the result nests more than " + std::to_string(kMaxPatchDepth) + " levels"});
  }
  return result;
}

}  // namespace berth::apiserver
