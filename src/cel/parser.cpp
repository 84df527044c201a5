#include "cel/parser.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <optional>

#include "cel/lexer.h"

namespace berth::cel {
namespace {

// Binary operators by precedence; the ternary operator has the lowest.
struct Operator {
  std::string_view sign, function;
  int precedence;
};
constexpr Operator kBinaryOperators[] = {{"||", "_||_", 1}, {"&&", "_&&_", 2}, {"==", "_==_", 3}, {"!=", "_!=_", 3},
                                         {"<", "_<_", 3},   {"<=", "_<=_", 3}, {">", "_>_", 3},   {">=", "_>=_", 3},
                                         {"in", "@in", 3},  {"+", "_+_", 4},   {"-", "_-_", 4},   {"*", "_*_", 5},
                                         {"/", "_/_", 5},   {"%", "_%_", 5}};

struct MacroForm {
  std::string_view name;
  Expr::Macro macro;
  std::size_t arguments;
};
constexpr MacroForm kMacros[] = {{"all", Expr::Macro::kAll, 2},
                                 {"exists", Expr::Macro::kExists, 2},
                                 {"exists_one", Expr::Macro::kExistsOne, 2},
                                 {"existsOne", Expr::Macro::kExistsOne, 2},
                                 {"filter", Expr::Macro::kFilter, 2},
                                 {"map", Expr::Macro::kMap, 2},
                                 {"map", Expr::Macro::kMap, 3},
                                 {"optMap", Expr::Macro::kOptMap, 2},
                                 {"optFlatMap", Expr::Macro::kOptFlatMap, 2}};

constexpr std::array<std::string_view, 16> kReserved = {"as",        "break",  "const",  "continue", "else", "for",
                                                        "function",  "if",     "import", "let",      "loop", "package",
                                                        "namespace", "return", "var",    "void"};

class Parser {
 public:
  Parser(std::string_view source, std::vector<Problem>& problems) : lexer_(source), problems_(problems) { advance(); }

  ExprPtr whole() {
    ExprPtr result = expression();
    if (ok() && token_.kind != Token::Kind::kEnd) unexpected();
    return ok() ? std::move(result) : nullptr;
  }

 private:
  bool ok() const { return problems_.empty(); }
  void advance() { token_ = lexer_.next(); }
  bool at(std::string_view sign) const { return token_.kind == Token::Kind::kSign && token_.text == sign; }
  bool take(std::string_view sign) {
    if (!at(sign)) return false;
    advance();
    return true;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) unexpected();
  }
  void unexpected() {
    if (!ok()) return;  // only the first problem is reported
    if (token_.kind == Token::Kind::kBad) return problem(token_.at, token_.problem);
    std::string what = token_.kind == Token::Kind::kEnd ? "<EOF>" : std::string(token_.text);
    problem(token_.at, fmt::format("Syntax error: mismatched input '{}'", what));
  }
  void problem(std::size_t where, std::string message) { problems_.push_back({where, std::move(message)}); }

  static ExprPtr make(Expr::Kind kind, std::size_t where, std::string_view name = {}) {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->at = where;
    expr->name = name;
    return expr;
  }
  template <typename... Args>
  static ExprPtr call(std::string_view function, std::size_t where, Args... args) {
    ExprPtr expr = make(Expr::Kind::kCall, where, function);
    (expr->args.push_back(std::move(args)), ...);
    return expr;
  }

  ExprPtr expression() {
    if (++depth_ > kMaxDepth) {
      if (ok()) problem(token_.at, fmt::format("expression recursion limit exceeded: {}", kMaxDepth));
      return make(Expr::Kind::kLiteral, token_.at);
    }
    ExprPtr result = binary(1);
    if (at("?")) {
      const std::size_t where = token_.at;
      advance();
      ExprPtr yes = binary(1);
      expect(":");
      ExprPtr no = ok() ? expression() : nullptr;
      result = call("_?_:_", where, std::move(result), std::move(yes), std::move(no));
    }
    --depth_;
    return result;
  }

