#include "conformance/match.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "api/resource_version.h"
#include "base/quantity.h"
#include "base/time.h"

namespace berth::conformance {
namespace {

const re2::RE2& placeholder_pattern() {
  static const re2::RE2 pattern("(<(?:uid[0-9]+|rv[0-9]+|continue|time|text|n)>)");
  return pattern;
}

bool is_age(std::string_view text) {
  static const re2::RE2 pattern("[0-9]+(s|m|h|d|y)([0-9]+(s|m|h|d))?");
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool is_number(const std::string& text) {
  static const re2::RE2 pattern("-?[0-9]+(\\.[0-9]+)?");
  return re2::RE2::FullMatch(text, pattern);
}

// "<about 4>": a quantity within a thousandth; about 0: nearly nothing, of memory less than 8 bytes. "<n>": any
// quantity.
bool is_about(std::string_view recorded, const Json& actual, std::string_view path) {
  constexpr std::string_view kAbout = "<about ";
  const auto quantity = Quantity::parse(view(actual.get_string()));
  if (!quantity) return false;
  if (recorded == "<n>") return true;
  if (!recorded.starts_with(kAbout) || !recorded.ends_with('>')) return false;
  const auto wanted = Quantity::parse(recorded.substr(kAbout.size(), recorded.size() - kAbout.size() - 1));
  if (!wanted) return false;
  const Quantity nothing = Quantity::of_milli(path.ends_with(".memory") ? 8'000 : 10);
  if (wanted->is_zero()) return quantity->sign() >= 0 && *quantity < nothing;
  const Quantity off = *quantity < *wanted ? *wanted - *quantity : *quantity - *wanted;
  return off * 1'000 <= *wanted;
}

std::string show(const Json& value) {
  constexpr std::size_t kShown = 400;
  std::string text = to_string(value);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return text;
}

// The name of an item in a list of named items.
std::optional<std::string> name_of(const Json& item, bool by_type) {
  if (by_type) {
    const std::string_view type = string_at(item, {"type"});
    return type.empty() ? std::nullopt : std::optional(std::string(type));
  }
  for (const auto& path :
       {std::initializer_list<std::string_view>{"name"}, std::initializer_list<std::string_view>{"resource"},
        std::initializer_list<std::string_view>{"subresource"},
        std::initializer_list<std::string_view>{"metadata", "name"},
        std::initializer_list<std::string_view>{"version"}}) {
    if (const std::string_view name = string_at(item, path); !name.empty()) return std::string(name);
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> distinct_names(const JsonArray& array, bool by_type) {
  std::vector<std::string> names;
  for (const Json& item : array) {
    auto name = name_of(item, by_type);
    if (!name || std::find(names.begin(), names.end(), *name) != names.end()) return std::nullopt;
    names.push_back(std::move(*name));
  }
  return names;
}

class Comparison {
 public:
  explicit Comparison(Bindings& bindings) : bindings_(bindings) {}
  std::vector<Difference> differences;

  void values(const Json& recorded, const Json& actual, const std::string& path) {
    if (recorded.is_object() && actual.is_object()) return objects(recorded.get_object(), actual.get_object(), path);
    if (recorded.is_array() && actual.is_array()) return arrays(recorded.get_array(), actual.get_array(), path);
    if (recorded.is_string() && view(recorded.get_string()) == "<n>" && actual.is_number()) return;
    if (recorded.is_string() && actual.is_string() && is_about(view(recorded.get_string()), actual, path)) return;
    if (recorded.is_string() && actual.is_string()) {
      return texts(view(recorded.get_string()), view(actual.get_string()), path);
    }
    if (!json_equal(recorded, actual)) differ(path, "expected " + show(recorded) + ", got " + show(actual));
  }

 private:
  void differ(const std::string& path, std::string what) { differences.push_back({path, std::move(what)}); }

  void objects(const JsonObject& recorded, const JsonObject& actual, const std::string& path) {
    learn_generated_name(recorded, actual);
    const bool was_in_list = in_list_;
    bool list = false;
    if (const auto* kind = recorded.if_contains("kind"); kind != nullptr && kind->is_string()) {
      const std::string_view name = view(kind->get_string());
      list = name.ends_with("List") || name == "Table";
    }
    const auto* type = recorded.if_contains("type");
    const bool bookmark = type != nullptr && type->is_string() && type->get_string() == "BOOKMARK";
    const bool several = causes_of(recorded) > 1 && causes_of(actual) > 1;
    for (const auto& [key, value] : recorded) {
      const std::string at = path + "." + std::string(key);
      if (key == "message" && several && actual.contains("message")) {
        // The causes contain the same; here only the part about the object matters.
        texts(before_list(value), before_list(actual.at("message")), at);
        continue;
      }
      if (key == "metadata") in_list_ = list || bookmark_;
      if (key == "object") bookmark_ = bookmark;
      if (const Json* other = actual.if_contains(key)) {
        values(value, *other, at);
      } else {
        differ(at, "missing; expected " + show(value));
      }
      in_list_ = was_in_list;
    }
    if (type != nullptr) bookmark_ = false;
    for (const auto& [key, value] : actual) {
      if (!recorded.contains(key)) differ(path + "." + std::string(key), "not expected; got " + show(value));
    }
  }

  static std::size_t causes_of(const JsonObject& status) {
    const auto* details = status.if_contains("details");
    return details == nullptr ? 0 : array_at(*details, {"causes"}).size();
  }

  static std::string_view before_list(const Json& message) {
    if (!message.is_string()) return {};
    const std::string_view text = view(message.get_string());
    return text.substr(0, text.find(": ["));
  }

  // The server iterates maps of fields in random order, so causes have no order.
  static JsonArray sorted_causes(const JsonArray& causes) {
    JsonArray sorted = causes;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) {
      return std::pair(string_at(a, {"field"}), string_at(a, {"message"})) <
             std::pair(string_at(b, {"field"}), string_at(b, {"message"}));
    });
    return sorted;
  }

  // Permissions have no order either: role bindings are evaluated in any order.
  static JsonArray sorted_rules(const JsonArray& rules) {
    JsonArray sorted = rules;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Json& a, const Json& b) { return canonical_json(a) > canonical_json(b); });
    return sorted;
  }

  // Writes in the same second are listed in another order than writes in different seconds.
  static JsonArray sorted_managers(const JsonArray& managers) {
    JsonArray sorted = managers;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) {
      return std::pair(string_at(a, {"manager"}), string_at(a, {"subresource"})) <
             std::pair(string_at(b, {"manager"}), string_at(b, {"subresource"}));
    });
    return sorted;
  }

