#include "http/https_session.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>
#include <ctime>


namespace berth::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

// A body that is too large is read and thrown away up to here, so that the client reads why; then the
// connection ends.
constexpr std::uint64_t kMaxDrainBytes = 16u << 20;
constexpr std::size_t kMaxBatchEvents = 64;  // of one write of a watch

// Hands answers from the executor to the connection. It keeps the connection, which has nothing else to wait
// for while the core works; the connection lets go of it (drop_work) when the request is over or the client
// gone.
class SessionSink final : public ResponseSink {
 public:
  SessionSink(std::shared_ptr<Session> session, std::shared_ptr<WatchBacklog> backlog)
      : session_(std::move(session)), backlog_(std::move(backlog)) {}

  void respond(std::function<HttpResponse()> make) override {
    with_session([make = std::move(make)](Session& s) { s.on_response(make); });
  }
  void begin(int status, std::vector<Header> headers) override {
    with_session([status, headers = std::move(headers)](Session& s) { s.on_begin(status, headers); });
  }
  bool chunk(SharedBytes bytes) override {
    // Counted here, so that a connection that does not get to writing cannot pile up events unseen.
    const bool room = backlog_->add(bytes->size());
    if (backlog_->too_much()) {
      session_->abort();
      return false;
    }
    with_session([bytes = std::move(bytes)](Session& s) { s.on_chunk(bytes); });
    return room;
  }
  void on_room(std::function<void()> handler) override {
    with_session([handler = std::move(handler)](Session& s) { s.on_room(handler); });
  }
  void end() override {
    with_session([](Session& s) { s.on_stream_end(); });
  }

 private:
  template <typename F>
  void with_session(F&& what) {
    asio::post(session_->get_executor(),
               [session = session_, what = std::forward<F>(what)] { what(*session); });
  }

  std::shared_ptr<Session> session_;
  std::shared_ptr<WatchBacklog> backlog_;
};

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text;
}

std::string head_of(int status, const std::vector<Header>& headers, bool closing) {
  const auto reason = beast::http::obsolete_reason(static_cast<beast::http::status>(status));
  std::string head = "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason) + "\r\n";
  for (const Header& h : headers) head += h.name + ": " + h.value + "\r\n";
  head += "Date: " + http_date() + "\r\n";
  if (closing) head += "Connection: close\r\n";
  return head;
}

}  // namespace

Hub::Hub(Handler& h, Executor& c, std::size_t body_limit) : handler(h), core(c), max_body_bytes(body_limit) {}

Hub::Tls Hub::tls() const {
  const std::lock_guard lock(mutex_);
  return tls_;
}

void Hub::use(TlsContext context) {
  auto tls = std::make_shared<asio::ssl::context>(context.release());
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls);
}

bool Hub::admit(const std::string& peer) {
  const std::lock_guard lock(mutex_);
  const bool local = peer == "127.0.0.1" || peer == "::1";
  if (stopping || admitted_ >= kMaxConnections || (!local && peers_[peer] >= kMaxConnectionsPerPeer))
    return false;
  ++admitted_;
  ++peers_[peer];
  return true;
}

void Hub::add(Session* session) {
  const std::lock_guard lock(mutex_);
  sessions_.insert(session);
}

void Hub::remove(Session* session, const std::string& peer) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(session);
  --admitted_;
  if (const auto it = peers_.find(peer); it != peers_.end() && --it->second == 0) peers_.erase(it);
  finish_if_empty();
}

void Hub::finish_if_empty() {
  if (admitted_ == 0 && done_) core.post(std::exchange(done_, nullptr));
}

void Hub::for_each(void (Session::*what)()) {
  std::vector<std::shared_ptr<Session>> all;
  {
    const std::lock_guard lock(mutex_);
    for (Session* s : sessions_) {
      if (auto session = s->weak_from_this().lock()) all.push_back(std::move(session));
    }
  }
  for (const auto& s : all) (s.get()->*what)();
}

