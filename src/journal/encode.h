// Values as bytes and back, for the types of fields.h. A value that equals its default costs one bit; a value that
// follows an earlier one costs what differs.
//
// Reading survives any bytes: `In` remembers the first error, and bounds the memory that a record can ask for.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/quantity.h"
#include "base/rare.h"
#include "base/shared_rare.h"
#include "base/time.h"
#include "journal/fields.h"

namespace berth::journal {

// Pod templates repeat: equal ones are usually one document that many workloads share. The last ones have a number.
class KnownDocuments {
 public:
  static constexpr std::size_t kKept = 1'024;
  // The number of a document that is kept already.
  std::optional<std::size_t> find(const JsonPtr& document) const;
  void keep(JsonPtr document);  // in the place of the oldest one
  JsonPtr at(std::size_t number) const { return number < kept_.size() ? kept_[number] : nullptr; }

 private:
  std::vector<JsonPtr> kept_;
  std::size_t next_ = 0;
  std::unordered_map<const Json*, std::size_t> numbers_;
};

struct Out {
  std::string& bytes;
  Time epoch{};                         // times are stored as distances from it
  KnownDocuments* documents = nullptr;  // null: documents are stored whole

  void byte(std::uint8_t value) { bytes.push_back(static_cast<char>(value)); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void signed_number(std::int64_t value) {
    number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void word(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    number(value.size());
    bytes.append(value);
  }
};

class In {
 public:
  // The most memory that the values of one record may take, estimated from the sizes of their types.
  static constexpr std::size_t kMostMemory = 256u << 20;

  // Times were stored as distances from `began`.
  In(std::string_view bytes, Time began, KnownDocuments* known)
      : epoch(began), documents(known), at_(bytes.data()), end_(bytes.data() + bytes.size()), begin_(at_) {}

  std::uint8_t byte() {
    if (at_ == end_) return wrong("it ends too early"), std::uint8_t{0};
    return static_cast<std::uint8_t>(*at_++);
  }
  std::uint64_t number();
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
  }
  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string_view text();
  Time time();
  // The number of elements that follow, of `size` bytes in memory each; 0 after an error.
  std::size_t count(std::size_t size);

  bool at_end() const { return at_ == end_; }
  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  void new_record() { memory_ = kMostMemory; }
  // Only the first error counts. Nothing more is read after it.
  void wrong(std::string_view what) {
    if (error_.empty()) error_ = what;
    at_ = end_;
  }
  const std::string& error() const { return error_; }  // empty: none
  bool ok() const { return error_.empty(); }

  const Time epoch;
  KnownDocuments* const documents;

 private:
  const char *at_, *end_, *begin_;
  std::size_t memory_ = kMostMemory;
  std::string error_;
};

// --- Which form a type has.

template <typename T, template <typename...> typename Of>
inline constexpr bool kIs = false;
template <template <typename...> typename Of, typename... P>
inline constexpr bool kIs<Of<P...>, Of> = true;

template <typename T>
concept Optional = kIs<T, std::optional> || kIs<T, Rare> || kIs<T, SharedRare>;
template <typename T>
concept List = kIs<T, std::vector>;
template <typename T>
concept Map = kIs<T, std::map>;
template <typename T>
concept Pointer = kIs<T, std::shared_ptr>;
template <typename T>
concept Scalar = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string> ||
                 std::same_as<T, Time> || std::same_as<T, Duration>;

template <Optional T>
using ValueOf = std::remove_cvref_t<decltype(*std::declval<const T&>())>;

template <typename T, std::size_t... I>
void each_field(std::index_sequence<I...>, T&& visit) {
  (visit(std::integral_constant<std::size_t, I>()), ...);
}
template <Described T>
inline constexpr std::size_t kFields = std::tuple_size_v<decltype(fields(std::declval<T&>()))>;
template <Described T>
using FieldIndexes = std::make_index_sequence<kFields<T>>;

// --- Equality, also of types without operator==, and of quantities with their formats.

template <typename T>
bool same(const T& a, const T& b) {
  if constexpr (Scalar<T>) {
    return a == b;
  } else if constexpr (std::same_as<T, Quantity>) {
    return a == b && a.format() == b.format();
  } else if constexpr (std::same_as<T, api::LabelSelector>) {
    return a.empty() == b.empty() && same(a.requirements(), b.requirements());
  } else if constexpr (Optional<T>) {
    if constexpr (kIs<T, SharedRare>) {
      if (a.shares_with(b)) return true;
    }
    return a.has_value() && b.has_value() ? same(*a, *b) : a.has_value() == b.has_value();
  } else if constexpr (std::same_as<T, JsonPtr>) {
    // `to_string` keeps what == of documents ignores: the order of keys.
    return a == b || (a && b && *a == *b && to_string(*a) == to_string(*b));
  } else if constexpr (Pointer<T>) {
    return a == b || (a && b && same(*a, *b));
  } else if constexpr (List<T> || Map<T>) {
    if (a.size() != b.size()) return false;
    auto other = b.begin();
    for (const auto& each : a) {
      if constexpr (Map<T>) {
        if (each.first != other->first || !same(each.second, other->second)) return false;
      } else {
        if (!same(each, *other)) return false;
      }
      ++other;
    }
    return true;
  } else {
    const auto x = fields(a), y = fields(b);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (same(std::get<I>(x), std::get<I>(y)) && ...);
    }(FieldIndexes<const T>());
  }
}

// Whether a member with this value is left out: it has the default of its type, in a value made without arguments.
template <typename T>
bool is_default(const T& value, const T& otherwise) {
  if constexpr (Scalar<T> || std::same_as<T, Quantity>) {
    return same(value, otherwise);
  } else if constexpr (Optional<T>) {
    return !value.has_value();
  } else if constexpr (List<T> || Map<T>) {
    return value.empty();
  } else if constexpr (Pointer<T>) {
    return value == nullptr;
  } else {
    return false;
  }
}

// --- Writing.

template <typename T>
void put(Out& out, const T& value);

void put_document(Out& out, const JsonPtr& document);
void put_quantity(Out& out, const Quantity& value);

template <Described T>
void put_fields(Out& out, const T& value) {
  static const T kDefault{};
  const auto parts = fields(value);
  const auto defaults = fields(kDefault);
  std::uint64_t present = 0;
  each_field(FieldIndexes<const T>(), [&](auto i) {
    if (!is_default(std::get<i>(parts), std::get<i>(defaults))) present |= std::uint64_t{1} << i;
  });
  out.number(present);
  each_field(FieldIndexes<const T>(), [&](auto i) {
    if ((present >> i & 1) != 0) put(out, std::get<i>(parts));
  });
}

template <typename T>
void put(Out& out, const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    out.text(value);
  } else if constexpr (std::same_as<T, Time>) {
    out.signed_number((value.time_since_epoch() - out.epoch.time_since_epoch()).count());
  } else if constexpr (std::same_as<T, Duration>) {
    out.signed_number(value.count());
  } else if constexpr (std::is_enum_v<T>) {
    out.number(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_signed_v<T>) {
    out.signed_number(value);
  } else if constexpr (std::is_unsigned_v<T>) {
    out.number(value);
  } else if constexpr (std::same_as<T, Quantity>) {
    put_quantity(out, value);
  } else if constexpr (std::same_as<T, api::LabelSelector>) {
    out.byte(!value.empty() && value.requirements().empty() ? 1 : 0);  // 1: matches nothing
    put(out, value.requirements());
  } else if constexpr (std::same_as<T, JsonPtr>) {
    put_document(out, value);
  } else if constexpr (Optional<T>) {
    out.byte(value.has_value() ? 1 : 0);
    if (value.has_value()) put(out, *value);
  } else if constexpr (Pointer<T>) {
    out.byte(value ? 1 : 0);
    if (value) put(out, *value);
  } else if constexpr (List<T>) {
    out.number(value.size());
    for (const auto& each : value) put(out, each);
  } else if constexpr (Map<T>) {
    out.number(value.size());
    for (const auto& [key, each] : value) {
      put(out, key);
      put(out, each);
    }
  } else {
    put_fields(out, value);
  }
}

// What differs from `before`; the reader has `before`, too.
template <typename T>
void put_change(Out& out, const T& before, const T& value) {
  if constexpr (Described<T>) {
    const auto old = fields(before), now = fields(value);
    std::uint64_t changed = 0;
    each_field(FieldIndexes<const T>(), [&](auto i) {
      if (!same(std::get<i>(old), std::get<i>(now))) changed |= std::uint64_t{1} << i;
    });
    out.number(changed);
    each_field(FieldIndexes<const T>(), [&](auto i) {
      if ((changed >> i & 1) != 0) put_change(out, std::get<i>(old), std::get<i>(now));
    });
  } else if constexpr (List<T>) {
    out.number(value.size());
    for (std::size_t i = 0; i < value.size(); ++i)
      i < before.size() ? put_change(out, before[i], value[i]) : put(out, value[i]);
  } else {
    put(out, value);
  }
}

// --- Reading.

template <typename T>
void get(In& in, T& value);

JsonPtr get_document(In& in);
Quantity get_quantity(In& in);

template <typename T>
void get(In& in, T& value) {
  if constexpr (std::same_as<T, std::string>) {
    value = in.text();
  } else if constexpr (std::same_as<T, Time>) {
    value = in.time();
  } else if constexpr (std::same_as<T, Duration>) {
    value = Duration(in.signed_number());
  } else if constexpr (std::same_as<T, bool>) {
    value = in.number() != 0;
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(kLast<T> != T{}, "the enumeration has no kLast");
    const std::uint64_t number = in.number();
    if (number > static_cast<std::uint64_t>(kLast<T>))
      return in.wrong("a newer Berth wrote it: a value is not known here");
    value = static_cast<T>(number);
  } else if constexpr (std::is_signed_v<T>) {
    value = static_cast<T>(in.signed_number());
  } else if constexpr (std::is_unsigned_v<T>) {
    value = static_cast<T>(in.number());
  } else if constexpr (std::same_as<T, Quantity>) {
    value = get_quantity(in);
  } else if constexpr (std::same_as<T, api::LabelSelector>) {
    const bool nothing = in.byte() != 0;
    std::vector<api::LabelRequirement> requirements;
    get(in, requirements);
    value = nothing ? api::LabelSelector::nothing() : api::LabelSelector::all_of(std::move(requirements));
  } else if constexpr (std::same_as<T, JsonPtr>) {
    value = get_document(in);
  } else if constexpr (Optional<T>) {
    value = T();
    if (in.count(sizeof(ValueOf<T>)) == 0) return;
    ValueOf<T> inner{};
    get(in, inner);
    value = T(std::move(inner));
  } else if constexpr (Pointer<T>) {
    value = nullptr;
    using Inner = std::remove_const_t<typename T::element_type>;
    if (in.count(sizeof(Inner)) == 0) return;
    auto inner = std::make_shared<Inner>();
    get(in, *inner);
    value = std::move(inner);
  } else if constexpr (List<T>) {
    value.clear();
    for (std::size_t left = in.count(sizeof(typename T::value_type)); left > 0 && in.ok(); --left) {
      typename T::value_type each{};
      get(in, each);
      value.push_back(std::move(each));
    }
  } else if constexpr (Map<T>) {
    value.clear();
    for (std::size_t left = in.count(sizeof(typename T::value_type)); left > 0 && in.ok(); --left) {
      typename T::key_type key{};
      typename T::mapped_type each{};
      get(in, key);
      get(in, each);
      value.insert_or_assign(std::move(key), std::move(each));
    }
  } else {
    value = T{};
    const std::uint64_t present = in.number();
    if (present >> kFields<T> != 0) return in.wrong("a newer Berth wrote it: it has members that are not known here");
    const auto parts = fields(value);
    each_field(FieldIndexes<T>(), [&](auto i) {
      if ((present >> i & 1) != 0) get(in, std::get<i>(parts));
    });
  }
}

// `value` is the earlier one before, and the new one after.
template <typename T>
void get_change(In& in, T& value) {
  if constexpr (Described<T>) {
    const std::uint64_t changed = in.number();
    if (changed >> kFields<T> != 0) return in.wrong("a newer Berth wrote it: it has members that are not known here");
    const auto parts = fields(value);
    each_field(FieldIndexes<T>(), [&](auto i) {
      if ((changed >> i & 1) != 0) get_change(in, std::get<i>(parts));
    });
  } else if constexpr (List<T>) {
    const std::size_t known = value.size(), size = in.count(sizeof(typename T::value_type));
    if (!in.ok()) return;
    if (size < known) value.erase(value.begin() + static_cast<std::ptrdiff_t>(size), value.end());
    for (std::size_t i = 0; i < size && in.ok(); ++i) {
      if (i < known) {
        get_change(in, value[i]);
      } else {
        typename T::value_type each{};
        get(in, each);
        value.push_back(std::move(each));
      }
    }
  } else {
    get(in, value);
  }
}

}  // namespace berth::journal