  JsonArray in_order(const JsonArray& array, const std::string& path) const {
    if (bindings_.store_moves() && path.ends_with(".managedFields")) return sorted_managers(array);
    if (path.ends_with(".details.causes")) return sorted_causes(array);
    if (path.ends_with("esourceRules")) return sorted_rules(array);
    return array;
  }

  void arrays(const JsonArray& recorded_array, const JsonArray& actual_array, const std::string& path) {
    const JsonArray recorded = in_order(recorded_array, path), actual = in_order(actual_array, path);
    const bool conditions = path.ends_with(".conditions");
    const auto a = distinct_names(recorded, conditions), b = distinct_names(actual, conditions);
    if (a && b && !a->empty() && !b->empty()) return named(recorded, *a, actual, *b, path);
    for (std::size_t i = 0; i < std::max(recorded.size(), actual.size()); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      if (i >= recorded.size()) {
        differ(at, "not expected; got " + show(actual[i]));
      } else if (i >= actual.size()) {
        differ(at, "missing; expected " + show(recorded[i]));
      } else {
        values(recorded[i], actual[i], at);
      }
    }
  }

  void named(const JsonArray& recorded, const std::vector<std::string>& a, const JsonArray& actual,
             const std::vector<std::string>& b, const std::string& path) {
    std::vector<std::string> common_a, common_b;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string at = path + "[" + a[i] + "]";
      const auto it = std::find(b.begin(), b.end(), bindings_.substitute(a[i]));
      const auto same = it != b.end() ? it : std::find_if(b.begin(), b.end(), [&](const std::string& name) {
        return generated_twin(recorded[i], actual[static_cast<std::size_t>(&name - b.data())]);
      });
      if (same == b.end()) {
        differ(at, "missing; expected " + show(recorded[i]));
        continue;
      }
      common_a.push_back(*same);
      values(recorded[i], actual[static_cast<std::size_t>(same - b.begin())], at);
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (std::find(common_a.begin(), common_a.end(), b[i]) != common_a.end()) {
        common_b.push_back(b[i]);
      } else {
        differ(path + "[" + b[i] + "]", "not expected; got " + show(actual[i]));
      }
    }
    // Discovery guarantees no order of resources.
    if (common_a != common_b && !path.ends_with(".resources")) differ(path, "the order differs");
  }

  static bool generated_twin(const Json& recorded, const Json& actual) {
    const std::string_view prefix = string_at(recorded, {"metadata", "generateName"});
    return !prefix.empty() && string_at(actual, {"metadata", "generateName"}) == prefix;
  }

  // A name generated from metadata.generateName: the prefix and five characters.
  void learn_generated_name(const JsonObject& recorded, const JsonObject& actual) {
    const Json a(recorded), b(actual);
    const std::string_view prefix = string_at(a, {"generateName"});
    const std::string_view x = string_at(a, {"name"}), y = string_at(b, {"name"});
    constexpr std::size_t kGenerated = 5;
    if (prefix.empty() || !x.starts_with(prefix) || !y.starts_with(prefix)) return;
    if (x.size() == prefix.size() + kGenerated && y.size() == x.size()) {
      bindings_.rename(std::string(x), std::string(y));
    }
  }

  // Without what Berth says after Kueue's text (docs/compatibility.md): that a workload can never fit, which
  // LocalQueues there are, what a flavor has.
  static std::string_view without_more(std::string_view text) {
    for (const std::string_view more : {". It can never fit: ", "; its namespace has ", ": the pods ask for "})
      text = text.substr(0, text.find(more));
    return text;
  }

  void texts(std::string_view recorded, std::string_view actual, const std::string& path) {
    if (path.find(".cells[") != std::string::npos && is_age(recorded) && is_age(actual)) return;
    if (path.ends_with(".message") || path.ends_with(".note")) actual = without_more(actual);
    const bool of_list = in_list_ && path.ends_with(".resourceVersion");
    if (!text_matches(recorded, actual, bindings_, of_list)) {
      differ(path, "expected " + show(Json(recorded)) + ", got " + show(Json(actual)));
    }
  }

  Bindings& bindings_;
  bool in_list_ = false;   // inside the metadata of a list, a table or a bookmark
  bool bookmark_ = false;  // inside the object of a bookmark
};

}  // namespace

