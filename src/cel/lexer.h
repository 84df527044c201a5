// The tokens of CEL.
#pragma once

#include <string>
#include <string_view>

#include "cel/value.h"

namespace berth::cel {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kLiteral, kSign, kBad };
  Kind kind = Kind::kEnd;
  std::string_view text;  // source text; for kSign the operator or bracket
  std::size_t at = 0;
  Value literal;        // for kLiteral: a number, string or bytes
  std::string problem;  // for kBad: the error
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  Token next();

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  void skip_space();
  Token number();
  Token name_or_string();
  Token string(bool raw, bool bytes, std::size_t start);
  bool escape(std::string& out, bool bytes, std::string& problem);
  bool digits(int count, int base, std::uint32_t& out);
  Token token(Token::Kind kind, std::size_t start) const;
  Token bad(std::size_t start, std::string problem) const;

  std::string_view source_;
  std::size_t at_ = 0;
};

}  // namespace berth::cel
