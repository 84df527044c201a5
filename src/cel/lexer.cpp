#include "cel/lexer.h"

#include <charconv>

#include "base/text.h"

namespace berth::cel {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (code >> 6U)));
    out.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (code >> 12U)));
    out.push_back(static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
  } else {
    out.push_back(static_cast<char>(0xF0U | (code >> 18U)));
    out.push_back(static_cast<char>(0x80U | ((code >> 12U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)));
    out.push_back(static_cast<char>(0x80U | (code & 0x3FU)));
  }
}

}  // namespace

Token Lexer::token(Token::Kind kind, std::size_t start) const {
  Token out;
  out.kind = kind;
  out.at = start;
  out.text = source_.substr(start, at_ - start);
  return out;
}

Token Lexer::bad(std::size_t start, std::string problem) const {
  Token out = token(Token::Kind::kBad, start);
  out.problem = std::move(problem);
  return out;
}

void Lexer::skip_space() {
  while (at_ < source_.size()) {
    if (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r' || peek() == '\f') {
      ++at_;
    } else if (peek() == '/' && peek(1) == '/') {
      while (at_ < source_.size() && peek() != '\n') ++at_;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  const std::size_t start = at_;
  if (at_ >= source_.size()) return token(Token::Kind::kEnd, start);
  if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
  if (is_letter(peek()) || peek() == '\'' || peek() == '"') return name_or_string();
  static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "&&", "||"};
  for (std::string_view two : kTwo) {
    if (source_.substr(at_, 2) != two) continue;
    at_ += 2;
    return token(Token::Kind::kSign, start);
  }
  constexpr std::string_view kOne = "[]{}().,:?+-*/%!<>";
  ++at_;
  if (kOne.find(source_[start]) != std::string_view::npos) return token(Token::Kind::kSign, start);
  return bad(start, "Syntax error: token recognition error at: '" + std::string(source_.substr(start, 1)) + "'");
}

Token Lexer::number() {
  const std::size_t start = at_;
  const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  bool fraction = false;
  if (hex) at_ += 2;
  auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  while (hex ? is_hex(peek()) : is_digit(peek())) ++at_;
  if (!hex && peek() == '.' && is_digit(peek(1))) {
    fraction = true;
    ++at_;
    while (is_digit(peek())) ++at_;
  }
  if (!hex && (peek() == 'e' || peek() == 'E') &&
      (is_digit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && is_digit(peek(2))))) {
    fraction = true;
    at_ += 2;
    while (is_digit(peek())) ++at_;
  }
  std::string_view text = source_.substr(start, at_ - start);
  std::string_view body = hex ? text.substr(2) : text;
  const bool is_unsigned = !fraction && (peek() == 'u' || peek() == 'U');
  Token out;
  std::uint64_t whole = 0;
  double real = 0;
  std::from_chars_result read{};
  if (fraction) {
    read = std::from_chars(body.data(), body.data() + body.size(), real);
  } else {
    read = std::from_chars(body.data(), body.data() + body.size(), whole, hex ? 16 : 10);
  }
  if (is_unsigned) ++at_;
  out = token(Token::Kind::kLiteral, start);
  // Accept 2^63 here, because it is valid in -9223372036854775808; the parser rejects it without the minus.
  constexpr std::uint64_t kMost = 1ULL << 63U;
  if (read.ec != std::errc() || (!fraction && !is_unsigned && whole > kMost)) return bad(start, "invalid int literal");
  if (fraction) {
    out.literal = real;
  } else if (is_unsigned) {
    out.literal = whole;
  } else {
    out.literal = static_cast<std::int64_t>(whole);
  }
  return out;
}

Token Lexer::name_or_string() {
  const std::size_t start = at_;
  bool raw = false, bytes = false;
  std::size_t prefix = 0;
  for (; prefix < 2; ++prefix) {
    const char c = peek(prefix);
    if ((c == 'r' || c == 'R') && !raw) {
      raw = true;
    } else if ((c == 'b' || c == 'B') && !bytes) {
      bytes = true;
    } else {
      break;
    }
  }
  if (peek(prefix) == '\'' || peek(prefix) == '"') {
    at_ += prefix;
    return string(raw, bytes, start);
  }
  while (is_letter(peek()) || is_digit(peek())) ++at_;
  return token(Token::Kind::kName, start);
}

Token Lexer::string(bool raw, bool bytes, std::size_t start) {
  const char quote = peek();
  const bool triple = peek(1) == quote && peek(2) == quote;
  at_ += triple ? 3 : 1;
  std::string out, problem;
  while (true) {
    if (at_ >= source_.size() || (!triple && (peek() == '\n' || peek() == '\r')))
      return bad(start, "Syntax error: unterminated string");
    if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
    if (peek() == '\\' && !raw) {
      ++at_;
      if (!escape(out, bytes, problem)) return bad(start, problem);
    } else {
      out.push_back(source_[at_++]);
    }
  }
  at_ += triple ? 3 : 1;
  Token result = token(Token::Kind::kLiteral, start);
  result.literal =
      bytes ? Value(Bytes{std::make_shared<const std::string>(std::move(out))}) : cel::text(std::move(out));
  return result;
}

bool Lexer::digits(int count, int base, std::uint32_t& out) {
  const std::string_view text = source_.substr(at_, static_cast<std::size_t>(count));
  auto read = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (text.size() != static_cast<std::size_t>(count) || read.ec != std::errc() || read.ptr != text.data() + text.size())
    return false;
  at_ += static_cast<std::size_t>(count);
  return true;
}

bool Lexer::escape(std::string& out, bool bytes, std::string& problem) {
  static constexpr std::pair<char, char> kPlain[] = {{'a', '\a'},  {'b', '\b'}, {'f', '\f'}, {'n', '\n'},
                                                     {'r', '\r'},  {'t', '\t'}, {'v', '\v'}, {'\\', '\\'},
                                                     {'\'', '\''}, {'"', '"'},  {'`', '`'},  {'?', '?'}};
  const char c = peek();
  for (auto [from, to] : kPlain) {
    if (c != from) continue;
    ++at_;
    out.push_back(to);
    return true;
  }
  std::uint32_t code = 0;
  bool ok = false;
  if (c == 'x' || c == 'X' || c == 'u' || c == 'U') {
    ++at_;
    ok = digits(c == 'u' ? 4 : c == 'U' ? 8 : 2, 16, code);
  } else if (c >= '0' && c <= '3') {
    ok = digits(3, 8, code);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (!ok || code > 0x10FFFF || surrogate) {
    problem = "Syntax error: invalid escape sequence";
    return false;
  }
  if (bytes && c != 'u' && c != 'U') {
    out.push_back(static_cast<char>(code));
  } else {
    append_utf8(code, out);
  }
  return true;
}

}  // namespace berth::cel
