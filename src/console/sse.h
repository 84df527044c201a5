// Server-Sent Events as bytes. https://html.spec.whatwg.org/multipage/server-sent-events.html
#pragma once

#include <string>
#include <string_view>

namespace berth::console {

// `data` must not have line breaks; JSON texts of to_string() have none.
inline std::string sse_event(std::string_view name, std::string_view data) {
  std::string text;
  text.reserve(name.size() + data.size() + 16);
  return text.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
}

}  // namespace berth::console
