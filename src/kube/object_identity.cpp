#include "kube/object_identity.h"

#include <charconv>
#include <optional>

namespace berth::kube {
namespace {

using Uuid = std::array<std::uint64_t, 2>;

constexpr std::string_view kPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<Uuid> parse_uuid(std::string_view text) {
  if (text.size() != kPattern.size()) return std::nullopt;
  Uuid out{};
  for (std::size_t i = 0, digits = 0; i < text.size(); ++i) {
    if (kPattern[i] == '-' && text[i] == '-') continue;
    const std::size_t digit = kDigits.find(text[i]);
    if (kPattern[i] == '-' || digit == std::string_view::npos) return std::nullopt;
    auto& half = out[digits++ / 16];
    half = half << 4 | digit;
  }
  return out;
}

std::string format_uuid(const Uuid& uuid) {
  std::string out(kPattern);
  for (std::size_t i = out.size(), digits = 32; i-- > 0;) {
    if (kPattern[i] == '-') continue;
    --digits;
    out[i] = kDigits[uuid[digits / 16] >> 4 * (15 - digits % 16) & 15];
  }
  return out;
}

// nullopt: not a number, or one that std::to_string() would write differently.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '0') return std::nullopt;
  return out;
}

}  // namespace

ObjectIdentity::ObjectIdentity(std::string_view uid, std::string_view version) {
  const auto uuid = parse_uuid(uid);
  const auto number = parse_number(version);
  if (uuid && number) {
    uuid_ = *uuid;
    number_ = *number;
  } else {
    texts_ = std::pair(std::string(uid), std::string(version));
  }
}

std::string ObjectIdentity::uid() const {
  return texts_ ? texts_->first : number_ == 0 ? std::string() : format_uuid(uuid_);
}

std::string ObjectIdentity::version() const {
  return texts_ ? texts_->second : number_ == 0 ? std::string() : std::to_string(number_);
}

bool ObjectIdentity::has_uid(std::string_view uid) const {
  if (texts_) return texts_->first == uid;
  return number_ == 0 ? uid.empty() : parse_uuid(uid) == uuid_;
}

}  // namespace berth::kube
