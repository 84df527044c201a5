#include "journal/encode.h"

namespace berth::journal {
namespace {

constexpr std::uint8_t kNoDocument = 0, kNewDocument = 1, kKnownDocument = 2;
constexpr Time::rep kFarthest = 1'000'000'000'000'000'000;  // microseconds from 1970 to any time: 31,700 years
constexpr std::uint8_t kWideQuantity = 4;                   // added to the format: the number has two halves

}  // namespace

std::optional<std::size_t> KnownDocuments::find(const JsonPtr& document) const {
  const auto it = numbers_.find(document.get());
  return it == numbers_.end() ? std::nullopt : std::optional(it->second);
}

void KnownDocuments::keep(JsonPtr document) {
  const Json* key = document.get();
  if (kept_.size() < kKept) {
    kept_.push_back(std::move(document));
    numbers_[key] = kept_.size() - 1;
    return;
  }
  numbers_.erase(kept_[next_].get());
  kept_[next_] = std::move(document);
  numbers_[key] = next_;
  next_ = (next_ + 1) % kKept;
}

std::uint64_t In::number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    const std::uint8_t next = byte();
    if (shift == 63 && next > 1) break;
    value |= std::uint64_t{next & 0x7fu} << shift;
    if ((next & 0x80) == 0) return value;
  }
  wrong("it has a number of more than 64 bits");
  return 0;
}

Time In::time() {
  const std::int64_t from_epoch = signed_number();
  const std::int64_t epoch_count = epoch.time_since_epoch().count();
  std::int64_t count = 0;
  if (__builtin_add_overflow(from_epoch, epoch_count, &count) || count > kFarthest || count < -kFarthest)
    return wrong("it has a time that no clock shows"), Time();
  return Time(Duration(count));
}

std::string_view In::text() {
  const std::size_t size = count(1);
  if (size > static_cast<std::size_t>(end_ - at_)) return wrong("it ends within a text"), std::string_view();
  const std::string_view found(at_, size);
  at_ += size;
  return found;
}

std::size_t In::count(std::size_t size) {
  const std::uint64_t wanted = number();
  // Each element takes at least one byte here.
  if (wanted > static_cast<std::uint64_t>(end_ - at_)) return wrong("it ends within a list"), std::size_t{0};
  const std::uint64_t bytes = wanted * (size + 16);
  if (bytes > memory_) return wrong("it is larger than any event"), std::size_t{0};
  memory_ -= bytes;
  return static_cast<std::size_t>(wanted);
}

void put_document(Out& out, const JsonPtr& document) {
  if (!document) return out.byte(kNoDocument);
  if (out.documents != nullptr) {
    if (const auto number = out.documents->find(document)) {
      out.byte(kKnownDocument);
      return out.number(*number);
    }
    out.documents->keep(document);
  }
  out.byte(kNewDocument);
  out.text(to_string(*document));
}

JsonPtr get_document(In& in) {
  switch (in.byte()) {
    case kNoDocument:
      return nullptr;
    case kNewDocument: {
      auto parsed = parse_json(in.text());
      if (!parsed) return in.wrong("it has a document that is no JSON: " + parsed.error().message), nullptr;
      auto document = std::make_shared<const Json>(std::move(*parsed));
      if (in.documents != nullptr) in.documents->keep(document);
      return document;
    }
    case kKnownDocument: {
      const std::uint64_t number = in.number();
      auto document = in.documents == nullptr ? nullptr : in.documents->at(static_cast<std::size_t>(number));
      if (!document) in.wrong("it names a document that was not stored");
      return document;
    }
    default:
      in.wrong("it has a document of an unknown form");
      return nullptr;
  }
}

void put_quantity(Out& out, const Quantity& value) {
  const auto number = value.billionths();
  const auto low = static_cast<std::int64_t>(number.low);
  const auto format = static_cast<std::uint8_t>(value.format());
  if (number.high == (low < 0 ? -1 : 0)) {
    out.byte(format);
    return out.signed_number(low);
  }
  out.byte(format | kWideQuantity);
  out.signed_number(number.high);
  out.number(number.low);
}

Quantity get_quantity(In& in) {
  const std::uint8_t form = in.byte();
  const auto format = static_cast<Quantity::Format>(form & ~kWideQuantity);
  if (format > Quantity::Format::kDecimalExponent) return in.wrong("it has a quantity of an unknown form"), Quantity();
  if ((form & kWideQuantity) == 0) {
    const std::int64_t low = in.signed_number();
    return Quantity::from_billionths({low < 0 ? -1 : 0, static_cast<std::uint64_t>(low)}, format);
  }
  const std::int64_t high = in.signed_number();
  return Quantity::from_billionths({high, in.number()}, format);
}

}  // namespace berth::journal