void Hub::stop(std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    stopping = true;
    done_ = std::move(done);
  }
  for_each(&Session::stop);
  const std::lock_guard lock(mutex_);
  finish_if_empty();
}

void Hub::close_all() { for_each(&Session::abort); }

std::size_t Hub::size() const {
  const std::lock_guard lock(mutex_);
  return admitted_;
}

Session::Session(std::shared_ptr<Hub> hub, asio::ip::tcp::socket socket, std::string peer)
    : hub_(std::move(hub)),
      tcp_(std::move(socket)),
      peer_(std::move(peer)),
      handed_over_(std::make_shared<WatchBacklog>()) {
  // A connection keeps the context that it began with.
  if (const Hub::Tls tls = hub_->tls()) tls_.emplace(tcp_, *tls);
  hub_->add(this);
}

template <typename F>
void Session::on_stream(F&& what) {
  if (tls_) {
    what(*tls_);
  } else {
    what(tcp_);
  }
}

Session::~Session() {
  release_slot();
  drop_work();
  hub_->remove(this, peer_);
}

// Writes out_, then goes on; a connection that cannot be written to is closed.
template <typename Then>
void Session::write_out(Then&& then) {
  tcp_.expires_after(kWriteTimeout);
  on_stream([this, &then](auto& stream) {
    asio::async_write(stream, asio::buffer(out_),
                      [self = shared_from_this(), then = std::forward<Then>(then)](error_code error, std::size_t) {
                        if (error) return self->close();
                        then(*self);
                      });
  });
}

void Session::start() {
  error_code ignored;
  tcp_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  if (!tls_) return asio::dispatch(get_executor(), [self = shared_from_this()] { self->wait_for_request(); });
  handshake();
}

void Session::handshake() {
  tls_->set_verify_callback([this](bool trusted, asio::ssl::verify_context& context) {
    if (!trusted) {
      certificate_error_ = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.native_handle()));
    }
    return true;  // the handshake goes on; requests are told why they are not let in
  });
  tcp_.expires_after(kHandshakeTimeout);
  tls_->async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](error_code error) {
    if (error) return self->close();
    self->learn_peer();
    self->wait_for_request();
  });
}

void Session::learn_peer() {
  X509* certificate = SSL_get1_peer_certificate(tls_->native_handle());
  if (certificate == nullptr) return;
  const long result = SSL_get_verify_result(tls_->native_handle());
  if (certificate_error_.empty() && result != X509_V_OK)
    certificate_error_ = X509_verify_cert_error_string(result);
  if (certificate_error_.empty()) {
    auto subject = read_subject(certificate);
    if (subject.common_name.empty()) {
      certificate_error_ = "it names no user (CN)";
    } else {
      identity_ = std::move(subject);
    }
  }
  X509_free(certificate);
}

void Session::wait_for_request() {
  if (closing_ || hub_->stopping) return close();
  state_ = State::kIdle;
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  parser_->body_limit(boost::none);  // on_header() sets it: a body that is too large is answered, not cut off
  if (buffer_.size() > 0) return read_header();
  tcp_.expires_after(kIdleTimeout);
  on_stream([this](auto& stream) {
    stream.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t n) {
      if (error || self->state_ == State::kClosed) return self->close();
      self->buffer_.commit(n);
      self->read_header();
    });
  });
}

void Session::read_header() {
  state_ = State::kReading;
  tcp_.expires_after(kHeaderTimeout);
  on_stream([this](auto& stream) {
    beast::http::async_read_header(stream, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (self->state_ == State::kClosed) return;
      if (!error) return self->on_header();
      self->on_bad_header(error);
    });
  });
}

void Session::on_bad_header(error_code error) {
  closing_ = true;
  if (error == beast::http::error::header_limit) {
    return write(
        plain_text(431, "the request's header is larger than " + std::to_string(kMaxHeaderBytes) + " bytes\n"));
  }
  if (error.category() == beast::http::make_error_code(beast::http::error::bad_method).category() &&
      error != beast::http::error::end_of_stream && error != beast::http::error::partial_message) {
    return write(plain_text(400, "400 Bad Request: " + error.message() + "\n"));
  }
  close();
}

