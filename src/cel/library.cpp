// The function table, and the operators on numbers and strings.
#include "cel/library.h"

#include <array>
#include <cmath>
#include <map>

#include "cel/functions.h"

namespace berth::cel {
namespace {

Value overflow(std::string_view what) { return failure(std::string(what) + " overflow"); }

using IntOperation = bool (*)(std::int64_t, std::int64_t, std::int64_t*);
using UintOperation = bool (*)(std::uint64_t, std::uint64_t, std::uint64_t*);

// Applies the operation to two ints, two uints or two doubles.
template <typename Op>
Value arithmetic(std::span<const Value> args, Op op) {
  const auto* ai = args[0].as<std::int64_t>();
  const auto* bi = args[1].as<std::int64_t>();
  if (ai != nullptr && bi != nullptr) {
    std::int64_t out = 0;
    return op(*ai, *bi, &out) ? Value(out) : overflow("integer");
  }
  const auto* au = args[0].as<std::uint64_t>();
  const auto* bu = args[1].as<std::uint64_t>();
  if (au != nullptr && bu != nullptr) {
    std::uint64_t out = 0;
    return op(*au, *bu, &out) ? Value(out) : overflow("unsigned integer");
  }
  const auto* ad = args[0].as<double>();
  const auto* bd = args[1].as<double>();
  if (ad != nullptr && bd != nullptr) {
    double out = 0;
    op(*ad, *bd, &out);
    return out;
  }
  return no_such_overload();
}

struct Add {
  template <typename T>
  bool operator()(T a, T b, T* out) const {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a + b;
      return true;
    } else {
      return !__builtin_add_overflow(a, b, out);
    }
  }
};
struct Subtract {
  template <typename T>
  bool operator()(T a, T b, T* out) const {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a - b;
      return true;
    } else {
      return !__builtin_sub_overflow(a, b, out);
    }
  }
};
struct Multiply {
  template <typename T>
  bool operator()(T a, T b, T* out) const {
    if constexpr (std::is_floating_point_v<T>) {
      *out = a * b;
      return true;
    } else {
      return !__builtin_mul_overflow(a, b, out);
    }
  }
};

template <typename T>
std::optional<Value> time_of(std::span<const Value> args, T combine) {
  const auto* d = args[1].as<Duration>();
  const auto* t = args[0].as<Time>();
  if (d != nullptr && t != nullptr) {
    std::int64_t out = 0;
    if (!combine(t->time_since_epoch().count(), d->count(), &out)) return overflow("timestamp");
    return Time(Duration(out));
  }
  const auto* a = args[0].as<Duration>();
  if (a != nullptr && d != nullptr) {
    std::int64_t out = 0;
    if (!combine(a->count(), d->count(), &out)) return overflow("duration");
    return Duration(out);
  }
  return std::nullopt;
}

Value add(std::span<const Value> args) {
  if (const auto *a = args[0].as<Text>(), *b = args[1].as<Text>(); a != nullptr && b != nullptr) {
    std::string out(a->view);
    out += b->view;
    return text(std::move(out));
  }
  if (is_list(args[0]) && is_list(args[1])) {
    std::vector<Value> out;
    for (const Value& list : args) {
      for (std::size_t i = 0; i < length(list); ++i) out.push_back(item(list, i));
    }
    return list_of(std::move(out));
  }
  if (const auto *a = args[0].as<Bytes>(), *b = args[1].as<Bytes>(); a != nullptr && b != nullptr) {
    return Bytes{std::make_shared<const std::string>(*a->data + *b->data)};
  }
  if (auto time = time_of(args, Add())) return *time;
  if (args[0].as<Duration>() != nullptr && args[1].as<Time>() != nullptr) {
    const Value swapped[] = {args[1], args[0]};
    return *time_of(swapped, Add());
  }
  return arithmetic(args, Add());
}

Value subtract(std::span<const Value> args) {
  if (const auto *a = args[0].as<Time>(), *b = args[1].as<Time>(); a != nullptr && b != nullptr) {
    std::int64_t out = 0;
    if (!Subtract()(a->time_since_epoch().count(), b->time_since_epoch().count(), &out)) return overflow("duration");
    return Duration(out);
  }
  if (auto time = time_of(args, Subtract())) return *time;
  return arithmetic(args, Subtract());
}

