// size, contains, startsWith, split and other string functions.
#include <re2/re2.h>

#include <algorithm>

#include "cel/functions.h"
#include "cel/pattern.h"

namespace berth::cel {
namespace {

constexpr std::size_t kMaxText =
    1u << 20;  // maximum bytes of a function's result, so that repeated concatenation cannot exhaust memory

const std::string_view* text_at(std::span<const Value> args, std::size_t i) {
  const auto* text = i < args.size() ? args[i].as<Text>() : nullptr;
  return text != nullptr ? &text->view : nullptr;
}
const std::int64_t* int_at(std::span<const Value> args, std::size_t i) {
  return i < args.size() ? args[i].as<std::int64_t>() : nullptr;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// The byte offset of a character; the size of the text when it is past the end.
std::size_t offset_of(std::string_view text, std::size_t character) {
  std::size_t at = 0;
  while (at < text.size() && character > 0) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    --character;
  }
  return at;
}

std::int64_t index_of_offset(std::string_view text, std::size_t offset) {
  return offset == std::string_view::npos ? -1 : static_cast<std::int64_t>(count_characters(text.substr(0, offset)));
}

Value size(std::span<const Value> args) {
  if (const auto* text = text_at(args, 0)) return static_cast<std::int64_t>(count_characters(*text));
  if (const auto* bytes = args[0].as<Bytes>()) return static_cast<std::int64_t>(bytes->data->size());
  if (is_list(args[0]) || is_map(args[0])) return static_cast<std::int64_t>(length(args[0]));
  return no_such_overload();
}

template <typename Test>
Value test(std::span<const Value> args, Test test) {
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  return a != nullptr && b != nullptr ? Value(test(*a, *b)) : no_such_overload();
}
Value contains(std::span<const Value> args) {
  return test(args, [](auto a, auto b) { return a.find(b) != std::string_view::npos; });
}
Value starts_with(std::span<const Value> args) {
  return test(args, [](auto a, auto b) { return a.starts_with(b); });
}
Value ends_with(std::span<const Value> args) {
  return test(args, [](auto a, auto b) { return a.ends_with(b); });
}

Value bad_pattern(const re2::RE2& expression) { return failure("error parsing regexp: " + expression.error()); }

Value matches(std::span<const Value> args) {
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  if (a == nullptr || b == nullptr) return no_such_overload();
  auto expression = compile_pattern(*b);
  if (!expression->ok()) return bad_pattern(*expression);
  return re2::RE2::PartialMatch(re2::StringPiece(a->data(), a->size()), *expression);
}

// Returns all matches, at most `limit`.
std::vector<Value> find_matches(std::string_view text, const re2::RE2& expression, std::int64_t limit) {
  std::vector<Value> out;
  re2::StringPiece rest(text.data(), text.size()), found;
  while (static_cast<std::int64_t>(out.size()) < limit &&
         expression.Match(rest, 0, rest.size(), re2::RE2::UNANCHORED, &found, 1)) {
    out.push_back(cel::text(std::string(found.data(), found.size())));
    std::size_t used = static_cast<std::size_t>(found.data() - rest.data()) + found.size();
    if (found.empty()) ++used;
    if (used > rest.size()) break;
    rest.remove_prefix(used);
  }
  return out;
}

Value find_first(std::span<const Value> args) {
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  if (a == nullptr || b == nullptr) return no_such_overload();
  auto expression = compile_pattern(*b);
  if (!expression->ok()) return bad_pattern(*expression);
  auto found = find_matches(*a, *expression, 1);
  return found.empty() ? cel::text("") : found[0];
}

Value find_all(std::span<const Value> args) {
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  if (a == nullptr || b == nullptr) return no_such_overload();
  auto expression = compile_pattern(*b);
  if (!expression->ok()) return bad_pattern(*expression);
  const auto* limit = int_at(args, 2);
  const std::int64_t all = INT64_MAX;
  return list_of(find_matches(*a, *expression, limit != nullptr && *limit >= 0 ? *limit : all));
}

Value change_case(std::span<const Value> args, char from, char to, int by) {
  const auto* a = text_at(args, 0);
  if (a == nullptr) return no_such_overload();
  std::string out(*a);
  for (char& c : out) {
    if (c >= from && c <= to) c = static_cast<char>(c + by);
  }
  return cel::text(std::move(out));
}
Value lower_ascii(std::span<const Value> args) { return change_case(args, 'A', 'Z', 'a' - 'A'); }
Value upper_ascii(std::span<const Value> args) { return change_case(args, 'a', 'z', 'A' - 'a'); }

Value trim(std::span<const Value> args) {
  const auto* a = text_at(args, 0);
  if (a == nullptr) return no_such_overload();
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t begin = a->find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return cel::text("");
  return cel::text(std::string(a->substr(begin, a->find_last_not_of(kSpace) - begin + 1)));
}

Value char_at(std::span<const Value> args) {
  const auto* a = text_at(args, 0);
  const auto* i = int_at(args, 1);
  if (a == nullptr || i == nullptr) return no_such_overload();
  const auto count = static_cast<std::int64_t>(count_characters(*a));
  if (*i < 0 || *i > count) return failure("index out of range: " + std::to_string(*i));
  const std::size_t begin = offset_of(*a, static_cast<std::size_t>(*i));
  return cel::text(std::string(a->substr(begin, offset_of(a->substr(begin), 1))));
}

Value substring(std::span<const Value> args) {
  const auto* a = text_at(args, 0);
  const auto* begin = int_at(args, 1);
  if (a == nullptr || begin == nullptr) return no_such_overload();
  const auto count = static_cast<std::int64_t>(count_characters(*a));
  const std::int64_t end = int_at(args, 2) != nullptr ? *int_at(args, 2) : count;
  if (*begin < 0 || *begin > count) return failure("index out of range: " + std::to_string(*begin));
  if (end < 0 || end > count) return failure("index out of range: " + std::to_string(end));
  if (*begin > end)
    return failure("invalid substring range. start: " + std::to_string(*begin) + ", end: " + std::to_string(end));
  const std::size_t from = offset_of(*a, static_cast<std::size_t>(*begin)),
                    to = offset_of(*a, static_cast<std::size_t>(end));
  return cel::text(std::string(a->substr(from, to - from)));
}

Value index_of(std::span<const Value> args) {
  if (is_list(args[0])) {
    for (std::size_t i = 0; i < length(args[0]); ++i) {
      if (equal(item(args[0], i), args[1])) return static_cast<std::int64_t>(i);
    }
    return std::int64_t{-1};
  }
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  if (a == nullptr || b == nullptr) return no_such_overload();
  std::size_t from = 0;
  if (const auto* start = int_at(args, 2)) {
    if (*start < 0 || *start > static_cast<std::int64_t>(count_characters(*a)))
      return failure("index out of range: " + std::to_string(*start));
    from = offset_of(*a, static_cast<std::size_t>(*start));
  }
  return index_of_offset(*a, a->find(*b, from));
}

Value last_index_of(std::span<const Value> args) {
  if (is_list(args[0])) {
    for (std::size_t i = length(args[0]); i > 0; --i) {
      if (equal(item(args[0], i - 1), args[1])) return static_cast<std::int64_t>(i - 1);
    }
    return std::int64_t{-1};
  }
  const auto *a = text_at(args, 0), *b = text_at(args, 1);
  if (a == nullptr || b == nullptr) return no_such_overload();
  return index_of_offset(*a, a->rfind(*b));
}

Value replace(std::span<const Value> args) {
  const auto *a = text_at(args, 0), *from = text_at(args, 1), *to = text_at(args, 2);
  if (a == nullptr || from == nullptr || to == nullptr) return no_such_overload();
  const auto* limit = int_at(args, 3);
  std::int64_t left = limit != nullptr && *limit >= 0 ? *limit : INT64_MAX;
  std::string out;
  std::string_view rest = *a;
  while (left-- > 0 && out.size() < kMaxText) {
    const std::size_t at = rest.find(*from);
    if (at == std::string_view::npos || (from->empty() && rest.empty())) break;
    const std::size_t next = from->empty() ? offset_of(rest, 1) : at + from->size();
    out += rest.substr(0, at);
    out += *to;
    if (from->empty()) out += rest.substr(0, next);
    rest.remove_prefix(next);
  }
  if (out.size() >= kMaxText) return failure("string is too long");
  return cel::text(out + std::string(rest));
}

Value split(std::span<const Value> args) {
  const auto *a = text_at(args, 0), *by = text_at(args, 1);
  if (a == nullptr || by == nullptr) return no_such_overload();
  const auto* limit = int_at(args, 2);
  std::int64_t left = limit != nullptr && *limit >= 0 ? *limit : INT64_MAX;
  std::vector<Value> out;
  if (left == 0) return list_of({});
  std::string_view rest = *a;
  while (static_cast<std::int64_t>(out.size()) + 1 < left) {
    std::size_t at = by->empty() ? (rest.empty() ? std::string_view::npos : offset_of(rest, 1)) : rest.find(*by);
    if (at == std::string_view::npos || (by->empty() && at >= rest.size())) break;
    out.push_back(cel::text(std::string(rest.substr(0, at))));
    rest.remove_prefix(at + by->size());
  }
  out.push_back(cel::text(std::string(rest)));
  return list_of(std::move(out));
}

Value join(std::span<const Value> args) {
  if (!is_list(args[0])) return no_such_overload();
  const std::string_view by = text_at(args, 1) != nullptr ? *text_at(args, 1) : std::string_view();
  std::string out;
  for (std::size_t i = 0; i < length(args[0]); ++i) {
    Value part = item(args[0], i);
    const auto* text = part.as<Text>();
    if (text == nullptr) return no_such_overload();
    if (i > 0) out += by;
    out += text->view;
    if (out.size() > kMaxText) return failure("string is too long");
  }
  return cel::text(std::move(out));
}

constexpr std::string_view kSized = "s:i y:i L:i M:i";

constexpr Function kTextFunctions[] = {
    {"size", false, kSized, CostKind::kConstant, size},
    {"size", true, kSized, CostKind::kConstant, size},
    {"contains", true, "ss:b", CostKind::kProduct, contains},
    {"startsWith", true, "ss:b", CostKind::kSecond, starts_with},
    {"endsWith", true, "ss:b", CostKind::kSecond, ends_with},
    {"matches", true, "ss:b", CostKind::kRegex, matches},
    {"matches", false, "ss:b", CostKind::kRegex, matches},
    {"find", true, "ss:s", CostKind::kRegex, find_first},
    {"findAll", true, "ss:l ssi:l", CostKind::kRegex, find_all},
    {"lowerAscii", true, "s:s", CostKind::kFirst, lower_ascii},
    {"upperAscii", true, "s:s", CostKind::kFirst, upper_ascii},
    {"trim", true, "s:s", CostKind::kFirst, trim},
    {"charAt", true, "si:s", CostKind::kFirst, char_at},
    {"substring", true, "si:s sii:s", CostKind::kFirst, substring},
    {"indexOf", true, "ss:i ssi:i L*:i", CostKind::kProduct, index_of},
    {"lastIndexOf", true, "ss:i L*:i", CostKind::kProduct, last_index_of},
    {"replace", true, "sss:s sssi:s", CostKind::kFirst, replace},
    {"split", true, "ss:l ssi:l", CostKind::kFirst, split},
    {"join", true, "L:s Ls:s", CostKind::kFirst, join},
};

}  // namespace

std::span<const Function> text_functions() { return kTextFunctions; }

}  // namespace berth::cel