void Session::on_header() {
  const auto& header = parser_->get();
  const auto length = parser_->content_length();
  const bool expects = beast::iequals(header[beast::http::field::expect], "100-continue");
  if (length && *length > hub_->max_body_bytes) {
    closing_ = true;
    if (expects || *length > kMaxDrainBytes) return dispatch(true);
    const std::uint64_t here = std::min<std::uint64_t>(buffer_.size(), *length);
    buffer_.consume(static_cast<std::size_t>(here));
    tcp_.expires_after(kBodyTimeout);
    return drain(*length - here);
  }
  parser_->body_limit(hub_->max_body_bytes);
  if (!expects) return read_body();
  out_ = "HTTP/1.1 100 Continue\r\n\r\n";
  write_out([](Session& self) { self.read_body(); });
}

void Session::drain(std::uint64_t left) {
  if (left == 0) return dispatch(true);
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(left, scratch_.size()));
  on_stream([this, left, size](auto& stream) {
    stream.async_read_some(asio::buffer(scratch_, size),
                           [self = shared_from_this(), left](error_code error, std::size_t n) {
                             if (error) return self->close();
                             self->drain(left - n);
                           });
  });
}

void Session::read_body() {
  tcp_.expires_after(kBodyTimeout);
  on_stream([this](auto& stream) {
    beast::http::async_read(stream, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (self->state_ == State::kClosed) return;
      if (error == beast::http::error::body_limit) {
        self->closing_ = true;
        return self->dispatch(true);
      }
      if (error) return self->close();
      self->dispatch(false);
    });
  });
}

bool Session::take_slot() {
  const bool reading = method_ == "GET" || method_ == "HEAD";
  std::atomic<int>& counter = reading ? hub_->reads : hub_->writes;
  if (counter.fetch_add(1) >= (reading ? kMaxReadsInFlight : kMaxWritesInFlight)) {
    counter.fetch_sub(1);
    return false;
  }
  slot_ = &counter;
  return true;
}

void Session::release_slot() {
  if (slot_ != nullptr) slot_->fetch_sub(1);
  slot_ = nullptr;
}

void Session::dispatch(bool too_large) {
  state_ = State::kWorking;
  auto message = parser_->release();
  closing_ = closing_ || !message.keep_alive();
  method_ = std::string(message.method_string());
  if (!take_slot()) return write(hub_->handler.overloaded());
  HttpRequest request;
  request.method = method_;
  request.target = std::string(message.target());
  for (const auto& field : message)
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  if (!too_large) request.body = std::move(message.body());
  request.body_too_large = too_large;
  request.peer = identity_;
  request.peer_error = certificate_error_;
  tcp_.expires_never();
  // A task must be copyable, a parsed request is not.
  auto parsed = std::make_shared<std::unique_ptr<Handler::Parsed>>(hub_->handler.parse(std::move(request)));
  work_ = std::make_shared<Work>();
  auto sink = std::make_shared<SessionSink>(shared_from_this(), handed_over_);
  hub_->core.post([hub = hub_, work = work_, parsed, sink] {
    work->exchange = hub->handler.execute(std::move(*parsed), sink);
  });
}

void Session::drop_work() {
  if (!work_) return;
  hub_->core.post([work = std::move(work_)] { work->exchange.reset(); });
  work_.reset();
}

void Session::on_response(const std::function<HttpResponse()>& make) {
  if (state_ != State::kWorking) return;
  write(make());
}

void Session::write(HttpResponse response) {
  const bool bodiless = response.status == 304 || response.status == 204;
  if (hub_->stopping) closing_ = true;
  out_ = head_of(response.status, response.headers, closing_);
  if (!bodiless) out_ += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  out_ += "\r\n";
  if (!bodiless && method_ != "HEAD") out_ += response.body;
  write_out([](Session& self) { self.finish_request(); });
}

