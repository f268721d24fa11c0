"""Starts a server, checks its OpenAPI document, makes one of everything by the examples of the document, lets
schemathesis loose, and looks at the log afterwards.

    drive.py BINARY SECONDS SEED
"""

import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

from openapi_spec_validator import validate

HERE = pathlib.Path(__file__).parent
PATIENCE = 60
PASSWORD = "for-this-run-only"

SETTINGS = """\
log: {format: json, level: info}
location:
  egress_allow: [127.0.0.0/8, "::1/128"]
  egress_deny: [0.0.0.0/0, "::/0"]
"""

# Calls that schemathesis must not make, each with the reason.
LEFT_OUT = {
    "deleteAccessToken": "ends the token of the run",
    "updateUser": "could take role, password or login from the user of the run",
    "patchUser": "could take role, password or login from the user of the run",
    "deleteUser": "could remove the user of the run",
}

# Calls whose example cannot be taken as it stands: a real password or certificate, the host itself, a new file.
NO_EXAMPLE = ("/access-tokens", "/certificates", "/customers", "/apply")

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

    def end(self):
        """Stops the server; the faults of its log."""
        self.process.terminate()
        while self.next_line(PATIENCE):
            pass
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
    """Makes one of everything that can be made; what the document shows as an example has to be taken."""
    faults, monitor = [], 1
    for method, path, operation in operations(document):
        example = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        if method != "POST" or example is None or "{" in path or "bulk-edit" in path or path in NO_EXAMPLE:
            continue
        if "assoc_id" in example:
            example["assoc_id"] = monitor
        status, answer = server.call(method, path, example)
        if status != 200:
            faults.append(f"the example of {method} {path} is refused: {status} {answer}")
        elif path.startswith("/monitors/"):
            monitor = int(answer["id"])
    return faults


def schemathesis(server, seconds, seed):
    left_out = [part for name in LEFT_OUT for part in ("--exclude-operation-id", name)]
    command = [pathlib.Path(sys.executable).parent / "schemathesis", "run", f"{server.base}/openapi.json"]
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
    }
    return subprocess.run(command, env=environment, cwd=server.folder, check=False).returncode


def main():
    binary, seconds, seed = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory(prefix="vigie-openapi-") as folder:
        server = Server(binary, pathlib.Path(folder))
        server.folder = folder
        faults = []
        try:
            _, document = server.call("GET", "/openapi.json")
            validate(document)
            print(f"== the document is valid OpenAPI 3.1: {sum(1 for _ in operations(document))} calls", flush=True)
            server.log_in()
            faults += make_examples(server, document)
            print(f"== schemathesis for {seconds} s, seed {seed}", flush=True)
            if code := schemathesis(server, seconds, seed):
                faults.append(f"schemathesis ended with {code}, see above")
            status, _ = server.call("GET", "/account")
            if status != 200:
                faults.append(f"GET /account answers {status} afterwards")
        finally:
            faults += server.end()
        for fault in faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(1 if faults else 0)


main()
