// What both wrappers of nghttp2 need: owners of its objects, and header fields. Only kube/transport/http2_frames.cpp
// and http/http2_frames.cpp include it.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace berth::nghttp2 {

struct Free {
  void operator()(nghttp2_session* s) const { nghttp2_session_del(s); }
  void operator()(nghttp2_session_callbacks* c) const { nghttp2_session_callbacks_del(c); }
  void operator()(nghttp2_option* o) const { nghttp2_option_del(o); }
};
using Session = std::unique_ptr<nghttp2_session, Free>;
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, Free>;
using Options = std::unique_ptr<nghttp2_option, Free>;

inline std::string_view view(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// nghttp2 copies names and values and does not change them, so the const_cast is safe.
inline nghttp2_nv field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Names of header fields have only small letters in HTTP/2.
inline std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace berth::nghttp2