  const Operator* operator_here() const {
    const bool is_in = token_.kind == Token::Kind::kName && token_.text == "in";
    if (token_.kind != Token::Kind::kSign && !is_in) return nullptr;
    for (const Operator& op : kBinaryOperators) {
      if (op.sign == token_.text) return &op;
    }
    return nullptr;
  }

  // All operators are left-associative. A long chain makes a deep tree, so its length counts towards the depth.
  ExprPtr binary(int least) {
    ExprPtr left = unary();
    const int depth = depth_;
    while (ok()) {
      const Operator* op = operator_here();
      if (op == nullptr || op->precedence < least) break;
      const std::size_t where = token_.at;
      advance();
      ExprPtr right = binary(op->precedence + 1);
      left = call(op->function, where, std::move(left), std::move(right));
      if (++chain_ > kMaxChain) problem(where, fmt::format("expression has more than {} operators", kMaxChain));
    }
    depth_ = depth;
    return left;
  }

  ExprPtr unary() {
    if (at("!") || at("-")) {
      const std::size_t where = token_.at;
      const bool minus = at("-");
      if (++depth_ > kMaxDepth) {
        if (ok()) problem(where, fmt::format("expression recursion limit exceeded: {}", kMaxDepth));
        return make(Expr::Kind::kLiteral, where);
      }
      advance();
      ExprPtr operand;
      if (minus && token_.kind == Token::Kind::kLiteral && negate_literal()) {
        operand = postfix();
      } else {
        operand = call(minus ? "-_" : "!_", where, unary());
      }
      --depth_;
      return operand;
    }
    return postfix();
  }