Value multiply(std::span<const Value> args) { return arithmetic(args, Multiply()); }

Value divide(std::span<const Value> args) {
  if (const auto *a = args[0].as<double>(), *b = args[1].as<double>(); a != nullptr && b != nullptr) return *a / *b;
  if (const auto *a = args[0].as<std::int64_t>(), *b = args[1].as<std::int64_t>(); a != nullptr && b != nullptr) {
    if (*b == 0) return failure("division by zero");
    if (*b == -1) return *a == INT64_MIN ? overflow("integer") : Value(-*a);
    return *a / *b;
  }
  if (const auto *a = args[0].as<std::uint64_t>(), *b = args[1].as<std::uint64_t>(); a != nullptr && b != nullptr) {
    return *b == 0 ? failure("division by zero") : Value(*a / *b);
  }
  return no_such_overload();
}

Value modulo(std::span<const Value> args) {
  if (const auto *a = args[0].as<std::int64_t>(), *b = args[1].as<std::int64_t>(); a != nullptr && b != nullptr) {
    if (*b == 0) return failure("modulus by zero");
    return *b == -1 ? Value(std::int64_t{0}) : Value(*a % *b);
  }
  if (const auto *a = args[0].as<std::uint64_t>(), *b = args[1].as<std::uint64_t>(); a != nullptr && b != nullptr) {
    return *b == 0 ? failure("modulus by zero") : Value(*a % *b);
  }
  return no_such_overload();
}

Value negate(std::span<const Value> args) {
  if (const auto* d = args[0].as<double>()) return -*d;
  const auto* i = args[0].as<std::int64_t>();
  if (i == nullptr) return no_such_overload();
  return *i == INT64_MIN ? overflow("integer") : Value(-*i);
}

Value logical_not(std::span<const Value> args) {
  const auto* b = args[0].as<bool>();
  return b != nullptr ? Value(!*b) : no_such_overload();
}

Value is_equal(std::span<const Value> args) { return equal(args[0], args[1]); }
Value is_unequal(std::span<const Value> args) { return !equal(args[0], args[1]); }

template <typename Test>
Value ordered(std::span<const Value> args, Test test) {
  const int order = compare(args[0], args[1]);
  return order == 2 ? no_such_overload() : Value(test(order));
}
Value less(std::span<const Value> args) {
  return ordered(args, [](int o) { return o < 0; });
}
Value less_equal(std::span<const Value> args) {
  return ordered(args, [](int o) { return o <= 0; });
}
Value greater(std::span<const Value> args) {
  return ordered(args, [](int o) { return o > 0; });
}
Value greater_equal(std::span<const Value> args) {
  return ordered(args, [](int o) { return o >= 0; });
}

Value in(std::span<const Value> args) {
  if (is_map(args[1])) {
    Value ignored;
    return member(args[1], args[0], ignored);
  }
  if (!is_list(args[1])) return no_such_overload();
  for (std::size_t i = 0; i < length(args[1]); ++i) {
    if (equal(args[0], item(args[1], i))) return true;
  }
  return false;
}

constexpr std::string_view kOrdered = "ii:b uu:b dd:b id:b di:b iu:b ui:b ud:b du:b ss:b bb:b yy:b DD:b TT:b";

constexpr Function kOperators[] = {
    {"_+_", false, "ii:i uu:u dd:d ss:s yy:y LL:= DD:D TD:T DT:T", CostKind::kBoth, add},
    {"_-_", false, "ii:i uu:u dd:d DD:D TD:T TT:D", CostKind::kConstant, subtract},
    {"_*_", false, "ii:i uu:u dd:d", CostKind::kConstant, multiply},
    {"_/_", false, "ii:i uu:u dd:d", CostKind::kConstant, divide},
    {"_%_", false, "ii:i uu:u", CostKind::kConstant, modulo},
    {"-_", false, "i:i d:d", CostKind::kConstant, negate},
    {"!_", false, "b:b", CostKind::kConstant, logical_not},
    {"_==_", false, "**:b", CostKind::kLesser, is_equal},
    {"_!=_", false, "**:b", CostKind::kLesser, is_unequal},
    {"_<_", false, kOrdered, CostKind::kLesser, less},
    {"_<=_", false, kOrdered, CostKind::kLesser, less_equal},
    {"_>_", false, kOrdered, CostKind::kLesser, greater},
    {"_>=_", false, kOrdered, CostKind::kLesser, greater_equal},
    {"@in", false, "*L:b *M:b", CostKind::kEntries, in},
    {"_&&_", false, "bb:b", CostKind::kConstant, nullptr, Lazy::kAnd},
    {"_||_", false, "bb:b", CostKind::kConstant, nullptr, Lazy::kOr},
    {"_?_:_", false, "", CostKind::kConstant, nullptr, Lazy::kConditional},
};

