#include "house/class_methods.h"

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace berth::house {
namespace {

struct Token {
  std::string text;
  std::size_t line = 0;
};
using Statement = std::vector<Token>;

bool is_name(const std::string& token) {
  return std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_';
}

// Names, numbers and single characters. Comments, literals and preprocessor lines are left out.
class Tokens {
 public:
  std::vector<Token> read(const std::vector<std::string>& lines) {
    for (line_ = 0; line_ < lines.size(); ++line_) read_line(lines[line_]);
    return std::move(out_);
  }

 private:
  void read_line(std::string_view text) {
    const auto first = text.find_first_not_of(' ');
    if (raw_end_.empty() && first != text.npos && text[first] == '#') return;
    for (std::size_t at = 0; at < text.size();) {
      if (!raw_end_.empty()) {
        const auto end = text.find(raw_end_, at);
        if (end == text.npos) return;
        at = end + raw_end_.size();
        raw_end_.clear();
      } else if (text.substr(at).starts_with("//")) {
        return;
      } else if (text.substr(at).starts_with("R\"")) {
        const auto open = text.find('(', at);
        raw_end_ = ")" + std::string(text.substr(at + 2, open - at - 2)) + "\"";
        at = open + 1;
      } else if (text[at] == '"' || is_character(text, at)) {
        at = end_of_literal(text, at);
      } else {
        at = read_token(text, at);
      }
    }
  }

  // An apostrophe within a number separates digits.
  static bool is_character(std::string_view text, std::size_t at) {
    return text[at] == '\'' && (at == 0 || std::isdigit(static_cast<unsigned char>(text[at - 1])) == 0);
  }

  static std::size_t end_of_literal(std::string_view text, std::size_t at) {
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at) {
      if (text[at] == '\\') ++at;
    }
    return at + 1;
  }

  std::size_t read_token(std::string_view text, std::size_t at) {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::size_t end = at + 1;
    if (in_name(text[at])) {
      while (end < text.size() && in_name(text[end])) ++end;
    }
    if (text[at] != ' ' && text[at] != '\t') out_.push_back({std::string(text.substr(at, end - at)), line_});
    return end;
  }

  std::vector<Token> out_;
  std::string raw_end_;  // of the raw string that is being read
  std::size_t line_ = 0;
};

// Without `template <...>`, template arguments and access labels.
Statement plain(const Statement& statement) {
  Statement out;
  int angles = 0;
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const std::string& token = statement[i].text;
    const bool is_operator = !out.empty() && out.back().text == "operator";
    if (token == "<" && !is_operator) ++angles;
    if (angles == 0 && token != "template") out.push_back(statement[i]);
    if (token == ">" && angles > 0) --angles;
    const bool label = token == ":" && out.size() == 2 &&
                       (out[0].text == "public" || out[0].text == "private" || out[0].text == "protected");
    if (label) out.clear();
  }
  return out;
}

// The token that names the class when the statement before `{` begins the body of one.
std::optional<Token> class_of(const Statement& statement) {
  if (statement.size() < 2 || (statement[0].text != "class" && statement[0].text != "struct")) return std::nullopt;
  for (const Token& token : statement) {
    if (token.text == "(" || token.text == "=") return std::nullopt;
  }
  std::size_t at = 1;
  while (at + 2 < statement.size() && statement[at + 1].text == ":" && statement[at + 2].text == ":") at += 3;
  return statement[at];
}

bool is_method(const Statement& statement) {
  if (statement.empty()) return false;
  for (const char* word : {"using", "friend", "typedef", "static_assert", "enum", "class", "struct"}) {
    if (statement[0].text == word) return false;
  }
  bool is_operator = false;
  for (std::size_t i = 1; i < statement.size(); ++i) {
    is_operator = is_operator || statement[i - 1].text == "operator";
    if (statement[i].text == "=" && !is_operator) return false;
    if (statement[i].text == "(") return is_operator || is_name(statement[i - 1].text);
  }
  return false;
}

class Reader {
 public:
  explicit Reader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<ClassMethods> read() {
    while (at_ < tokens_.size()) read_scope(nullptr);
    return std::move(out_);
  }

 private:
  // Reads to the end of the scope. `in`: the class whose body it is; null: a namespace.
  void read_scope(ClassMethods* in) {
    Statement statement;
    const auto end_statement = [&] {
      if (in != nullptr && is_method(plain(statement))) ++in->methods;
      statement.clear();
    };
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_++];
      if (token.text == "}") return;
      if (token.text == ";") {
        end_statement();
      } else if (token.text != "{") {
        statement.push_back(token);
      } else if (const auto name = class_of(plain(statement))) {
        ClassMethods found{name->text, name->line};
        read_scope(&found);
        out_.push_back(std::move(found));
        statement.clear();
      } else if (opens_namespace(statement)) {
        read_scope(nullptr);
        statement.clear();
      } else {
        skip_body();
        // The braces of an initializer do not end the declaration; the body of a function does.
        if (is_method(plain(statement)) && (at_ == tokens_.size() || tokens_[at_].text != ",")) end_statement();
      }
    }
  }

  static bool opens_namespace(const Statement& statement) {
    return !statement.empty() && (statement[0].text == "namespace" || statement[0].text == "extern");
  }

  void skip_body() {
    for (int depth = 1; depth > 0 && at_ < tokens_.size(); ++at_) {
      if (tokens_[at_].text == "{") ++depth;
      if (tokens_[at_].text == "}") --depth;
    }
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<ClassMethods> out_;
};

}  // namespace

std::vector<ClassMethods> class_methods(const std::vector<std::string>& lines) {
  return Reader(Tokens().read(lines)).read();
}

}  // namespace berth::house
