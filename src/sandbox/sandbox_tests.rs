//! What scripts can do: tests, variables, requests, timers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{NextRequest, OperationKind, ScriptOutcome, ScriptSandbox, Turn};

/// Returns a sandbox whose only dynamic value is `$guid`.
pub(super) fn sandbox() -> ScriptSandbox {
    ScriptSandbox::new(Arc::new(|name| (name == "$guid").then(|| "a-guid".to_owned()))).unwrap()
}

/// The context of a test script after a response.
pub(super) fn context() -> Value {
    json!({
        "info": {"event": "test", "iteration": 1, "iterationCount": 3, "requestName": "Read", "requestId": "r1",
                 "location": ["Shop", "Read"], "environmentName": "Local"},
        "scopes": {"local": [], "data": [["row", 7]], "environment": [["host", "a.test"], ["n", 1]],
                   "collection": [["host", "b.test"]], "globals": [["g", "{{host}}"]]},
        "request": {"method": "POST", "url": "http://a.test:81/x/:id?q=1", "header": [{"key": "X-A", "value": "1"}],
                    "body": {"mode": "raw", "raw": "{}"}},
        "response": {"code": 200, "status": "OK", "headers": [{"key": "Content-Type", "value": "application/json"}],
                     "body": "{\"a\":{\"b\":[1,2]},\"s\":\"text\"}", "responseTime": 12, "responseSize": 29,
                     "cookies": [["sid", "1"]]},
        "cookies": [["sid", "1"]],
    })
}

/// Runs `code` to its end; operations stay without an answer.
pub(super) fn run(code: &str) -> ScriptOutcome {
    run_in(&mut sandbox(), code)
}

pub(super) fn run_in(sandbox: &mut ScriptSandbox, code: &str) -> ScriptOutcome {
    let mut turn = sandbox.begin(code, &context().to_string(), 0.0, Duration::from_mins(1));
    loop {
        match turn {
            Turn::Done(outcome) => return *outcome,
            Turn::Waiting { timer_due_ms: Some(due), .. } => {
                turn = sandbox.tick(due, Duration::from_mins(1));
            }
            Turn::Waiting { operations, .. } => panic!("{code} waits for {operations:?}"),
        }
    }
}

/// Returns the message of the error that `code` fails its test with; `ok` when it passes.
fn verdict(code: &str) -> String {
    let outcome = run(&format!("pm.test('t', () => {{ {code} }})"));
    assert_eq!(outcome.error, None, "{code}");
    match &*outcome.tests {
        [test] => test.error.as_ref().map_or_else(|| "ok".to_owned(), |error| error.message.clone()),
        tests => panic!("{code}: {tests:?}"),
    }
}

