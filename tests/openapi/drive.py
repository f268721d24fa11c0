"""Starts a server, checks its OpenAPI document, makes one of everything by the examples of the document, lets
schemathesis loose, and looks at the log afterwards.

    drive.py BINARY SECONDS SEED
"""

import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from openapi_spec_validator import validate

HERE = pathlib.Path(__file__).parent
PATIENCE = 60
# Seconds that schemathesis may need beyond its own limit, to end what it is at.
GRACE = 60
PASSWORD = "for-this-run-only"

SETTINGS = """\
log: {format: json, level: info}
location:
  egress_allow: [127.0.0.0/8, "::1/128"]
  egress_deny: [0.0.0.0/0, "::/0"]
"""

# Calls that schemathesis must not make, each with the reason. The user of the run is protected in hooks.py.
LEFT_OUT = {
    "deleteAccessToken": "ends the token of the run; made at the end",
    "revokeAccessToken": "may end the token of the run; made at the end",
}

# Calls that cannot succeed in this run, each with the reason. Others that did not are told.
NO_SUCCESS = {
    "createCustomer": "requires the host token",
    "createCertificate": "wants a real certificate",
    "getCertificate": "as it does not exist",
    "deleteCertificate": "as it does not exist",
    "getResultCapture": "no result of this run leaves a file",
    "getEpisode": "as there may be no outage yet",
    "acknowledgeEpisode": "as there may be no outage yet",
    "retryNotification": "as no message is given up within the run",
}

# How many of each there are for calls that remove.
SPARES = 4

# Calls whose example cannot be taken as it stands: a real password or certificate, the host itself, a new file.
NO_EXAMPLE = ("/access-tokens", "/agents/enrol", "/certificates", "/customers", "/apply")

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
    "unsupported_method",
    "use_after_free",
]