using Table = std::map<std::pair<std::string_view, bool>, const Function*>;

const Table& table() {
  static const Table kTable = [] {
    Table out;
    auto add_all = [&](std::span<const Function> functions) {
      for (const Function& function : functions) out.emplace(std::pair(function.name, function.member), &function);
    };
    add_all(kOperators);
    add_all(text_functions());
    add_all(list_functions());
    add_all(conversion_functions());
    add_all(time_functions());
    add_all(quantity_functions());
    return out;
  }();
  return kTable;
}

Kind kind_of_letter(char letter) {
  switch (letter) {
    case 'b':
      return Kind::kBool;
    case 'i':
      return Kind::kInt;
    case 'u':
      return Kind::kUint;
    case 'd':
      return Kind::kDouble;
    case 's':
      return Kind::kString;
    case 'y':
      return Kind::kBytes;
    case 'D':
      return Kind::kDuration;
    case 'T':
      return Kind::kTimestamp;
    case 'L':
      return Kind::kList;
    case 'M':
      return Kind::kMap;
    case 'Q':
      return Kind::kQuantity;
    case 'O':
      return Kind::kOptional;
    case 't':
      return Kind::kType;
    default:
      return Kind::kDyn;
  }
}

bool takes(std::string_view letters, std::span<const TypePtr> args) {
  if (letters.size() != args.size()) return false;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == '*' || args[i]->kind == Kind::kDyn) continue;
    if (args[i]->kind != kind_of_letter(letters[i])) return false;
  }
  return true;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > kUnknownSize - b ? kUnknownSize : a + b; }

TypePtr element_of(const Type& type) { return type.element ? type.element : basic_type(Kind::kDyn); }

TypePtr make_result(char letter, const Function& function, std::span<const TypePtr> args) {
  switch (letter) {
    case '=': {
      const Type& first = args[0]->kind == Kind::kDyn && args.size() > 1 ? *args[1] : *args[0];
      if (first.kind != Kind::kList) return std::make_shared<const Type>(first);
      return list_type(element_of(first), args.size() > 1 ? sum(args[0]->max_size, args[1]->max_size) : first.max_size);
    }
    case 'e':
      return element_of(*args[0]);
    case 'l':
      return list_type(basic_type(Kind::kString), args[0]->max_size);
    case 'o':
      return optional_type(args[0]);
    case 's':
      if (function.name == "_+_") {
        auto joined = std::make_shared<Type>(*basic_type(Kind::kString));
        joined->max_size = sum(args[0]->max_size, args[1]->max_size);
        return joined;
      }
      break;
    case 'O':
      return optional_type(basic_type(Kind::kDyn));
    default:
      break;
  }
  return basic_type(kind_of_letter(letter));
}

}  // namespace

Value no_such_overload() { return failure("no such overload"); }

const Function* find_function(std::string_view name, bool member) {
  auto it = table().find({name, member});
  return it == table().end() ? nullptr : it->second;
}

TypePtr result_of(const Function& function, std::span<const TypePtr> args) {
  std::string_view rest = function.signatures;
  TypePtr found;
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    const std::string_view signature = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const std::size_t colon = signature.find(':');
    if (!takes(signature.substr(0, colon), args)) continue;
    TypePtr result = make_result(signature[colon + 1], function, args);
    // Several signatures can match dynamic arguments: the result is dynamic unless all of them agree.
    if (found && found->kind != result->kind) return basic_type(Kind::kDyn);
    found = std::move(result);
  }
  return found;
}

}  // namespace berth::cel
