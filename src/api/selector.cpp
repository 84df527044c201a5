#include "api/selector.h"

#include <algorithm>
#include <charconv>

#include "api/field_error.h"

namespace berth::api {
namespace {

using Op = LabelRequirement::Op;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
bool is_operator_text(std::string_view text) {
  for (const std::string_view known : {"=", "==", "!=", "!", ",", "(", ")", ">", "<"})
    if (text == known) return true;
  return false;
}

// One token of a selector. `symbol` is false for keys, values and the words "in" and "notin".
struct Token {
  std::string_view text;
  bool symbol = false;
  bool end() const { return text.empty(); }
  bool is(std::string_view s) const { return symbol && text == s; }
  bool is_identifier() const { return !symbol && !end(); }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { advance(); }
  const Token& peek() const { return next_; }
  Token take() {
    const Token token = next_;
    advance();
    return token;
  }

 private:
  void advance() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    std::size_t length = 0;
    if (rest_.empty()) {
      next_ = {};
      return;
    }
    const bool symbol = is_symbol(rest_.front());
    if (symbol) {
      length = rest_.size() > 1 && is_operator_text(rest_.substr(0, 2)) ? 2 : 1;
    } else {
      while (length < rest_.size() && !is_space(rest_[length]) && !is_symbol(rest_[length])) ++length;
    }
    next_ = {rest_.substr(0, length), symbol};
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  Token next_;
};

tl::unexpected<Error> found(const Token& token, std::string_view expected) {
  return fail("found '" + std::string(token.text) + "', expected: " + std::string(expected));
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns nullopt when Kubernetes accepts the requirement, else the error.
std::optional<Error> check(const LabelRequirement& r) {
  if (const std::string broken = check_qualified_name(r.key); !broken.empty())
    return Error{"key: Invalid value: " + to_string(Json(r.key)) + ": " + broken};
  if ((r.op == Op::kIn || r.op == Op::kNotIn) && r.values.empty())
    return Error{"values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"};
  if ((r.op == Op::kExists || r.op == Op::kDoesNotExist) && !r.values.empty())
    return Error{"values: Invalid value: values set must be empty for exists and does not exist"};
  if ((r.op == Op::kGreaterThan || r.op == Op::kLessThan) && (r.values.size() != 1 || !integer_in(r.values.front())))
    return Error{"values[0]: Invalid value: for 'Gt', 'Lt' operators, the value must be an integer"};
  for (std::size_t i = 0; i < r.values.size(); ++i)
    if (const std::string broken = check_label_value(r.values[i]); !broken.empty())
      return Error{"values[" + std::to_string(i) + "][" + r.key + "]: Invalid value: " + to_string(Json(r.values[i])) +
                   ": " + broken};
  return std::nullopt;
}

Result<std::vector<std::string>> parse_values(Lexer& lexer) {
  if (const Token open = lexer.take(); !open.is("(")) return found(open, "'('");
  std::vector<std::string> values;
  bool value_expected = true;  // an empty value is allowed, e.g. between two commas
  while (true) {
    const Token token = lexer.take();
    if (token.is_identifier()) {
      if (!value_expected) return found(token, "',' or ')'");
      values.emplace_back(token.text);
      value_expected = false;
    } else if (token.is(",") || token.is(")")) {
      const bool only_parentheses = token.is(")") && values.empty();
      if (value_expected && !only_parentheses) values.emplace_back();
      if (only_parentheses) values.emplace_back();
      value_expected = true;
      if (token.is(")")) break;
    } else {
      return found(token, "',', ')' or identifier");
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Result<LabelRequirement> parse_requirement(Lexer& lexer) {
  LabelRequirement r;
  const bool negated = lexer.peek().is("!");
  if (negated) lexer.take();
  const Token key = lexer.take();
  if (!key.is_identifier()) return found(key, "identifier");
  r.key = key.text;
  if (negated) {
    r.op = Op::kDoesNotExist;
    return r;
  }
  if (lexer.peek().end() || lexer.peek().is(",")) return r;
  const Token op = lexer.take();
  if (!op.symbol && (op.text == "in" || op.text == "notin")) {
    r.op = op.text == "in" ? Op::kIn : Op::kNotIn;
    auto values = parse_values(lexer);
    if (!values) return tl::unexpected(values.error());
    r.values = std::move(*values);
    return r;
  }
  if (op.is("=") || op.is("==")) {
    r.op = Op::kIn;
  } else if (op.is("!=")) {
    r.op = Op::kNotIn;
  } else if (op.is(">") || op.is("<")) {
    r.op = op.is(">") ? Op::kGreaterThan : Op::kLessThan;
  } else {
    return found(op, "in, notin, =, ==, !=, gt, lt");
  }
  const Token& value = lexer.peek();
  if (value.is_identifier()) {
    r.values.emplace_back(lexer.take().text);
  } else if (value.end() || value.is(",")) {
    r.values.emplace_back();
  } else {
    return found(value, "identifier");
  }
  return r;
}

bool matches_one(const LabelRequirement& r, const JsonObject& labels) {
  const Json* member = labels.if_contains(r.key);
  const boost::json::string* text = member ? member->if_string() : nullptr;
  if (!text) return r.op == Op::kNotIn || r.op == Op::kDoesNotExist;
  const auto has_value = [&] { return std::find(r.values.begin(), r.values.end(), view(*text)) != r.values.end(); };
  switch (r.op) {
    case Op::kIn:
      return has_value();
    case Op::kNotIn:
      return !has_value();
    case Op::kExists:
      return true;
    case Op::kDoesNotExist:
      return false;
    case Op::kGreaterThan:
    case Op::kLessThan: {
      const auto actual = integer_in(view(*text));
      const auto bound = integer_in(r.values.front());
      if (!actual || !bound) return false;
      return r.op == Op::kGreaterThan ? *actual > *bound : *actual < *bound;
    }
  }
  return false;
}

Result<LabelRequirement> expression_from_json(const Json& expression) {
  LabelRequirement r;
  r.key = string_at(expression, {"key"});
  const std::string_view op = string_at(expression, {"operator"});
  if (op == "In") {
    r.op = Op::kIn;
  } else if (op == "NotIn") {
    r.op = Op::kNotIn;
  } else if (op == "Exists") {
    r.op = Op::kExists;
  } else if (op == "DoesNotExist") {
    r.op = Op::kDoesNotExist;
  } else {
    return fail("\"" + std::string(op) + "\" is not a valid label selector operator");
  }
  for (const Json& value : array_at(expression, {"values"})) {
    if (!value.is_string()) return fail("values of a label selector must be strings");
    r.values.emplace_back(view(value.get_string()));
  }
  return r;
}

// Splits "a=b,c=d" at commas that are not escaped by a backslash.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      if (text[i] == ',' || text[i] == '=')
        return fail("invalid field selector: unescaped '" + std::string(1, text[i]) + "' in a value");
      out += text[i];
      continue;
    }
    ++i;
    if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '='))
      return fail("invalid field selector: invalid escape sequence in \"" + std::string(text) + "\"");
    out += text[i];
  }
  return out;
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector selector;
  Lexer lexer(text);
  if (lexer.peek().end()) return selector;
  if (!lexer.peek().is_identifier() && !lexer.peek().is("!"))
    return found(lexer.peek(), "!, identifier, or 'end of string'");
  while (true) {
    auto requirement = parse_requirement(lexer);
    if (!requirement) return fail("unable to parse requirement: " + requirement.error().message);
    if (auto broken = check(*requirement)) return fail("unable to parse requirement: " + broken->message);
    selector.requirements_.push_back(std::move(*requirement));
    const Token separator = lexer.take();
    if (separator.end()) return selector;
    if (!separator.is(",")) return found(separator, "',' or 'end of string'");
    if (!lexer.peek().is_identifier() && !lexer.peek().is("!")) return found(lexer.peek(), "identifier after ','");
  }
}

Result<LabelSelector> LabelSelector::from_json(const Json& value) {
  if (value.is_null()) return nothing();
  if (!value.is_object()) return fail("a label selector must be an object");
  LabelSelector selector;
  for (const auto& member : object_at(value, {"matchLabels"})) {
    if (!member.value().is_string()) return fail("matchLabels of a label selector must be strings");
    selector.requirements_.push_back({member.key(), Op::kIn, {std::string(view(member.value().get_string()))}});
  }
  std::sort(selector.requirements_.begin(), selector.requirements_.end(),
            [](const LabelRequirement& a, const LabelRequirement& b) { return a.key < b.key; });
  for (const Json& expression : array_at(value, {"matchExpressions"})) {
    auto requirement = expression_from_json(expression);
    if (!requirement) return tl::unexpected(requirement.error());
    selector.requirements_.push_back(std::move(*requirement));
  }
  for (const LabelRequirement& requirement : selector.requirements_)
    if (auto broken = check(requirement)) return tl::unexpected(std::move(*broken));
  return selector;
}

LabelSelector LabelSelector::all_of(std::vector<LabelRequirement> requirements) {
  LabelSelector selector;
  selector.requirements_ = std::move(requirements);
  return selector;
}

LabelSelector LabelSelector::nothing() {
  LabelSelector selector;
  selector.nothing_ = true;
  return selector;
}

bool LabelSelector::matches(const JsonObject& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&](const LabelRequirement& r) { return matches_one(r, labels); });
}

Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text) {
  std::vector<FieldRequirement> requirements;
  for (const std::string_view term : split_terms(text)) {
    if (term.empty()) continue;
    std::size_t at = 0;
    while (at < term.size() && term[at] != '=' && term.substr(at, 2) != "!=") at += term[at] == '\\' ? 2 : 1;
    if (at >= term.size())
      return fail("invalid selector: '" + std::string(text) + "'; can't understand '" + std::string(term) + "'");
    const bool equal = term[at] == '=';
    const std::size_t length = !equal || term.substr(at, 2) == "==" ? 2 : 1;
    auto value = unescape(term.substr(at + length));
    if (!value) return tl::unexpected(value.error());
    requirements.push_back({std::string(term.substr(0, at)), equal, std::move(*value)});
  }
  return requirements;
}

}  // namespace berth::api