void Session::finish_request() {
  release_slot();
  drop_work();
  constexpr std::size_t kKeptBytes = 64 * 1024;  // a connection that idles does not hold a large answer
  if (out_.capacity() > kKeptBytes) out_ = std::string();
  wait_for_request();
}

void Session::on_begin(int status, const std::vector<Header>& headers) {
  if (state_ != State::kWorking) return;
  state_ = State::kStreaming;
  closing_ = true;
  release_slot();
  auto head = head_of(status, headers, true) + "Transfer-Encoding: chunked\r\n\r\n";
  writing_ = true;
  out_ = std::move(head);
  tcp_.expires_never();
  watch_for_close();
  write_out([](Session& self) {
    self.writing_ = false;
    self.flush();
  });
}

// With a read outstanding we notice that the client went away; what it sends meanwhile is not listened to.
void Session::watch_for_close() {
  on_stream([this](auto& stream) {
    stream.async_read_some(asio::buffer(scratch_), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->watch_for_close();
    });
  });
}

void Session::on_chunk(SharedBytes bytes) {
  if (state_ != State::kStreaming) return;
  backlog_.push_back(std::move(bytes));
  if (!writing_) flush();
}

void Session::on_stream_end() {
  if (state_ != State::kStreaming) return;
  stream_ended_ = true;
  if (!writing_) flush();
}

// Writes what waits as one chunk. At most one write is on its way.
void Session::flush() {
  if (state_ != State::kStreaming) return;
  if (backlog_.empty() && !stream_ended_) return;
  batch_.clear();
  std::size_t size = 0;
  while (!backlog_.empty() && batch_.size() < kMaxBatchEvents) {
    size += backlog_.front()->size();
    batch_.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  const bool last = stream_ended_ && backlog_.empty();
  char frame[24];
  std::snprintf(frame, sizeof frame, "%zx\r\n", size);
  out_ = frame;
  static constexpr std::string_view kEnd = "\r\n", kLast = "0\r\n\r\n";
  std::vector<asio::const_buffer> buffers;
  if (size > 0) {
    buffers.push_back(asio::buffer(out_));
    for (const SharedBytes& b : batch_) buffers.push_back(asio::buffer(*b));
    buffers.push_back(asio::buffer(kEnd));
  }
  if (last) buffers.push_back(asio::buffer(kLast));
  writing_ = true;
  tcp_.expires_after(kWriteTimeout);
  on_stream([this, &buffers, size, last](auto& stream) {
    asio::async_write(stream, buffers, [self = shared_from_this(), size, last](error_code error, std::size_t) {
      self->writing_ = false;
      if (self->handed_over_->sent(size, self->batch_.size())) self->hub_->core.post(self->room_handler_);
      if (error || last) return self->close();
      self->flush();
    });
  });
}

void Session::stop() {
  asio::post(get_executor(), [self = shared_from_this()] {
    self->closing_ = true;
    if (self->state_ == State::kIdle || self->state_ == State::kHandshake) return self->close();
    if (self->state_ == State::kStreaming) self->on_stream_end();
  });
}

void Session::abort() {
  asio::post(get_executor(), [self = shared_from_this()] { self->close(); });
}

// Says goodbye if that can be done at once; then the socket is closed and what was going on ends with an
// error.
void Session::close() {
  if (state_ == State::kClosed) return;
  const bool polite = state_ == State::kWorking;
  state_ = State::kClosed;
  release_slot();
  drop_work();
  backlog_.clear();
  auto& socket = tcp_.socket();
  if (polite && tls_ && socket.is_open()) {
    tcp_.expires_after(std::chrono::seconds(1));
    tls_->async_shutdown([self = shared_from_this()](error_code) {
      error_code ignored;
      self->tcp_.socket().close(ignored);
    });
    return;
  }
  error_code ignored;
  socket.close(ignored);
}

}  // namespace berth::http