void Bindings::bind(const std::string& placeholder, std::string value) { values_[placeholder] = std::move(value); }

bool Bindings::match(const std::string& placeholder, const std::string& value, bool of_list) {
  if (placeholder == "<text>") return true;
  if (placeholder == "<time>") return parse_time(value).has_value();
  if (placeholder == "<n>") return is_number(value);
  if (value.empty()) return false;
  if (placeholder == "<continue>") {
    values_[placeholder] = value;
    return true;
  }
  if (const auto it = values_.find(placeholder); it != values_.end()) {
    const bool newer = of_list && store_moves_ && api::version_number(value) >= api::version_number(it->second);
    return it->second == value || newer;
  }
  values_[placeholder] = value;
  if (of_list) return true;
  const auto [it, fresh] = taken_.emplace(placeholder.substr(0, 3) + value, placeholder);
  return fresh || it->second == placeholder;
}

std::string Bindings::substitute(std::string_view text) const {
  std::string out(text);
  const auto replace_all = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  };
  for (const auto& [placeholder, value] : values_) replace_all(placeholder, value);
  for (const auto& [recorded, actual] : renamed_) replace_all(recorded, actual);
  return out;
}

namespace {

// The index after the value that is dumped at `i`: balanced braces or brackets, or a quoted text.
std::size_t after_dump(std::string_view text, std::size_t i) {
  const char open = text[i], close = open == '{' ? '}' : open == '[' ? ']' : '"';
  int depth = 1;
  bool quoted = open == '"';
  for (++i; i < text.size() && depth > 0; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
      if (open == '"') return i + 1;
    } else if (!quoted) {
      depth += text[i] == open ? 1 : text[i] == close ? -1 : 0;
    }
  }
  return i;
}

