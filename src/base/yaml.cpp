#include "base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>

#include "base/yaml_scalar.h"

namespace berth {
namespace {

constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";
constexpr std::string_view kPlain = "?";   // yaml-cpp's tag of an unquoted scalar without a tag
constexpr std::string_view kQuoted = "!";  // yaml-cpp's tag of a quoted scalar without a tag
constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";
constexpr std::string_view kScalarKey = "a mapping key must be a scalar";

// Thrown in a callback to stop the parser; parse_yaml catches it.
struct Stop {
  YAML::Mark mark;
  std::string why;
};

// A long string counts as several nodes, so that the bound on nodes also bounds memory.
constexpr std::size_t kBytesPerNode = 32;
std::size_t weight(std::size_t text_size) { return 1 + text_size / kBytesPerNode; }

std::size_t count_nodes(const Json& value) {
  std::size_t count = value.is_string() ? weight(value.get_string().size()) : 1;
  if (const JsonArray* array = value.if_array())
    for (const Json& element : *array) count += count_nodes(element);
  if (const JsonObject* object = value.if_object())
    for (const auto& member : *object) count += weight(member.key().size()) + count_nodes(member.value());
  return count;
}

std::size_t depth_of(const Json& value) {
  std::size_t deepest = 0;
  if (const JsonArray* array = value.if_array())
    for (const Json& element : *array) deepest = std::max(deepest, depth_of(element));
  if (const JsonObject* object = value.if_object())
    for (const auto& member : *object) deepest = std::max(deepest, depth_of(member.value()));
  return value.is_structured() ? deepest + 1 : 0;
}

// Turns the parser's events into JSON values, counting every node as it is made.
class DocumentBuilder final : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(const YamlLimits& limits) : limits_(limits) {}

  std::vector<Json> documents;

  void OnDocumentStart(const YAML::Mark&) override {
    anchors_.clear();
    open_.clear();
    document_ = nullptr;
    null_document_ = false;
  }
  void OnDocumentEnd() override {
    if (!null_document_) documents.push_back(std::move(document_));
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    null_document_ = open_.empty();
    add(mark, nullptr, anchor, 1, 0);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) throw Stop{mark, "an alias may not point into itself"};
    if (wants_key()) {
      if (const auto* text = known->second.value.if_string()) return take_key(mark, std::string(view(*text)), false);
      throw Stop{mark, std::string(kScalarKey)};
    }
    add(mark, known->second.value, 0, known->second.nodes, known->second.depth);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (wants_key()) {
      if (anchor != 0) anchors_[anchor] = {Json(text), weight(text.size()), 0};
      return take_key(mark, text, tag == kPlain);
    }
    add(mark, scalar(mark, tag, text), anchor, weight(text.size()), 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, JsonArray());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, JsonObject());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Anchored {
    Json value;
    std::size_t nodes;
    std::size_t depth;
  };
  struct Open {
    Json value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    std::string key;
    bool has_key = false;
    bool merging = false;  // the key was <<
    std::vector<Json> merged;
  };

  bool wants_key() const { return !open_.empty() && open_.back().value.is_object() && !open_.back().has_key; }

