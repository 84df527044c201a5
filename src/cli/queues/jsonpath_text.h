// The template of -o jsonpath=TEMPLATE: text with {PATH}, {"text"} and {range PATH}...{end}.
// https://kubernetes.io/docs/reference/kubectl/jsonpath/
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_path.h"
#include "base/result.h"

namespace berth::cli::queues {

class JsonPathText {
 public:
  // Errors say which part cannot be read. Ranges nest at most 8 deep. Unions ([a,b]), regular expressions and filters
  // with && are not known.
  static Result<JsonPathText> compile(std::string_view text);
  // What each path selects is separated by spaces; objects and lists are printed as JSON.
  std::string print(const Json& value) const;

 private:
  struct Part {
    std::string text;  // printed as it is, unless there is a path
    bool is_path = false;
    JsonPath path;
    std::vector<Part> repeated;  // of a range, for each value of the path
    bool is_range = false;
  };
  static Result<std::vector<Part>> parts_of(std::string_view text, std::size_t& at, int depth);
  static void print(const std::vector<Part>& parts, const Json& value, std::string& out);

  std::vector<Part> parts_;
};

}  // namespace berth::cli::queues
