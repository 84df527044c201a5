#!/usr/bin/env python3
"""Measures the web console under load: many open pages on a large cluster that changes all the time.

Usage: bench/console/load.py [--berth PROGRAM] [--workloads N] [--queues N] [--pages N] [--changes N] [--seconds N] [--tls] [--positions]

  --tls         the pages come over TLS
  --positions   the pages ask for positions, too: the console reads those of each queue from the visibility API

Plays an API server in memory (TLS, lists in pages, watches, reviews that allow everything), starts `berth console` on it,
opens the pages, and changes workloads. Prints the CPU time and the memory of the console's process, and what pages got.
"""
import argparse, asyncio, itertools, json, os, ssl, subprocess, sys, tempfile, time

T0 = "2026-11-21T09:00:00Z"


def workload(i, queues, round_):
    team = i % queues
    admitted = (i + round_) % 2 == 0
    status = {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "lastTransitionTime": T0,
                              "message": f"couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor f, {round_} more needed"}]}
    if admitted:
        status = {"conditions": [{"type": t, "status": "True", "reason": t, "lastTransitionTime": T0, "message": f"round {round_}"}
                                 for t in ("QuotaReserved", "Admitted")],
                  "admission": {"clusterQueue": f"cq-{team}", "podSetAssignments": [
                      {"name": "main", "flavors": {"cpu": "f", "memory": "f"}, "count": 3,
                       "resourceUsage": {"cpu": "3", "memory": "600Mi"}}]}}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
            "metadata": {"name": f"job-train-{i:06}-1a2b3", "namespace": f"team-{team % 100}", "uid": f"uid-{i:032}",
                         "creationTimestamp": T0, "ownerReferences": [
                             {"apiVersion": "batch/v1", "kind": "Job", "name": f"train-{i:06}", "uid": f"job-{i}", "controller": True}]},
            "spec": {"queueName": f"lq-{team}", "priority": i % 7, "podSets": [
                {"name": "main", "count": 3, "template": {"spec": {"containers": [
                    {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "200Mi"}}}]}}}]},
            "status": status}


def queue(i, round_=0):
    return {"metadata": {"name": f"cq-{i}", "creationTimestamp": T0},
            "spec": {"cohortName": f"cohort-{i % 20}", "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
                {"name": "f", "resources": [{"name": "cpu", "nominalQuota": "100"}, {"name": "memory", "nominalQuota": "1Ti"}]}]}]},
            "status": {"pendingWorkloads": 25 + round_ % 2, "admittedWorkloads": 25, "conditions": [{"type": "Active", "status": "True"}],
                       "flavorsUsage": [{"name": "f", "resources": [{"name": "cpu", "total": "75"}, {"name": "memory", "total": "15Gi"}]}]}}


def local_queue(i):
    return {"metadata": {"name": f"lq-{i}", "namespace": f"team-{i % 100}", "creationTimestamp": T0},
            "spec": {"clusterQueue": f"cq-{i}"}, "status": {"pendingWorkloads": 25, "conditions": [{"type": "Active", "status": "True"}]}}


class ApiServer:
    def __init__(self, options):
        self.version = 1
        self.queues = options.queues
        self.objects = {"workloads": [workload(i, options.queues, 0) for i in range(options.workloads)],
                        "clusterqueues": [queue(i) for i in range(options.queues)],
                        "localqueues": [local_queue(i) for i in range(options.queues)]}
        for objects in self.objects.values():
            for each in objects:
                self.stamp(each)
        self.watches = {}

    def stamp(self, each):
        self.version += 1
        each["metadata"]["resourceVersion"] = str(self.version)

    def change(self, name, index, each):
        self.stamp(each)
        self.objects[name][index] = each
        line = json.dumps({"type": "MODIFIED", "object": each}).encode() + b"\n"
        for writer in self.watches.get(name, ()):
            writer.write(b"%x\r\n%s\r\n" % (len(line), line))

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:] if ": " in line)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path, _, query = target.partition("?")
                options = dict(p.split("=", 1) for p in query.split("&") if "=" in p)
                name = path.rsplit("/", 1)[-1]
                if options.get("watch") in ("1", "true") and "sendInitialEvents" not in options and name in self.objects:
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
                    self.watches.setdefault(name, set()).add(writer)
                    await reader.read()
                    return
                code, answer = self.answer(method, path, name, options, body)
                text = json.dumps(answer).encode()
                writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (code, len(text)) + text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            for writers in self.watches.values():
                writers.discard(writer)
            writer.close()

    # Every second workload of a queue waits; all move with every change.
    def positions(self, team):
        waiting = range(team, len(self.objects["workloads"]), 2 * self.queues)
        return {"items": [{"metadata": {"name": f"job-train-{i:06}-1a2b3", "namespace": f"team-{team % 100}"}, "localQueueName": f"lq-{team}",
                           "priority": i % 7, "positionInClusterQueue": (n + self.version) % len(waiting), "positionInLocalQueue": n} for n, i in enumerate(waiting)]}

    def answer(self, method, path, name, options, body):
        if name == "tokenreviews":
            return 201, {"status": {"authenticated": True, "user": {"username": json.loads(body)["spec"]["token"]}}}
        if name == "subjectaccessreviews":
            return 201, {"status": {"allowed": True}}
        if options.get("watch"):
            return 422, {"kind": "Status", "code": 422, "message": "no streamed lists"}
        if name == "pendingworkloads":
            return 200, self.positions(int(path.split("/")[-2].removeprefix("cq-")))
        if method != "GET" or name not in self.objects:
            return 404, {"kind": "Status", "code": 404, "reason": "NotFound", "message": "not found"}
        begin, size = int(options.get("continue") or 0), int(options.get("limit") or 500)
        items = self.objects[name]
        meta = {"resourceVersion": str(self.version)}
        if begin + size < len(items):
            meta["continue"] = str(begin + size)
        return 200, {"metadata": meta, "items": items[begin:begin + size]}


