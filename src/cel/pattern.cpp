#include "cel/pattern.h"

#include <re2/re2.h>

namespace berth::cel {

std::shared_ptr<const re2::RE2> compile_pattern(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(8 << 20);
  return std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

}  // namespace berth::cel
