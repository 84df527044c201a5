// A watch as a stream of lines. Each event is encoded once for all watchers that use the same form.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "api/rest.h"
#include "base/executor.h"
#include "embedded/apiserver/http/encode.h"
#include "embedded/apiserver/http/message.h"

namespace berth::apiserver::http {

// The form in which one watcher wants its events.
struct WatchForm {
  MediaForm form;
  IncludeObject include = IncludeObject::kMetadata;
  bool columns = false;  // send the column definitions with the next row
};

// Caches the latest encodings. Use it on the executor.
class EventEncoder {
 public:
  // One line: {"type":"ADDED","object":{...}}
  SharedBytes encode(const api::WatchEvent& event, const ResourceInfo& info, const WatchForm& form, Time now);

 private:
  // Enough for the different forms of the watchers of one write: all watchers of an event encode it shortly after
  // each other.
  static constexpr std::size_t kRemembered = 64;
  struct Entry {
    JsonPtr object;  // holds the object, so that its address is not reused
    api::WatchEvent::Type type{};
    std::string form;
    SharedBytes bytes;
  };
  std::deque<Entry> entries_;
};

// Starts the watch and responds on `sink`: with an error status if the watch cannot start, else with the stream.
std::unique_ptr<Exchange> start_watch(api::RestClient& core, Executor& executor, EventEncoder& encoder,
                                      api::RestRequest request, ResourcePtr resource, WatchForm form,
                                      std::vector<Header> headers, std::shared_ptr<ResponseSink> sink);

}  // namespace berth::apiserver::http
