//! Hostile scripts gain nothing: limits hold, and the host is out of reach.

use std::time::{Duration, Instant};

use super::sandbox_tests::{context, run, run_in, sandbox};
use super::{SCRIPT_TIME_LIMIT, Turn};

#[test]
fn endless_scripts_are_stopped() {
    for code in [
        "while (true) {}",
        "for (;;) { try { while (true) {} } catch (e) {} }",
        "const f = () => Promise.resolve().then(f); f()",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "JSON.parse = () => { for (;;); }; Promise.resolve().then(() => { for (;;); })",
    ] {
        let mut sandbox = sandbox();
        let start = Instant::now();
        let turn = sandbox.begin(code, &context().to_string(), 0.0, Duration::from_millis(200));
        let Turn::Done(outcome) = turn else { panic!("{code}: {turn:?}") };
        let error = outcome.error.unwrap_or_else(|| panic!("{code}"));
        assert!(error.message.contains("longer than 5 s"), "{code}: {error}");
        assert!(start.elapsed() < SCRIPT_TIME_LIMIT, "{code}");
    }
}

#[test]
fn searches_that_nothing_interrupts_are_errors() {
    for code in [
        "'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')",
        "'a'.repeat(2e7).split('a'.repeat(1e7) + 'b')",
        "String.prototype.includes.call('a'.repeat(2e7), 'a'.repeat(1e7) + 'b')",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "new Array(4e9).includes(1)",
    ] {
        let started = Instant::now();
        let error = run(code).error.unwrap_or_else(|| panic!("{code}"));
        assert!(error.message.contains("takes too long"), "{code}: {error}");
        assert!(started.elapsed() < Duration::from_secs(3), "{code}");
    }
}

#[test]
fn the_time_of_all_turns_counts() {
    let mut sandbox = sandbox();
    let code = "setInterval(() => { const end = Date.now() + 400; while (Date.now() < end); }, 1)";
    let mut turn = sandbox.begin(code, &context().to_string(), 0.0, Duration::from_mins(1));
    let mut turns = 0;
    while let Turn::Waiting { timer_due_ms: Some(due), .. } = turn {
        turns += 1;
        assert!(turns < 100);
        turn = sandbox.tick(due, Duration::from_mins(1));
    }
    // Fewer on a busy machine, never more than fit into five seconds.
    assert!((2..=14).contains(&turns), "{turns}");
}

#[test]
fn memory_stack_and_output_are_bounded() {
    for (code, expected) in [
        ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", "out of memory"),
        ("let s = 'x'; for (;;) s += s", "invalid string length|out of memory|string too long"),
        ("new Uint8Array(1e9)", "out of memory|invalid array buffer length"),
        ("function f() { return f() + 1 } f()", "stack size exceeded|Maximum call stack"),
        ("JSON.parse('['.repeat(1e5))", "stack|unexpected|Unexpected|overflow"),
    ] {
        let error = run(code).error.unwrap_or_else(|| panic!("{code}")).to_string();
        assert!(expected.split('|').any(|text| error.contains(text)), "{code}: {error}");
    }
    let outcome = run("for (let i = 0; i < 1000; i += 1) console.log('y'.repeat(1000))");
    let chars: usize = outcome.console.iter().map(|line| line.text.chars().count()).sum();
    assert!(chars <= 256 * 1024 + 1, "{chars}");
    let outcome = run("pm.environment.set('big', 'z'.repeat(17e6))");
    assert!(outcome.error.unwrap().message.contains("more than 16 MiB"));
}

#[test]
fn the_host_is_out_of_reach() {
    let outcome = run(
        "pm.environment.set('x', [typeof process, typeof fetch, typeof XMLHttpRequest, typeof WebAssembly, typeof std,
         typeof os, typeof Deno].join())",
    );
    let value = outcome.scopes.unwrap().environment.last().unwrap().1.as_str().unwrap().to_owned();
    assert!(value.split(',').all(|kind| kind == "undefined"), "{value}");
    assert!(run("await import('fs')").error.is_some());
    assert!(run("__host.begin = 1; delete globalThis.__host; globalThis.__host = 2;").error.is_none());
}

#[test]
fn prototype_tricks_reach_no_later_script() {
    let mut sandbox = sandbox();
    for code in [
        "Object.prototype.polluted = 1; Array.prototype.push = () => { throw new Error('caught you') }",
        "Map.prototype.get = null; JSON.stringify = () => '{\"isDone\":false}'; String = null",
        "globalThis.pm = 1; globalThis.tests = { get x() { throw new Error('x') } }",
        "Object.defineProperty(globalThis, 'tests', { value: 5 })",
        "Error.prepareStackTrace = () => { for (;;); }; throw new Error()",
        "Promise.prototype.then = () => {}; Object.keys = () => { throw 1 }",
    ] {
        // Whatever it did to itself, it ends.
        let _ = run_in(&mut sandbox, code);
    }
    let outcome = run("pm.test('fresh', () => pm.expect(({}).polluted).to.be.undefined)");
    assert!(outcome.tests[0].passed, "{outcome:?}");
}