#[test]
fn assertions_hold_and_fail_as_in_chai() {
    for (code, expected) in [
        ("pm.expect(1).to.equal(1)", "ok"),
        ("pm.expect(1).to.equal(2)", "expected 1 to equal 2"),
        ("pm.expect(1).to.not.equal(1)", "expected 1 to not equal 1"),
        ("pm.expect({a: 1}).to.eql({a: 1})", "ok"),
        ("pm.expect({a: 1}).to.eql({a: 2})", "expected { a: 1 } to deeply equal { a: 2 }"),
        ("pm.expect({a: 1}).to.deep.equal({a: 1})", "ok"),
        ("pm.expect([1, 2]).to.include(2)", "ok"),
        ("pm.expect('abc').to.include('d')", "expected 'abc' to include 'd'"),
        ("pm.expect({a: 1, b: 2}).to.include({a: 1})", "ok"),
        ("pm.expect([{a: 1}]).to.deep.include({a: 1})", "ok"),
        ("pm.expect('x').to.be.a('string').and.match(/x/)", "ok"),
        ("pm.expect([]).to.be.an('array').that.is.empty", "ok"),
        ("pm.expect([1]).to.be.an('object')", "expected [ 1 ] to be an object"),
        ("pm.expect({a: {b: [5]}}).to.have.nested.property('a.b[0]', 5)", "ok"),
        ("pm.expect({a: 1}).to.have.property('b')", "expected { a: 1 } to have property 'b'"),
        ("pm.expect({a: 1}).to.have.property('a').that.is.above(3)", "expected 1 to be above 3"),
        ("pm.expect([1, 2, 3]).to.have.lengthOf(3)", "ok"),
        (
            "pm.expect([1, 2, 3]).to.have.lengthOf.above(3)",
            "expected [ 1, 2, 3 ] to have a length above 3 but got 3",
        ),
        ("pm.expect(5).to.be.within(1, 4)", "expected 5 to be within 1..4"),
        ("pm.expect(5).to.be.oneOf([4, 5])", "ok"),
        ("pm.expect({a: 1, b: 2}).to.have.all.keys('a', 'b')", "ok"),
        ("pm.expect({a: 1, b: 2}).to.have.keys('a')", "expected { a: 1, b: 2 } to have key 'a'"),
        ("pm.expect({a: 1, b: 2}).to.include.keys('a')", "ok"),
        ("pm.expect([1, 2]).to.have.members([2, 1])", "ok"),
        (
            "pm.expect([1, 2]).to.have.ordered.members([2, 1])",
            "expected [ 1, 2 ] to have the same ordered members as [ 2, 1 ]",
        ),
        ("pm.expect(1.5).to.be.closeTo(1, 0.4)", "expected 1.5 to be close to 1 +/- 0.4"),
        ("pm.expect(() => { throw new TypeError('no') }).to.throw(TypeError, 'no')", "ok"),
        ("pm.expect(() => {}).to.throw()", "expected [Function] to throw an error"),
        ("pm.expect(null).to.be.null; pm.expect(undefined).to.be.undefined; pm.expect(NaN).to.be.NaN", "ok"),
        ("pm.expect(0).to.be.ok", "expected 0 to be truthy"),
        ("pm.expect(4).to.satisfy((n) => n > 5)", "expected 4 to satisfy [Function]"),
        ("pm.expect(1, 'the count').to.equal(2)", "the count: expected 1 to equal 2"),
        ("pm.expect(1).to.be.eqaul(1)", "Invalid Chai property: eqaul"),
        ("pm.expect.fail('gone')", "gone"),
        ("pm.response.to.have.status(200)", "ok"),
        ("pm.response.to.have.status(404)", "expected response to have status code 404 but got 200"),
        ("pm.response.to.have.status('OK')", "ok"),
        (
            "pm.response.to.be.ok; pm.response.to.be.success; pm.response.to.be.json; pm.response.to.be.withBody",
            "ok",
        ),
        ("pm.response.to.be.clientError", "expected response to have status code 4XX but got 200"),
        ("pm.response.to.not.be.error", "ok"),
        ("pm.response.to.have.header('content-type')", "ok"),
        ("pm.response.to.have.header('x-b')", "expected response to have header with key 'x-b'"),
        ("pm.response.to.have.jsonBody('a.b[1]', 2)", "ok"),
        (
            "pm.response.to.have.jsonBody('c')",
            "expected { a: { b: [ 1, 2 ] }, s: 'text' } in response to contain property 'c'",
        ),
        ("pm.expect(pm.response.json().a.b).to.eql([1, 2])", "ok"),
        ("pm.expect(pm.response.responseTime).to.be.below(10)", "expected 12 to be below 10"),
        ("pm.expect(pm.response.headers.get('CONTENT-TYPE')).to.eql('application/json')", "ok"),
        (
            "pm.expect(pm.response.cookies.get('sid')).to.eql('1'); pm.expect(pm.cookies.has('sid')).to.be.true",
            "ok",
        ),
        ("pm.expect(pm.request.url.toString()).to.eql('http://a.test:81/x/:id?q=1')", "ok"),
        (
            "pm.expect(pm.request.headers.get('x-a')).to.eql('1'); pm.expect(pm.request.method).to.eql('POST')",
            "ok",
        ),
        (
            "pm.expect(pm.info).to.include({eventName: 'test', iteration: 1, iterationCount: 3, requestName: 'Read'})",
            "ok",
        ),
        ("pm.expect(pm.execution.location.current).to.eql('Read')", "ok"),
    ] {
        assert_eq!(verdict(code), expected, "{code}");
    }
}

