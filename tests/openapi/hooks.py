"""Texts of the forms that the document names in `format`, for schemathesis. Addresses are of loopback or of
names that do not exist. Also what a call must not do, and which calls were made."""

import datetime
import itertools
import json
import os
import re

import schemathesis
from hypothesis import strategies as st

PORT = os.environ.get("VIGIE_PORT", "9")
HOSTS = st.sampled_from(["127.0.0.1", "localhost", "::1", "a.invalid", "b-c.invalid.", "xn--mnchen-3ya.invalid", "münchen.invalid"])
URL_HOSTS = st.sampled_from([f"127.0.0.1:{PORT}", "localhost:9", "[::1]:9", "a.invalid", "u:p@a.invalid:8443"])
TAILS = st.sampled_from(["", "/", "/x?y=1#z", "/%20a", "/ä", "/" + "a" * 2000])
URLS = st.builds("{}://{}{}".format, st.sampled_from(["http", "https", "HTTP"]), URL_HOSTS, TAILS)
WORD = st.from_regex(r"\A[A-Za-z][A-Za-z0-9-]{0,20}\Z")
JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6)
XML = st.builds("<{0}>{1}</{0}>".format, WORD, st.sampled_from(["", "text", "<a b='c'/>", "&amp;"]))
MOMENTS = st.datetimes(min_value=datetime.datetime(2020, 1, 1), max_value=datetime.datetime(2035, 1, 1))

for name, texts in {
    "http-url": URLS,
    "http-url-template": URLS | st.just("{{base}}/x") | st.builds("{}?id={{{{id}}}}".format, URLS),
    "host": HOSTS,
    "service": HOSTS,
    "ip": st.ip_addresses().map(str),
    "mail-address": st.builds("{}@a.invalid".format, WORD),
    "header-name": WORD.map("X-{}".format),
    "header-value": st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40),
    "json": JSON.map(json.dumps),
    "xml": XML,
    "base64": st.sampled_from(["", "aGk=", "UEsDBA=="]),
    "local-time": MOMENTS.map(lambda at: at.strftime("%Y-%m-%d %H:%M:%S")),
    "moment": MOMENTS.map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")),
}.items():
    schemathesis.openapi.format(name, texts)


REACHED = os.environ.get("VIGIE_REACHED")
# The number of the user of the run, whom calls about users must leave alone.
OWN = int(os.environ.get("VIGIE_OWN", "0"))
# What there is: by path without `/{id}`, and for DELETE with that word before the path, what it may take away.
THERE = json.loads(os.environ.get("VIGIE_THERE", "{}"))
TURNS = itertools.count()


def number(value):
    """What the server may read as a number in a path; None for all else."""
    try:
        return int(str(value).strip())
    except ValueError:
        return None


def existing(case, turn):
    """What stands for `{id}` in a path of something that there is; None when nothing is known."""
    base = case.operation.path.split("/{id}")[0]
    if case.method.upper() != case.operation.method.upper():
        return None
    if case.method.upper() == "DELETE":
        # Each once: what is gone is not asked for again.
        spare = THERE.get(f"DELETE {base}")
        return spare.pop() if spare else None
    there = THERE.get(base)
    return there[turn % len(there)] if there else None


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Most calls are about something that there is, as the document cannot say which ids and versions there are:
    without this nearly all of them would answer 404 and 412, and show nothing else. Keeps the user of the run
    as it is."""
    turn = next(TURNS)
    if case.meta and case.meta.phase.name.value == "stateful":
        # Its ids come out of earlier answers.
        turn = 0
    path = case.path_parameters or {}
    valid = number(path.get("id")) is not None and number(path["id"]) > 0
    if "/results/" in case.operation.path:
        valid = re.fullmatch("[0-9a-f]{16}", str(path.get("id"))) is not None
    alerts = THERE.get("alerts", [])
    same_method = case.method.upper() == case.operation.method.upper()
    if "alert_id" in path and turn % 8 and valid and same_method:
        # A monitor with one of its performance alerts; two of them are never taken away.
        if case.method.upper() != "DELETE":
            path["id"], path["alert_id"] = alerts[turn // 8 % 2]
        elif len(alerts) > 2:
            path["id"], path["alert_id"] = alerts.pop()
        else:
            path["id"] = 1 << 40
    elif turn % 8 and valid and (known := existing(case, turn // 8)) is not None:
        path["id"] = known
    if case.method.upper() == "DELETE" and "alert_id" not in path and number(path.get("id")) in THERE.get("kept", []):
        path["id"] = 1 << 40
    if case.operation.path == "/users/{id}" and case.method.upper() != "GET" and number(path.get("id")) == OWN:
        path["id"] = 1
    if turn % 8 and case.headers and "If-Match" in case.headers:
        del case.headers["If-Match"]
    if turn % 8 and "bulk-edit" in case.operation.path and isinstance(case.body, dict):
        ids = case.body.get("monitors")
        if isinstance(ids, list) and ids and all(type(one) is int and one > 0 for one in ids):
            case.body["monitors"] = THERE["/monitors"][:2]


@schemathesis.hook
def after_call(_context, case, response):
    """Notes each call for the driver: the operation, what the call was meant to be, the status."""
    if REACHED:
        name = case.operation.definition.raw["operationId"]
        with open(REACHED, "a") as file:
            file.write(f"{name} {case.meta.phase.name.value if case.meta else 'other'} {response.status_code}\n")