  // Negates a number literal: "-5" is a literal.
  bool negate_literal() {
    if (auto* i = std::get_if<std::int64_t>(&token_.literal)) {
      *i = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*i));
      negated_ = true;
      return true;
    }
    if (auto* d = std::get_if<double>(&token_.literal)) {
      *d = -*d;
      return true;
    }
    return false;
  }

  ExprPtr postfix() {
    ExprPtr result = primary();
    int steps = 0;
    while (ok()) {
      if (++steps > kMaxDepth) problem(token_.at, fmt::format("expression recursion limit exceeded: {}", kMaxDepth));
      const std::size_t where = token_.at;
      if (take(".")) {
        result = select(std::move(result), where);
      } else if (take("[")) {
        ExprPtr index = make(Expr::Kind::kIndex, where);
        index->optional = take("?");
        index->args.push_back(std::move(result));
        index->args.push_back(expression());
        expect("]");
        result = std::move(index);
      } else {
        break;
      }
    }
    return result;
  }

  ExprPtr select(ExprPtr operand, std::size_t dot) {
    const bool optional = take("?");
    if (token_.kind != Token::Kind::kName) {
      unexpected();
      return operand;
    }
    const std::string name(token_.text);
    advance();
    if (at("(") && !optional) return member_call(std::move(operand), name);
    ExprPtr result = make(Expr::Kind::kSelect, dot, name);
    result->optional = optional;
    result->args.push_back(std::move(operand));
    return result;
  }

  ExprPtr member_call(ExprPtr target, const std::string& name) {
    const std::size_t where = token_.at;
    advance();
    std::vector<ExprPtr> args = arguments(")");
    for (const MacroForm& form : kMacros) {
      if (form.name == name && form.arguments == args.size())
        return macro(form.macro, std::move(target), std::move(args), where);
    }
    ExprPtr result = make(Expr::Kind::kCall, where, name);
    result->member = true;
    // `optional.of(x)`, `sets.contains(a, b)`: functions with a dot in the name.
    if (target->kind == Expr::Kind::kVariable && (target->name == "optional" || target->name == "sets")) {
      result->name = target->name + "." + name;
      result->member = false;
    } else {
      result->args.push_back(std::move(target));
    }
    for (ExprPtr& arg : args) result->args.push_back(std::move(arg));
    return result;
  }

  ExprPtr macro(Expr::Macro which, ExprPtr target, std::vector<ExprPtr> args, std::size_t where) {
    if (args[0] == nullptr || args[0]->kind != Expr::Kind::kVariable) {
      if (ok()) problem(args[0] ? args[0]->at : where, "argument must be a simple name");
      return target;
    }
    ExprPtr result = make(Expr::Kind::kMacro, where, args[0]->name);
    result->macro = which;
    result->args.push_back(std::move(target));
    for (std::size_t i = 1; i < args.size(); ++i) result->args.push_back(std::move(args[i]));
    return result;
  }

  std::vector<ExprPtr> arguments(std::string_view end) {
    std::vector<ExprPtr> out;
    while (ok() && !at(end)) {
      out.push_back(expression());
      if (!take(",")) break;
    }
    expect(end);
    return out;
  }

  ExprPtr primary() {
    const std::size_t where = token_.at;
    if (token_.kind == Token::Kind::kLiteral) return literal();
    if (token_.kind == Token::Kind::kName) return name();
    if (take("(")) {
      ExprPtr inner = expression();
      expect(")");
      return inner;
    }
    if (take("[")) {
      ExprPtr list = make(Expr::Kind::kList, where);
      list->args = arguments("]");
      return list;
    }
    if (take("{")) return map(where);
    unexpected();
    return make(Expr::Kind::kLiteral, where);
  }

  ExprPtr literal() {
    ExprPtr result = make(Expr::Kind::kLiteral, token_.at);
    result->literal = token_.literal;
    const auto* i = token_.literal.as<std::int64_t>();
    if (i != nullptr && *i == std::numeric_limits<std::int64_t>::min() && !negated_)
      problem(token_.at, "invalid int literal");
    negated_ = false;
    advance();
    return result;
  }

  ExprPtr map(std::size_t where) {
    ExprPtr result = make(Expr::Kind::kMap, where);
    while (ok() && !at("}")) {
      result->optional_entries.push_back(take("?"));
      result->args.push_back(expression());
      expect(":");
      if (ok()) result->args.push_back(expression());
      if (!take(",")) break;
    }
    expect("}");
    return result;
  }

  ExprPtr name() {
    const std::string name(token_.text);
    const std::size_t where = token_.at;
    ExprPtr result = make(Expr::Kind::kLiteral, where);
    if (name == "true" || name == "false") {
      result->literal = name == "true";
      advance();
      return result;
    }
    if (name == "null") {
      advance();
      return result;
    }
    for (std::string_view reserved : kReserved) {
      if (name == reserved) problem(where, fmt::format("reserved identifier: {}", name));
    }
    if (name == "in") unexpected();
    advance();
    if (!at("(")) return make(Expr::Kind::kVariable, where, name);
    const std::size_t open = token_.at;
    advance();
    std::vector<ExprPtr> args = arguments(")");
    if (name == "has" && args.size() == 1) return has(std::move(args[0]), open);
    result = make(Expr::Kind::kCall, open, name);
    result->args = std::move(args);
    return result;
  }

  ExprPtr has(ExprPtr argument, std::size_t where) {
    if (argument == nullptr || argument->kind != Expr::Kind::kSelect || argument->optional) {
      if (ok()) problem(where, "invalid argument to has() macro");
      return argument;
    }
    argument->kind = Expr::Kind::kHas;
    return argument;
  }

  // Maximum number of chained operators in an expression; bounds the depth of the tree.
  static constexpr int kMaxChain = 2000;

  Lexer lexer_;
  Token token_;
  std::vector<Problem>& problems_;
  int depth_ = 0, chain_ = 0;
  bool negated_ = false;
};

}  // namespace

ExprPtr parse(std::string_view source, std::vector<Problem>& problems) {
  if (source.size() > kMaxSource) {
    problems.push_back(
        {0, fmt::format("expression code point size exceeds limit: size: {}, limit {}", source.size(), kMaxSource)});
    return nullptr;
  }
  return Parser(source, problems).whole();
}

std::string display(std::string_view source, const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& problem : problems) {
    const std::size_t at = std::min(problem.at, source.size());
    std::size_t line = 1, begin = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (source[i] != '\n') continue;
      ++line;
      begin = i + 1;
    }
    const std::string_view snippet = source.substr(begin, source.find('\n', begin) - begin);
    if (!out.empty()) out += "\n";
    out += fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {}^", line, at - begin + 1, problem.message, snippet,
                       std::string(at - begin, '.'));
  }
  return out;
}

}  // namespace berth::cel