#[test]
fn scopes_are_read_by_strength_and_written_apart() {
    for (code, expected) in [
        ("pm.expect(pm.variables.get('host')).to.eql('a.test')", "ok"),
        ("pm.expect(pm.collectionVariables.get('host')).to.eql('b.test')", "ok"),
        (
            "pm.expect(pm.variables.get('row')).to.equal(7); pm.expect(pm.iterationData.get('row')).to.equal(7)",
            "ok",
        ),
        (
            "pm.expect(pm.variables.replaceIn('{{g}} {{n}} {{nope}} {{$guid}}')).to.eql('a.test 1 {{nope}} a-guid')",
            "ok",
        ),
        (
            "pm.expect(pm.variables.has('nope')).to.be.false; pm.expect(environment.host).to.eql('a.test')",
            "ok",
        ),
    ] {
        assert_eq!(verdict(code), expected, "{code}");
    }
    let outcome = run(
        "pm.environment.set('token', {a: 1}); pm.environment.unset('n'); pm.globals.clear(); pm.variables.set('l', 2);
         postman.setGlobalVariable('old', 'x'); pm.collectionVariables.set('c', null);",
    );
    assert_eq!(
        outcome.scopes.as_ref().unwrap().environment,
        [("host".into(), json!("a.test")), ("token".into(), json!({"a": 1}))]
    );
    assert_eq!(outcome.scopes.as_ref().unwrap().globals, [("old".into(), json!("x"))]);
    assert_eq!(outcome.scopes.as_ref().unwrap().local, [("l".into(), json!(2))]);
    assert_eq!(outcome.scopes.as_ref().unwrap().collection.last(), Some(&("c".into(), Value::Null)));
}

