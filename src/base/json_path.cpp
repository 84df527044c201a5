#include "base/json_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace berth {

class JsonPathParser {
 public:
  using Step = JsonPath::Step;
  using Kind = JsonPath::Kind;
  using Op = JsonPath::Op;

  explicit JsonPathParser(std::string_view text) : text_(text) {}

  Result<std::vector<Step>> whole() {
    std::vector<Step> steps;
    if (!text_.empty() && text_[0] != '.' && text_[0] != '[' && text_[0] != '$') {
      if (!name(steps)) return error();
    }
    if (!path(steps) || at_ != text_.size()) return error();
    if (steps.size() > JsonPath::kMaxSteps)
      return fail(fmt::format("JSONPath \"{}\": more than {} steps", text_, JsonPath::kMaxSteps));
    return steps;
  }

 private:
  tl::unexpected<Error> error() const {
    return fail(fmt::format("JSONPath \"{}\": unexpected text at position {}", text_, at_));
  }

  bool more() const { return at_ < text_.size(); }
  char peek() const { return more() ? text_[at_] : '\0'; }
  bool take(std::string_view what) {
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  void spaces() {
    while (peek() == ' ') ++at_;
  }

  // Parses steps up to a character that cannot continue a path.
  bool path(std::vector<Step>& steps) {
    take("$");
    while (more()) {
      if (take("..")) {
        if (++descents_ > kMaxDescents) return false;
        steps.push_back(Step::of(Kind::kDescend));
        if (peek() != '[' && !name_or_star(steps)) return false;
      } else if (take(".")) {
        if (!more() && steps.empty()) return true;  // "." is the document
        if (peek() != '[' && !name_or_star(steps)) return false;
      } else if (peek() == '[') {
        ++at_;
        if (!bracket(steps)) return false;
      } else {
        return true;
      }
      if (steps.size() > JsonPath::kMaxSteps) return false;
    }
    return true;
  }

  bool name_or_star(std::vector<Step>& steps) {
    if (!take("*")) return name(steps);
    steps.push_back(Step::of(Kind::kAny));
    return true;
  }

  bool name(std::vector<Step>& steps) {
    std::string out;
    constexpr std::string_view kEnd = ".[]()=!<> ,'\"{}@&|";
    while (more() && kEnd.find(peek()) == std::string_view::npos) {
      if (peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      out.push_back(text_[at_++]);
    }
    if (out.empty()) return false;
    steps.push_back(Step::of(Kind::kName, std::move(out)));
    return true;
  }

  bool bracket(std::vector<Step>& steps) {
    if (take("*]")) {
      steps.push_back(Step::of(Kind::kAny));
      return true;
    }
    if (take("?(")) return filter(steps) && take(")") && take("]");
    if (peek() == '\'' || peek() == '"') {
      std::optional<std::string> quoted = quote();
      if (!quoted) return false;
      steps.push_back(Step::of(Kind::kName, std::move(*quoted)));
      return take("]");
    }
    return index_or_slice(steps) && take("]");
  }

  bool index_or_slice(std::vector<Step>& steps) {
    Step step = Step::of(Kind::kIndex);
    std::optional<std::int64_t> first = integer();
    step.index = first.value_or(0);
    if (take(":")) {
      step.kind = Kind::kSlice;
      if (auto end = integer()) {
        step.end = *end;
        step.has_end = true;
      }
      if (take(":")) step.step = integer().value_or(1);
      if (step.step <= 0) return false;
    } else if (!first) {
      return false;
    }
    steps.push_back(std::move(step));
    return true;
  }

  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc()) return std::nullopt;
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::optional<std::string> quote() {
    const char mark = text_[at_++];
    std::string out;
    while (more() && peek() != mark) {
      if (peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      out.push_back(text_[at_++]);
    }
    if (!more()) return std::nullopt;
    ++at_;
    return out;
  }

  bool filter(std::vector<Step>& steps) {
    Step step = Step::of(Kind::kFilter);
    spaces();
    if (!item_path(step.left)) return false;
    spaces();
    if (peek() != ')') {
      static constexpr std::pair<std::string_view, Op> kOps[] = {{"==", Op::kEqual},     {"!=", Op::kUnequal},
                                                                 {"<=", Op::kLessEqual}, {">=", Op::kGreaterEqual},
                                                                 {"<", Op::kLess},       {">", Op::kGreater}};
      const auto* op = std::find_if(std::begin(kOps), std::end(kOps), [&](const auto& o) { return take(o.first); });
      if (op == std::end(kOps)) return false;
      step.op = op->second;
      spaces();
      if (!operand(step)) return false;
      spaces();
    }
    steps.push_back(std::move(step));
    return true;
  }

  bool item_path(std::vector<Step>& steps) {
    if (!take("@") || depth_ > 0) return false;  // filters do not nest
    ++depth_;
    const bool ok = path(steps);
    --depth_;
    return ok;
  }

  bool operand(Step& step) {
    if (peek() == '@') {
      step.right_is_path = true;
      return item_path(step.right);
    }
    if (peek() == '\'' || peek() == '"') {
      std::optional<std::string> text = quote();
      if (text) step.literal = Json(*text);
      return text.has_value();
    }
    const std::size_t start = at_;
    while (more() && peek() != ')' && peek() != ' ') ++at_;
    auto parsed = parse_json(text_.substr(start, at_ - start));
    if (parsed && !parsed->is_object() && !parsed->is_array()) step.literal = *parsed;
    return parsed.has_value();
  }

  // `..` steps per path; each one multiplies the work by the size of the document.
  static constexpr int kMaxDescents = 2;

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0, descents_ = 0;
};

namespace {

std::optional<double> number_of(const Json& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_double()) return value.get_double();
  return std::nullopt;
}

// -1, 0 or 1; nullopt when the two cannot be ordered.
std::optional<int> order(const Json& a, const Json& b) {
  if (a.is_string() && b.is_string()) {
    const int c = view(a.get_string()).compare(view(b.get_string()));
    return c < 0 ? -1 : c > 0 ? 1 : 0;
  }
  auto x = number_of(a), y = number_of(b);
  if (x && y) return *x < *y ? -1 : *x > *y ? 1 : 0;
  return std::nullopt;
}

std::size_t clamp_index(std::int64_t index, std::size_t size) {
  if (index < 0) index += static_cast<std::int64_t>(size);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(size)));
}

}  // namespace

