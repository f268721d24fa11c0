//! A QuickJS engine with limits, in which the scripts of one run execute one after the other.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::context::EvalOptions;
use rquickjs::function::Func;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, FromJs, Function, Object, Runtime, Value};
use serde::Deserialize;

use super::bootstrap::{BOOTSTRAP, LIBRARIES};
use super::outcome::{Operation, ScriptError, ScriptOutcome, Turn};
use super::time_limit::TimeLimit;
use super::turn_limits::check_value_count;

/// Time that one script may run, without the time that it waits for the host.
pub const SCRIPT_TIME_LIMIT: Duration = Duration::from_secs(5);
/// Memory of all scripts of a run, in bytes.
pub const MAX_MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Stack of a script, in bytes; a quarter of that of the threads that run them.
const MAX_STACK_BYTES: usize = 512 * 1024;
/// Longest JSON that is accepted from a script, in bytes.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// The name of scripts in stack traces.
const SCRIPT_NAME: &str = "script";

/// Returns the value of a dynamic variable such as `$guid`, for `replaceIn`.
pub type DynamicValues = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Executes the scripts of one run. Not shared between runs: scripts of others never meet in it.
pub struct ScriptSandbox {
    context: Context,
    time_limit: TimeLimit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PollMessage {
    operations: Vec<Operation>,
    timer: Option<f64>,
    is_done: bool,
}

impl ScriptSandbox {
    /// Starts an engine. Takes a few milliseconds: call it where that may block.
    ///
    /// # Errors
    /// Fails with the reason when there is no memory for it.
    pub fn new(dynamic_values: DynamicValues) -> Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| format!("cannot start the script engine: {error}"))?;
        runtime.set_memory_limit(MAX_MEMORY_BYTES);
        runtime.set_max_stack_size(MAX_STACK_BYTES);
        let time_limit = TimeLimit::new();
        let limit = time_limit.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || limit.is_used_up())));
        runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, is_handled| {
            // A script that has broken its own side loses only its own report.
            let _ = call_host::<()>(&ctx, "rejected", (promise, reason, is_handled));
        })));
        let context =
            Context::full(&runtime).map_err(|error| format!("cannot start the script engine: {error}"))?;
        let sandbox = Self { context, time_limit };
        sandbox
            .context
            .with(|ctx| sandbox_globals(&ctx, dynamic_values).catch(&ctx).map_err(|e| describe(&e)))?;
        Ok(sandbox)
    }

    /// Begins `code` with its `context` as JSON, at `now_ms`. The turn ends within `most`.
    pub fn begin(&mut self, code: &str, context: &str, now_ms: f64, most: Duration) -> Turn {
        self.time_limit.reset(SCRIPT_TIME_LIMIT);
        self.turn(most, |ctx| {
            call_host::<()>(ctx, "begin", (context, now_ms))?;
            // On one line with the head, so that lines count as the author sees them.
            let wrapped = format!("(async function () {{{code}\n}})");
            let function: Function<'_> = ctx.eval_with_options(wrapped, sloppy_options(SCRIPT_NAME))?;
            call_host::<()>(ctx, "start", (function,))
        })
    }

    /// Answers operation `id` with `answer` as JSON: `{"value":…}`, `{"response":…}` or `{"error":…}`.
    pub fn answer(&mut self, id: u64, answer: &str, now_ms: f64, most: Duration) -> Turn {
        self.turn(most, |ctx| {
            call_host::<()>(ctx, "answer", (id as f64, answer))?;
            call_host::<()>(ctx, "tick", (now_ms,))
        })
    }

    /// Runs the timers that are due at `now_ms`.
    pub fn tick(&mut self, now_ms: f64, most: Duration) -> Turn {
        self.turn(most, |ctx| call_host::<()>(ctx, "tick", (now_ms,)))
    }

    fn turn(&mut self, most: Duration, work: impl FnOnce(&Ctx<'_>) -> rquickjs::Result<()>) -> Turn {
        let start = self.time_limit.begin_turn(most);
        let turn = self.context.with(|ctx| {
            let result = work(&ctx).catch(&ctx).map_err(|error| script_error(&error));
            // A job that fails was a callback of the script; its promise tells.
            while ctx.execute_pending_job() {
                if self.time_limit.is_used_up() {
                    break;
                }
            }
            if self.time_limit.is_used_up() {
                return failed_turn(timeout_error());
            }
            match result {
                Ok(()) => read_turn(&ctx),
                Err(error) => failed_turn(error),
            }
        });
        self.time_limit.end_turn(start);
        turn
    }
}