// Removes revisions of the store and hashes of documents from a text.
std::string without_revisions(std::string text) {
  static const re2::RE2 hash("([?&]hash=)[0-9A-F]+");
  re2::RE2::GlobalReplace(&text, hash, "\\1...");
  static const re2::RE2 pattern("(resource version: [0-9]+, current: |ResourceVersion in record \\()[0-9]+");
  re2::RE2::GlobalReplace(&text, pattern, "\\1...");
  return text;
}

}  // namespace

std::string without_dumps(std::string_view text) {
  text = text.substr(0, text.find("\n@@ "));  // a diff of Go structures follows
  constexpr std::string_view kBefore = "nvalid value: ";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool dump = std::string_view(out).ends_with(kBefore) &&
                      (text[i] == '{' || text[i] == '[' || text.substr(i).starts_with("\"{"));
    if (dump) {
      i = after_dump(text, i);
      out += "...";
    } else {
      out.push_back(text[i++]);
    }
  }
  return without_revisions(std::move(out));
}

bool text_matches(std::string_view recorded, std::string_view actual, Bindings& bindings, bool of_list) {
  if (recorded == actual) return true;
  if (recorded == "<continue>") return bindings.match("<continue>", std::string(actual), of_list);
  static const re2::RE2 revision("<rv[0-9]+>");
  if (re2::RE2::FullMatch(re2::StringPiece(recorded.data(), recorded.size()), revision))
    return bindings.match(std::string(recorded), std::string(actual), of_list);
  const std::string expected = bindings.substitute(without_dumps(recorded));
  const std::string got = without_dumps(actual);
  if (expected == got) return true;
  // Placeholders that are still unbound get the text at their position.
  std::string pattern;
  std::vector<std::string> placeholders;
  re2::StringPiece rest(expected);
  std::string name;
  for (;;) {
    const char* before = rest.data();
    if (!re2::RE2::FindAndConsume(&rest, placeholder_pattern(), &name)) break;
    const std::size_t length = static_cast<std::size_t>(rest.data() - before) - name.size();
    pattern += re2::RE2::QuoteMeta(re2::StringPiece(before, length)) + "(.*?)";
    placeholders.push_back(name);
  }
  if (placeholders.empty()) return false;
  pattern += re2::RE2::QuoteMeta(rest);
  const re2::RE2 compiled("(?s)" + pattern);
  std::vector<re2::StringPiece> pieces(placeholders.size() + 1);
  if (!compiled.Match(got, 0, got.size(), re2::RE2::ANCHOR_BOTH, pieces.data(), static_cast<int>(pieces.size()))) {
    return false;
  }
  for (std::size_t i = 0; i < placeholders.size(); ++i) {
    if (!bindings.match(placeholders[i], pieces[i + 1].as_string(), of_list)) return false;
  }
  return true;
}

std::vector<Difference> compare(const Json& recorded, const Json& actual, Bindings& bindings) {
  Comparison comparison(bindings);
  comparison.values(recorded, actual, "response");
  return std::move(comparison.differences);
}

}  // namespace berth::conformance