Result<JsonPath> JsonPath::compile(std::string_view text) {
  auto steps = JsonPathParser(text).whole();
  if (!steps) return tl::unexpected(steps.error());
  JsonPath path;
  path.steps_ = std::move(*steps);
  return path;
}

bool JsonPath::passes(const Json& item, const Step& filter) {
  std::vector<const Json*> left;
  walk(item, filter.left, 0, 1, left);
  if (left.empty()) return false;
  if (filter.op == Op::kExists) return true;
  const Json* right = &filter.literal;
  std::vector<const Json*> found;
  if (filter.right_is_path) {
    walk(item, filter.right, 0, 1, found);
    if (found.empty()) return false;
    right = found[0];
  }
  if (filter.op == Op::kEqual) return json_equal(*left[0], *right);
  if (filter.op == Op::kUnequal) return !json_equal(*left[0], *right);
  std::optional<int> c = order(*left[0], *right);
  if (!c) return false;
  switch (filter.op) {
    case Op::kLess:
      return *c < 0;
    case Op::kLessEqual:
      return *c <= 0;
    case Op::kGreater:
      return *c > 0;
    default:
      return *c >= 0;
  }
}

void JsonPath::walk_all(const Json& value, const std::vector<Step>& steps, std::size_t at, std::size_t limit,
                        std::vector<const Json*>& out) {
  walk(value, steps, at, limit, out);
  if (value.is_object()) {
    for (const auto& member : value.get_object()) walk_all(member.value(), steps, at, limit, out);
  } else if (value.is_array()) {
    for (const Json& item : value.get_array()) walk_all(item, steps, at, limit, out);
  }
}

void JsonPath::walk(const Json& value, const std::vector<Step>& steps, std::size_t at, std::size_t limit,
                    std::vector<const Json*>& out) {
  if (out.size() >= limit) return;
  if (at == steps.size()) {
    out.push_back(&value);
    return;
  }
  const Step& step = steps[at];
  const JsonArray* list = value.is_array() ? &value.get_array() : nullptr;
  switch (step.kind) {
    case Kind::kName:
      if (const Json* member = value.is_object() ? value.get_object().if_contains(step.name) : nullptr)
        walk(*member, steps, at + 1, limit, out);
      return;
    case Kind::kIndex: {
      if (list == nullptr) return;
      const auto size = static_cast<std::int64_t>(list->size());
      const std::int64_t i = step.index < 0 ? step.index + size : step.index;
      if (i >= 0 && i < size) walk((*list)[static_cast<std::size_t>(i)], steps, at + 1, limit, out);
      return;
    }
    case Kind::kSlice: {
      if (list == nullptr) return;
      const std::size_t end = step.has_end ? clamp_index(step.end, list->size()) : list->size();
      for (std::size_t i = clamp_index(step.index, list->size()); i < end; i += static_cast<std::size_t>(step.step)) {
        walk((*list)[i], steps, at + 1, limit, out);
      }
      return;
    }
    case Kind::kAny:
    case Kind::kFilter:
      if (list != nullptr) {
        for (const Json& item : *list) {
          if (step.kind == Kind::kAny || passes(item, step)) walk(item, steps, at + 1, limit, out);
        }
      } else if (value.is_object()) {
        for (const auto& member : value.get_object()) {
          if (step.kind == Kind::kAny || passes(member.value(), step)) walk(member.value(), steps, at + 1, limit, out);
        }
      }
      return;
    case Kind::kDescend:
      walk_all(value, steps, at + 1, limit, out);
      return;
  }
}

std::vector<const Json*> JsonPath::find_all(const Json& root, std::size_t limit) const {
  std::vector<const Json*> out;
  walk(root, steps_, 0, limit, out);
  return out;
}

const Json* JsonPath::find_first(const Json& root) const {
  std::vector<const Json*> found = find_all(root, 1);
  return found.empty() ? nullptr : found[0];
}

bool JsonPath::is_plain() const {
  return std::all_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.kind == Kind::kName; });
}

std::vector<std::string> JsonPath::names() const {
  std::vector<std::string> out;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kName) out.push_back(step.name);
  }
  return out;
}

}  // namespace berth
