// The Warning headers of a response: bounded as kube-apiserver bounds them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::apiserver::http {

inline constexpr std::size_t kMaxWarnings = 100;
inline constexpr std::size_t kMaxWarningBytes = 4 * 1024;  // of all texts together
inline constexpr std::size_t kMaxCutWarningBytes = 256;    // of each text when all are longer than that

// The texts to send: each once, in order, within the bounds.
std::vector<std::string> bounded_warnings(const std::vector<std::string>& texts);

// 299 - "text", with quotes and backslashes escaped. https://www.rfc-editor.org/rfc/rfc7234#section-5.5
std::string warning_header(std::string_view text);

}  // namespace berth::apiserver::http
