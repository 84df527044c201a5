#include "embedded/apiserver/http/watch_stream.h"

namespace berth::apiserver::http {
namespace {

using api::WatchEvent;

std::string_view name_of(WatchEvent::Type type) {
  switch (type) {
    case WatchEvent::Type::kAdded:
      return "ADDED";
    case WatchEvent::Type::kModified:
      return "MODIFIED";
    case WatchEvent::Type::kDeleted:
      return "DELETED";
    case WatchEvent::Type::kBookmark:
      return "BOOKMARK";
    case WatchEvent::Type::kError:
      return "ERROR";
  }
  return "ERROR";
}

std::string form_key(const ResourceInfo& info, const WatchForm& f) {
  if (f.form.shape == MediaForm::Shape::kObject) return {};
  return std::to_string(static_cast<int>(f.form.shape)) + f.form.version + std::to_string(static_cast<int>(f.include)) +
         (f.columns ? "c" : "") + info.gvr.version;
}

std::string body_of(const WatchEvent& event, const ResourceInfo& info, const WatchForm& f, Time now) {
  if (event.type != WatchEvent::Type::kError) {
    if (f.form.shape == MediaForm::Shape::kTable) {
      return to_string(to_table(*event.object, info, {f.form.version, f.include, f.columns}, now));
    }
    if (f.form.shape != MediaForm::Shape::kObject) {
      return to_string(to_partial_metadata(*event.object, f.form.version));
    }
  }
  return to_string(*event.object);
}

class WatchExchange final : public Exchange, public std::enable_shared_from_this<WatchExchange> {
 public:
  WatchExchange(EventEncoder& encoder, Executor& executor, ResourcePtr resource, WatchForm form,
                std::vector<Header> headers, std::shared_ptr<ResponseSink> sink)
      : encoder_(encoder),
        executor_(executor),
        resource_(std::move(resource)),
        form_(std::move(form)),
        headers_(std::move(headers)),
        sink_(std::move(sink)) {
    form_.columns = form_.form.shape == MediaForm::Shape::kTable;
  }

  void start(api::RestClient& core, api::RestRequest request) {
    sink_->on_room([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->handle_) self->handle_->hold(false);
    });
    handle_ = core.watch(std::move(request), [this](const WatchEvent& e) { on_event(e); }, [this] { on_end(); });
    // A watch that cannot start reports it at once. If no event came, it has started, and the client waits for the
    // headers.
    executor_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->begin();
    });
  }

 private:
  void begin() {
    if (begun_ || over_) return;
    begun_ = true;
    std::vector<Header> headers = headers_;
    headers.push_back({"Content-Type", "application/json"});
    headers.push_back({"Cache-Control", "no-cache, private"});
    sink_->begin(200, std::move(headers));
  }

  void on_event(const WatchEvent& event) {
    if (over_) return;
    if (!begun_ && event.type == WatchEvent::Type::kError) {
      refuse(*event.object);
      return;
    }
    begin();
    const bool room = sink_->chunk(encoder_.encode(event, *resource_, form_, executor_.now()));
    form_.columns = false;
    if (!room && handle_) handle_->hold(true);
  }

  void refuse(const Json& status) {
    over_ = true;
    auto reply = std::make_shared<Reply>();
    reply->response = {static_cast<int>(int_at(status, {"code"}, 500)), status, {}};
    reply->headers = headers_;
    sink_->respond([reply] { return encode(*reply); });
  }

  void on_end() {
    if (over_) return;
    begin();
    over_ = true;
    sink_->end();
  }

  EventEncoder& encoder_;
  Executor& executor_;
  ResourcePtr resource_;
  WatchForm form_;
  std::vector<Header> headers_;
  std::shared_ptr<ResponseSink> sink_;
  std::unique_ptr<api::WatchHandle> handle_;
  bool begun_ = false;
  bool over_ = false;
};

// Owned by the connection. When it is destroyed, tasks that are still on the executor find their weak_ptr expired.
class OwnedWatch final : public Exchange {
 public:
  explicit OwnedWatch(std::shared_ptr<WatchExchange> watch) : watch_(std::move(watch)) {}

 private:
  std::shared_ptr<WatchExchange> watch_;
};

}  // namespace

SharedBytes EventEncoder::encode(const WatchEvent& event, const ResourceInfo& info, const WatchForm& form, Time now) {
  std::string key = form_key(info, form);
  for (const Entry& e : entries_) {
    if (e.object == event.object && e.type == event.type && e.form == key) return e.bytes;
  }
  std::string line = "{\"type\":\"";
  line += name_of(event.type);
  line += "\",\"object\":";
  line += body_of(event, info, form, now);
  line += "}\n";
  auto bytes = std::make_shared<const std::string>(std::move(line));
  entries_.push_front({event.object, event.type, std::move(key), bytes});
  if (entries_.size() > kRemembered) entries_.pop_back();
  return bytes;
}

std::unique_ptr<Exchange> start_watch(api::RestClient& core, Executor& executor, EventEncoder& encoder,
                                      api::RestRequest request, ResourcePtr resource, WatchForm form,
                                      std::vector<Header> headers, std::shared_ptr<ResponseSink> sink) {
  auto watch = std::make_shared<WatchExchange>(encoder, executor, std::move(resource), std::move(form),
                                               std::move(headers), std::move(sink));
  watch->start(core, std::move(request));
  return std::make_unique<OwnedWatch>(std::move(watch));
}

}  // namespace berth::apiserver::http