trusted = None  # over TLS: the context that trusts the console's certificate


async def ask(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24, ssl=trusted)
    writer.write(text.encode())
    return reader, writer


async def login(port, user):
    body = json.dumps({"token": user})
    reader, writer = await ask(port, f"POST /api/login HTTP/1.1\r\nHost: x\r\nX-Berth-Console: 1\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    return next(l.split(": ", 1)[1].split(";")[0] for l in head.split("\r\n") if l.lower().startswith("set-cookie"))


class Page:
    bytes = changes = 0
    ready = None

    async def run(self, port, cookie, collections):
        reader, writer = await ask(port, f"GET /api/stream?collections={collections} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n")
        self.begun = time.monotonic()
        tail = b""
        while piece := await reader.read(1 << 18):
            self.bytes += len(piece)
            text = tail + piece
            if self.ready is None and b"event: ready" in text:
                self.ready = time.monotonic() - self.begun
            self.changes += text.count(b"event: change") - tail.count(b"event: change")
            tail = text[-16:]


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid, field):
    return next(int(l.split()[1]) / 1024 for l in open(f"/proc/{pid}/status") if l.startswith(field))


async def measure(options, folder):
    api = ApiServer(options)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{folder}/key", "-out", f"{folder}/crt"],
                   check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/crt", f"{folder}/key")
    server = await asyncio.start_server(api.serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    with open(f"{folder}/kubeconfig", "w") as out:
        json.dump({"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                   "clusters": [{"name": "x", "cluster": {"server": f"https://127.0.0.1:{port}", "certificate-authority": f"{folder}/crt"}}],
                   "users": [{"name": "x", "user": {"token": "console"}}]}, out)
    tls = []
    if options.tls:
        global trusted
        trusted = ssl.create_default_context(cafile=f"{folder}/crt")
        tls = ["--tls-cert", f"{folder}/crt", "--tls-key", f"{folder}/key"]
    console = await asyncio.create_subprocess_exec(options.berth, "console", "--kubeconfig", f"{folder}/kubeconfig", "--listen",
                                                   "127.0.0.1:0", *tls, stdout=asyncio.subprocess.PIPE, limit=1 << 20)
    try:
        url = (await console.stdout.readline()).decode().split()[1]
        cport = int(url.rsplit(":", 1)[1])
        collections = "workloads,clusterqueues,localqueues,series,rates,namespaces"
        if options.positions:
            collections += ",positions"
        while True:  # until the lists are read
            first, cookie = Page(), await login(cport, "warm")
            task = asyncio.create_task(first.run(cport, cookie, collections))
            for _ in range(600):
                await asyncio.sleep(0.1)
                if first.ready:
                    break
            task.cancel()
            break
        print(f"cluster read: {cpu_seconds(console.pid):.1f} s of CPU, {memory_mb(console.pid, 'VmRSS'):.0f} MiB; "
              f"snapshot of one page {first.bytes / 1e6:.1f} MB")
        before = cpu_seconds(console.pid)
        cookies = [await login(cport, f"user-{i}") for i in range(options.pages)]
        pages = [Page() for _ in cookies]
        tasks = [asyncio.create_task(p.run(cport, c, collections)) for p, c in zip(pages, cookies)]
        began = time.monotonic()
        while not all(p.ready for p in pages) and time.monotonic() - began < 120:
            await asyncio.sleep(0.05)
        print(f"{options.pages} pages opened at once: all ready after {time.monotonic() - began:.1f} s "
              f"(this script reads them, too), {cpu_seconds(console.pid) - before:.1f} s of CPU, "
              f"{memory_mb(console.pid, 'VmRSS'):.0f} MiB, peak {memory_mb(console.pid, 'VmHWM'):.0f} MiB")
        for p in pages:
            p.bytes = p.changes = 0
        before, began = cpu_seconds(console.pid), time.monotonic()
        for n in itertools.count():
            late = began + n / options.changes - time.monotonic()
            if time.monotonic() - began > options.seconds:
                break
            if late > 0:
                await asyncio.sleep(late)
            index = (n * 7919) % options.workloads
            api.change("workloads", index, workload(index, options.queues, n + 1))
            if options.positions:  # the counts of its queue change, too
                api.change("clusterqueues", index % options.queues, queue(index % options.queues, n + 1))
        took = time.monotonic() - began
        used = cpu_seconds(console.pid) - before
        print(f"{n / took:.0f} changes a second for {took:.0f} s: {used / took * 100:.0f} % of one core, {memory_mb(console.pid, 'VmRSS'):.0f} MiB, "
              f"peak {memory_mb(console.pid, 'VmHWM'):.0f} MiB; each page got {sum(p.bytes for p in pages) / len(pages) / took / 1000:.0f} kB/s "
              f"in {sum(p.changes for p in pages) / len(pages) / took:.1f} events a second")
        for t in tasks:
            t.cancel()
    finally:
        console.terminate()
        await console.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--berth", default="build/dev/berth")
    for name, value in (("workloads", 50_000), ("queues", 1_000), ("pages", 100), ("changes", 50), ("seconds", 20)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name in ("tls", "positions"):
        parser.add_argument(f"--{name}", action="store_true")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(parser.parse_args(), folder))


if __name__ == "__main__":
    sys.exit(main())