/// Sets what the bootstrap needs of the host, and evaluates it.
fn sandbox_globals(ctx: &Ctx<'_>, dynamic_values: DynamicValues) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    globals.set("__dynamicValue", Func::from(move |name: String| dynamic_values(&name)))?;
    globals.set("__atob", Func::from(|text: String| decode_base64(&text)))?;
    globals.set("__btoa", Func::from(|text: String| encode_base64(&text)))?;
    globals.set("__loadBundle", Function::new(ctx.clone(), load_libraries)?)?;
    ctx.eval_with_options(BOOTSTRAP, sloppy_options("vigie"))
}

/// Options for code outside of strict mode, as scripts and libraries are written, with its name in stack traces.
fn sloppy_options(name: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    options
}

fn load_libraries(ctx: Ctx<'_>) -> rquickjs::Result<Value<'_>> {
    ctx.eval_with_options(LIBRARIES.as_str(), sloppy_options("library"))
}

/// Each character is a byte, as in browsers.
fn decode_base64(text: &str) -> Option<String> {
    let bytes = STANDARD.decode(text.trim()).ok()?;
    Some(bytes.into_iter().map(char::from).collect())
}

fn encode_base64(text: &str) -> Option<String> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.map(|bytes| STANDARD.encode(bytes))
}

/// Calls a function of `js/host.js`.
fn call_host<'js, R: FromJs<'js>>(
    ctx: &Ctx<'js>,
    name: &str,
    args: impl rquickjs::function::IntoArgs<'js>,
) -> rquickjs::Result<R> {
    let host: Object<'js> = ctx.globals().get("__host")?;
    host.get::<_, Function<'js>>(name)?.call(args)
}

fn read_turn(ctx: &Ctx<'_>) -> Turn {
    let call = |name: &str| {
        call_host::<String>(ctx, name, ()).catch(ctx).map_err(|error| script_error(&error)).and_then(|text| {
            if text.len() > MAX_MESSAGE_BYTES {
                return Err(own_error("its variables, tests and request take more than 16 MiB"));
            }
            check_value_count(&text).map_err(|reason| own_error(&reason))?;
            Ok(text)
        })
    };
    let read = || -> Result<Turn, ScriptError> {
        let poll: PollMessage = parse(&call("poll")?)?;
        if !poll.is_done {
            return Ok(Turn::Waiting { operations: poll.operations, timer_due_ms: poll.timer });
        }
        Ok(Turn::Done(Box::new(parse(&call("finish")?)?)))
    };
    read().unwrap_or_else(failed_turn)
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, ScriptError> {
    serde_json::from_str(text).map_err(|error| own_error(&format!("what it left cannot be read: {error}")))
}

fn failed_turn(error: ScriptError) -> Turn {
    Turn::Done(Box::new(ScriptOutcome { error: Some(error), ..ScriptOutcome::default() }))
}

fn timeout_error() -> ScriptError {
    let text = format!("it ran longer than {} s, or past the timeout", SCRIPT_TIME_LIMIT.as_secs());
    ScriptError { is_timeout: true, ..own_error(&text) }
}

fn own_error(message: &str) -> ScriptError {
    ScriptError { name: "Error".to_owned(), message: message.to_owned(), line: None, is_timeout: false }
}

fn script_error(error: &CaughtError<'_>) -> ScriptError {
    if let CaughtError::Exception(exception) = error {
        let name = exception.as_object().get::<_, String>("name").unwrap_or_else(|_| "Error".to_owned());
        let stack = exception.stack().unwrap_or_default();
        let line = stack.split(&format!("{SCRIPT_NAME}:")).nth(1).and_then(|rest| {
            rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
        });
        let message = exception.message().unwrap_or_default();
        return ScriptError { name, message, line, is_timeout: false };
    }
    own_error(&describe(error))
}

fn describe(error: &CaughtError<'_>) -> String {
    match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        CaughtError::Value(value) => value
            .as_string()
            .and_then(|text| text.to_string().ok())
            .unwrap_or_else(|| "a value was thrown that is no error".to_owned()),
        CaughtError::Error(error) => error.to_string(),
    }
}
