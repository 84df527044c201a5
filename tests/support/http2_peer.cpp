#include "support/http2_peer.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace berth::testing_support {

struct Http2Peer::Impl {
  explicit Impl(Options o) : options(o) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_client_new2(&session, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(options.stream_window)}};
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, 1);
    nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, 1 << 30);
  }
  ~Impl() { nghttp2_session_del(session); }

  static Impl& of(void* data) { return *static_cast<Impl*>(data); }
  static std::string text(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* data) {
    Http2Answer& answer = of(data).answers[frame->hd.stream_id];
    const std::string key = text(name, name_size), content = text(value, value_size);
    if (key == ":status") {
      answer.status = std::stoi(content);
    } else {
      answer.headers[key] = content;
    }
    return 0;
  }
  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* data) {
    Impl& self = of(data);
    if (frame->hd.type == NGHTTP2_GOAWAY) self.goaway = frame->goaway.error_code;
    if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) ++self.pings_answered;
    if (frame->hd.type == NGHTTP2_RST_STREAM) self.answers[frame->hd.stream_id].error = frame->rst_stream.error_code;
    const bool body = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (body && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      Http2Answer& answer = self.answers[frame->hd.stream_id];
      if (!answer.complete) ++self.complete;
      answer.complete = true;
    }
    (void)session;
    return 0;
  }
  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes,
                     std::size_t size, void* data) {
    Impl& self = of(data);
    Http2Answer& answer = self.answers[stream];
    if (self.options.keep_bodies) answer.body.append(reinterpret_cast<const char*>(bytes), size);
    nghttp2_session_consume_connection(session, size);
    if (self.held.contains(stream)) {
      self.unread[stream] += size;
    } else {
      nghttp2_session_consume_stream(session, stream, size);
    }
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t error, void* data) {
    Http2Answer& answer = of(data).answers[stream];
    answer.closed = true;
    if (answer.error == 0) answer.error = error;
    of(data).bodies.erase(stream);
    return 0;
  }
  static ssize_t give(nghttp2_session*, std::int32_t stream, std::uint8_t* to, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source*, void* data) {
    Body& body = of(data).bodies[stream];
    const std::size_t n = std::min(size, body.bytes.size() - body.sent);
    std::memcpy(to, body.bytes.data() + body.sent, n);
    body.sent += n;
    const bool all = body.sent == body.bytes.size();
    if (all && body.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (all && body.ends && body.trailers) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    if (n == 0 && !(all && body.ends)) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(n);
  }

  struct Body {
    std::string bytes;
    std::size_t sent = 0;
    bool ends = true, trailers = false;
  };

  Options options;
  nghttp2_session* session = nullptr;
  std::map<Stream, Http2Answer> answers;
  std::map<Stream, Body> bodies;
  std::set<Stream> held;
  std::map<Stream, std::size_t> unread;
  std::optional<std::uint32_t> goaway;
  std::size_t complete = 0, pings_answered = 0;
};

Http2Peer::Http2Peer() : Http2Peer(Options()) {}
Http2Peer::Http2Peer(Options options) : impl_(std::make_unique<Impl>(options)) {}
Http2Peer::~Http2Peer() = default;

Http2Peer::Stream Http2Peer::request(const std::string& method, const std::string& path, std::string body,
                                     Headers headers) {
  Headers all = {{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}};
  all.insert(all.end(), headers.begin(), headers.end());
  return request(std::move(all), std::move(body), true);
}

Http2Peer::Stream Http2Peer::request(Headers all, std::string body, bool ends) {
  std::vector<nghttp2_nv> fields;
  const auto bytes = [](std::string& text) { return reinterpret_cast<std::uint8_t*>(text.data()); };
  for (auto& [name, value] : all)
    fields.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  const bool has_body = !body.empty() || !ends;
  nghttp2_data_provider provider{{}, Impl::give};
  const Stream stream = nghttp2_submit_request(impl_->session, nullptr, fields.data(), fields.size(),
                                               has_body ? &provider : nullptr, nullptr);
  if (has_body) impl_->bodies[stream] = {std::move(body), 0, ends};
  return stream;
}

void Http2Peer::send_more(Stream stream, std::string body, bool ends) {
  Impl::Body& all = impl_->bodies[stream];
  all.bytes += body;
  all.ends = ends;
  nghttp2_session_resume_data(impl_->session, stream);
}

void Http2Peer::send_trailers(Stream stream) {
  impl_->bodies[stream].trailers = true;
  std::string name = "x-after", value = "1";
  const nghttp2_nv field{reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                         name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  send_more(stream, "", true);
  nghttp2_submit_trailer(impl_->session, stream, &field, 1);
}

void Http2Peer::reset(Stream stream) {
  nghttp2_submit_rst_stream(impl_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}
void Http2Peer::ping() { nghttp2_submit_ping(impl_->session, NGHTTP2_FLAG_NONE, nullptr); }
void Http2Peer::settings() { nghttp2_submit_settings(impl_->session, NGHTTP2_FLAG_NONE, nullptr, 0); }
void Http2Peer::hold(Stream stream) { impl_->held.insert(stream); }

void Http2Peer::go_on(Stream stream) {
  impl_->held.erase(stream);
  nghttp2_session_consume_stream(impl_->session, stream, std::exchange(impl_->unread[stream], 0));
}

void Http2Peer::receive(std::string_view bytes) {
  nghttp2_session_mem_recv(impl_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Http2Peer::output() {
  std::string out;
  const std::uint8_t* bytes = nullptr;
  for (ssize_t n; (n = nghttp2_session_mem_send(impl_->session, &bytes)) > 0;) {
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
  }
  return out;
}

const Http2Answer& Http2Peer::answer(Stream stream) { return impl_->answers[stream]; }
void Http2Peer::forget(Stream stream) { impl_->answers.erase(stream); }
void Http2Peer::clear_body(Stream stream) { impl_->answers[stream].body.clear(); }
std::size_t Http2Peer::complete() const { return impl_->complete; }
std::optional<std::uint32_t> Http2Peer::goaway() const { return impl_->goaway; }
std::uint32_t Http2Peer::max_streams() const {
  return nghttp2_session_get_remote_settings(impl_->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}
std::uint32_t Http2Peer::max_header_bytes() const {
  return nghttp2_session_get_remote_settings(impl_->session, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE);
}
std::size_t Http2Peer::pings_answered() const { return impl_->pings_answered; }

}  // namespace berth::testing_support