#[test]
fn older_scripts_and_flow_control_work() {
    let outcome =
        run("tests['is 200'] = responseCode.code === 200; tests['says b'] = responseBody.includes('zzz');
         tests['fast'] = responseTime < 100; postman.setNextRequest('Other');");
    let verdicts: Vec<(&str, bool)> =
        outcome.tests.iter().map(|test| (test.name.as_str(), test.passed)).collect();
    assert_eq!(verdicts, [("is 200", true), ("says b", false), ("fast", true)]);
    assert_eq!(outcome.next, NextRequest::Named("Other".to_owned()));
    assert_eq!(run("pm.execution.setNextRequest(null)").next, NextRequest::End);
    assert!(run("pm.test.skip('later')").tests[0].skipped);
    let error = run("pm.execution.skipRequest()").error.unwrap();
    assert_eq!(error.to_string(), "TypeError: pm.execution.skipRequest is not a function (line 1)");
}

#[test]
fn timers_promises_and_callbacks_end_before_the_script_does() {
    let outcome = run(
        "setTimeout(() => pm.test('late', (done) => setTimeout(() => done(), 10)), 50);
         pm.test('async', async () => { await new Promise((r) => setTimeout(r, 5)); throw new Error('x') });
         let n = 0; const id = setInterval(() => { n += 1; if (n === 3) clearInterval(id); }, 1);
         await new Promise((r) => setTimeout(r, 100)); pm.environment.set('count', n); console.log('n', n, {a: 1});",
    );
    assert_eq!(outcome.error, None);
    let verdicts: Vec<(&str, bool)> =
        outcome.tests.iter().map(|test| (test.name.as_str(), test.passed)).collect();
    assert_eq!(verdicts, [("async", false), ("late", true)]);
    assert_eq!(outcome.scopes.as_ref().unwrap().environment.last(), Some(&("count".into(), json!(3))));
    assert_eq!(outcome.console[0].text, "n 3 { a: 1 }");
}

#[test]
fn a_test_without_an_end_fails() {
    let outcome = run(
        "pm.test('a', (done) => {}); pm.test('b', () => new Promise(() => {})); pm.test('c', (done) => done())",
    );
    let reasons: Vec<Option<&str>> =
        outcome.tests.iter().map(|test| test.error.as_ref().map(|error| error.message.as_str())).collect();
    assert_eq!(reasons, [None, Some("it did not end"), Some("it did not end")]);
}

#[test]
fn what_was_set_before_an_error_stays() {
    let outcome = run("pm.environment.set('before', 1); throw new Error('x')");
    assert!(outcome.error.is_some());
    assert_eq!(outcome.scopes.unwrap().environment.last(), Some(&("before".into(), json!(1))));
}

#[test]
fn errors_name_class_message_and_line() {
    for (code, expected) in [
        ("let a = 1;\nnope()", "ReferenceError: nope is not defined (line 2)"),
        ("throw new Error('sad')", "Error: sad (line 1)"),
        ("\n\nlet = 5 5", "SyntaxError"),
        ("Promise.reject(new Error('lost'))", "Error: lost (line 1)"),
        ("setTimeout(() => { throw new Error('later') }, 1)", "Error: later (line 1)"),
        ("pm.response.json().a.b.c.d", "TypeError: cannot read property 'd' of undefined (line 1)"),
        ("require('fs')", "Error: Cannot find package 'fs'"),
    ] {
        let error = run(code).error.unwrap_or_else(|| panic!("{code}")).to_string();
        assert!(error.starts_with(expected), "{code}: {error}");
    }
}

#[test]
fn requests_and_cookies_are_asked_of_the_host() {
    let mut sandbox = sandbox();
    let code = "const r = await pm.sendRequest({url: 'http://b.test/', method: 'PUT', header: {'X-B': '2'}, body: 'q'});
                pm.test('sent', () => pm.expect(r.json().x).to.equal(1));
                const v = await pm.cookies.jar().get('http://b.test/', 'sid'); pm.environment.set('v', v);
                pm.sendRequest('http://c.test', (err) => pm.environment.set('e', err.message));";
    let most = Duration::from_mins(1);
    let operation = |turn: Turn| match turn {
        Turn::Waiting { mut operations, .. } if operations.len() == 1 => operations.remove(0),
        turn => panic!("{turn:?}"),
    };
    let sent = operation(sandbox.begin(code, &context().to_string(), 0.0, most));
    let OperationKind::Request { request } = &sent.kind else { panic!("{sent:?}") };
    assert_eq!((request["method"].as_str(), request["body"]["raw"].as_str()), (Some("PUT"), Some("q")));
    assert_eq!(request["header"][0]["key"], "X-B");
    let response = r#"{"response":{"code":200,"status":"OK","headers":[],"body":"{\"x\":1}","responseTime":1,"responseSize":7}}"#;
    let cookie = operation(sandbox.answer(sent.id, response, 1.0, most));
    assert!(
        matches!(&cookie.kind, OperationKind::Cookie { url, name: Some(name), .. } if url == "http://b.test/" && name == "sid")
    );
    let second = operation(sandbox.answer(cookie.id, r#"{"value":"9"}"#, 2.0, most));
    let Turn::Done(outcome) = sandbox.answer(second.id, r#"{"error":"refused"}"#, 3.0, most) else {
        panic!()
    };
    assert!(outcome.tests[0].passed, "{outcome:?}");
    let environment = &outcome.scopes.as_ref().unwrap().environment;
    assert_eq!(
        environment[environment.len() - 2..],
        [("v".into(), json!("9")), ("e".into(), json!("refused"))]
    );
}

#[test]
fn a_prerequest_script_changes_its_request() {
    let mut sandbox = sandbox();
    let mut context = context();
    context["info"]["event"] = json!("prerequest");
    context.as_object_mut().unwrap().remove("response");
    let mut run = |code: &str| match sandbox.begin(code, &context.to_string(), 0.0, Duration::from_mins(1)) {
        Turn::Done(outcome) => *outcome,
        turn @ Turn::Waiting { .. } => panic!("{turn:?}"),
    };
    let outcome = run(
        "pm.request.headers.upsert({key: 'X-A', value: '2'}); pm.request.headers.add({key: 'X-C', value: '3'});
         pm.request.method = 'PUT'; pm.request.body.raw = 'new'; pm.request.url.addQueryParams('z=9'); leaked = 1;",
    );
    assert_eq!(outcome.error, None);
    let request = &outcome.request;
    assert_eq!(request["method"], "PUT");
    assert_eq!(request["body"]["raw"], "new");
    assert_eq!(request["header"][0]["value"], "2");
    assert_eq!(request["url"]["raw"], "http://a.test:81/x/:id?q=1&z=9");
    assert!(run("pm.execution.skipRequest(); throw new Error('not reached')").is_skipped);
    assert_eq!(
        run("pm.environment.set('t', typeof leaked)").scopes.unwrap().environment.last().unwrap().1,
        json!("undefined")
    );
}