  void count(const YAML::Mark& mark, std::size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > limits_.max_nodes)
      throw Stop{mark, "more than " + std::to_string(limits_.max_nodes) + " values (aliases expanded)"};
  }

  Json scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) const {
    if (tag == kQuoted || tag == kStringTag) return Json(text);
    if (tag != kPlain && !tag.starts_with(kCoreTag)) throw Stop{mark, "unknown tag " + tag};
    Result<Json> value = resolve_yaml_scalar(text);
    if (!value) throw Stop{mark, value.error().message};
    const bool fits = tag == kPlain || (tag.ends_with(":int") && value->is_int64()) ||
                      (tag.ends_with(":float") && value->is_number()) || (tag.ends_with(":bool") && value->is_bool()) ||
                      (tag.ends_with(":null") && value->is_null());
    if (!fits) throw Stop{mark, "\"" + text + "\" is not a value of tag " + tag};
    return std::move(*value);
  }

  void take_key(const YAML::Mark& mark, const std::string& key, bool plain) {
    Open& map = open_.back();
    count(mark, weight(key.size()));
    map.has_key = true;
    map.merging = plain && key == "<<";
    map.key = key;
    if (!map.merging && map.value.get_object().contains(key))
      throw Stop{mark, "key \"" + key + "\" is already set in this mapping"};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json value) {
    const bool known_tag =
        tag == kPlain || tag == kQuoted || tag.empty() || tag.ends_with(":map") || tag.ends_with(":seq");
    if (!known_tag) throw Stop{mark, "unknown tag " + tag};
    if (wants_key()) throw Stop{mark, std::string(kScalarKey)};
    if (open_.size() >= limits_.max_depth)
      throw Stop{mark, "nested deeper than " + std::to_string(limits_.max_depth) + " levels"};
    open_.push_back({std::move(value), mark, anchor, {}, false, false, {}});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    for (const Json& source : done.merged)
      for (const auto& member : source.get_object()) done.value.get_object().emplace(member.key(), member.value());
    // The contents are counted already; merged members were counted with their aliases.
    if (done.anchor == 0) return add(done.mark, std::move(done.value), 0, 1, 0);
    const std::size_t nodes = count_nodes(done.value);
    count(done.mark, nodes);  // the copy kept for aliases
    const std::size_t depth = depth_of(done.value);
    anchors_[done.anchor] = {done.value, nodes, depth};
    add(done.mark, std::move(done.value), 0, 1, 0);
  }

  // `depth`: the depth of an alias' value, which adds to the depth at which the value is inserted.
  void add(const YAML::Mark& mark, Json value, YAML::anchor_t anchor, std::size_t nodes, std::size_t depth) {
    count(mark, nodes);
    if (open_.size() + depth > limits_.max_depth)
      throw Stop{mark, "nested deeper than " + std::to_string(limits_.max_depth) + " levels"};
    if (anchor != 0) anchors_[anchor] = {value, nodes, 0};
    if (open_.empty()) {
      document_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (JsonArray* array = parent.value.if_array()) {
      array->push_back(std::move(value));
      return;
    }
    if (!parent.has_key) throw Stop{mark, "a mapping key must not be null"};
    parent.has_key = false;
    if (parent.merging) return merge(mark, parent, std::move(value));
    parent.value.get_object().emplace(parent.key, std::move(value));
  }

  static void merge(const YAML::Mark& mark, Open& map, Json value) {
    if (value.is_object()) return map.merged.push_back(std::move(value));
    const JsonArray* list = value.if_array();
    if (!list) throw Stop{mark, "<< takes a mapping or a list of mappings"};
    for (const Json& element : *list) {
      if (!element.is_object()) throw Stop{mark, "<< takes a mapping or a list of mappings"};
      map.merged.push_back(element);
    }
  }

  const YamlLimits& limits_;
  std::size_t nodes_ = 0;
  Json document_;
  bool null_document_ = false;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
};

// Only looks where collections begin and end.
class OpenCollections final : public YAML::EventHandler {
 public:
  explicit OpenCollections(std::size_t max_depth) : max_depth_(max_depth) {}
  std::vector<YAML::Mark> open;  // where each begins

  void OnDocumentStart(const YAML::Mark&) override { open.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(mark);
  }
  void OnSequenceEnd() override { open.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    begin(mark);
  }
  void OnMapEnd() override { open.pop_back(); }

 private:
  void begin(const YAML::Mark& mark) {
    if (open.size() > max_depth_) throw Stop{mark, "nested too deep"};
    open.push_back(mark);
  }
  const std::size_t max_depth_;
};

// What is open when the text ends: "{" or "[" without its end. The parser takes an open collection for the key of a
// mapping, so its events do not tell.
std::optional<Stop> open_at_end(std::string_view text, const YamlLimits& limits) {
  OpenCollections seen(limits.max_depth);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(seen)) {
    }
  } catch (const Stop&) {
    return std::nullopt;  // nested too deep
  } catch (const YAML::Exception& e) {
    const bool map = e.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
    const bool at_end = e.mark.pos >= 0 && static_cast<std::size_t>(e.mark.pos) == text.size();
    if ((map || e.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW) && at_end && !seen.open.empty())
      return Stop{seen.open.back(),
                  std::string("the text ends inside of the ") + (map ? "mapping" : "list") + " that begins here"};
  }
  return std::nullopt;
}

tl::unexpected<Error> error_at(const YAML::Mark& mark, const std::string& why) {
  if (mark.is_null()) return fail("invalid YAML: " + why);
  return fail("invalid YAML at line " + std::to_string(mark.line + 1) + ", column " + std::to_string(mark.column + 1) +
              ": " + why);
}

}  // namespace

Result<std::vector<Json>> parse_yaml(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes)
    return fail("YAML of " + std::to_string(text.size()) + " bytes: at most " + std::to_string(limits.max_bytes) +
                " are accepted");
  DocumentBuilder builder(limits);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    const auto open = stop.why == kScalarKey ? open_at_end(text, limits) : std::nullopt;
    return open ? error_at(open->mark, open->why) : error_at(stop.mark, stop.why);
  } catch (const YAML::Exception& e) {
    if (const auto open = open_at_end(text, limits)) return error_at(open->mark, open->why);
    return error_at(e.mark, e.msg);
  }
  return std::move(builder.documents);
}

}  // namespace berth