class Server:
    """A `vigie serve` on a free port, with its log."""

    def __init__(self, binary, folder):
        (folder / "vigie.yaml").write_text(SETTINGS)
        (folder / "password").write_text(PASSWORD)
        (folder / "monitors").mkdir()
        # Results to list: a target that answers, one that does not, and the server itself by name.
        (folder / "monitors" / "own.yaml").write_text(
            "- {key: refused, type: tcp, name: refused, billing_plancode: x, hostname: 127.0.0.1, port: 1, interval: 1}\n"
            "- {key: web, type: website, name: web, billing_plancode: x, url: 'http://127.0.0.1:1/', interval: 1}\n"
            "- {key: ping, type: ping, name: ping, billing_plancode: x, hostname: 127.0.0.1, interval: 1}\n"
        )
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--data", folder / "data"]
        command += ["--monitors", folder / "monitors", "--config", folder / "vigie.yaml"]
        command += ["--admin-password-file", folder / "password"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("VIGIE_")}
        # It ends with this process, whatever ends this one.
        if setpriv := shutil.which("setpriv"):
            command = [setpriv, "--pdeathsig", "TERM", "--", *command]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)
        self.lines, self.log = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()
        self.address = self.wait_for("serving at")["address"]
        self.base = f"http://{self.address}/api/v3"
        self.token = None

    def read(self):
        for line in self.process.stderr:
            self.lines.put(line)
        self.lines.put(None)

    def next_line(self, patience):
        """The next line of the log as an object; None at its end."""
        line = self.lines.get(timeout=patience)
        if line is None:
            return None
        try:
            entry = json.loads(line)
        except ValueError:
            entry = {"level": "ERROR", "message": line.rstrip()}
        self.log.append(entry)
        return entry

    def wait_for(self, part):
        while entry := self.next_line(PATIENCE):
            if part in entry.get("message", ""):
                return entry
        sys.exit(f"the server ended before `{part}`: {self.log}")

    def call(self, method, path, body=None):
        """Status and JSON of a call."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or "null")

    def log_in(self):
        status, answer = self.call("POST", "/access-tokens", {"username": "admin", "password": PASSWORD})
        if status != 200:
            sys.exit(f"cannot log in: {status} {answer}")
        self.token = answer["access_token"]

    def own_user(self):
        """The number of the user of the run."""
        _, answer = self.call("GET", "/users")
        return next(user["id"] for user in answer["results"] if user["login"] == "admin")

    def results(self):
        """Numbers of some results, as soon as there are any."""
        for _ in range(PATIENCE):
            _, answer = self.call("GET", "/results?limit=5")
            if answer["results"]:
                return [result["check_id"] for result in answer["results"]]
            time.sleep(1)
        sys.exit(f"no result after {PATIENCE} s")

    def log_out(self):
        """Faults of ending the token of the run: it has to be good until then, and no good afterwards."""
        self.call("POST", "/access-tokens", {"name": "spare", "expires_in": 600, "scopes": ["read"]})
        _, tokens = self.call("GET", "/access-tokens")
        spare = next((token["id"] for token in tokens.get("results", []) if token.get("name") == "spare"), None)
        calls = [("GET", "/account", 200), ("DELETE", f"/access-tokens/{spare}", 204)]
        calls += [("DELETE", "/access-tokens", 204), ("GET", "/account", 401)]
        faults = []
        for method, path, wanted in calls:
            status, _ = self.call(method, path)
            if status != wanted:
                faults.append(f"{method} {path} answers {status} at the end, not {wanted}")
        return faults

    def end(self):
        """Stops the server; the faults of its log."""
        self.process.terminate()
        try:
            while self.next_line(PATIENCE):
                pass
        except queue.Empty:
            self.process.kill()
            return [f"the server did not end within {PATIENCE} s of SIGTERM"]
        bad = [e for e in self.log if e.get("level") == "ERROR" or "panic" in e.get("message", "")]
        # Each once, however often it came.
        faults = list({(e.get("message"), e.get("place")): e for e in bad}.values())
        code = self.process.wait(PATIENCE)
        return faults + ([f"the server ended with {code}"] if code else [])


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def make_examples(server, document):
    """Makes one of everything that can be made, and some more for calls to take away: faults, and the ids by path.
    What the document shows as an example has to be taken."""
    faults, monitor, there = [], 1, {"/monitors": []}
    deletable = {path.removesuffix("/{id}") for method, path, _ in operations(document) if method == "DELETE"}
    for method, path, operation in operations(document):
        example = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        if method != "POST" or example is None or "{" in path or "bulk-edit" in path or path in NO_EXAMPLE:
            continue
        for field in ("assoc_id", "monitor_id"):
            if field in example:
                example[field] = monitor
        if "recipient_id" in example:
            example["recipient_id"] = there["/recipients"][0]
        status, answer = server.call(method, path, example)
        if status != 200:
            faults.append(f"the example of {method} {path} is refused: {status} {answer}")
            continue
        if "id" not in answer:
            continue
        there[path] = [int(answer["id"])]
        if path.startswith("/monitors/"):
            monitor = there[path][0]
            there["/monitors"].append(monitor)
        for number in range(SPARES if path in deletable else 0):
            other = {**example, **{name: f"{example[name]}{number}" for name in ("name", "login") if name in example}}
            if path == "/slas":
                # Each monitor has one at most.
                other["monitor_id"] = there["/monitors"][number]
            status, answer = server.call(method, path, other)
            if status == 200:
                there.setdefault(f"DELETE {path}", []).append(int(answer["id"]))
    there["kept"] = sorted({id for path, ids in there.items() if not path.startswith("DELETE") for id in ids})
    for _ in range(SPARES):
        status, answer = server.call("POST", f"/monitors/{monitor}/clone", {})
        there.setdefault("DELETE /monitors", []).append(int(answer["id"]))
    # A test message is what there is to be read of messages.
    there["/notifications"] = there.get("/test-notifiers", [])
    there["alerts"], body = [], {"type": "static", "threshold": 1}
    for _ in range(2 + SPARES):
        _, answer = server.call("POST", f"/monitors/{monitor}/performance-alerts", body)
        there["alerts"].append([monitor, int(answer["id"])])
    there["/results"] = server.results()
    return faults, there


def schemathesis(server, there, seconds, seed):
    """Faults of the run: what it found is printed."""
    left_out = [part for name in LEFT_OUT for part in ("--exclude-operation-id", name)]
    command = [pathlib.Path(sys.executable).parent / "schemathesis", "--config-file", HERE / "schemathesis.toml"]
    command += ["run", f"{server.base}/openapi.json"]
    command += ["--url", server.base, "--header", f"Authorization: Bearer {server.token}"]
    command += ["--checks", ",".join(CHECKS), "--max-time", str(seconds), "--seed", str(seed), "--workers", "1"]
    command += ["--request-timeout", "20", "--suppress-health-check", "all", "--no-color", "--warnings", "off"]
    command += ["--generation-database", "none", "--continue-on-failure", *left_out]
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(HERE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "VIGIE_PORT": server.address.rsplit(":", 1)[1],
        "VIGIE_OWN": str(server.own_user()),
        "VIGIE_THERE": json.dumps(there),
        "VIGIE_REACHED": str(server.folder / "reached"),
    }
    try:
        code = subprocess.run(command, env=environment, cwd=server.folder, check=False, timeout=seconds + GRACE).returncode
    except subprocess.TimeoutExpired:
        return [f"schemathesis did not end within {seconds + GRACE} s, though it was to run for {seconds} s; it was stopped"]
    return [f"schemathesis ended with {code}, see above"] if code else []


def reached(server, document):
    """Faults: calls that were never made. Says how many were made and how many of them ever succeeded."""
    made = {}
    file = server.folder / "reached"
    for line in file.read_text().splitlines() if file.exists() else []:
        name, _, status = line.split()
        made.setdefault(name, []).append(int(status))
    wanted = {operation["operationId"] for _, _, operation in operations(document)} - LEFT_OUT.keys()
    fine = {name for name, statuses in made.items() if any(200 <= status < 300 for status in statuses)}
    count = sum(map(len, made.values()))
    least = min((len(statuses) for statuses in made.values()), default=0)
    print(f"== reached {len(wanted & made.keys())} of {len(wanted)} calls, {len(fine)} with success; {count} requests, at least {least} each")
    faults = [f"{name} was never called" for name in sorted(wanted - made.keys())]
    for name in sorted(wanted - fine - NO_SUCCESS.keys()):
        statuses = ", ".join(f"{made.get(name, []).count(status)} x {status}" for status in sorted(set(made.get(name, []))))
        print(f"== {name} never succeeded: {statuses}")
    return faults


def main():
    # An end from outside stops the server as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: stopped by SIGTERM"))
    binary, seconds, seed = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="vigie-openapi-") as folder:
        server = Server(binary, pathlib.Path(folder))
        server.folder = pathlib.Path(folder)
        faults = []
        try:
            _, document = server.call("GET", "/openapi.json")
            validate(document)
            print(f"== the document is valid OpenAPI 3.1: {sum(1 for _ in operations(document))} calls", flush=True)
            server.log_in()
            faults, there = make_examples(server, document)
            print(f"== schemathesis for {seconds} s, seed {seed}", flush=True)
            faults += schemathesis(server, there, seconds, seed)
            faults += reached(server, document)
            faults += server.log_out()
        finally:
            faults += server.end()
        for fault in faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)


main()
